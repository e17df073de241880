package dev.klock.sandbox.subject;

import dev.klock.Klock;
import dev.klock.KlockSession;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Two agents hand work to the same pools in every way there is. Each piece writes a file where its agent may, and one where the other may; a line
 * says what came of both. Then the process does the same by the same threads.
 */
public final class Handovers {
    /** How a piece of work is handed to others, and waited for. */
    private interface Way {
        void hand(Runnable work) throws Exception;
    }

    private static final ExecutorService POOL = Executors.newFixedThreadPool(2);
    private static final ScheduledExecutorService SCHEDULER = Executors.newScheduledThreadPool(1);
    private static final ForkJoinPool FORK_JOIN = new ForkJoinPool(2);
    private static final Timer TIMER = new Timer("timer", true);
    private static final Map<String, Way> WAYS = new LinkedHashMap<>();

    static {
        WAYS.put("execute", work -> awaited(POOL::execute, work));
        WAYS.put("submit", work -> POOL.submit(work).get());
        WAYS.put("call", work -> POOL.submit(Executors.callable(work)).get());
        WAYS.put("invokeAll", work -> POOL.invokeAll(List.<Callable<Object>>of(Executors.callable(work))).get(0).get());
        WAYS.put("completionService", work -> {
            ExecutorCompletionService<Object> service = new ExecutorCompletionService<>(POOL);
            service.submit(Executors.callable(work));
            service.take().get();
        });
        WAYS.put("schedule", work -> SCHEDULER.schedule(work, 1, TimeUnit.MILLISECONDS).get());
        WAYS.put("fixedRate", work -> {
            CountDownLatch twice = new CountDownLatch(2);
            ScheduledFuture<?> rate = SCHEDULER.scheduleAtFixedRate(() -> {
                work.run();
                twice.countDown();
            }, 0, 1, TimeUnit.MILLISECONDS);
            twice.await();
            rate.cancel(false);
        });
        WAYS.put("timer", work -> awaited(counted -> TIMER.schedule(new TimerTask() {
            @Override
            public void run() {
                counted.run();
            }
        }, 1), work));
        WAYS.put("thread", work -> {
            Thread thread = new Thread(work);
            thread.start();
            thread.join();
        });
        WAYS.put("threadInThread", work -> {
            Thread thread = new Thread(() -> {
                Thread inner = new Thread(work);
                inner.start();
                try {
                    inner.join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.start();
            thread.join();
        });
        WAYS.put("forkJoinExecute", work -> awaited(FORK_JOIN::execute, work));
        WAYS.put("forkJoinSubmit", work -> FORK_JOIN.submit(work).get());
        WAYS.put("recursive", work -> FORK_JOIN.invoke(new RecursiveAction() {
            @Override
            protected void compute() {
                RecursiveAction inner = new RecursiveAction() {
                    @Override
                    protected void compute() {
                        work.run();
                    }
                };
                inner.fork();
                inner.join();
            }
        }));
        WAYS.put("commonPool", work -> awaited(ForkJoinPool.commonPool()::execute, work));
        WAYS.put("parallelStream", work -> IntStream.range(0, 16).parallel().forEach(i -> {
            synchronized (work) {
                work.run();
            }
        }));
        WAYS.put("runAsync", work -> CompletableFuture.runAsync(work).get());
        WAYS.put("supplyAsyncOnPool", work -> CompletableFuture.supplyAsync(() -> {
            work.run();
            return 1;
        }, POOL).get());
        WAYS.put("thenRun", work -> {
            CompletableFuture<Object> first = new CompletableFuture<>();
            CompletableFuture<Void> then = first.thenRun(work);
            byProcess(() -> first.complete(1));
            then.get();
        });
        WAYS.put("whenCompleteAsync", work -> {
            CompletableFuture<Object> first = new CompletableFuture<>();
            CompletableFuture<Object> then = first.whenCompleteAsync((result, failure) -> work.run(), POOL);
            byProcess(() -> first.complete(1));
            then.get();
        });
        WAYS.put("delayed", work -> awaited(CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, POOL)::execute, work));
        if (Runtime.version().feature() >= 21) {
            WAYS.put("virtual", work -> {
                Thread thread = (Thread) method(Thread.class, "startVirtualThread", Runnable.class).invoke(null, work);
                thread.join();
            });
            WAYS.put("virtualExecutor", work -> {
                ExecutorService virtual = (ExecutorService) method(Executors.class, "newVirtualThreadPerTaskExecutor").invoke(null);
                virtual.submit(work).get();
                virtual.shutdown();
            });
            WAYS.put("virtualThatWaits", work -> {
                Thread thread = (Thread) method(Thread.class, "startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
                    try {
                        Thread.sleep(5);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    work.run();
                });
                thread.join();
            });
        }
    }

    /** What a thread is to do that has always worked for the process. */
    private static final BlockingQueue<Runnable> COMPLETER = new LinkedBlockingQueue<>();

    private Handovers() {
    }

    private static Method method(Class<?> type, String name, Class<?>... parameters) throws NoSuchMethodException {
        return type.getMethod(name, parameters);
    }

    private static void byProcess(Runnable work) throws Exception {
        COMPLETER.put(work);
    }

    private static void awaited(Consumer<Runnable> way, Runnable work) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        way.accept(() -> {
            try {
                work.run();
            } finally {
                done.countDown();
            }
        });
        done.await();
    }

    public static void main(String[] arguments) throws Exception {
        Thread completer = new Thread(() -> {
            while (true) {
                try {
                    COMPLETER.take().run();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        completer.setDaemon(true);
        completer.start();
        try (KlockSession builder = Klock.open(Path.of("klock.yaml"), "builder", Duration.ZERO);
                KlockSession third = Klock.open(Path.of("klock.yaml"), "third", Duration.ZERO)) {
            for (Map.Entry<String, Way> way : WAYS.entrySet()) {
                builder.run(() -> say("builder", way, "w/a", "w/b"));
                third.run(() -> say("third", way, "w/b", "w/a"));
                say("app", way, "w/out", "w/a");
            }
        }
        System.exit(0);
    }

    private static void say(String who, Map.Entry<String, Way> way, String own, String others) {
        StringBuilder result = new StringBuilder(who + " " + way.getKey());
        Runnable work = () -> {
            String now = " " + write(own, who + way.getKey()) + " " + write(others, who + way.getKey());
            synchronized (result) {
                if (result.indexOf(now) < 0) {
                    result.append(now);
                }
            }
        };
        try {
            way.getValue().hand(work);
        } catch (Exception e) {
            result.append(' ').append(e);
        }
        System.out.println(result);
    }

    private static String write(String directory, String name) {
        try {
            Files.writeString(Path.of(directory, name), "x");
            return "did";
        } catch (Throwable thrown) {
            return "caught";
        }
    }
}
