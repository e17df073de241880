package dev.klock.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.SessionListener;
import dev.klock.embedded.Undertaker;
import dev.klock.kernel.Change;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a process held that was killed: far from its time to live's end, and after its work was undone. */
@Timeout(60)
class GoneTest {
    private static final SessionKey HOLDER = SessionKey.of("holder", "s");
    private static final List<Triple> A = List.of(Triple.of(Predicate.MUTATES, Resource.file("/w/a")));

    @TempDir
    Path home;

    private final List<SessionKey> undone = new CopyOnWriteArrayList<>();
    private Process holder;
    private EmbeddedKernel kernel;

    @BeforeEach
    void holds() throws IOException {
        holder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin/java").toString(), "-cp", System.getProperty("java.class.path"),
                Holder.class.getName(), home.toString(), "5", "/w/a").redirectError(ProcessBuilder.Redirect.INHERIT).start();
        assertThat(new BufferedReader(new InputStreamReader(holder.getInputStream())).readLine()).isEqualTo("GRANTED");
    }

    @AfterEach
    void end() {
        holder.destroyForcibly();
        kernel.close();
    }

    private EmbeddedSession session(Undertaker undertaker, long priority) throws IOException {
        kernel = SharedKernel.open(home.toFile(), KernelOptions.standard(), "1", undertaker, null);
        return kernel.open(SessionKey.of("asks", "s"), priority, null, null);
    }

    private boolean undo(SessionKey gone) {
        assertThat(kernel.leasesOf(gone)).as("still kept from others").hasSize(1);
        undone.add(gone);
        return true;
    }

    private void kill() throws InterruptedException {
        holder.destroyForcibly().waitFor();
    }

    @Test
    @Tag("FIELD-I04")
    @Tag("FIELD-I05")
    void leaseOfAProcessThatWasKilled_isFreeAtOnceForAYoungerOne_onceItsWorkIsUndone() throws Exception {
        EmbeddedSession young = session(this::undo, 9);
        assertThat(young.acquire(A, 1000, 0, false).verdict()).as("it is there still").isEqualTo(Verdict.DIE);
        young.rolledBack();
        kill();
        assertThat(young.acquire(A, 1000, 0, false).isGranted()).isTrue();
        assertThat(undone).containsExactly(HOLDER);
        assertThat(kernel.state(HOLDER)).isEqualTo(LifeCycle.ABORTED);
    }

    @Test
    @Tag("FIELD-I05")
    @Tag("FIELD-I14")
    void whoWaitsForAProcessThatIsKilled_isGranted_notBeforeItsWorkIsUndone() throws Exception {
        CountDownLatch undoing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        EmbeddedSession old = session(gone -> {
            undoing.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return undo(gone);
        }, 1);
        CompletableFuture<Acquisition> waits = old.acquireLater(A, 50_000, 0, false);
        kill();
        assertThat(undoing.await(50, TimeUnit.SECONDS)).isTrue();
        Thread.sleep(100);
        assertThat(waits).isNotDone();
        goOn.countDown();
        assertThat(waits.get(50, TimeUnit.SECONDS).isGranted()).isTrue();
        assertThat(undone).containsExactly(HOLDER);
    }

    /** Somebody has removed what tells that it is there. */
    @Test
    @Tag("FIELD-I16")
    void processOfWhichNothingTells_isNotTakenForGone_andOfOneThatIsGoneNothingIsLeftInTheEnd() throws Exception {
        EmbeddedSession young = session(this::undo, 9);
        File[] alive = presence();
        byte[] nothing = Files.readAllBytes(alive[0].toPath());
        Files.delete(alive[0].toPath());
        assertThat(young.acquire(A, 100, 0, false).verdict()).isEqualTo(Verdict.DIE);
        assertThat(undone).isEmpty();
        young.rolledBack();

        Files.write(alive[0].toPath(), nothing);
        kill();
        assertThat(young.acquire(A, 1000, 0, false).isGranted()).isTrue();
        Path stale = alive[0].toPath().resolveSibling(alive[0].getName().replaceFirst("[.].*", ".abc.999999999.alive"));
        Path ofAnotherBoot = stale.resolveSibling("another.abc.999999999.alive");
        Files.createFile(stale);
        Files.createFile(ofAnotherBoot);
        SharedKernel.open(home.toFile(), KernelOptions.standard(), "1", null, null).close();
        assertThat(alive[0]).as("its session is remembered").exists();
        assertThat(stale).doesNotExist();
        assertThat(ofAnotherBoot).doesNotExist();
    }

    private File[] presence() {
        File[] alive = home.resolve("kernel").toFile().listFiles((dir, name) -> name.contains("." + holder.pid() + "-") && name.endsWith(".alive"));
        assertThat(alive).hasSize(1);
        return alive;
    }

    /** As in containers, where each is PID 1. */
    @Test
    @Tag("FIELD-I04")
    void processThatHadTheNumberOfThisOne_isGoneOnceItHasEnded() throws Exception {
        EmbeddedSession young = session(this::undo, 9);
        File alive = presence()[0];
        kill();
        Path ofTheSameNumber = alive.toPath().resolveSibling(alive.getName().replace("." + holder.pid() + "-", "." + ProcessHandle.current().pid() + "-"));
        Files.move(alive.toPath(), ofTheSameNumber);
        assertThat(young.acquire(A, 1000, 0, false).isGranted()).isTrue();
        assertThat(undone).containsExactly(HOLDER);
    }

    @Test
    @Tag("C45")
    void workThatCannotBeUndone_keepsOthersAway() throws Exception {
        EmbeddedSession old = session(gone -> false, 1);
        kill();
        Acquisition refused = old.acquire(A, 200, 0, false);
        assertThat(refused.verdict()).isEqualTo(Verdict.DIE);
        assertThat(refused.timedOut()).isTrue();
        assertThat(kernel.holders(SessionKey.DEFAULT_NAMESPACE, Resource.file("/w/a"))).singleElement()
                .satisfies(lease -> assertThat(lease.session()).isEqualTo(HOLDER));
    }

    @Test
    @Tag("K3-1")
    void buryGone_endsWhoHoldsSomething_afterItsWorkIsUndone_andNobodyWhoIsThere() throws Exception {
        session(this::undo, 9);
        kernel.buryGone(0);
        assertThat(kernel.leasesOf(HOLDER)).as("it is there still").hasSize(1);
        kill();
        kernel.buryGone(Long.MAX_VALUE);
        assertThat(undone).containsExactly(HOLDER);
        assertThat(kernel.leasesOf(HOLDER)).isEmpty();
        assertThat(kernel.state(HOLDER)).isEqualTo(LifeCycle.ABORTED);
    }

    @Test
    void processOf_namesItsProcess_asItsChildrenNameTheirAncestors() throws Exception {
        session(this::undo, 9);
        assertThat(kernel.processOf(HOLDER)).startsWith(holder.pid() + " ");
        assertThat(kernel.processOf(SessionKey.of("asks", "s"))).as("this process's own").isNull();
        assertThat(Ancestors.names()).doesNotContain(Ancestors.own());
        assertThat(Ancestors.names()).doesNotContain(kernel.processOf(HOLDER)).isNotEmpty();
        kill();
        assertThat(kernel.processOf(HOLDER)).isNull();
    }

    /** For whoever acts under another process's leases. */
    @Test
    @Tag("C46")
    void handleOfAnotherProcesssSession_isValidAsLongAsThatHoldsItsLeases_andAsksForNothing() throws Exception {
        session(this::undo, 9);
        List<Long> told = new CopyOnWriteArrayList<>();
        EmbeddedSession followed = kernel.follow(HOLDER, new SessionListener() {
            @Override
            public void leaseLost(Lease lease) {
            }

            @Override
            public void observationUpdate(List<Change> changes) {
            }

            @Override
            public void validUntil(long nanos) {
                told.add(nanos);
            }
        });
        assertThat(followed.isValid()).isTrue();
        assertThat(followed.leases()).hasSize(1);
        assertThat(told).last().isEqualTo(followed.validUntilNanos());
        assertThat(kernel.follow(HOLDER, null)).as("one handle is enough").isNull();
        assertThatThrownBy(followed::releaseAll).isInstanceOf(IllegalStateException.class).hasMessageContaining("another process's session");
        kill();
        kernel.buryGone(0);
        assertThat(followed.isValid()).isFalse();
        assertThat(told.get(told.size() - 1) - System.nanoTime()).isNotPositive();
        followed.close();
        assertThat(kernel.state(HOLDER)).isEqualTo(LifeCycle.ABORTED);
    }
}
