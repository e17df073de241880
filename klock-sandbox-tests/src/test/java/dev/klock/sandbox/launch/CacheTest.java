package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The user's cache of compiled manifests and woven classes: what comes from it holds as what is made anew, and nothing needs it. */
class CacheTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String ASM = "dev.klock.carried.asm.ClassWriter";
    private static final String YAML = "dev.klock.carried.snakeyaml.parser.ParserImpl";

    @TempDir
    Path directory;
    private Path caches;
    private Workspace workspace;

    @BeforeEach
    void prepare() throws IOException {
        Files.createDirectories(directory.resolve("work"));
        caches = Files.createDirectories(directory.toRealPath().resolve("caches"));
        workspace = Workspace.in(directory.resolve("work"));
    }

    private Child child(Jdk jdk, String... steps) {
        return workspace.watched(jdk, "", steps).env("XDG_CACHE_HOME", caches.toString()).jvm("-Xlog:class+load:file=" + classLog());
    }

    private Path classLog() {
        return directory.resolve("loaded.txt");
    }

    /** Which of ASM and the YAML reader the last child loaded. */
    private List<String> loaded() throws IOException {
        String log = Files.readString(classLog());
        return Stream.of(ASM, YAML).filter(log::contains).toList();
    }

    private void strays(Jdk jdk) {
        String before = workspace.tree().visible();
        Outcome outcome = child(jdk, "write w/out/new more", "write w/x stray").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    private List<Path> kept() throws IOException {
        try (Stream<Path> files = Files.list(caches.resolve("klock"))) {
            return files.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void secondStart_cachesWarm_readsNeitherYamlNorWeavesAndHoldsAsTheFirst(Jdk jdk) throws IOException {
        strays(jdk);
        assertThat(loaded()).containsExactly(ASM, YAML);
        assertThat(kept()).extracting(f -> f.getFileName().toString().replaceAll("-.*", "")).containsExactly("manifest", "woven");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(caches.resolve("klock")))).isEqualTo("rwx------");

        strays(jdk);
        assertThat(loaded()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void secondStart_manifestChanged_goesByTheNewOne(Jdk jdk) {
        Outcome first = child(jdk, "write w/out/a x").run();
        assertThat(first.exit()).as(first.toString()).isZero();

        Outcome second = child(jdk, "write w/out/a x").manifest(workspace.manifest().replace("MUTATES", "CONSUMES")).run();
        assertThat(second.exit()).as(second.toString()).isEqualTo(108);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void secondStart_filesDamagedOrForeign_holdsAndMakesThemAgain(Jdk jdk) throws IOException {
        strays(jdk);
        for (Path file : kept()) {
            byte[] bytes = Files.readAllBytes(file);
            bytes[bytes.length / 2] ^= 1;
            Files.write(file, bytes);
        }
        strays(jdk);
        assertThat(loaded()).containsExactly(ASM, YAML);
        for (Path file : kept()) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
        strays(jdk);
        assertThat(loaded()).containsExactly(ASM, YAML);
        strays(jdk);
        assertThat(loaded()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void start_noPlaceForACache_worksWithout(Jdk jdk) throws IOException {
        Files.writeString(caches.resolve("klock"), "not a directory");
        strays(jdk);
        assertThat(caches.resolve("klock")).hasContent("not a directory");
        caches = directory.resolve("no/such/place");
        strays(jdk);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void program_declaredAboveTheCache_isKeptOutOfIt(Jdk jdk) throws IOException {
        caches = Files.createDirectories(workspace.root().resolve("w/out/caches"));
        Outcome first = child(jdk, "read w/in/a").run();
        assertThat(first.exit()).as(first.toString()).isZero();
        Path woven = kept().get(1);
        byte[] before = Files.readAllBytes(woven);

        Outcome second = child(jdk, "write " + woven + " forged").run();

        assertThat(second.exit()).as(second.toString()).isEqualTo(108);
        assertThat(Files.readAllBytes(woven)).isEqualTo(before);
    }
}
