package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;

/** However much of the pack's end is lost or damaged, no path gets anything but its start state: it is restored, or left, never a mixture. */
class TornPackTest {
    @Property(tries = 150)
    @Tag("K6-5")
    @Tag("K6-8")
    void rollback_fromAPackCutOrDamagedAnywhere_neverRestoresWrongly(@ForAll @IntRange(max = 100_000) int where, @ForAll @IntRange(max = 3) int damage)
            throws IOException {
        Path dir = Files.createTempDirectory("klock-torn").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            for (int i = 0; i < 6; i++) {
                Files.writeString(root.resolve("f" + i), "start " + i + "x".repeat(i * 300));
            }
            Map<String, String> before = contents(root);
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                Work work = new Work(b);
                for (int i = 0; i < 5; i++) {
                    work.write(root.resolve("f" + i), "changed " + i);
                }
                work.delete(root.resolve("f4"));
                work.rename(root.resolve("f5"), root.resolve("g"));
                work.write(root.resolve("new"), "made");
                work.mkdir(root.resolve("d"));
                work.write(root.resolve("d/e"), "made");
            }
            Map<String, String> after = contents(root);
            Path pack = home.resolve("backups/s/pack");
            byte[] bytes = Files.readAllBytes(pack);
            int at = (int) ((long) where * bytes.length / 100_001);
            Random random = new Random(where);
            switch (damage) {
                case 0: bytes = Arrays.copyOf(bytes, at); break;
                case 1: Arrays.fill(bytes, at, bytes.length, (byte) 0); break;
                case 2: {
                    byte[] noise = new byte[bytes.length - at];
                    random.nextBytes(noise);
                    System.arraycopy(noise, 0, bytes, at, noise.length);
                    break;
                }
                default: bytes[at] ^= (byte) (1 << random.nextInt(8)); break;
            }
            Files.write(pack, bytes);
            RollbackReport report;
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                report = b.rollback();
            }
            Map<String, String> now = contents(root);
            for (String name : new String[] {"f0", "f1", "f2", "f3", "f4", "f5", "g", "new", "d", "d/e"}) {
                assertThat(now.get(name)).as("%s, damage %s at %s: %s", name, damage, at, report).isIn(before.get(name), after.get(name));
            }
            assertThat(now.keySet()).isSubsetOf("f0", "f1", "f2", "f3", "f4", "f5", "g", "new", "d", "d/e");
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    private static Map<String, String> contents(Path root) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (var all = Files.walk(root)) {
            for (Path p : (Iterable<Path>) all::iterator) {
                if (!p.equals(root)) {
                    contents.put(root.relativize(p).toString(), Files.isDirectory(p) ? "directory" : Files.readString(p));
                }
            }
        }
        return contents;
    }
}
