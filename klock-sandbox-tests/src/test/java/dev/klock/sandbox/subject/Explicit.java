package dev.klock.sandbox.subject;

import dev.klock.Klock;
import dev.klock.KlockException;
import dev.klock.KlockSession;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Work that is said to be the agent third's, by all ways to say so, while others make its tasks and hand them in: first the agent builder, then the process.
 * Each piece of work writes a file that only third may write; a line says who has made it, which way, and as whom it was done: {@code builder runAsync third}.
 * In the end come lines on what is not third's, and what {@code Klock.open} says to who names neither manifest nor agent.
 */
public final class Explicit {
    private static int files;

    private final String who;
    private final KlockSession third;
    private final ExecutorService pool;

    private Explicit(String who, KlockSession third, ExecutorService pool) {
        this.who = who;
        this.third = third;
        this.pool = pool;
    }

    public static void main(String[] none) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        ExecutorService fork = new ForkJoinPool(1);
        try (KlockSession builder = Klock.open(Path.of("klock.yaml"), "builder", Duration.ZERO);
                KlockSession third = Klock.open(Path.of("klock.yaml"), "third", Duration.ZERO)) {
            for (ExecutorService each : new ExecutorService[] {pool, fork}) {
                builder.call(() -> new Explicit("builder", third, each).all());
                new Explicit("app", third, each).all();
                System.out.println("between tasks " + name(each.submit(Klock::current).get()));
            }
            CompletableFuture<Object> start = new CompletableFuture<>();
            CompletableFuture<String> then = builder.call(() -> start.thenApplyAsync(done -> name(Klock.current()), builder.wrap((Executor) Runnable::run)));
            third.run(() -> start.complete(1));
            System.out.println("builder's, completed by third " + then.get());
        }
        try {
            Klock.open(null, Duration.ZERO);
        } catch (KlockException e) {
            System.out.println(e.getMessage());
        }
        System.exit(0);
    }

    private static String name(KlockSession session) {
        return session == null ? "app" : session.agentId();
    }

    private void say(String way, String as) {
        System.out.println(who + " " + way + " " + as);
    }

    private static synchronized Path next() {
        return Path.of("w/b/" + files++);
    }

    /** As whom it is done. */
    private String work() {
        try {
            Files.writeString(next(), "x");
            return name(Klock.current());
        } catch (Throwable thrown) {
            return thrown.toString();
        }
    }

    private FutureTask<String> task() {
        return new FutureTask<>(this::work);
    }

    private Object all() throws Exception {
        Executor wrapped = third.wrap((Executor) pool);
        say("supplyAsync", CompletableFuture.supplyAsync(this::work, wrapped).get());
        List<String> ran = new ArrayList<>();
        CompletableFuture.runAsync(() -> ran.add(work()), wrapped).get();
        say("runAsync", ran.get(0));
        say("thenApplyAsync", CompletableFuture.completedFuture(1).thenApplyAsync(one -> work(), wrapped).get());
        CompletableFuture<Object> start = new CompletableFuture<>();
        CompletableFuture<String> then = start.thenApplyAsync(one -> work(), wrapped);
        start.complete(1);
        say("thenApplyAsyncLater", then.get());
        ExecutorCompletionService<String> service = new ExecutorCompletionService<>(wrapped);
        service.submit(this::work);
        say("completionService", service.take().get());
        FutureTask<String> handed = task();
        wrapped.execute(handed);
        say("execute", handed.get());
        FutureTask<String> decorated = task();
        wrapped.execute(() -> decorated.run());
        say("decorated", decorated.get());
        FutureTask<String> run = task();
        third.run(run);
        say("run", run.get());
        FutureTask<String> called = task();
        third.call(Executors.callable(called));
        say("call", called.get());
        FutureTask<String> wrap = task();
        pool.execute(third.wrap((Runnable) wrap));
        say("wrap", wrap.get());
        FutureTask<String> entered = task();
        try (KlockSession.Entered inside = third.enter()) {
            entered.run();
        }
        say("enter", entered.get());
        ForkJoinTask<String> adapted = ForkJoinTask.adapt((Callable<String>) this::work);
        wrapped.execute((Runnable) adapted);
        say("forkJoinTask", adapted.get());
        FutureTask<String> subject = task();
        pool.execute(third.call(() -> Klock.subject()).wrap(subject));
        say("subject", subject.get());
        threads();
        FutureTask<String> process = new FutureTask<>(() -> name(Klock.current()));
        third.run(Klock.process().wrap(process));
        System.out.println(who + "'s, as the process " + process.get());
        return null;
    }

    private void threads() throws Exception {
        ThreadFactory factory = third.wrap(Executors.defaultThreadFactory());
        FutureTask<String> alone = task();
        Thread thread = factory.newThread(alone);
        thread.start();
        say("thread", alone.get());
        ScheduledExecutorService own = Executors.newScheduledThreadPool(1, factory);
        say("threadsSubmit", own.submit(this::work).get());
        say("threadsSchedule", own.schedule(this::work, 1, TimeUnit.MILLISECONDS).get());
        say("threadsSupplyAsync", CompletableFuture.supplyAsync(this::work, own).get());
        own.shutdown();
        ExecutorService plain = Executors.newFixedThreadPool(1, factory);
        CompletableFuture<String> executed = new CompletableFuture<>();
        plain.execute(() -> executed.complete(work()));
        say("threadsExecute", executed.get());
        plain.shutdown();
    }
}
