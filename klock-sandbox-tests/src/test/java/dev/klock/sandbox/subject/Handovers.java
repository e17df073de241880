package dev.klock.sandbox.subject;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** {@link Ways} that the JDK has. With the argument {@code preview} those, too, that need {@code --enable-preview}. */
public final class Handovers {
    private Handovers() {
    }

    public static void main(String[] arguments) throws Exception {
        Ways ways = new Ways();
        ExecutorService pool = new ThreadPoolExecutor(2, 2, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), ways.threads()) {
            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                ways.look("is before a task");
            }

            @Override
            protected void afterExecute(Runnable task, Throwable thrown) {
                ways.look("is behind a task");
            }
        };
        ExecutorService single = Executors.newSingleThreadExecutor(ways.threads());
        ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1, ways.threads());
        ForkJoinPool forkJoin = new ForkJoinPool(2, of -> ways.watched(new ForkJoinWorkerThread(of) {
            @Override
            protected void onStart() {
                ways.look("begins");
            }

            @Override
            protected void onTermination(Throwable thrown) {
                ways.look("ends");
            }
        }), null, false);
        Timer timer = new Timer("timer", true);
        ways.add("execute", work -> Ways.awaited(pool::execute, work));
        ways.add("executeBehind", work -> ways.behindAnothers(single::execute, work));
        ways.add("submitBehind", work -> ways.behindAnothers(single::submit, work));
        ways.add("submit", work -> pool.submit(work).get());
        ways.add("call", work -> pool.submit(Executors.callable(work)).get());
        ways.add("invokeAll", work -> pool.invokeAll(List.<Callable<Object>>of(Executors.callable(work))).get(0).get());
        ways.add("invokeAny", work -> pool.invokeAny(List.<Callable<Object>>of(Executors.callable(work))));
        ways.add("completionService", work -> {
            ExecutorCompletionService<Object> service = new ExecutorCompletionService<>(pool);
            service.submit(Executors.callable(work));
            service.take().get();
        });
        ways.add("schedule", work -> scheduler.schedule(work, 1, TimeUnit.MILLISECONDS).get());
        ways.add("fixedRate", work -> {
            CountDownLatch twice = new CountDownLatch(2);
            ScheduledFuture<?> rate = scheduler.scheduleAtFixedRate(() -> {
                work.run();
                twice.countDown();
            }, 0, 1, TimeUnit.MILLISECONDS);
            twice.await();
            rate.cancel(false);
        });
        ways.add("fixedDelay", work -> {
            CountDownLatch twice = new CountDownLatch(2);
            ScheduledFuture<?> rate = scheduler.scheduleWithFixedDelay(() -> {
                work.run();
                twice.countDown();
            }, 0, 1, TimeUnit.MILLISECONDS);
            twice.await();
            rate.cancel(false);
        });
        ways.add("timer", work -> Ways.awaited(counted -> timer.schedule(new TimerTask() {
            @Override
            public void run() {
                counted.run();
            }
        }, 1), work));
        ways.add("thread", work -> {
            Thread thread = new Thread(work);
            thread.start();
            thread.join();
        });
        ways.add("threadInThread", work -> {
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
        ways.add("forkJoinExecute", work -> Ways.awaited(forkJoin::execute, work));
        ways.add("forkJoinSubmit", work -> forkJoin.submit(work).get());
        ways.add("recursive", work -> forkJoin.invoke(new RecursiveAction() {
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
        ways.add("forkJoinInvokeAll", work -> forkJoin.invokeAll(List.<Callable<Object>>of(Executors.callable(work))).get(0).get());
        ways.add("commonPool", work -> Ways.awaited(ForkJoinPool.commonPool()::execute, work));
        ways.add("parallelStream", work -> IntStream.range(0, 16).parallel().forEach(i -> {
            synchronized (work) {
                work.run();
            }
        }));
        ways.add("runAsync", work -> CompletableFuture.runAsync(work).get());
        ways.add("supplyAsyncOnPool", work -> CompletableFuture.supplyAsync(() -> {
            work.run();
            return 1;
        }, pool).get());
        ways.add("thenRun", work -> {
            CompletableFuture<Object> first = new CompletableFuture<>();
            CompletableFuture<Void> then = first.thenRun(work);
            Ways.byProcess(() -> first.complete(1));
            then.get();
        });
        ways.add("whenCompleteAsync", work -> {
            CompletableFuture<Object> first = new CompletableFuture<>();
            CompletableFuture<Object> then = first.whenCompleteAsync((result, failure) -> work.run(), pool);
            Ways.byProcess(() -> first.complete(1));
            then.get();
        });
        ways.add("delayed", work -> Ways.awaited(CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, pool)::execute, work));
        if (Runtime.version().feature() >= 21) {
            ways.add("virtual", work -> {
                Thread thread = (Thread) method(Thread.class, "startVirtualThread", Runnable.class).invoke(null, work);
                thread.join();
            });
            ways.add("virtualExecutor", work -> {
                ExecutorService virtual = (ExecutorService) method(Executors.class, "newVirtualThreadPerTaskExecutor").invoke(null);
                virtual.submit(work).get();
                virtual.shutdown();
            });
            ways.add("virtualThatWaits", work -> {
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
        if (List.of(arguments).contains("preview")) {
            addStructured(ways);
        }
        ways.run(() -> {
            pool.shutdown();
            single.shutdown();
            scheduler.shutdown();
            forkJoin.shutdown();
        });
    }

    private static void addStructured(Ways ways) throws ReflectiveOperationException {
        Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
        Method open = method(type, "open");
        Method fork = method(type, "fork", Runnable.class);
        Method join = method(type, "join");
        Method close = method(type, "close");
        ways.add("structured", work -> {
            Object scope = open.invoke(null);
            fork.invoke(scope, work);
            join.invoke(scope);
            close.invoke(scope);
        });
        ways.add("structuredInStructured", work -> {
            Object scope = open.invoke(null);
            fork.invoke(scope, (Runnable) () -> {
                try {
                    Object inner = open.invoke(null);
                    fork.invoke(inner, work);
                    join.invoke(inner);
                    close.invoke(inner);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            });
            join.invoke(scope);
            close.invoke(scope);
        });
    }

    private static Method method(Class<?> type, String name, Class<?>... parameters) throws NoSuchMethodException {
        return type.getMethod(name, parameters);
    }
}
