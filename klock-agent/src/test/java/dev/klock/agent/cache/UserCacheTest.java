package dev.klock.agent.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserCacheTest {
    private static final byte[] BUILD = {1, 2, 3, 4};
    private static final byte[] CONTENT = {5, 6, 7};

    @TempDir
    Path directory;
    private UserCache cache;

    @BeforeEach
    void open() {
        cache = UserCache.in(directory.toFile(), BUILD);
    }

    @Test
    void get_afterPut_givesTheContent() throws IOException {
        cache.put("woven-1", CONTENT);

        assertThat(cache.get("woven-1")).isEqualTo(CONTENT);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("woven-1")))).isEqualTo("rw-------");
        assertThat(names()).containsExactly("woven-1");
    }

    @Test
    void get_nothingKept_givesNull() {
        assertThat(cache.get("woven-1")).isNull();
    }

    @Test
    void get_anyByteChanged_givesNull() throws IOException {
        cache.put("woven-1", CONTENT);
        Path file = directory.resolve("woven-1");
        byte[] whole = Files.readAllBytes(file);
        for (int i = 0; i < whole.length; i++) {
            byte[] changed = whole.clone();
            changed[i] ^= 0x10;
            Files.write(file, changed);
            assertThat(cache.get("woven-1")).as("byte %d", i).isNull();
        }
    }

    @Test
    void get_cutShortAnywhere_givesNull() throws IOException {
        cache.put("woven-1", CONTENT);
        Path file = directory.resolve("woven-1");
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length++) {
            Files.write(file, java.util.Arrays.copyOf(whole, length));
            assertThat(cache.get("woven-1")).as("%d bytes", length).isNull();
        }
    }

    @Test
    void get_writtenByAnotherBuild_givesNull() {
        UserCache.in(directory.toFile(), new byte[] {1, 2, 3, 5}).put("woven-1", CONTENT);

        assertThat(cache.get("woven-1")).isNull();
    }

    @Test
    void get_othersMayWriteIt_givesNull() throws IOException {
        cache.put("woven-1", CONTENT);
        Files.setPosixFilePermissions(directory.resolve("woven-1"), PosixFilePermissions.fromString("rw-rw----"));

        assertThat(cache.get("woven-1")).isNull();
    }

    @Test
    void get_symbolicLink_givesNull() throws IOException {
        cache.put("elsewhere", CONTENT);
        Files.createSymbolicLink(directory.resolve("woven-1"), directory.resolve("elsewhere"));

        assertThat(cache.get("woven-1")).isNull();
    }

    @Test
    void put_overADamagedFile_replacesIt() throws IOException {
        Files.write(directory.resolve("woven-1"), new byte[100]);
        cache.put("woven-1", CONTENT);

        assertThat(cache.get("woven-1")).isEqualTo(CONTENT);
    }

    @Test
    void put_noSuchDirectory_doesNothing() {
        UserCache nowhere = UserCache.in(directory.resolve("none").toFile(), BUILD);
        nowhere.put("woven-1", CONTENT);

        assertThat(nowhere.get("woven-1")).isNull();
        assertThat(directory.resolve("none")).doesNotExist();
    }

    @Test
    void put_manyNames_keepsABoundedNumber() throws IOException {
        for (int i = 0; i < 100; i++) {
            cache.put("woven-" + i, CONTENT);
        }

        assertThat(names()).hasSizeLessThan(50).contains("woven-99");
    }

    @Test
    void name_ofAnotherBuildOrKey_differs() {
        String name = cache.name("woven", "jdk 17");

        assertThat(cache.name("woven", "jdk 17")).isEqualTo(name);
        assertThat(cache.name("woven", "jdk 25")).isNotEqualTo(name);
        assertThat(UserCache.in(directory.toFile(), new byte[] {9}).name("woven", "jdk 17")).isNotEqualTo(name);
    }

    private java.util.List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(f -> f.getFileName().toString()).toList();
        }
    }
}
