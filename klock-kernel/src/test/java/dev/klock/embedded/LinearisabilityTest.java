package dev.klock.embedded;

import dev.klock.kernel.Command;
import dev.klock.kernel.Kernel;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.util.LoggingLevel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What threads get from one {@link EmbeddedKernel} could have been had in some order, one after the other, from a {@link Kernel} alone
 * (K7-8). Lincheck makes up the threads' calls, runs them many times, under the system's scheduler and under its own, and looks for that
 * order. Time is one of the calls.
 */
class LinearisabilityTest {
    private static final int ITERATIONS = Integer.getInteger("klock.lincheck.iterations", 3);
    private static final long TTL_MS = 1000;
    private static final int SESSIONS = 3;

    /** The calls, on whatever carries commands out. */
    @Param(name = "session", gen = IntGen.class, conf = "0:2")
    @Param(name = "what", gen = IntGen.class, conf = "0:3")
    @Param(name = "lease", gen = IntGen.class, conf = "1:4")
    @Param(name = "ms", gen = IntGen.class, conf = "1:2")
    public abstract static class Calls {
        private static final List<Triple> FILE = List.of(Triple.of(Predicate.MUTATES, Resource.file("/d/x")));
        private static final List<Triple> CHILDREN =
                List.of(Triple.of(Predicate.CONSUMES, Resource.of("FILE", "/d", Resource.Form.CHILDREN)));
        private static final List<Triple> SUBTREE =
                List.of(Triple.of(Predicate.MUTATES, Resource.of("FILE", "/d", Resource.Form.SUBTREE)));
        private static final List<Triple> ELSEWHERE = List.of(Triple.of(Predicate.MUTATES, Resource.file("/e")));

        abstract Outcome perform(Command command);

        abstract void pass(long ms);

        abstract List<Lease> held(SessionKey key);

        static SessionKey key(int session) {
            return SessionKey.of("agent" + session, "s");
        }

        final void register() {
            for (int i = 0; i < SESSIONS; i++) {
                perform(new Command.Register(key(i), i, true, 0, false, false, true));
            }
        }

        private static List<Triple> manifest(int what) {
            return what == 0 ? FILE : what == 1 ? CHILDREN : what == 2 ? SUBTREE : ELSEWHERE;
        }

        private static String told(Outcome out) {
            StringBuilder s = new StringBuilder();
            s.append(out.verdict()).append(out.isRefused() ? out.refusal().code() : "");
            out.leases().forEach(l -> s.append(' ').append(l.fencingToken()).append(l.state()).append(l.expiresAtMs()));
            out.events().forEach(e -> s.append(' ').append(e.kind()).append(e.session()));
            return s.toString();
        }

        @Operation(params = {"session", "what"})
        public String submit(int session, int what) {
            return told(perform(new Command.Submit(key(session), manifest(what), TTL_MS, 500, false)));
        }

        @Operation(params = {"session"})
        public String releaseAll(int session) {
            return told(perform(new Command.Release(key(session), null)));
        }

        @Operation(params = {"session", "lease"})
        public String release(int session, int lease) {
            return told(perform(new Command.Release(key(session), new long[] {lease})));
        }

        @Operation(params = {"session", "lease"})
        public String heartbeat(int session, int lease) {
            return told(perform(new Command.Heartbeat(key(session), new long[] {lease})));
        }

        /** As long as half a time to live, or all of it. */
        @Operation(params = {"ms"})
        public void time(int ms) {
            pass(ms * TTL_MS / 2);
        }

        @Operation
        public String expire() {
            return told(perform(new Command.Expire()));
        }

        @Operation(params = {"session"})
        public String leases(int session) {
            return held(key(session)).toString();
        }
    }

    /** What is tested. */
    public static final class Facade extends Calls {
        private final AtomicLong nanos = new AtomicLong();
        private final EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), 0, null, nanos::get);

        public Facade() {
            register();
        }

        @Override
        Outcome perform(Command command) {
            return kernel.perform(command);
        }

        @Override
        void pass(long ms) {
            nanos.addAndGet(ms * 1_000_000);
        }

        @Override
        List<Lease> held(SessionKey key) {
            return kernel.leasesOf(key);
        }
    }

    /** What it is compared with. */
    public static final class OneThread extends Calls {
        private final Kernel kernel = new Kernel(KernelOptions.standard(), 0);
        private long nowMs;

        public OneThread() {
            register();
        }

        @Override
        Outcome perform(Command command) {
            return kernel.apply(command, nowMs);
        }

        @Override
        void pass(long ms) {
            nowMs += ms;
        }

        @Override
        List<Lease> held(SessionKey key) {
            return kernel.leasesOf(key);
        }
    }

    @Test
    @Tag("K7-8")
    void facade_underTheSystemsScheduler_isLinearisable() {
        new StressOptions()
                .iterations(ITERATIONS)
                .logLevel(LoggingLevel.ERROR)
                .invocationsPerIteration(300)
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(1)
                .sequentialSpecification(OneThread.class)
                .check(Facade.class);
        System.out.println("linearisability, the system's scheduler: " + ITERATIONS + " scenarios of 12 commands by 3 threads, 300 runs of each");
    }

    @Test
    @Tag("K7-8")
    void facade_underAllSwitchesOfThreads_isLinearisable() {
        new ModelCheckingOptions()
                .iterations(ITERATIONS)
                .logLevel(LoggingLevel.ERROR)
                .invocationsPerIteration(100)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(2)
                .actorsAfter(1)
                // looking for a free slot may take that many rounds
                .loopBound(10_000)
                // how deep the stack is touched before each command
                .recursionBound(1_000)
                .sequentialSpecification(OneThread.class)
                .check(Facade.class);
        System.out.println("linearisability, switches of threads: " + ITERATIONS + " scenarios of 9 commands by 2 threads, up to 100 switchings of each");
    }
}
