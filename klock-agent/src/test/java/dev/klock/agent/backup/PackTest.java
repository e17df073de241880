package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PackTest {
    private static final byte[] HEAD = Work.bytes("head");

    @TempDir
    Path directory;
    private Path file;
    private Pack pack;

    @BeforeEach
    void create() throws IOException {
        file = directory.resolve("pack");
        pack = Pack.create(file);
    }

    /** Heads and the lengths of data of all records that a fresh look finds. */
    private List<String> onDisk() throws IOException {
        List<String> found = new ArrayList<>();
        Pack.open(file, true, true, (type, head, at, length, intact) -> found.add(type + ":" + length + (intact ? "" : " damaged"))).close();
        return found;
    }

    private static String text(Pack pack, long at, int length) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        pack.copy(at, length, out, null);
        return out.toString();
    }

    @Test
    @Tag("K6-8")
    void recordsThatWait_areWrittenBySyncAndNotBefore() throws IOException {
        pack.append(1, HEAD, Work.bytes("one"), 3, true);
        pack.append(2, HEAD, null, 0, true);
        assertThat(Files.size(file)).isZero();
        assertThat(pack.durable()).isZero();
        pack.sync(pack.end());
        assertThat(onDisk()).containsExactly("1:3", "2:0");
        assertThat(pack.durable()).isEqualTo(pack.end()).isEqualTo(Files.size(file));
    }

    @Test
    void recordThatDoesNotWait_takesThoseBeforeItAlong() throws IOException {
        pack.append(1, HEAD, Work.bytes("one"), 3, true);
        pack.append(2, HEAD, Work.bytes("two"), 3);
        assertThat(onDisk()).containsExactly("1:3", "2:3");
    }

    @Test
    void dataOfARecordThatWaits_canBeRead() throws IOException {
        long one = pack.append(1, HEAD, Work.bytes("one"), 3, true);
        long two = pack.append(1, HEAD, Work.bytes("second"), 6, true);
        assertThat(text(pack, two, 6)).isEqualTo("second");
        assertThat(text(pack, one, 3)).isEqualTo("one");
    }

    @Test
    void recordsOfAnySize_waitingOrNot_areReadBackInOrder() throws IOException {
        Random random = new Random(11);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            byte[] data = new byte[random.nextInt(8) == 0 ? random.nextInt(400_000) : random.nextInt(3000)];
            random.nextBytes(data);
            pack.append(i, HEAD, data, data.length, random.nextInt(5) != 0);
            expected.add(i + ":" + data.length);
            if (random.nextInt(50) == 0) {
                pack.sync(pack.end());
            }
        }
        pack.close();
        assertThat(onDisk()).containsExactlyElementsOf(expected);
    }
}
