package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.subject.LoadsImage;
import dev.klock.sandbox.subject.Refused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the modes other than strict do with a program that strays. */
class ModesTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    /** Stays inside, strays three times (once twice the same), and goes on. */
    private static final String[] STRAYING = {"append w/out/a more", "read w/in/a", "try append w/x stray", "try read w/private/p",
        "try append w/x again", "try delete w/private/p", "write w/out/new end", "exit 7"};

    /** The modes that go on after a denial. */
    private static final List<String> GUARDING = List.of("block", "permissive", "learn");

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    void block_violations_areDeniedAndTheProgramGoesOn(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Tree before = workspace.tree();
        Outcome outcome = workspace.watched(jdk, "mode=block", STRAYING).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(7);
        assertThat(outcome.out().lines().filter("caught dev.klock.ScopeViolationError"::equals)).as(outcome.toString()).hasSize(4);
        Tree after = workspace.tree();
        for (String untouched : List.of("x", "private/p", "in/a")) {
            assertThat(after.entries().get(untouched).whole()).isEqualTo(before.entries().get(untouched).whole());
        }
        assertThat(workspace.root().resolve("w/out/a")).content().endsWith("more\n");
        assertThat(workspace.root().resolve("w/out/new")).hasContent("end\n");
        assertThat(outcome.log().decided("deny")).as(outcome.toString()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void block_sameDeniedIntentAgainAndAgain_endsAsStrict(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();
        Outcome outcome = workspace.watched(jdk, "mode=block,denials.limit=5", "append w/out/a more", "times 4 try append w/x stray",
                "print still here", "times 50 try append w/x stray", "sleep 20000").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.out()).contains("still here");
        assertThat(workspace.tree().visible()).isEqualTo(before);
    }

    /** A class whose initialiser failed can never be used again: nothing that a program could go on with. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void block_deniedWhileAClassIsInitialised_endsAsStrict(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();
        Outcome outcome = workspace.watched(jdk, "mode=block", "append w/out/a more", "try initialise w/private/p", "sleep 20000").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("was denied while the class dev.klock.sandbox.subject.Script$Initialised$Inner was initialised, which cannot be used any more: the session ends");
        assertThat(workspace.tree().visible()).isEqualTo(before);
    }

    /** Programs wait until no thread of their group is left but their own. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void permissive_threadsOfTheProgramsGroup_areItsOwn(Jdk jdk) {
        Outcome outcome = Workspace.in(directory).watched(jdk, "mode=permissive", "threads").run();
        assertThat(outcome.out()).as(outcome.toString()).contains("threads 1\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void permissive_violations_areWarnedOfAndNothingElseChanges(Jdk jdk, @TempDir Path other) {
        Workspace bare = Workspace.in(other);
        Outcome plain = bare.bare(jdk, STRAYING).run();
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "mode=permissive", STRAYING).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(plain.exit()).isEqualTo(7);
        assertThat(outcome.out()).isEqualTo(plain.out());
        assertThat(workspace.tree().visible()).isEqualTo(bare.tree().visible());
        assertThat(outcome.err()).as("one warning for each distinct violation").containsOnlyOnce("MUTATES on FILE:" + workspace.root() + "/w/x");
        assertThat(outcome.log().triples("warn")).contains("MUTATES FILE:" + workspace.root() + "/w/x",
                "CONSUMES FILE:" + workspace.root() + "/w/private/p", "DELETES FILE:" + workspace.root() + "/w/private/p");
        assertThat(outcome.log().decided("deny")).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void permissive_whatTheSystemRefuses_isRefusedInItsOwnWords(Jdk jdk, @TempDir Path other) throws IOException {
        String plain = Child.on(jdk).in(other).main(Refused.class).run().out();
        // what klock holds its hand over is not in the way: its home and the manifest are elsewhere
        Path root = Files.createDirectory(directory.toRealPath().resolve("w"));
        Path home = Files.createDirectory(directory.toRealPath().resolve("home"));
        Path manifest = Files.writeString(directory.resolve("klock.yaml"), """
                ver: "1.0"
                agent_id: refused
                scope:
                  - CONSUMES FILE:/nowhere
                """);
        Outcome outcome = Child.on(jdk).in(root).main(Refused.class).klock("mode=permissive,home=" + home + ",manifest=" + manifest).run();
        assertThat(plain).contains("Invalid argument", "Not a directory", "File name too long", "Device or resource busy");
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo(plain);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void permissive_thatMayAmend_takesLeasesForWhatIsNotDeclared_andCountsThem(Jdk jdk, @TempDir Path other) {
        Workspace bare = Workspace.in(other);
        Outcome plain = bare.bare(jdk, STRAYING).run();
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "mode=permissive,amend=true", STRAYING).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(plain.exit());
        assertThat(outcome.out()).isEqualTo(plain.out());
        assertThat(workspace.tree().visible()).isEqualTo(bare.tree().visible());
        assertThat(outcome.err()).as(outcome.toString()).contains("it has a lease now, since amend is true", " allowed by added leases;");
        assertThat(outcome.log().decided("warn")).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void strict_whatTheSystemRefused_isOverWhenTheSessionEnds(Jdk jdk) throws IOException {
        Path root = Files.createDirectory(directory.toRealPath().resolve("w"));
        Path home = Files.createDirectory(directory.toRealPath().resolve("home"));
        StringBuilder scope = new StringBuilder();
        for (String predicate : new String[] {"CONSUMES", "MUTATES", "PROVIDES", "DELETES", "RENAMES"}) {
            scope.append("  - %1$s FILE:%2$s/**%n  - %1$s FILE:/proc/**%n".formatted(predicate, root));
        }
        Path manifest = Files.writeString(directory.resolve("klock.yaml"), """
                ver: "1.0"
                agent_id: refused
                scope:
                %sdeny:
                  - CONSUMES FILE:/etc/hostname
                """.formatted(scope));
        Outcome outcome = Child.on(jdk).in(root).main(Refused.class, "/etc/hostname").klock("home=" + home + ",manifest=" + manifest).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).as(outcome.toString()).contains("CONSUMES on FILE:/etc/hostname").doesNotContain("has not ended");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void block_deniedOnAThreadOfTheJdk_failsThereAsAFileThatCannotBeRead(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        // a GIF of one pixel
        byte[] gif = Base64.getDecoder().decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");
        Files.write(workspace.root().resolve("w/in/image.gif"), gif);
        Files.write(workspace.root().resolve("w/private/image.gif"), gif);
        Outcome outcome = null;
        for (String place : new String[] {"in", "private"}) {
            outcome = Child.on(jdk).in(workspace.root()).main(LoadsImage.class, "w/" + place + "/image.gif").klock("mode=block")
                    .manifest(workspace.manifest()).run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out()).isEqualTo(place.equals("in") ? "width 1\n" : "width -1\n");
        }
        assertThat(outcome.err()).contains("CONSUMES on FILE:" + workspace.root() + "/w/private/image.gif");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void learn_program_isRecordedWithoutAWarning(Jdk jdk, @TempDir Path other) {
        Workspace bare = Workspace.in(other);
        Outcome plain = bare.bare(jdk, STRAYING).run();
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.bare(jdk, STRAYING).klock("mode=learn").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(7);
        assertThat(outcome.out()).isEqualTo(plain.out());
        assertThat(workspace.tree().visible()).isEqualTo(bare.tree().visible());
        assertThat(outcome.err()).doesNotContain("attempted");
        assertThat(outcome.log().records().toString()).as(outcome.toString()).contains("FILE:" + workspace.root() + "/w/x",
                "FILE:" + workspace.root() + "/w/private/p", "FILE:" + workspace.root() + "/w/in/a");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void off_program_runsAsWithoutKlockAndNothingIsWoven(Jdk jdk, @TempDir Path other) {
        Workspace bare = Workspace.in(other);
        Outcome plain = bare.bare(jdk, STRAYING).run();
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "mode=off", STRAYING).jvm("-Xlog:class+load:file=" + other.resolve("classes")).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(7);
        assertThat(outcome.out()).isEqualTo(plain.out());
        assertThat(workspace.tree().visible()).isEqualTo(bare.tree().visible());
        assertThat(other.resolve("classes")).content().contains("dev.klock.boot.Premain").doesNotContain("KlockBridge");
        assertThat(workspace.root().resolve(".klock")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void stdout_inEveryMode_isTheProgramsOwn(Jdk jdk, @TempDir Path other) {
        String[] inside = {"append w/out/a more", "read w/in/a", "print \u00fc\t\u0007 done"};
        Outcome plain = Workspace.in(other).bare(jdk, inside).run();
        for (String mode : List.of("strict", "block", "permissive", "off")) {
            Workspace workspace = Workspace.in(directory.resolve(mode).toFile().mkdir() ? directory.resolve(mode) : directory);
            Outcome outcome = workspace.watched(jdk, "mode=" + mode, inside).run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out()).as(mode).isEqualTo(plain.out());
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void manifest_thatDeclaresNoChangeOrNothing_isEnough(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        for (String scope : List.of("[]", "[CONSUMES FILE:" + workspace.root() + "/w/in/a]")) {
            Files.writeString(workspace.root().resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: reader\nscope: " + scope + "\n");
            Outcome outcome = workspace.bare(jdk, "print fine").klock("").run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            Outcome strays = workspace.bare(jdk, "write w/out/new stray").klock("").run();
            assertThat(strays.exit()).as(strays.toString()).isEqualTo(108);
            assertThat(workspace.root().resolve("w/out/new")).doesNotExist();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C47")
    void programs_startedAtOnceInOneDirectory_workWithSessionsOfTheirOwn(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        String manifest = """
                ver: "1.0"
                session_id: twice
                agent_id: tester
                scope:
                  - CONSUMES FILE:%s/w/in/**
                """.formatted(workspace.root());
        Files.writeString(workspace.root().resolve("klock.yaml"), manifest);
        Child one = workspace.bare(jdk, "read w/in/a", "sleep 300").klock("");
        Child other = workspace.bare(jdk, "read w/in/a", "sleep 300").klock("");
        for (Outcome outcome : Child.together(List.of(one, other))) {
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out()).isEqualTo("main begins\nfirst of w/in/a\nmain ends\n");
            assertThat(outcome.log().sessions()).as(outcome.toString()).hasSize(2).contains("twice");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-H14")
    void klocksOwnFiles_evenWhenDeclared_cannotBeChanged(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        for (String mode : GUARDING) {
            String manifest = everything(workspace);
            Outcome outcome = workspace.bare(jdk, "try write klock.yaml mine", "try delete klock.yaml", "try write .klock/log/x mine",
                    "try mkdir .klock/mine", "try move .klock stolen", "try move klock.yaml stolen").klock("mode=" + mode).run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out().lines().filter(line -> line.startsWith("caught "))).as(outcome.toString()).hasSize(6);
            assertThat(workspace.root().resolve("klock.yaml")).hasContent(manifest);
            assertThat(workspace.root().resolve(".klock/mine")).doesNotExist();
            assertThat(workspace.root().resolve("stolen")).doesNotExist();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void klocksHome_listedOrRead_isAbsent(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        for (String mode : GUARDING) {
            everything(workspace);
            Outcome outcome = workspace.bare(jdk, "list .", "try read .klock/version").klock("mode=" + mode).run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out()).as(outcome.toString())
                    .isEqualTo("main begins\n[klock.yaml, w]\ncaught java.nio.file.NoSuchFileException\nmain ends\n");
        }
    }

    /** A manifest that declares all there is to do with the whole workspace. */
    private static String everything(Workspace workspace) throws IOException {
        String text = """
                ver: "1.0"
                agent_id: thief
                scope:
                  - MUTATES FILE:%1$s/**
                  - PROVIDES FILE:%1$s/**
                  - DELETES FILE:%1$s/**
                  - RENAMES FILE:%1$s/**
                """.formatted(workspace.root());
        Files.writeString(workspace.root().resolve("klock.yaml"), text);
        return text;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    void agentlib_insteadOfJavaagent_guardsAsWell(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.bare(jdk, "append w/out/a more", "try append w/x stray", "print on").manifest(workspace.manifest())
                .jvm("-agentlib:instrument=" + KlockJar.path() + "=mode=block").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).isEqualTo("main begins\ncaught dev.klock.ScopeViolationError\non\nmain ends\n");
    }
}
