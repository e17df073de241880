package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Recordings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** klock's events in Flight Recorder, however it is started. */
class FlightRecorderTest {
    @TempDir
    Path directory;

    private Child program(Jdk jdk, String options, String how) throws IOException {
        Workspace w = Workspace.in(directory);
        for (String below : List.of("w/a", "w/b", "recording")) {
            Files.createDirectories(w.root().resolve(below));
        }
        return Child.on(jdk).in(w.root()).main(Recordings.class, how).with(Klock.class, JsonFactory.class, Yaml.class).manifest("""
                ver: "1.0"
                agent_id: app
                scope:
                  - PROVIDES FILE:%1$s/recording/**
                  - MUTATES FILE:%1$s/recording/**
                  - DELETES FILE:%1$s/recording/**
                agents:
                  - agent_id: builder
                    scope:
                      - MUTATES FILE:%1$s/w/a/**
                      - PROVIDES FILE:%1$s/w/a/**
                """.formatted(w.root())).klock(options).jvm("-XX:FlightRecorderOptions=repository=recording");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void recorder_thatTheJvmIsStartedWith_hasWhatBecameOfAnAgent(Jdk jdk) throws IOException {
        Outcome done = program(jdk, "", "agent").jvm("-XX:StartFlightRecording").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        List<String> events = done.out().lines().filter(line -> line.startsWith("klock.")).map(line -> line.replaceAll("session=\\S+ ", "")).toList();
        assertThat(events).as(done.toString()).hasSize(3);
        assertThat(events.get(0)).isEqualTo("klock.Lease agent=builder state=granted detail=null");
        assertThat(events.get(1)).startsWith("klock.Violation agent=builder decision=deny predicate=PROVIDES resource=FILE:" + directory.toRealPath()
                + "/w/b/x operation=").contains(" decidedBy=mode caller=" + Recordings.class.getName() + ".stray(").endsWith(" thread=main");
        assertThat(events.get(2)).isEqualTo("klock.Rollback agent=builder reason=aborted restored=1 notRestored=0");
        assertThat(done.err()).doesNotContain("no further events");
    }

    /** klock's classes of events are loaded by then, and none of klock's may be rewritten. */
    @Test
    void recorder_thatIsStartedAgain_hasWhatCameThen() throws IOException {
        Outcome done = program(Jdks.newest(), "mode=block", "twice").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.out().lines().map(line -> line.replaceAll(".*(resource=\\S+).*", "$1")).toList()).as(done.toString()).containsExactly(
                "resource=FILE:" + directory.toRealPath() + "/w/b/one", "resource=FILE:" + directory.toRealPath() + "/w/b/two");
    }
}
