package dev.klock.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.kernel.Command;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where a thread's stack or the memory ends in the middle of the kernel nobody is left waiting, and nothing is granted that somebody else may hold. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExhaustedTest {
    private static final int DIVES = 12;
    private static final int SECONDS = 20;

    private interface Call {
        void run() throws InterruptedException;
    }

    private static List<Triple> mutates(String path) {
        return List.of(Triple.of(Predicate.MUTATES, Resource.parse("FILE:" + path)));
    }

    /** {@code call} at all depths that a stack has, the last first, until it finds room. */
    private static final class Dive extends Thread {
        private final Call call;
        private final int odd;
        private boolean through;
        private int errors;

        Dive(Call call, int odd) {
            // 300 KB at least: the JVM takes no less than it needs itself
            super(null, null, "dive", 300_000L + odd * 136L);
            this.call = call;
            this.odd = odd;
        }

        @Override
        public void run() {
            down(odd, odd, odd);
        }

        private long down(long a, long b, long c) {
            long d = 0;
            try {
                d = odd % 2 == 0 ? down(b, c, a + 1) : down(c, a, b) + a;
            } catch (StackOverflowError end) {
                errors++;
            }
            attempt();
            return a + b + c + d;
        }

        private void attempt() {
            if (!through) {
                try {
                    call.run();
                    through = true;
                } catch (StackOverflowError end) {
                    errors++;
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static void dive(Call call) throws InterruptedException {
        for (int i = 0; i < DIVES; i++) {
            Dive dive = new Dive(call, i);
            dive.start();
            dive.join(TimeUnit.SECONDS.toMillis(SECONDS));
            assertThat(dive.isAlive()).as("hangs in dive " + i).isFalse();
            assertThat(dive.errors).as("ends of the stack").isPositive();
            assertThat(dive.through).as("got through where there was room").isTrue();
        }
    }

    @Test
    @Tag("K3-1")
    void kernel_whereTheStackEnds_isOfUseToAllOthersStill() throws Exception {
        try (EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null)) {
            EmbeddedSession diver = kernel.open(SessionKey.of("diver", "s"), 2, null, null);
            EmbeddedSession other = kernel.open(SessionKey.of("other", "s"), 1, null, null);
            dive(() -> {
                diver.releaseAll();
                diver.acquire(mutates("/x"), 0, 0, false);
            });
            dive(diver::leases);
            diver.releaseAll();

            Acquisition after = CompletableFuture.supplyAsync(() -> acquire(other, "/x")).get(SECONDS, TimeUnit.SECONDS);

            assertThat(after.verdict()).isEqualTo(Verdict.GRANTED);
        }
    }

    @Test
    @Tag("K3-1")
    @Tag("K4-2")
    void wait_whereTheStackEnds_isGivenUp_andIsGrantedNothing() throws Exception {
        try (EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), System.currentTimeMillis(), null)) {
            EmbeddedSession holder = kernel.open(SessionKey.of("holder", "s"), 2, null, null);
            EmbeddedSession diver = kernel.open(SessionKey.of("diver", "s"), 1, null, null);
            Acquisition held = holder.acquire(mutates("/x"), 0, 0, false);
            dive(() -> assertThat(diver.acquire(mutates("/x"), 1, 0, false).timedOut()).isTrue());
            holder.release(held.leases());

            assertThat(kernel.queue()).isEmpty();
            assertThat(diver.leases()).isEmpty();
            assertThat(acquire(holder, "/x").verdict()).isEqualTo(Verdict.GRANTED);
        }
    }

    private static Acquisition acquire(EmbeddedSession session, String path) {
        try {
            return session.acquire(mutates(path), 0, 0, false);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Carries out everything at once; on demand the error comes after a command was carried out, and before its answer. */
    private static final class Order implements CommandOrder {
        private volatile Error next;

        @Override
        public Beginning beginning() {
            return new Beginning("test", 1, 1_000_000, System.nanoTime());
        }

        @Override
        public void begin(Replica replica) {
            assertThat(replica.isKnown(SessionKey.of("nobody", "s"))).isFalse();
        }

        @Override
        public Outcome put(Command command, long timeMs, Replica replica) {
            Outcome out = replica.carryOut(command, timeMs, true);
            Error error = next;
            if (error != null && command instanceof Command.Submit) {
                next = null;
                throw error;
            }
            return out;
        }

        @Override
        public boolean follow(Replica replica) {
            return false;
        }

        @Override
        public boolean isGone(SessionKey session) {
            return false;
        }

        @Override
        public String processOf(SessionKey session) {
            return null;
        }

        @Override
        public void close() {
            next = null;
        }
    }

    @Test
    @Tag("FIELD-I16")
    void error_thatComesOutOfACommand_endsTheKernelForAll_andLeavesNobodyWaiting() throws Exception {
        for (Error error : new Error[] {new StackOverflowError(), new OutOfMemoryError(), new InternalError()}) {
            Order order = new Order();
            CompletableFuture<KernelLostException> told = new CompletableFuture<>();
            CountDownLatch held = new CountDownLatch(1);
            SessionListener listener = new SessionListener() {
                @Override
                public void leaseLost(Lease lease) {
                    held.countDown();
                }

                @Override
                public void observationUpdate(List<dev.klock.kernel.Change> changes) {
                    held.countDown();
                }

                @Override
                public void kernelLost(KernelLostException why) {
                    told.complete(why);
                }
            };
            try (EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), order, null, null)) {
                EmbeddedSession holder = kernel.open(SessionKey.of("holder", "s"), 1_000_001, null, listener);
                EmbeddedSession waiter = kernel.open(SessionKey.of("waiter", "s"), 1_000_000, null, null);
                EmbeddedSession unlucky = kernel.open(SessionKey.of("unlucky", "s"), 1_000_002, null, null);
                acquire(holder, "/x");
                AtomicReference<Throwable> end = new AtomicReference<>();
                Thread waits = new Thread(() -> {
                    try {
                        waiter.acquire(mutates("/x"), 3_000_000, 0, false);
                    } catch (InterruptedException | IllegalStateException e) {
                        end.set(e);
                    }
                });
                waits.start();
                while (kernel.queue().isEmpty()) {
                    Thread.onSpinWait();
                }
                order.next = error;

                assertThatThrownBy(() -> unlucky.acquire(mutates("/y"), 0, 0, false)).isSameAs(error);

                assertThat(told.get(SECONDS, TimeUnit.SECONDS)).hasMessageContaining("an error came out of the middle of a command");
                waits.join(TimeUnit.SECONDS.toMillis(SECONDS));
                assertThat(end.get()).isInstanceOf(IllegalStateException.class).hasMessageContaining("the kernel is closed");
                assertThat(holder.isValid()).isFalse();
                assertThatThrownBy(() -> holder.acquire(mutates("/z"), 0, 0, false)).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("an error came out of the middle of a command");
                holder.close();
            }
        }
    }
}
