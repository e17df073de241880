package dev.klock.agent.weave.tasks;

import static dev.klock.agent.weave.tasks.Subjects.as;
import static dev.klock.agent.weave.tasks.Subjects.now;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/** Each public method is one check; what it finds is printed as one line. Those named with "virtual" need virtual threads. */
public final class Program {
    private static final int FEATURE = Runtime.version().feature();
    private static final long WATCHDOG_S = 60;

    private final List<ExecutorService> open = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 0) {
            Cost.main(arguments);
            return;
        }
        Thread watchdog = new Thread(Program::watch, "watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
        Method[] checks = Program.class.getDeclaredMethods();
        Arrays.sort(checks, Comparator.comparing(Method::getName));
        for (Method check : checks) {
            if (!Modifier.isPublic(check.getModifiers()) || Modifier.isStatic(check.getModifiers())
                    || check.getName().contains("virtual") && FEATURE < 21) {
                continue;
            }
            running = check.getName();
            Program program = new Program();
            String found = "ok";
            try {
                check.invoke(program);
                if (Subjects.depth() != 0) {
                    found = "leaves the stack at " + Subjects.depth();
                }
            } catch (InvocationTargetException e) {
                StringBuilder text = new StringBuilder(e.getCause().toString().replace('\n', ' '));
                for (StackTraceElement frame : e.getCause().getStackTrace()) {
                    if (frame.getClassName().startsWith(Program.class.getName())) {
                        text.append(" at ").append(frame.getLineNumber());
                    }
                }
                found = text.toString();
            } finally {
                program.open.forEach(ExecutorService::shutdownNow);
            }
            System.out.println(running + " " + found);
        }
        System.exit(0);
    }

    private static volatile String running;

    private static void watch() {
        while (true) {
            String before = running;
            try {
                Thread.sleep(WATCHDOG_S * 1000);
            } catch (InterruptedException e) {
                return;
            }
            if (Objects.equals(before, running)) {
                System.out.println(running + " hangs");
                Thread.getAllStackTraces().forEach((thread, frames) -> {
                    System.err.println(thread);
                    for (StackTraceElement frame : frames) {
                        System.err.println("    " + frame);
                    }
                });
                Runtime.getRuntime().halt(3);
            }
        }
    }

    private static void same(Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + " but was " + found);
        }
    }

    private <E extends ExecutorService> E opened(E executor) {
        open.add(executor);
        return executor;
    }

    private ThreadPoolExecutor single() {
        return opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()));
    }

    /** A pool whose one thread is held until the latch is counted down. */
    private CountDownLatch block(Executor executor) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        executor.execute(() -> {
            running.countDown();
            await(held);
        });
        await(running);
        return held;
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(30, TimeUnit.SECONDS)) {
                throw new AssertionError("not within 30 s");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    // ---- the installation

    public void rows_areAllInForce() {
        same(List.of(), TaskAgent.Installed.propagation.gaps());
    }

    public void completions_allHaveRows() throws Exception {
        Set<String> wanted = new java.util.TreeSet<>();
        for (Class<?> type : CompletableFuture.class.getDeclaredClasses()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals("tryFire") && !Modifier.isAbstract(method.getModifiers())) {
                    wanted.add(type.getName().replace('.', '/'));
                }
            }
        }
        Set<String> found = new java.util.TreeSet<>();
        try (java.io.InputStream in = TaskAgent.class.getResourceAsStream("/dev/klock/agent/weave/propagation.tsv")) {
            for (String line : new String(in.readAllBytes(), "UTF-8").split("\n")) {
                String[] cells = line.split("\t");
                if (cells.length > 2 && cells[2].equals("tryFire")) {
                    found.add(cells[1]);
                }
            }
        }
        same(wanted, found);
    }

    public void bridge_isHiddenFromReflection() throws Exception {
        same(0, Class.forName("sun.nio.fs.KlockTasks", false, null).getDeclaredMethods().length);
        same(0, Class.forName("sun.nio.fs.KlockTasksPort", false, null).getDeclaredFields().length);
    }

    public void retransformedByAnother_keepsItsCalls() throws Exception {
        TaskAgent.Installed.instrumentation.retransformClasses(FutureTask.class, ThreadPoolExecutor.class);
        ThreadPoolExecutor pool = single();
        same("A", get(as("A", () -> pool.submit(Subjects::now))));
    }

    public void stackTrace_isAsWithout() throws Exception {
        ThreadPoolExecutor pool = single();
        CompletableFuture<StackTraceElement[]> trace = new CompletableFuture<>();
        pool.execute(() -> trace.complete(new Throwable().getStackTrace()));
        for (StackTraceElement frame : get(trace)) {
            if (frame.getClassName().contains("Klock")) {
                throw new AssertionError(frame);
            }
        }
    }

    // ---- pools

    public void execute_runsForWhoExecutes() throws Exception {
        ThreadPoolExecutor pool = single();
        for (String subject : new String[] {"A", "B", null, "A"}) {
            CompletableFuture<String> ran = new CompletableFuture<>();
            as(subject, () -> {
                pool.execute(() -> ran.complete(now()));
                return null;
            });
            same(subject, get(ran));
        }
    }

    public void submit_runsForWhoSubmits() throws Exception {
        ThreadPoolExecutor pool = single();
        same("A", get(as("A", () -> pool.submit(Subjects::now))));
        AtomicReference<String> ran = new AtomicReference<>();
        same("r", get(as("B", () -> pool.submit(() -> ran.set(now()), "r"))));
        same("B", ran.get());
        same(null, get(pool.submit(Subjects::now)));
    }

    public void nested_restoresThePrevious() throws Exception {
        ThreadPoolExecutor pool = single();
        same("A B A", get(as("A", () -> pool.submit(() -> {
            FutureTask<String> ofB = as("B", () -> new FutureTask<>(Subjects::now));
            String before = now();
            ofB.run();
            return before + " " + ofB.get() + " " + now();
        }))));
    }

    // ---- what is explicit

    private static Runnable wrapped(String subject, Runnable work) {
        return () -> {
            try {
                as(subject, () -> {
                    work.run();
                    return null;
                });
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        };
    }

    private static Executor wrapped(String subject, Executor executor) {
        return work -> executor.execute(wrapped(subject, work));
    }

    public void explicit_holdsForTasksOfOthers() throws Exception {
        Executor asE = wrapped("E", single());
        for (String subject : new String[] {"A", null}) {
            same("E", get(as(subject, () -> CompletableFuture.supplyAsync(Subjects::now, asE))));
            CompletableFuture<String> ran = new CompletableFuture<>();
            get(as(subject, () -> CompletableFuture.runAsync(() -> ran.complete(now()), asE)));
            same("E", get(ran));
            same("E", get(as(subject, () -> CompletableFuture.supplyAsync(() -> "").thenApplyAsync(v -> now(), asE))));
            CompletableFuture<String> late = new CompletableFuture<>();
            CompletableFuture<String> then = as(subject, () -> late.thenApplyAsync(v -> now(), asE));
            as("B", () -> late.complete(""));
            same("E", get(then));

            ExecutorCompletionService<String> service = new ExecutorCompletionService<>(asE);
            as(subject, () -> service.submit(Subjects::now));
            same("E", get(service.take()));

            FutureTask<String> handed = as(subject, () -> new FutureTask<>(Subjects::now));
            asE.execute(handed);
            same("E", get(handed));
            FutureTask<String> run = as(subject, () -> new FutureTask<>(Subjects::now));
            wrapped("E", run).run();
            same("E", get(run));
        }
        same(null, now());
    }

    public void explicit_holdsForForkJoinTasksOfOthers() throws Exception {
        ForkJoinPool fork = opened(new ForkJoinPool(1));
        ThreadPoolExecutor pool = single();
        for (Executor executor : new Executor[] {fork, pool}) {
            for (String subject : new String[] {"A", null}) {
                List<ForkJoinTask<String>> tasks = as(subject, () -> {
                    List<ForkJoinTask<String>> made = new ArrayList<>(List.of(ForkJoinTask.adapt((Callable<String>) Subjects::now)));
                    if (FEATURE >= 19) {
                        made.add(interruptible(Subjects::now));
                    }
                    return made;
                });
                for (ForkJoinTask<String> task : tasks) {
                    wrapped("E", executor).execute((Runnable) task);
                    same("E", get(task));
                }
                Sum sum = as(subject, () -> new Sum(0, 200, "E"));
                wrapped("E", executor).execute(sum::invoke);
                same(19900, get(sum));
                Sum quiet = as(subject, () -> new Sum(0, 200, "E"));
                wrapped("E", executor).execute(quiet::quietlyInvoke);
                same(19900, get(quiet));
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static ForkJoinTask<String> interruptible(Callable<String> work) throws Exception {
        return (ForkJoinTask<String>) ForkJoinTask.class.getMethod("adaptInterruptible", Callable.class).invoke(null, work);
    }

    public void explicit_holdsForWhatCallsTasksByTurns() throws Exception {
        Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
        FutureTask<String> ofA = as("A", () -> new FutureTask<>(Subjects::now));
        queue.add(ofA);
        CompletableFuture<String> ofB = as("B", () -> CompletableFuture.supplyAsync(Subjects::now, queue::add));
        as("E", () -> {
            queue.forEach(Runnable::run);
            return null;
        });
        same("E", get(ofA));
        same("E", get(ofB));
    }

    public void explicit_holdsForPoolsOfItsThreads() throws Exception {
        ThreadFactory asE = worker -> new Thread(wrapped("E", worker));
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), asE));
        ScheduledExecutorService scheduler = opened(Executors.newScheduledThreadPool(1, asE));
        for (String subject : new String[] {"A", null}) {
            CompletableFuture<String> ran = new CompletableFuture<>();
            as(subject, () -> {
                pool.execute(() -> ran.complete(now()));
                return null;
            });
            same("E", get(ran));
            same("E", get(as(subject, () -> pool.submit(Subjects::now))));
            same("E", get(as(subject, () -> CompletableFuture.supplyAsync(Subjects::now, pool))));
            same("E", get(as(subject, () -> scheduler.schedule(Subjects::now, 1, TimeUnit.MILLISECONDS))));
        }
        ThreadPoolExecutor other = single();
        same("A", get(as("A", () -> CompletableFuture.supplyAsync(Subjects::now, other).thenApplyAsync(v -> v, pool))));
    }

    /** By who completes, who helps, and whom what was explicit has handed on to. */
    public void explicit_doesNotHoldForWhatIsNotCalled() throws Exception {
        CompletableFuture<String> start = new CompletableFuture<>();
        CompletableFuture<String> then = as("A", () -> start.thenApply(v -> now()));
        CompletableFuture<String> direct = as("A", () -> start.thenApplyAsync(v -> now(), Runnable::run));
        FutureTask<Boolean> completes = new FutureTask<>(() -> start.complete(""));
        as("E", () -> {
            completes.run();
            return null;
        });
        same("A", get(then));
        same("A", get(direct));

        ThreadPoolExecutor pool = single();
        same("A E", get(as("E", () -> CompletableFuture.supplyAsync(() -> {
            try {
                FutureTask<String> ofA = as("A", () -> new FutureTask<>(Subjects::now));
                ofA.run();
                return ofA.get() + " " + now();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }, pool))));

        ForkJoinPool fork = opened(new ForkJoinPool(1));
        same("A A A E", get(fork.submit(() -> as("E", () -> {
            CompletableFuture<String> ofA = as("A", () -> CompletableFuture.supplyAsync(Subjects::now, fork));
            ForkJoinTask<String> forked = as("A", () -> ForkJoinTask.adapt((Callable<String>) Subjects::now).fork());
            CompletableFuture<String> waits = as("A", () -> CompletableFuture.supplyAsync(() -> "", fork).thenApplyAsync(v -> now(), fork));
            // there is one thread: it runs them by itself
            return ofA.join() + " " + forked.join() + " " + waits.join() + " " + now();
        }))));
    }

    // ---- more of pools

    public void invokeAll_runsForWhoInvokes() throws Exception {
        ExecutorService pool = opened(Executors.newFixedThreadPool(3));
        List<Callable<String>> tasks = Collections.nCopies(20, Subjects::now);
        for (Future<String> future : as("A", () -> pool.invokeAll(tasks))) {
            same("A", future.get());
        }
        same("B", as("B", () -> pool.invokeAny(tasks)));
    }

    public void completionService_runsForWhoSubmits() throws Exception {
        ExecutorCompletionService<String> service = new ExecutorCompletionService<>(single());
        as("A", () -> service.submit(Subjects::now));
        same("A", get(service.take()));
        as("B", () -> service.submit(Subjects::now));
        same("B", get(service.take()));
    }

    public void sameRunnable_bySeveral_runsForEachInTurn() throws Exception {
        ThreadPoolExecutor pool = single();
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(String.valueOf(now()));
        CountDownLatch held = block(pool);
        List<String> expected = new ArrayList<>();
        for (String subject : new String[] {"A", "B", "A", "A", null, "C", "B", null}) {
            expected.add(String.valueOf(subject));
            as(subject, () -> {
                pool.execute(shared);
                return null;
            });
        }
        held.countDown();
        get(pool.submit(() -> null));
        same(expected, new ArrayList<>(ran));
    }

    public void sameRunnable_inTwoPools_isToldApart() throws Exception {
        ThreadPoolExecutor slow = single();
        ThreadPoolExecutor quick = single();
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(Thread.currentThread().getName().isEmpty() ? "" : now());
        CountDownLatch held = block(slow);
        as("A", () -> {
            slow.execute(shared);
            return null;
        });
        as("B", () -> {
            quick.execute(shared);
            return null;
        });
        get(quick.submit(() -> null));
        same(List.of("B"), new ArrayList<>(ran));
        held.countDown();
        get(slow.submit(() -> null));
        same(List.of("B", "A"), new ArrayList<>(ran));
    }

    public void worker_startedForOne_doesNothingForItWhenItWorksForAnother() throws Exception {
        Queue<String> around = new ConcurrentLinkedQueue<>();
        ThreadFactory wrapping = worker -> new Thread(() -> {
            around.add("begin " + now());
            worker.run();
        });
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), wrapping) {
            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                around.add("before " + now());
            }

            @Override
            protected void afterExecute(Runnable task, Throwable thrown) {
                around.add("after " + now());
            }
        });
        same("A", get(as("A", () -> pool.submit(Subjects::now))));
        same(null, get(pool.submit(Subjects::now)));
        same("B", get(as("B", () -> pool.submit(Subjects::now))));
        for (String one : around) {
            same(true, one.endsWith(" null"));
        }
    }

    public void queue_holdsTheProgramsObjects() throws Exception {
        ThreadPoolExecutor pool = single();
        CountDownLatch held = block(pool);
        Runnable first = () -> { };
        Runnable second = () -> now();
        as("A", () -> {
            pool.execute(first);
            pool.execute(second);
            return null;
        });
        same(true, pool.getQueue().contains(first));
        same(true, pool.getQueue().peek() == first);
        same(true, pool.remove(first));
        same(false, pool.remove(first));
        same(true, pool.shutdownNow().get(0) == second);
        held.countDown();
    }

    public void comparableTasks_keepTheirOrder() throws Exception {
        class Ranked implements Runnable, Comparable<Ranked> {
            final int rank;
            final Queue<String> ran;

            Ranked(int rank, Queue<String> ran) {
                this.rank = rank;
                this.ran = ran;
            }

            @Override
            public void run() {
                ran.add(rank + now());
            }

            @Override
            public int compareTo(Ranked other) {
                return Integer.compare(rank, other.rank);
            }
        }
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new PriorityBlockingQueue<>()));
        CountDownLatch held = new CountDownLatch(1);
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        CountDownLatch running = new CountDownLatch(1);
        pool.execute(new Ranked(0, ran) {
            @Override
            public void run() {
                running.countDown();
                await(held);
            }

            private void await(CountDownLatch latch) {
                Program.await(latch);
            }
        });
        await(running);
        as("A", () -> {
            pool.execute(new Ranked(3, ran));
            return null;
        });
        as("B", () -> {
            pool.execute(new Ranked(1, ran));
            pool.execute(new Ranked(2, ran));
            return null;
        });
        held.countDown();
        pool.shutdown();
        same(true, pool.awaitTermination(30, TimeUnit.SECONDS));
        same(List.of("1B", "2B", "3A"), new ArrayList<>(ran));
    }

    public void rejected_leavesNothingForTheNext() throws Exception {
        for (RejectedExecutionHandler handler : new RejectedExecutionHandler[] {new ThreadPoolExecutor.AbortPolicy(),
            new ThreadPoolExecutor.DiscardPolicy(), (task, pool) -> {
                throw new RejectedExecutionException();
            }, (task, pool) -> { }}) {
            ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), handler));
            Queue<String> ran = new ConcurrentLinkedQueue<>();
            Runnable shared = () -> ran.add(now());
            CountDownLatch held = block(pool);
            as("C", () -> {
                pool.execute(shared);
                return null;
            });
            for (String subject : new String[] {"A", "C", "B"}) {
                try {
                    as(subject, () -> {
                        pool.execute(shared);
                        return null;
                    });
                } catch (RejectedExecutionException full) {
                    continue;
                }
            }
            held.countDown();
            get(retry(pool));
            as("B", () -> {
                pool.execute(shared);
                return null;
            });
            get(retry(pool));
            same(List.of("C", "B"), new ArrayList<>(ran));
        }
    }

    /** Once all that waits has run. */
    private static Future<?> retry(ThreadPoolExecutor pool) throws Exception {
        while (!pool.getQueue().isEmpty()) {
            Thread.sleep(1);
        }
        FutureTask<String> last = new FutureTask<>(() -> "last");
        pool.getQueue().put(last);
        return last;
    }

    public void callerRuns_runsForTheCaller() throws Exception {
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
                new ThreadPoolExecutor.CallerRunsPolicy()));
        CountDownLatch held = block(pool);
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(now());
        as("A", () -> {
            pool.execute(shared);
            return null;
        });
        as("B", () -> {
            pool.execute(shared);
            return null;
        });
        same(List.of("B"), new ArrayList<>(ran));
        FutureTask<String> ofA = as("A", () -> new FutureTask<>(Subjects::now));
        as("B", () -> {
            pool.execute(ofA);
            return null;
        });
        same("A", ofA.get());
        held.countDown();
        get(retry(pool));
        same(List.of("B", "A"), new ArrayList<>(ran));
    }

    public void discardOldest_forgetsTheOldest() throws Exception {
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(2),
                new ThreadPoolExecutor.DiscardOldestPolicy()));
        CountDownLatch held = block(pool);
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(now());
        for (String subject : new String[] {"A", "B", "C", "D"}) {
            as(subject, () -> {
                pool.execute(shared);
                return null;
            });
        }
        held.countDown();
        get(retry(pool));
        same(List.of("C", "D"), new ArrayList<>(ran));
    }

    public void handlerThatQueuesByItself_keepsTheSubject() throws Exception {
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), (task, full) -> {
            try {
                full.getQueue().put(task);
            } catch (InterruptedException e) {
                throw new RejectedExecutionException(e);
            }
        }));
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 200; i++) {
            as("A", () -> {
                pool.execute(() -> ran.add(String.valueOf(now())));
                return null;
            });
        }
        get(retry(pool));
        same(Collections.nCopies(200, "A"), new ArrayList<>(ran));
    }

    public void removedAndDrained_leaveNothingForTheNext() throws Exception {
        ThreadPoolExecutor pool = single();
        CountDownLatch held = block(pool);
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(now());
        as("A", () -> {
            pool.execute(shared);
            return null;
        });
        as("B", () -> {
            pool.execute(shared);
            return null;
        });
        same(true, pool.remove(shared));
        held.countDown();
        get(retry(pool));
        same(List.of("B"), new ArrayList<>(ran));
    }

    private interface Drop {
        void from(ThreadPoolExecutor pool) throws Exception;
    }

    /** What A has queued thrice is dropped from the queue behind the pool's back; then B and nobody queue the same. */
    private List<String> afterDrop(BlockingQueue<Runnable> queue, Drop drop) throws Exception {
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, queue));
        CountDownLatch held = block(pool);
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(String.valueOf(now()));
        as("A", () -> {
            for (int i = 0; i < 3; i++) {
                pool.execute(shared);
            }
            return null;
        });
        drop.from(pool);
        as("B", () -> {
            pool.execute(shared);
            return null;
        });
        pool.execute(shared);
        held.countDown();
        get(retry(pool));
        return new ArrayList<>(ran);
    }

    public void takenOutOfTheQueue_leavesNothingForTheNext() throws Exception {
        same(List.of("A", "A", "A", "B", "null"), afterDrop(new LinkedBlockingQueue<>(), pool -> { }));
        same(List.of("B", "null"), afterDrop(new LinkedBlockingQueue<>(), pool -> pool.getQueue().clear()));
        same(List.of("B", "null"), afterDrop(new ArrayBlockingQueue<>(9), pool -> pool.getQueue().drainTo(new ArrayList<>())));
        same(List.of("B", "null"), afterDrop(new LinkedBlockingDeque<>(), pool -> pool.getQueue().removeIf(task -> true)));
        same(List.of("A", "A", "B", "null"), afterDrop(new LinkedBlockingQueue<>(), pool -> pool.getQueue().poll()));
        same(List.of("A", "A", "B", "null"), afterDrop(new ArrayBlockingQueue<>(9), pool -> {
            Iterator<Runnable> tasks = pool.getQueue().iterator();
            tasks.next();
            tasks.remove();
        }));
        // only the newest stays
        same(List.of("null"), afterDrop(new LinkedBlockingQueue<>() {
            @Override
            public boolean offer(Runnable task) {
                clear();
                return super.offer(task);
            }
        }, pool -> { }));
    }

    public void taskThatThePoolDrops_leavesNothingForTheNext() throws Exception {
        AtomicBoolean refuses = new AtomicBoolean(true);
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()) {
            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                if (refuses.get()) {
                    throw new IllegalStateException("not now");
                }
            }
        });
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((t, e) -> refuses.set(false));
            return thread;
        });
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        Runnable shared = () -> ran.add(String.valueOf(now()));
        as("A", () -> {
            pool.execute(shared);
            return null;
        });
        while (refuses.get()) {
            Thread.onSpinWait();
        }
        as("B", () -> {
            pool.execute(shared);
            return null;
        });
        get(retry(pool));
        same(List.of("B"), new ArrayList<>(ran));
    }

    public void thrown_leavesTheStackAsItWas() throws Exception {
        AtomicInteger deepest = new AtomicInteger();
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()) {
            @Override
            protected void afterExecute(Runnable task, Throwable thrown) {
                deepest.accumulateAndGet(Subjects.depth(), Math::max);
            }
        });
        pool.setThreadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((t, e) -> deepest.accumulateAndGet(Subjects.depth(), Math::max));
            return thread;
        });
        for (int i = 0; i < 10; i++) {
            as("A", () -> {
                pool.execute(() -> {
                    throw new IllegalStateException();
                });
                pool.submit(() -> {
                    throw new Error();
                });
                return null;
            });
        }
        same("B", get(as("B", () -> pool.submit(Subjects::now))));
        same(1, get(pool.submit(Subjects::depth)));
        same(0, deepest.get());
        ForkJoinPool fork = opened(new ForkJoinPool(1));
        for (int i = 0; i < 10; i++) {
            fork.submit(() -> {
                throw new Error();
            });
            CompletableFuture.runAsync(() -> {
                throw new Error();
            }, fork);
        }
        same(1, get(fork.submit(Subjects::depth)));
    }

    public void stackOverflow_leavesTheStackAsItWas() throws Exception {
        Thread[] thread = new Thread[1];
        AtomicReference<Object> found = new AtomicReference<>();
        thread[0] = new Thread(null, () -> {
            for (int i = 0; i < 300; i++) {
                int before = Subjects.depth();
                try {
                    deeper(i % 7);
                } catch (StackOverflowError end) {
                    found.set(end);
                }
                if (Subjects.depth() != before) {
                    found.set("round " + i + " leaves it at " + Subjects.depth());
                    return;
                }
            }
        }, "deep", 1 << 20);
        thread[0].start();
        thread[0].join();
        same(StackOverflowError.class, found.get() == null ? null : found.get() instanceof String ? found.get() : found.get().getClass());
    }

    private static void deeper(int more) {
        if (more > 0) {
            deeper(more - 1);
            return;
        }
        FutureTask<String> task = new FutureTask<>(() -> {
            deeper(3);
            return "";
        });
        task.run();
        try {
            task.get();
        } catch (Exception e) {
            if (e.getCause() instanceof StackOverflowError) {
                throw (StackOverflowError) e.getCause();
            }
            throw new AssertionError(e);
        }
    }

    // ---- scheduled

    public void scheduled_once_runsForWhoScheduled() throws Exception {
        ScheduledExecutorService pool = opened(Executors.newScheduledThreadPool(1));
        same("A", get(as("A", () -> pool.schedule(Subjects::now, 5, TimeUnit.MILLISECONDS))));
        same("B", get(as("B", () -> pool.submit(Subjects::now))));
    }

    public void scheduled_again_runsForWhoScheduledEachTime() throws Exception {
        ScheduledExecutorService pool = opened(Executors.newScheduledThreadPool(2));
        Set<String> subjects = ConcurrentHashMap.newKeySet();
        CountDownLatch times = new CountDownLatch(10);
        Runnable task = () -> {
            subjects.add(String.valueOf(now()));
            times.countDown();
        };
        Future<?> rate = as("A", () -> pool.scheduleAtFixedRate(task, 1, 1, TimeUnit.MILLISECONDS));
        Future<?> delay = as("A", () -> pool.scheduleWithFixedDelay(task, 1, 1, TimeUnit.MILLISECONDS));
        System.gc();
        await(times);
        rate.cancel(false);
        delay.cancel(false);
        same(Set.of("A"), subjects);
    }

    public void timer_runsForWhoScheduled() throws Exception {
        Timer timer = as("C", () -> new Timer(true));
        CompletableFuture<String> once = new CompletableFuture<>();
        CompletableFuture<String> often = new CompletableFuture<>();
        TimerTask task = new TimerTask() {
            @Override
            public void run() {
                once.complete(now());
            }
        };
        as("A", () -> {
            timer.schedule(task, 30);
            return null;
        });
        try {
            as("B", () -> {
                timer.schedule(task, 1);
                return null;
            });
            throw new AssertionError("scheduled twice");
        } catch (IllegalStateException expected) {
            same("A", get(once));
        }
        as("B", () -> {
            timer.schedule(new TimerTask() {
                private int times;

                @Override
                public void run() {
                    if (++times == 3) {
                        often.complete(now());
                        cancel();
                    }
                }
            }, 1, 1);
            return null;
        });
        same("B", get(often));
        timer.cancel();
    }

    // ---- fork-join

    private static final class Sum extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        final int from;
        final int to;
        final String expected;

        Sum(int from, int to, String expected) {
            this.from = from;
            this.to = to;
            this.expected = expected;
        }

        @Override
        protected Integer compute() {
            same(expected, now());
            if (to - from == 1) {
                return from;
            }
            int middle = from + to >>> 1;
            Sum left = new Sum(from, middle, expected);
            left.fork();
            int right = new Sum(middle, to, expected).invoke();
            return left.join() + right;
        }
    }

    public void forkJoin_everyEntryRunsForWhoEnters() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(3));
        CompletableFuture<String> ran = new CompletableFuture<>();
        as("A", () -> {
            pool.execute(() -> {
                ran.complete(now());
            });
            return null;
        });
        same("A", get(ran));
        same("B", get(as("B", () -> pool.submit((Callable<String>) Subjects::now))));
        same("C", as("C", () -> pool.invokeAll(List.<Callable<String>>of(Subjects::now, Subjects::now))).get(1).get());
        same(null, get(pool.submit((Callable<String>) Subjects::now)));
        same("C", as("C", () -> pool.invokeAny(List.<Callable<String>>of(Subjects::now))));
    }

    public void forkJoin_recursive_runsForWhoBegan() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(3));
        for (String subject : new String[] {"A", null, "B"}) {
            same(499500, as(subject, () -> pool.invoke(new Sum(0, 1000, subject))));
            same(499500, as(subject, () -> pool.submit(new Sum(0, 1000, subject)).get()));
        }
    }

    public void forkJoin_helpedByAnother_runsForItsOwn() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(1));
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String subject = i % 3 == 0 ? null : "S" + i % 3;
            all.add(as(subject, () -> pool.submit(new Sum(0, 200, subject))));
        }
        for (Future<Integer> one : all) {
            same(19900, get(one));
        }
    }

    public void forkJoin_deepRecursion_isBalanced() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(2));
        class Chain extends RecursiveTask<Integer> {
            private static final long serialVersionUID = 1;
            final int left;

            Chain(int left) {
                this.left = left;
            }

            @Override
            protected Integer compute() {
                same("A", now());
                if (left == 0) {
                    return Subjects.depth();
                }
                return new Chain(left - 1).invoke();
            }
        }
        // each invocation, and the task in it
        same(1601, as("A", () -> pool.invoke(new Chain(800))));
        same(1, get(pool.submit(Subjects::depth)));
    }

    public void forkJoin_reinitialized_runsForWhoDoesSo() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(1));
        class Who extends RecursiveTask<String> {
            private static final long serialVersionUID = 1;

            @Override
            protected String compute() {
                return now();
            }
        }
        Who task = as("A", Who::new);
        same("A", pool.invoke(task));
        as("B", () -> {
            task.reinitialize();
            return null;
        });
        same("B", pool.invoke(task));
    }

    public void countedCompleter_runsForWhoBegan() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(2));
        Set<String> subjects = ConcurrentHashMap.newKeySet();
        class Walk extends CountedCompleter<Void> {
            private static final long serialVersionUID = 1;
            final int depth;

            Walk(CountedCompleter<?> parent, int depth) {
                super(parent);
                this.depth = depth;
            }

            @Override
            public void compute() {
                subjects.add(String.valueOf(now()));
                if (depth > 0) {
                    setPendingCount(2);
                    new Walk(this, depth - 1).fork();
                    new Walk(this, depth - 1).fork();
                }
                tryComplete();
            }

            @Override
            public void onCompletion(CountedCompleter<?> caller) {
                subjects.add("over " + now());
            }
        }
        as("A", () -> pool.invoke(new Walk(null, 8)));
        same(Set.of("A", "over A"), subjects);
    }

    public void parallelStream_runsForWhoBegan() throws Exception {
        for (String subject : new String[] {"A", "B"}) {
            Set<String> subjects = ConcurrentHashMap.newKeySet();
            as(subject, () -> IntStream.range(0, 20000).parallel().map(i -> {
                subjects.add(String.valueOf(now()));
                return i;
            }).sum());
            same(Set.of(subject), subjects);
        }
    }

    // ---- completable futures

    public void completableFuture_async_runsForWhoAsked() throws Exception {
        ThreadPoolExecutor pool = single();
        for (Executor executor : new Executor[] {ForkJoinPool.commonPool(), pool, Runnable::run, Program::ofItsOwn}) {
            same("A", get(as("A", () -> CompletableFuture.supplyAsync(Subjects::now, executor))));
            CompletableFuture<String> ran = new CompletableFuture<>();
            as("B", () -> CompletableFuture.runAsync(() -> ran.complete(now()), executor));
            same("B", get(ran));
            CompletableFuture<String> start = new CompletableFuture<>();
            CompletableFuture<String> then = as("A", () -> start.thenApplyAsync(v -> now(), executor));
            as("B", () -> start.complete(""));
            same("A", get(then));
        }
        same("C", get(as("C", () -> CompletableFuture.supplyAsync(Subjects::now))));
    }

    /** An executor with a thread that nobody of klock's sees the queue of. */
    private static void ofItsOwn(Runnable task) {
        LOOP.add(task);
    }

    private static final BlockingQueue<Runnable> LOOP = new LinkedBlockingQueue<>();

    static {
        Thread loop = new Thread(() -> {
            while (true) {
                try {
                    LOOP.take().run();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        loop.setDaemon(true);
        loop.start();
    }

    public void completableFuture_completedByAnother_runsForWhoAsked() throws Exception {
        List<CompletableFuture<?>> futures = new ArrayList<>();
        List<String> found = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<String> start = new CompletableFuture<>();
        CompletableFuture<String> failing = new CompletableFuture<>();
        CompletableFuture<String> other = new CompletableFuture<>();
        as("A", () -> {
            futures.add(start.thenApply(v -> found.add("apply " + now())));
            futures.add(start.thenAccept(v -> found.add("accept " + now())));
            futures.add(start.thenRun(() -> found.add("run " + now())));
            futures.add(start.whenComplete((v, e) -> found.add("when " + now())));
            futures.add(start.handle((v, e) -> found.add("handle " + now())));
            futures.add(failing.exceptionally(e -> String.valueOf(found.add("exceptionally " + now()))));
            futures.add(failing.exceptionallyCompose(e -> {
                found.add("exceptionallyCompose " + now());
                return CompletableFuture.completedFuture("");
            }));
            futures.add(start.thenCompose(v -> {
                found.add("compose " + now());
                return other.thenApply(w -> found.add("inner " + now()));
            }));
            futures.add(start.thenCombine(other, (v, w) -> found.add("combine " + now())));
            futures.add(start.thenAcceptBoth(other, (v, w) -> found.add("both " + now())));
            futures.add(start.runAfterBoth(other, () -> found.add("afterBoth " + now())));
            futures.add(start.applyToEither(other, v -> found.add("either " + now())));
            futures.add(start.acceptEither(other, v -> found.add("acceptEither " + now())));
            futures.add(start.runAfterEither(other, () -> found.add("afterEither " + now())));
            futures.add(CompletableFuture.allOf(start, other).thenRun(() -> found.add("all " + now())));
            futures.add(CompletableFuture.anyOf(start, other).thenRun(() -> found.add("any " + now())));
            return null;
        });
        String after = as("B", () -> {
            start.complete("");
            failing.completeExceptionally(new IllegalStateException());
            other.complete("");
            return now();
        });
        same("B", after);
        for (CompletableFuture<?> future : futures) {
            get(future);
        }
        same(17, found.size());
        for (String one : found) {
            same(true, one.endsWith(" A"));
        }
    }

    public void completableFuture_chainsOfSeveral_runForEach() throws Exception {
        CompletableFuture<String> start = new CompletableFuture<>();
        CompletableFuture<String> chain = start;
        for (int i = 0; i < 300; i++) {
            CompletableFuture<String> last = chain;
            String subject = i % 4 == 3 ? null : "S" + i % 4;
            chain = as(subject, () -> last.thenApply(v -> {
                same(subject, now());
                return v;
            }));
        }
        as("B", () -> start.complete("x"));
        same("x", get(chain));
    }

    public void completableFuture_timeouts_runForWhoAsked() throws Exception {
        CompletableFuture<String> late = new CompletableFuture<>();
        CompletableFuture<String> then = as("A", () -> late.orTimeout(5, TimeUnit.MILLISECONDS).handle((v, e) -> now()));
        same("A", get(then));
        CompletableFuture<String> value = new CompletableFuture<>();
        CompletableFuture<String> valued = as("B", () -> value.completeOnTimeout("", 5, TimeUnit.MILLISECONDS).thenApply(v -> now()));
        same("B", get(valued));
        Executor delayed = CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS);
        same("C", get(as("C", () -> CompletableFuture.supplyAsync(Subjects::now, delayed))));
        Executor ofPool = CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS, single());
        same("C", get(as("C", () -> CompletableFuture.supplyAsync(Subjects::now, ofPool))));
        CompletableFuture<String> executed = new CompletableFuture<>();
        as("D", () -> {
            ofPool.execute(() -> executed.complete(now()));
            return null;
        });
        same("D", get(executed));
    }

    public void publisher_runsForWhoSubmits() throws Exception {
        try (SubmissionPublisher<String> publisher = new SubmissionPublisher<>(single(), 16)) {
            CompletableFuture<Void> consumed = publisher.consume(item -> same(item, now()));
            // a task consumes what comes while it runs, and the first one is the subscriber's
            Thread.sleep(50);
            for (String subject : new String[] {"A", "B"}) {
                as(subject, () -> publisher.submit(subject));
                while (publisher.estimateMaximumLag() > 0) {
                    Thread.sleep(1);
                }
                Thread.sleep(20);
            }
            publisher.close();
            get(consumed);
        }
    }

    // ---- threads

    public void thread_worksForWhoStartedIt() throws Exception {
        CompletableFuture<String> ran = new CompletableFuture<>();
        Thread thread = as("A", () -> new Thread(() -> ran.complete(now())));
        as("B", () -> {
            thread.start();
            return null;
        });
        same("B", get(ran));
        CompletableFuture<String> sub = new CompletableFuture<>();
        as("A", () -> {
            new Thread() {
                @Override
                public void run() {
                    new Thread(() -> sub.complete(now())).start();
                }
            }.start();
            return null;
        });
        same("A", get(sub));
        CompletableFuture<String> nobody = new CompletableFuture<>();
        new Thread(() -> nobody.complete(now())).start();
        same(null, get(nobody));
    }

    public void threads_ofPools_workForNobodyBetweenTasks() throws Exception {
        ForkJoinPool pool = opened(new ForkJoinPool(1, fork -> new java.util.concurrent.ForkJoinWorkerThread(fork) {
            @Override
            protected void onStart() {
                same(null, now());
            }
        }, null, false));
        same("A", get(as("A", () -> pool.submit((Callable<String>) Subjects::now))));
        same("B", get(as("B", () -> pool.submit((Callable<String>) Subjects::now))));
    }

    // ---- virtual threads

    private static ExecutorService perTask() throws Exception {
        return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    private static Thread startVirtual(Runnable task) throws Exception {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    private static ThreadFactory virtualFactory() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }

    public void virtualThread_worksForWhoStartedIt() throws Exception {
        CompletableFuture<String> ran = new CompletableFuture<>();
        as("A", () -> startVirtual(() -> ran.complete(now())));
        same("A", get(ran));
        CompletableFuture<String> made = new CompletableFuture<>();
        Thread thread = as("A", () -> virtualFactory().newThread(() -> made.complete(now())));
        as("B", () -> {
            thread.start();
            return null;
        });
        same("B", get(made));
        CompletableFuture<String> sub = new CompletableFuture<>();
        as("A", () -> startVirtual(() -> {
            try {
                Thread.sleep(5);
                startVirtual(() -> sub.complete(now()));
            } catch (Exception e) {
                sub.completeExceptionally(e);
            }
        }));
        same("A", get(sub));
        CompletableFuture<String> nobody = new CompletableFuture<>();
        startVirtual(() -> nobody.complete(now()));
        same(null, get(nobody));
    }

    /** Else those that meet nothing of klock's would be left to the garbage collector, by the million. */
    public void virtualThread_thatHasEnded_isForgotten_evenIfItWasNeverAskedFor() throws Exception {
        Thread thread = virtualFactory().newThread(() -> { });
        Thread asked = virtualFactory().newThread(() -> { });
        as("A", () -> {
            Subjects.INSTANCE.submitted(asked);
            thread.start();
            return null;
        });
        thread.join();
        same("A", Subjects.INSTANCE.begun(asked));
        same(null, Subjects.INSTANCE.begun(thread));
    }

    public void virtualThreads_perTask_workForWhoSubmits() throws Exception {
        ExecutorService executor = opened(perTask());
        List<Future<String>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            all.add(as("S" + i % 5, () -> executor.submit(() -> {
                String before = now();
                Thread.sleep(2);
                same(before, now());
                return before;
            })));
        }
        for (int i = 0; i < 200; i++) {
            same("S" + i % 5, get(all.get(i)));
        }
        same("A", as("A", () -> executor.invokeAny(List.<Callable<String>>of(Subjects::now))));
        CompletableFuture<String> ran = new CompletableFuture<>();
        as("B", () -> {
            executor.execute(() -> ran.complete(now()));
            return null;
        });
        same("B", get(ran));
    }

    /** A preview API of 25; before, it has another shape. */
    public void structuredScope_virtual_worksForWhoForks() throws Exception {
        if (FEATURE < 25) {
            return;
        }
        Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
        for (String subject : new String[] {"A", "B"}) {
            same(subject, as(subject, () -> {
                Object scope = type.getMethod("open").invoke(null);
                try {
                    Object task = type.getMethod("fork", Callable.class).invoke(scope, (Callable<String>) Subjects::now);
                    type.getMethod("join").invoke(scope);
                    return Class.forName("java.util.concurrent.StructuredTaskScope$Subtask").getMethod("get").invoke(task);
                } finally {
                    type.getMethod("close").invoke(scope);
                }
            }));
        }
    }

    public void virtualThreads_asWorkersOfAPool_workForWhoSubmits() throws Exception {
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), virtualFactory()));
        for (String subject : new String[] {"A", "B", null}) {
            same(subject, get(as(subject, () -> pool.submit(Subjects::now))));
        }
    }

    public void virtualThreads_unparkedByOthers_keepTheirs() throws Exception {
        int threads = 4000;
        int rounds = 25;
        Thread[] all = new Thread[threads];
        AtomicInteger[] permits = new AtomicInteger[threads];
        CountDownLatch over = new CountDownLatch(threads);
        Queue<Object> wrong = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < threads; i++) {
            int n = i;
            permits[i] = new AtomicInteger();
            String subject = i % 3 == 0 ? null : "S" + i % 7;
            all[i] = as(subject, () -> virtualFactory().newThread(() -> {
                try {
                    for (int round = 0; round < rounds; round++) {
                        while (permits[n].get() <= round) {
                            if (n % 2 == 0) {
                                LockSupport.park();
                            } else {
                                LockSupport.parkNanos(1_000_000);
                            }
                        }
                        if (n % 11 == 0) {
                            Thread.yield();
                        }
                        if (!Objects.equals(subject, now()) || Subjects.depth() != 0) {
                            wrong.add(n + " " + now());
                        }
                        int next = (n + 1) % threads;
                        permits[next].incrementAndGet();
                        LockSupport.unpark(all[next]);
                    }
                } catch (Throwable e) {
                    wrong.add(e);
                } finally {
                    over.countDown();
                }
            }));
        }
        for (int i = 0; i < threads; i++) {
            Thread thread = all[i];
            as(i % 3 == 0 ? null : "S" + i % 7, () -> {
                thread.start();
                return null;
            });
        }
        as("Z", () -> {
            for (int i = 0; i < threads; i += 4) {
                permits[i].incrementAndGet();
                LockSupport.unpark(all[i]);
            }
            return null;
        });
        // a ring stops where a thread has gone its rounds; so everybody is given what is missing
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (!over.await(20, TimeUnit.MILLISECONDS)) {
            same(true, System.nanoTime() - until < 0);
            for (int i = 0; i < threads; i++) {
                permits[i].incrementAndGet();
                LockSupport.unpark(all[i]);
            }
        }
        same(List.of(), new ArrayList<>(wrong));
    }

    public void virtualThreads_inLocksAndPools_keepTheirs() throws Exception {
        ExecutorService executor = opened(perTask());
        ForkJoinPool fork = opened(new ForkJoinPool(2));
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()));
        ReentrantLock lock = new ReentrantLock();
        Object monitor = new Object();
        List<Future<Object>> all = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            String subject = "S" + i % 9;
            all.add(as(subject, () -> executor.submit(() -> {
                for (int round = 0; round < 5; round++) {
                    lock.lock();
                    try {
                        same(subject, now());
                    } finally {
                        lock.unlock();
                    }
                    synchronized (monitor) {
                        same(subject, now());
                    }
                    same(subject, pool.submit(Subjects::now).get());
                    same(190, fork.submit(new Sum(0, 20, subject)).get());
                    same(190, new Sum(0, 20, subject).invoke());
                    same(subject, CompletableFuture.supplyAsync(Subjects::now).thenApply(v -> v + now()).get().substring(subject.length()));
                    Thread.sleep(1);
                    same(subject, now());
                }
                return null;
            })));
        }
        for (Future<Object> one : all) {
            get(one);
        }
    }

    // ---- much at once

    public void manyTasks_ofManySubjects_areNeverMixedUp() throws Exception {
        ThreadPoolExecutor pool = opened(new ThreadPoolExecutor(4, 4, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>()));
        ForkJoinPool fork = opened(new ForkJoinPool(3));
        TreeMap<String, AtomicInteger> ran = new TreeMap<>();
        for (int i = 0; i < 4; i++) {
            ran.put("S" + i, new AtomicInteger());
        }
        Runnable shared = () -> ran.get(now()).incrementAndGet();
        Thread[] threads = new Thread[4];
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < threads.length; i++) {
            String subject = "S" + i;
            threads[i] = new Thread(() -> {
                try {
                    as(subject, () -> {
                        List<Future<String>> futures = new ArrayList<>();
                        for (int round = 0; round < 5000; round++) {
                            pool.execute(shared);
                            futures.add(pool.submit(Subjects::now));
                            futures.add(fork.submit((Callable<String>) Subjects::now));
                        }
                        for (Future<String> future : futures) {
                            same(subject, get(future));
                        }
                        return null;
                    });
                } catch (Throwable e) {
                    wrong.add(e);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        pool.shutdown();
        same(true, pool.awaitTermination(30, TimeUnit.SECONDS));
        same(List.of(), new ArrayList<>(wrong));
        for (AtomicInteger times : ran.values()) {
            same(5000, times.get());
        }
    }
}
