package dev.klock.sandbox.bench;

import dev.klock.Klock;
import dev.klock.KlockSession;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Empty tasks, handed to others, and waited for when all are; the time of one. And what it takes to become somebody else. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Handover {
    private static final int TASKS = 1000;
    private static final Runnable NOTHING = () -> { };

    /** Whose work it is: the process's, or that of the agent builder. */
    @Param({"process", "builder"})
    public String who;

    /** With the working directory's agents.yaml. */
    private KlockSession session;
    private KlockSession.Entered entered;
    private ExecutorService pool;
    private ForkJoinPool forkJoin;
    /** Null where there are no virtual threads. */
    private ExecutorService virtual;

    /** Two pools of one thread each, so that each task goes to another thread and none of them wait for each other. */
    @Setup
    public void setUp() throws Exception {
        pool = Executors.newFixedThreadPool(1);
        forkJoin = new ForkJoinPool(1);
        if (Runtime.version().feature() >= 21) {
            virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        }
        session = Klock.open(Path.of("agents.yaml"), "builder", Duration.ZERO);
        if (!session.answer().isGranted()) {
            throw new IllegalStateException(session.answer().toString());
        }
    }

    /** Becomes who it is to be. */
    @Setup(Level.Iteration)
    public void enter() {
        entered = who.equals("builder") ? session.enter() : null;
    }

    /** Is the process again. */
    @TearDown(Level.Iteration)
    public void leave() {
        if (entered != null) {
            entered.close();
        }
    }

    /** Ends the threads. */
    @TearDown
    public void tearDown() {
        session.close();
        pool.shutdown();
        forkJoin.shutdown();
        if (virtual != null) {
            virtual.shutdown();
        }
    }

    private static void all(Executor executor) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i++) {
            executor.execute(done::countDown);
        }
        done.await();
    }

    /** {@code ThreadPoolExecutor.execute}. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public void execute() throws InterruptedException {
        all(pool);
    }

    /** {@code ThreadPoolExecutor.submit}. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public void submit() throws InterruptedException {
        all(pool::submit);
    }

    /** {@code ForkJoinPool.execute} of a Runnable. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public void forkJoin() throws InterruptedException {
        all(forkJoin);
    }

    /** {@code CompletableFuture.runAsync}, and {@code thenRunAsync} behind it: two tasks. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public void completableFuture() throws InterruptedException {
        all(task -> CompletableFuture.runAsync(NOTHING, forkJoin).thenRunAsync(task, forkJoin));
    }

    /** A virtual thread for each. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public void virtualThread() throws InterruptedException {
        all(virtual);
    }

    /** {@code enter} and {@code close} of a session, around nothing. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public void enterAndClose() {
        for (int i = 0; i < TASKS; i++) {
            session.enter().close();
        }
    }

    /** {@code Klock.current}. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    public int current() {
        int found = 0;
        for (int i = 0; i < TASKS; i++) {
            found += Klock.current() == null ? 0 : 1;
        }
        return found;
    }
}
