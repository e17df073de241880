package dev.klock.agent.weave.tasks;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.locks.LockSupport;

/** What a task costs, in ns: run by hand, {@code cost off} without the agent, {@code cost nobody} and {@code cost A} with it; a third word chooses. */
final class Cost {
    private static final int TASKS = 400_000;
    /** Makes nearly as many. */
    private static final int FIBONACCI = 26;
    private static final Runnable NOTHING = () -> { };

    private static String chosen;

    private Cost() {
    }

    static void main(String[] arguments) throws Exception {
        String subject = arguments[1];
        chosen = arguments.length > 2 ? arguments[2] : "";
        if (subject.equals("off")) {
            measure();
        } else {
            System.out.println("installed in " + TaskAgent.Installed.micros + " us, classes " + TaskAgent.Installed.propagation.classes());
            Subjects.as(subject.equals("nobody") ? null : subject, () -> {
                measure();
                return null;
            });
        }
        System.exit(0);
    }

    interface Round {
        void run() throws Exception;
    }

    private static void measure() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        ForkJoinPool fork = new ForkJoinPool(1);
        time("FutureTask made and run", () -> {
            for (int i = 0; i < TASKS; i++) {
                new FutureTask<>(NOTHING, null).run();
            }
        });
        time("execute, the same Runnable", () -> {
            for (int i = 0; i < TASKS; i++) {
                pool.execute(NOTHING);
            }
            pool.submit(NOTHING).get();
        });
        time("submit", () -> {
            for (int i = 0; i < TASKS; i++) {
                pool.submit(NOTHING);
            }
            pool.submit(NOTHING).get();
        });
        time("fork and join (fibonacci)", () -> fork.invoke(new Fibonacci(FIBONACCI)));
        time("thenApply, completed later", () -> {
            for (int i = 0; i < TASKS; i++) {
                CompletableFuture<String> start = new CompletableFuture<>();
                start.thenApply(v -> v);
                start.complete("");
            }
        });
        time("supplyAsync", () -> {
            CompletableFuture<?> last = null;
            for (int i = 0; i < TASKS; i++) {
                last = CompletableFuture.supplyAsync(() -> "", fork);
            }
            last.get();
        });
        if (Runtime.version().feature() >= 21) {
            time("unpark and park of virtual threads", Cost::pingPong);
        }
    }

    private static void pingPong() throws Exception {
        Thread[] two = new Thread[2];
        java.util.concurrent.atomic.AtomicInteger turn = new java.util.concurrent.atomic.AtomicInteger();
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        java.lang.reflect.Method unstarted = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);
        for (int i = 0; i < 2; i++) {
            int me = i;
            two[i] = (Thread) unstarted.invoke(builder, (Runnable) () -> {
                for (int n = 0; n < TASKS / 2; n++) {
                    while (turn.get() % 2 != me) {
                        LockSupport.park();
                    }
                    turn.incrementAndGet();
                    LockSupport.unpark(two[1 - me]);
                }
            });
        }
        two[0].start();
        two[1].start();
        two[0].join();
        two[1].join();
    }

    private static void time(String what, Round round) throws Exception {
        if (!what.contains(chosen)) {
            return;
        }
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 12; i++) {
            long begun = System.nanoTime();
            round.run();
            best = Math.min(best, System.nanoTime() - begun);
        }
        System.out.printf("%-40s %6d ns%n", what, best / TASKS);
    }

    private static final class Fibonacci extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        final int n;

        Fibonacci(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fibonacci left = new Fibonacci(n - 1);
            left.fork();
            return new Fibonacci(n - 2).invoke() + left.join();
        }
    }
}
