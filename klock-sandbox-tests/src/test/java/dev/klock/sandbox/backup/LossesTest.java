package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Losses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The ways in which others lost their users' files (FIELD H), each by a program that then goes astray under strict. */
@Tag("K6-5")
class LossesTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";

    @TempDir
    Path directory;

    private Workspace workspace() throws IOException {
        Workspace workspace = Workspace.in(directory);
        Path out = workspace.root().resolve("w/out");
        Files.createDirectories(out.resolve("many/empty"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        for (int i = 0; i < 50; i++) {
            Files.writeString(out.resolve("many/f" + i), "first of " + i);
        }
        Files.createSymbolicLink(out.resolve("many/link"), Path.of("../a"));
        Files.createDirectories(out.resolve("foreign"));
        for (int i = 0; i < 1000; i++) {
            Files.writeString(out.resolve("foreign/f" + i), "theirs");
        }
        Files.createDirectories(out.resolve(".git/refs"));
        Files.writeString(out.resolve(".git/config"), "[core]");
        Files.writeString(out.resolve(".git/index"), "index");
        return workspace;
    }

    private static Child losing(Workspace workspace, Jdk jdk, String... arguments) {
        return losingWith("", workspace, jdk, arguments);
    }

    private static Child losingWith(String options, Workspace workspace, Jdk jdk, String... arguments) {
        return Child.on(jdk).in(workspace.root()).main(Losses.class, arguments).klock(options).manifest(workspace.manifest());
    }

    static Stream<Arguments> cases() {
        return Jdks.all().stream().flatMap(jdk -> Stream.of("H01", "H02", "H06", "H12", "H15", "H16", "H17", "H18", "H18-open", "H19")
                .map(id -> Arguments.of(id, jdk)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    @Tag("FIELD-H01")
    @Tag("FIELD-H02")
    @Tag("FIELD-H06")
    @Tag("FIELD-H12")
    @Tag("FIELD-H15")
    @Tag("FIELD-H16")
    @Tag("FIELD-H17")
    @Tag("FIELD-H18")
    @Tag("FIELD-H19")
    void tree_afterAProgramWentAstray_isAsItWas(String id, Jdk jdk) throws IOException {
        Workspace workspace = workspace();
        Path out = workspace.root().resolve("w/out");
        Tree before = workspace.tree();
        String foreign = Tree.of(out.resolve("foreign")).whole();
        String index = Tree.of(out.resolve(".git/index")).whole();

        Outcome outcome = losing(workspace, jdk, id).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before.visible());
        assertThat(Tree.of(out.resolve("foreign")).whole()).isEqualTo(foreign);
        assertThat(Tree.of(out.resolve(".git/index")).whole()).isEqualTo(index);
        if (id.equals("H12")) {
            assertThat(Files.size(workspace.root().resolve(".klock/backups/straying/pack"))).as("images are taken at first touch").isLessThan(20_000);
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-H03")
    void file_editedWhileAnotherSessionIsOpen_isNeverRemoved(Jdk jdk) throws IOException {
        Workspace workspace = workspace();
        String before = workspace.tree().visible();

        // with one home they would not be open at the same time
        List<Outcome> both = Child.together(List.of(losing(workspace, jdk, "H03", "0"),
                losingWith("home=" + workspace.root().resolve("other"), workspace, jdk, "H03", "1500")));

        assertThat(both).extracting(Outcome::exit).as(both.toString()).containsExactly(108, 108);
        assertThat(workspace.root().resolve("w/out/a")).as(both.toString()).exists();
        boolean there = Files.readString(workspace.root().resolve("w/out/a")).equals("first of w/out/a\n");
        try (Stream<Path> all = Stream.concat(Files.walk(workspace.root().resolve(".klock/backups")), Files.walk(workspace.root().resolve("other/backups")))) {
            there |= all.filter(p -> p.toString().contains("/aside/")).anyMatch(p -> p.toFile().length() == "first of w/out/a\n".length());
        }
        assertThat(there).as(both.toString()).isTrue();
        assertThat(workspace.tree().entries().keySet()).as(before).hasSameSizeAs(before.lines().toList());
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-H23")
    void createdFile_withoutARightToDelete_isRemovedByTheRollbackAllTheSame(Jdk jdk) throws IOException {
        Workspace workspace = workspace();
        String before = workspace.tree().visible();

        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Losses.class, "H23").klock("").manifest("""
                ver: "1.0"
                agent_id: tester
                scope:
                  - PROVIDES FILE:%s/w/out/**
                """.formatted(workspace.root())).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }
}
