package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An allowed, repeated access allocates nothing (DESIGN part 7). */
class ObserverAllocationTest {
    private static final int ROUNDS = 20_000;

    @TempDir
    Path temp;
    private Fixture f;

    @BeforeEach
    void tree() throws IOException {
        Path w = temp.toRealPath();
        Files.createDirectories(w.resolve("in"));
        Files.createDirectories(w.resolve("out"));
        Files.writeString(w.resolve("in/a"), "in");
        Files.writeString(w.resolve("out/a"), "out");
        f = new Fixture(w).m0().start();
        f.quiet = true;
    }

    private static long allocated(Runnable access) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        for (int i = 0; i < 200; i++) {
            access.run();
        }
        long cost = Long.MAX_VALUE;
        // asking allocates now and then; the smallest of a few is what the access itself costs
        for (int round = 0; round < 5 && cost > 0; round++) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < ROUNDS; i++) {
                access.run();
            }
            cost = Math.min(cost, threads.getThreadAllocatedBytes(self) - before);
        }
        return cost / ROUNDS;
    }

    @Test
    void a_repeated_read_by_name_allocates_nothing() {
        String name = f.at("/in/a");
        assertThat(allocated(() -> f.hooks.name(Op.OPEN_READ.code(), name, 0))).isZero();
    }

    @Test
    void a_repeated_read_by_bytes_allocates_nothing() {
        byte[] name = f.bytesAt("/in/a");
        assertThat(allocated(() -> {
            f.hooks.path(Op.OPEN_FLAGS.code(), name, 0);
            f.hooks.end(Op.OPEN_FLAGS.code(), -1);
        })).isZero();
    }

    @Test
    void a_repeated_probe_allocates_nothing() {
        byte[] name = f.bytesAt("/in/a");
        assertThat(allocated(() -> f.hooks.path(Op.PROBE.code(), name, 0))).isZero();
    }
}
