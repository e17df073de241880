package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a rollback says of what came back, but not whole: files that had another name, which nothing leads to. */
@Tag("K6-5")
class NotesTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int FILES = 13;
    private static final String NOTE = "(it was one of 2 names of a file; no other name is known, so it is a file of its own now)";

    @TempDir
    Path directory;

    private Workspace workspace() throws IOException {
        Workspace workspace = Workspace.in(directory);
        Files.createDirectory(workspace.root().resolve("elsewhere"));
        for (int i = 0; i < FILES; i++) {
            Path file = Files.writeString(workspace.root().resolve("w/out/n" + i), "of two names " + i);
            Files.createLink(workspace.root().resolve("elsewhere/n" + i), file);
        }
        return workspace;
    }

    private static String[] deleteAll(String... last) {
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            steps.add("delete w/out/n" + i);
        }
        steps.addAll(List.of(last));
        return steps.toArray(new String[0]);
    }

    private static void assertTold(List<String> lines, Path root, String log) {
        List<String> notes = lines.stream().filter(line -> line.startsWith("klock: warning: rolled back, but not whole: ")).toList();
        assertThat(notes).as(lines.toString()).hasSize(11);
        assertThat(notes.subList(0, 10)).allSatisfy(line -> assertThat(line).contains("FILE:" + root + "/w/out/n").endsWith(NOTE));
        assertThat(notes.get(10)).endsWith(": " + (FILES - 10) + " more, all are in the notes of " + log);
    }

    private static int notes(String log) throws IOException {
        return Files.readString(Path.of(log)).split(java.util.regex.Pattern.quote(NOTE), -1).length - 1;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void strictRollback_ofWhatDoesNotComeBackWhole_saysSoAndLogsAll(Jdk jdk) throws IOException {
        Workspace workspace = workspace();
        String log = workspace.root() + "/.klock/log/straying.jsonl";

        Outcome outcome = workspace.watched(jdk, "", deleteAll("write w/x stray")).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertTold(outcome.klockLines(), workspace.root(), log);
        assertThat(notes(log)).isEqualTo(FILES);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    void nextStart_afterACrash_saysAndLogsTheSame(Jdk jdk) throws IOException {
        Workspace workspace = workspace();
        workspace.watched(jdk, "", deleteAll("write w/out/ready now", "sleep 60000")).killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);

        Outcome next = workspace.watched(jdk, "", "print hello").run();

        assertThat(next.exit()).as(next.toString()).isZero();
        String log = workspace.root() + "/.klock/log/straying-2.jsonl";
        assertTold(next.klockLines(), workspace.root(), log);
        assertThat(notes(log)).isEqualTo(FILES);
        assertThat(Files.readString(Path.of(log))).contains("\"recovered\":{\"session_id\":\"straying\"");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    void recover_afterACrash_saysAll(Jdk jdk) throws IOException {
        Workspace workspace = workspace();
        workspace.watched(jdk, "", deleteAll("write w/out/ready now", "sleep 60000")).killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);

        Outcome outcome = Child.on(jdk).in(workspace.root()).verb("recover").run();

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out().lines().filter(line -> line.startsWith("  rolled back, but not whole: ") && line.endsWith(NOTE))).hasSize(FILES);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    void rollback_thatLeftWhatOthersChanged_saysWhatToDoNext_andIsNotCalledACrash(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        Path a = workspace.root().resolve("w/out/a");

        Thread other = new Thread(() -> {
            try {
                while (!Files.exists(workspace.root().resolve("w/out/ready"))) {
                    Thread.sleep(20);
                }
                Files.writeString(a, "by hand\n");
                Files.createFile(workspace.root().resolve("w/in/theirs"));
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        other.start();
        Outcome outcome = workspace.watched(jdk, "", "write w/out/a mine", "write w/out/ready now", "await w/in/theirs", "write w/x stray").run();
        other.join();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("not rolled back: FILE:" + a)
                .contains("to put it back all the same: java -jar klock.jar undo --force --session straying\n");
        assertThat(Child.on(jdk).in(workspace.root()).verb("sessions").run().out()).contains("NOT rolled back 1").doesNotContain("crashed");
    }
}
