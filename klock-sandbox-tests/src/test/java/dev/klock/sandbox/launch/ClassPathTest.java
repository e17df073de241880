package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.ReadsClassPath;
import dev.klock.sandbox.subject.Replacer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the manifests of jars put on the class path needs no line, as little as what the command line puts there. */
class ClassPathTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String CLASS = ReadsClassPath.class.getName().replace('.', '/') + ".class";

    @TempDir
    Path directory;

    private Workspace workspace;
    private Path program;

    /** app.jar names a jar by an encoded name; that names a directory beside itself. */
    @BeforeEach
    void make() throws IOException {
        workspace = Workspace.in(directory);
        Path app = Files.createDirectories(workspace.root().resolve("app/lib/classes")).getParent().getParent();
        program = app.resolve("app.jar");
        byte[] main = Files.readAllBytes(Child.placeOf(ReadsClassPath.class).resolve(CLASS));
        jar(program, "lib/a%2bb.jar", CLASS, main);
        jar(app.resolve("lib/a+b.jar"), "classes/ missing.jar http://x.invalid/y.jar", "META-INF/services/java.lang.Runnable", "# none\n".getBytes());
        Files.writeString(app.resolve("lib/classes/deep.txt"), "deep\n");
    }

    private static void jar(Path file, String classPath, String entry, byte[] content) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, ReadsClassPath.class.getName());
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, classPath);
        try (OutputStream out = Files.newOutputStream(file); JarOutputStream jar = new JarOutputStream(out, manifest)) {
            jar.putNextEntry(new ZipEntry(entry));
            jar.write(content);
            jar.putNextEntry(new ZipEntry("r.txt"));
            jar.write((file.getFileName() + "\n").getBytes());
        }
    }

    private Outcome run(Jdk jdk, String options, String... steps) {
        String manifest = workspace.manifest() + "  - MUTATES FILE:${workspace}/app/*\n";
        return Child.on(jdk).in(workspace.root()).jar(program, steps).klock(options).manifest(manifest).run();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void resources_ofJarsThatOnlyAManifestNames_needNoLine(Jdk jdk) {
        String[][] ways = {{"resource /r.txt", "resource /deep.txt"}, {"service"}, {"jar app/lib/a+b.jar"}, {"read app/lib/classes/deep.txt"}};
        for (String[] steps : ways) {
            Outcome outcome = run(jdk, "", steps);
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.err()).contains(" 0 denied");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void resources_ofTheAgentsOwnJarAndOfAJarBehindALink_needNoLine(Jdk jdk) throws IOException {
        Path link = Files.createSymbolicLink(Files.createDirectory(workspace.root().resolve("links")).resolve("linked.jar"), program);
        String manifest = workspace.manifest();
        Outcome outcome = Child.on(jdk).in(workspace.root()).jar(link, "all META-INF/MANIFEST.MF", "resource /r.txt", "resource /deep.txt", "jar links/linked.jar")
                .klock("").manifest(manifest).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).contains("klock.jar", "deep");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void link_onTheClassPath_thatTheProgramMayMake_leadsNowhereElse(Jdk jdk) throws IOException {
        Path root = workspace.root();
        Path secret = root.resolve("w/private/p");
        Files.createSymbolicLink(root.resolve("app/lib/classes/linked.txt"), secret);
        // the directory of classes is one that nothing declared reaches, so the link is the user's
        Outcome theirs = Child.on(jdk).in(root).jar(program, "resource /linked.txt").klock("").manifest(workspace.manifest()).run();
        assertThat(theirs.exit()).as(theirs.toString()).isZero();

        for (String[] steps : new String[][] {{"link w/out/c/ln /", "resource /ln" + secret}, {"link w/out/c/p " + secret, "resource /p"},
            {"link w/out/c/ln " + secret.getParent(), "resource /ln/p", "read w/private/p"}, {"resource /before/p"}}) {
            Files.deleteIfExists(root.resolve("w/out/c/before"));
            Files.createSymbolicLink(root.resolve("w/out/c/before"), secret.getParent());
            Outcome own = Child.on(jdk).in(root).main(ReadsClassPath.class, steps).classPath(List.of(root.resolve("w/out/c"))).klock("")
                    .manifest(workspace.manifest()).run();
            assertThat(own.exit()).as(own.toString()).isEqualTo(108);
            assertThat(own.out()).doesNotContain("first of");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void jar_thatTheSessionHasReplaced_putsNothingOnTheClassPath(Jdk jdk) throws IOException {
        jar(workspace.root().resolve("w/in/other.jar"), "../w/private/", "x", new byte[0]);

        Outcome outcome = run(jdk, "", "replace w/in/other.jar app/app.jar", "read w/private/p");

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.out()).doesNotContain("first of");
    }

    /** A module of the program's is none of the JDK's, although the same layer has both: what it removes is no part of how the JDK replaces a file. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C34")
    void moduleOfTheProgram_calledWhileTheJdkReplacesAFile_mayNotRemoveAnother(Jdk jdk) throws IOException {
        Path out = workspace.root().resolve("w/out");
        Files.writeString(out.resolve("victim"), "stays");
        Files.writeString(out.resolve("image.png"), "");
        String before = workspace.tree().visible();
        String name = Replacer.class.getName();
        Path modules = Files.createDirectory(directory.resolve("modules"));
        jar(modules.resolve("replacer.jar"), "", name.replace('.', '/') + ".class",
                Files.readAllBytes(Child.placeOf(Replacer.class).resolve(name.replace('.', '/') + ".class")));
        String manifest = "ver: '1.0'\nagent_id: t\nscope:\n  - CONSUMES FILE:" + modules + "/**\n  - MUTATES FILE:${workspace}/w/out/*\n";
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Replacer.class).klock("").manifest(manifest)
                .jvm("-Dplace=" + out, "--module-path", modules.toString(), "--add-modules", "java.desktop", "-m", "replacer/" + name).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("true\n");
        assertThat(outcome.exit()).isEqualTo(108);
        assertThat(outcome.err()).contains("DELETES on FILE:" + out + "/victim");
        assertThat(workspace.tree().visible()).isEqualTo(before);
    }
}
