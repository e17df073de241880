package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Flips;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A link that the program leads inside and outside in turn: what is opened through it is judged by where it leads at the open. */
@Tag("FIELD-D06")
class FlipsTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";

    @TempDir
    Path directory;

    private Outcome flips(Jdk jdk, String how, int rounds) throws IOException {
        Workspace workspace = Workspace.in(directory);
        Files.writeString(workspace.root().resolve("w/private/p"), "precious\n");
        Files.writeString(workspace.root().resolve("w/out/c/p"), "ours\n");
        Files.writeString(workspace.root().resolve("w/private/only"), "outside\n");
        Files.createSymbolicLink(workspace.root().resolve("w/private/way"), Path.of("only"));
        for (String[] side : new String[][] {{"one", "../../c"}, {"other", "../../../private"}}) {
            Path link = workspace.root().resolve("w/out/swap").resolve(side[0]).resolve("link");
            Files.createDirectories(link.getParent());
            Files.createSymbolicLink(link, Path.of(side[1]));
        }
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Flips.class, how, Integer.toString(rounds)).patience(Duration.ofMinutes(10))
                .klock("mode=block,denials.limit=1000000000").manifest(workspace.manifest() + "  - CONSUMES FILE:" + workspace.root() + "/w/out/**\n").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(workspace.root().resolve("w/private/p")).hasContent("precious\n");
        return outcome;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void open_afterEachFlip_isDeniedOrAllowedByWhereTheLinkLeads(Jdk jdk) throws IOException {
        Outcome outcome = flips(jdk, "turn", Child.SCALE < 10 ? 5_000 * Child.SCALE : 100_000);
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("wrong 0\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void open_whileAnotherThreadFlips_neitherChangesNorReadsWhatIsNotDeclared(Jdk jdk) throws IOException {
        Outcome outcome = flips(jdk, "race", Child.SCALE < 10 ? 10_000 * Child.SCALE : 100_000);
        assertThat(outcome.out()).as(outcome.toString()).endsWith("leaked 0\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void look_whileAnotherThreadFlips_tellsNothingOfWhatIsNotDeclared(Jdk jdk) throws IOException {
        Outcome outcome = flips(jdk, "look", Child.SCALE < 10 ? 20_000 * Child.SCALE : 200_000);
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("written true, stopped true, leaked 0\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void read_whileDirectoriesWithLinksChangePlaces_getsNothingThatIsNotDeclared(Jdk jdk) throws IOException {
        Outcome outcome = flips(jdk, "swap", Child.SCALE < 10 ? 10_000 * Child.SCALE : 100_000);
        assertThat(outcome.out()).as(outcome.toString()).endsWith("leaked 0\n");
    }
}
