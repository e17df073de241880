package dev.klock.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.KernelLostException;
import dev.klock.embedded.SessionListener;
import dev.klock.kernel.Change;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Several kernels of one home, in one JVM: what is between them is the file only. */
@Timeout(60)
class SharedKernelTest {
    private static final long WAIT_MS = 30_000;

    @TempDir
    Path home;

    private final List<EmbeddedKernel> opened = new ArrayList<>();

    @AfterEach
    void close() {
        for (EmbeddedKernel kernel : opened) {
            kernel.close();
        }
    }

    private EmbeddedKernel kernel() throws IOException {
        EmbeddedKernel kernel = SharedKernel.open(home.toFile(), KernelOptions.standard(), "1", null, null);
        opened.add(kernel);
        return kernel;
    }

    private static List<Triple> mutates(String... paths) {
        List<Triple> list = new ArrayList<>();
        for (String path : paths) {
            list.add(Triple.of(Predicate.MUTATES, Resource.file(path)));
        }
        return list;
    }

    private static EmbeddedSession session(EmbeddedKernel kernel, String name, long priority) {
        return kernel.open(SessionKey.of(name, "s"), priority, null, null);
    }

    private static List<String> shown(EmbeddedKernel kernel, SessionKey key) {
        return shown(kernel.leasesOf(key));
    }

    private static List<String> shown(List<Lease> leases) {
        return leases.stream().map(l -> l + " until " + l.expiresAtMs()).toList();
    }

    private File log() {
        File[] logs = home.resolve("kernel").toFile().listFiles((dir, name) -> !name.endsWith(".alive"));
        assertThat(logs).hasSize(1);
        return logs[0];
    }

    @Test
    @Tag("K2-5")
    void younger_ofAnotherKernel_dies_andIsGrantedAfterRelease() throws Exception {
        EmbeddedSession old = session(kernel(), "old", 1);
        EmbeddedSession young = session(kernel(), "young", 2);
        assertThat(old.acquire(mutates("/w/a"), 0, 0, false).isGranted()).isTrue();

        Acquisition refused = young.acquire(mutates("/w/b", "/w/a"), WAIT_MS, 0, false);
        assertThat(refused.verdict()).isEqualTo(Verdict.DIE);
        assertThat(refused.conflicts()).singleElement().satisfies(c -> assertThat(c.holder()).isEqualTo(old.key()));
        assertThat(young.leases()).isEmpty();

        old.close();
        young.rolledBack();
        assertThat(young.acquire(mutates("/w/b", "/w/a"), 0, 0, false).isGranted()).isTrue();
        assertThat(young.isValid()).isTrue();
    }

    @Test
    @Tag("K4-10")
    void older_waitsUntilAnotherKernelsLeaseIsFree() throws Exception {
        EmbeddedSession young = session(kernel(), "young", 2);
        EmbeddedSession old = session(kernel(), "old", 1);
        assertThat(young.acquire(mutates("/w/a"), 0, 0, false).isGranted()).isTrue();
        CompletableFuture<Acquisition> waits = old.acquireLater(mutates("/w/a"), WAIT_MS, 0, false);
        EmbeddedSession third = session(kernel(), "third", 0);
        assertThat(third.dryRun(mutates("/w/a")).conflicts()).as("who holds and who waits").hasSize(2);

        young.close();
        assertThat(waits.get(WAIT_MS, TimeUnit.MILLISECONDS).isGranted()).isTrue();
        assertThat(old.isValid()).isTrue();
        assertThat(old.state()).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K3-9")
    void lease_thatNobodyRenews_goesToWhoWaitsElsewhere() throws Exception {
        CountDownLatch lost = new CountDownLatch(1);
        EmbeddedKernel first = kernel();
        EmbeddedSession silent = first.open(SessionKey.of("silent", "s"), 2, () -> false, new SessionListener() {
            @Override
            public void leaseLost(Lease lease) {
                lost.countDown();
            }

            @Override
            public void observationUpdate(List<Change> changes) {
                throw new AssertionError("was not paused");
            }
        });
        assertThat(silent.acquire(mutates("/w/a"), 0, 300, false).isGranted()).isTrue();
        EmbeddedSession old = session(kernel(), "old", 1);
        assertThat(old.acquire(mutates("/w/a"), WAIT_MS, 0, false).isGranted()).isTrue();
        assertThat(silent.isValid()).isFalse();
        assertThat(lost.await(WAIT_MS, TimeUnit.MILLISECONDS)).isTrue();
        assertThat(silent.leases()).isEmpty();
    }

    @Test
    void manifest_longerThanAnAppend_isOneCommand() throws Exception {
        EmbeddedSession a = session(kernel(), "a", 1);
        List<Triple> many = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            many.add(Triple.of(Predicate.MUTATES, Resource.file("/w/directory with a long name and ümlauts/" + i)));
        }
        EmbeddedKernel second = kernel();
        assertThat(a.acquire(many, 0, 0, false).leases()).hasSize(2000);
        assertThat(shown(second, a.key())).hasSize(2000).isEqualTo(shown(a.leases()));
        assertThat(shown(kernel(), a.key())).as("a kernel that came later").isEqualTo(shown(a.leases()));
    }

    @Test
    void appendThatWasCutShort_isPassedOver_byWhoSawItAndByWhoComesLater() throws Exception {
        EmbeddedKernel one = kernel();
        EmbeddedKernel two = kernel();
        EmbeddedSession a = session(one, "a", 1);
        byte[] whole = Files.readAllBytes(log().toPath());
        int header = LogHeader.decode(whole, whole.length, log()).length();
        byte[] record = Arrays.copyOfRange(whole, header, whole.length);
        for (int length = 1; length < record.length; length++) {
            try (RandomAccessFile file = new RandomAccessFile(log(), "rw")) {
                file.seek(file.length());
                file.write(record, 0, length);
            }
            assertThat(two.state(a.key())).isEqualTo(a.state());
            assertThat(a.acquire(mutates("/w/" + length), 0, 0, false).isGranted()).isTrue();
            assertThat(shown(two, a.key())).isEqualTo(shown(one, a.key()));
        }
        assertThat(shown(kernel(), a.key())).hasSize(record.length - 1).isEqualTo(shown(one, a.key()));
    }

    @Test
    @Tag("FIELD-I16")
    void logThatBecameShorter_endsAllValidity() throws Exception {
        assertEndsAllValidity("shorter than it was", () -> {
            try (RandomAccessFile file = new RandomAccessFile(log(), "rw")) {
                file.setLength(file.length() - 1);
            }
        });
    }

    @Test
    @Tag("FIELD-I16")
    void logThatWasRemoved_endsAllValidity_alsoOnceThereIsAnother() throws Exception {
        assertEndsAllValidity("is not there any more", () -> {
            Files.delete(log().toPath());
            kernel();
        });
    }

    @Test
    @Tag("FIELD-I16")
    void logThatWasRemoved_endsAllValidity_thoughAnotherIsLonger() throws Exception {
        assertEndsAllValidity("is not there any more", () -> {
            Files.delete(log().toPath());
            EmbeddedSession other = session(kernel(), "b", 1);
            for (int i = 0; i < 100; i++) {
                assertThat(other.acquire(mutates("/w/" + i), 0, 0, false).isGranted()).isTrue();
            }
        });
    }

    @Test
    @Tag("FIELD-I16")
    void logThatWasCutBetweenRecords_endsAllValidity_onceSomebodyHasWrittenOn() throws Exception {
        assertEndsAllValidity("somebody else than klock has", () -> {
            byte[] whole = Files.readAllBytes(log().toPath());
            int header = LogHeader.decode(whole, whole.length, log()).length();
            try (RandomAccessFile file = new RandomAccessFile(log(), "rw")) {
                file.setLength(header);
            }
            EmbeddedSession other = session(kernel(), "b", 1);
            for (int i = 0; i < 100; i++) {
                assertThat(other.acquire(mutates("/w/" + i), 0, 0, false).isGranted()).isTrue();
            }
        });
    }

    @Test
    @Tag("FIELD-I16")
    void logOfWhichAnyByteWasChanged_isRefusedByWhoeverComes() throws Exception {
        EmbeddedSession a = session(kernel(), "a", 1);
        assertThat(a.acquire(mutates("/w/KLKC"), 0, 0, false).isGranted()).isTrue();
        byte[] whole = Files.readAllBytes(log().toPath());
        int header = LogHeader.decode(whole, whole.length, log()).length();
        for (int i = header; i < whole.length; i++) {
            for (int bit : new int[] {1, 128}) {
                byte[] changed = whole.clone();
                changed[i] ^= (byte) bit;
                Path another = home.resolve("changed-" + i + "-" + bit);
                Files.write(Files.createDirectories(another.resolve("kernel")).resolve(log().getName()), changed);
                assertThatThrownBy(() -> SharedKernel.open(another.toFile(), KernelOptions.standard(), "1", null, null).close(), "byte %d of %d", i, whole.length)
                        .hasMessageContaining("somebody else than klock has changed it");
            }
        }
    }

    private interface Damage {
        void done() throws Exception;
    }

    private void assertEndsAllValidity(String reason, Damage damage) throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        EmbeddedKernel one = kernel();
        EmbeddedSession a = one.open(SessionKey.of("a", "s"), 1, null, new SessionListener() {
            @Override
            public void leaseLost(Lease lease) {
                told.add(lease.toString());
            }

            @Override
            public void observationUpdate(List<Change> changes) {
                told.add(changes.toString());
            }

            @Override
            public void kernelLost(KernelLostException cause) {
                told.add(cause.getMessage());
            }
        });
        assertThat(a.acquire(mutates("/w/a"), 0, 0, false).isGranted()).isTrue();
        damage.done();
        for (int i = 0; i < 1000 && a.isValid(); i++) {
            Thread.sleep(10);
        }
        assertThat(a.isValid()).as("found by itself").isFalse();
        assertThatThrownBy(() -> a.acquire(mutates("/w/b"), 0, 0, false)).isInstanceOf(IllegalStateException.class).hasMessageContaining(reason);
        for (int i = 0; i < 1000 && told.isEmpty(); i++) {
            Thread.sleep(10);
        }
        assertThat(told).singleElement().asString().contains(reason);
    }

    @Test
    @Tag("FIELD-I16")
    void otherVersion_isRefused() throws Exception {
        kernel();
        assertThatThrownBy(() -> SharedKernel.open(home.toFile(), KernelOptions.standard(), "2", null, null)).isInstanceOf(IOException.class)
                .hasMessageContaining("klock 1 is at work with this home, and this is klock 2");
        Files.write(log().toPath(), new byte[50]);
        assertThatThrownBy(this::kernel).isInstanceOf(IOException.class).hasMessageContaining("is no kernel log");
    }

    /** All go by the clock of the log, which began with that of one of them, and goes on with what the machine counts by itself. */
    @Test
    @Tag("FIELD-I03")
    void wallClocks_thatAreHoursApart_endNoLeaseEarly_andLetNoneLast() throws Exception {
        for (long offMs : new long[] {TimeUnit.HOURS.toMillis(1), -TimeUnit.HOURS.toMillis(1)}) {
            Path off = home.resolve("off" + offMs);
            Files.createDirectories(off.resolve("kernel"));
            LogHeader header = new LogHeader(Machine.random(), "k", 1, System.currentTimeMillis() + offMs, System.nanoTime(), Machine.uptimeMs(), "1");
            Files.write(off.resolve("kernel").resolve(Machine.bootId() + ".0"), header.encode());
            EmbeddedKernel one = SharedKernel.open(off.toFile(), KernelOptions.standard(), "1", null, null);
            opened.add(one);
            EmbeddedKernel two = SharedKernel.open(off.toFile(), KernelOptions.standard(), "1", null, null);
            opened.add(two);
            EmbeddedSession holder = one.open(SessionKey.of("holder", "s"), 5, () -> false, null);
            EmbeddedSession younger = two.open(SessionKey.of("younger", "s"), 6, null, null);
            EmbeddedSession older = two.open(SessionKey.of("older", "s"), 4, null, null);
            assertThat(holder.acquire(mutates("/w/a"), 0, 3_000, false).isGranted()).isTrue();

            assertThat(younger.acquire(mutates("/w/a"), 0, 0, false).verdict()).as("it is held").isEqualTo(Verdict.DIE);
            assertThat(older.acquire(mutates("/w/a"), WAIT_MS, 0, false).isGranted()).as("and runs out").isTrue();
            assertThat(holder.isValid()).isFalse();
            assertThat(Math.abs(two.nowMs() - System.currentTimeMillis() - offMs)).as("two goes by the log's clock").isLessThan(TimeUnit.MINUTES.toMillis(10));
        }
    }

    @Test
    void log_thatHasGrown_isBegunAnewOnceNobodyHoldsAnything_andTokensGoOn() throws Exception {
        EmbeddedKernel early = kernel();
        EmbeddedSession a = session(early, "a", 1);
        long token = 0;
        while (log().length() < 1 << 18) {
            List<Lease> leases = a.acquire(mutates("/w/a"), 0, 0, false).leases();
            token = leases.get(0).fencingToken();
            a.release(leases);
        }
        assertThat(a.acquire(mutates("/w/a"), 0, 0, false).isGranted()).isTrue();
        File first = log();
        EmbeddedKernel late = kernel();
        assertThat(log()).as("somebody holds something").isEqualTo(first);
        a.close();

        EmbeddedKernel later = kernel();
        assertThat(log()).isNotEqualTo(first);
        assertThat(log().length()).isLessThan(4096);
        EmbeddedSession c = session(later, "c", 3);
        Lease next = c.acquire(mutates("/w/a"), 0, 0, false).leases().get(0);
        assertThat(next.fencingToken()).isGreaterThan(token + 1);
        EmbeddedSession b = session(early, "b", 2);
        assertThat(b.acquire(mutates("/w/a"), 0, 0, false).verdict()).as("it has seen the seal").isEqualTo(Verdict.PAUSED);
        assertThat(shown(late, c.key())).isEqualTo(shown(List.of(next)));
        assertThat(a.state()).isNull();
    }

    @Test
    @Tag("K2-8")
    void commandsOfManyThreadsAndKernels_leaveAllInOneState() throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        List<EmbeddedKernel> kernels = List.of(kernel(), kernel(), kernel());
        for (int t = 0; t < 6; t++) {
            EmbeddedSession s = session(kernels.get(t % 3), "agent" + t, t);
            Random random = new Random(t);
            Thread thread = new Thread(() -> {
                try {
                    for (int i = 0; i < 300; i++) {
                        Acquisition a = s.acquire(mutates("/w/" + random.nextInt(4), "/w/" + random.nextInt(4)), 5, 0, false);
                        if (a.verdict() == Verdict.DIE) {
                            s.rolledBack();
                        } else if (random.nextBoolean()) {
                            s.release(a.leases());
                        }
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        EmbeddedKernel late = kernel();
        for (int t = 0; t < 6; t++) {
            SessionKey key = SessionKey.of("agent" + t, "s");
            for (EmbeddedKernel kernel : kernels) {
                assertThat(shown(kernel, key)).isEqualTo(shown(late, key));
                assertThat(kernel.state(key)).isEqualTo(late.state(key));
            }
        }
        assertThat(late.queue()).isEqualTo(kernels.get(0).queue());
        assertThat(late.overview(null, 10)).usingRecursiveComparison().isEqualTo(kernels.get(0).overview(null, 10));
    }
}
