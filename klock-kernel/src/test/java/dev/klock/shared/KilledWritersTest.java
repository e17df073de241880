package dev.klock.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share a kernel and are killed at random moments: {@link Writer}s. */
@Timeout(240)
class KilledWritersTest {
    private static final int WRITERS = 4;
    private static final int KILLS = 12 * Integer.getInteger("klock.test.scale", 1);

    @TempDir
    Path directory;

    private int started;

    private Process start(Path verdicts) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
        return new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Writer.class.getName(),
                directory.resolve("home").toString(), directory.toString(), "writer" + started, Integer.toString(started++))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(verdicts.toFile())).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    @Test
    @Tag("FIELD-I05")
    @Tag("FIELD-I18")
    @Tag("K7-8")
    void filesOfWritersThatAreKilled_haveEachNumberOnce() throws Exception {
        Path verdicts = directory.resolve("verdicts");
        Random random = new Random(7);
        List<Process> writers = new ArrayList<>();
        try {
            for (int i = 0; i < WRITERS; i++) {
                writers.add(start(verdicts));
            }
            for (int i = 0; i < KILLS; i++) {
                Thread.sleep(random.nextInt(600));
                Process killed = writers.remove(random.nextInt(WRITERS));
                assertThat(killed.isAlive()).isTrue();
                killed.destroyForcibly().waitFor();
                writers.add(start(verdicts));
            }
            for (Process w : writers) {
                w.getOutputStream().write('x');
                w.getOutputStream().flush();
            }
            for (Process w : writers) {
                assertThat(w.waitFor()).isZero();
            }
        } finally {
            writers.forEach(Process::destroyForcibly);
        }
        for (int i = 0; i < Writer.FILES; i++) {
            List<String> lines = Files.readAllLines(directory.resolve("f" + i));
            for (int n = 0; n < lines.size(); n++) {
                assertThat(lines.get(n)).as("line %d of f%d", n + 1, i).isEqualTo(Integer.toString(n + 1));
            }
        }
        TreeMap<String, Integer> counts = new TreeMap<>();
        Files.readAllLines(verdicts).forEach(v -> counts.merge(v, 1, Integer::sum));
        assertThat(counts.get("GRANTED")).as(counts.toString()).isGreaterThan(100);
        assertThat(counts.get("DIE")).as(counts.toString()).isGreaterThan(10);
        Thread.sleep(2 * Writer.TTL_MS);
        try (EmbeddedKernel kernel = SharedKernel.open(directory.resolve("home").toFile(), KernelOptions.standard(), "1", null, null)) {
            assertThat(kernel.queue()).isEmpty();
            List<Triple> all = new ArrayList<>();
            for (int i = 0; i < Writer.FILES; i++) {
                all.add(Triple.of(Predicate.MUTATES, Resource.file(directory.resolve("f" + i).toString())));
            }
            EmbeddedSession last = kernel.open(SessionKey.of("last", "s"), Long.MAX_VALUE, null, null);
            assertThat(last.acquire(all, 0, 0, false).isGranted()).as("no lease of a process that is gone").isTrue();
        }
    }
}
