package dev.klock.sandbox.subject;

import dev.klock.Klock;
import dev.klock.KlockSession;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/**
 * Ways to hand work to others, each gone by two agents, and then by the process. Each piece of work writes a file where who handed it over may, and
 * one where only others may; a line says what came of both: {@code builder timer did caught}. The files are named after who and how:
 * {@code w/a/builder-timer}. The last line tells of threads that were found to work for somebody before or after all they were given to do.
 */
public final class Ways {
    /** How a piece of work is handed to others, and waited for. */
    public interface Way {
        /** Returns once {@code work} is done. */
        void hand(Runnable work) throws Exception;
    }

    private static final Duration LONG = Duration.ofSeconds(20);
    /** What a thread is to do that has always worked for the process. */
    private static final BlockingQueue<Runnable> COMPLETER = new LinkedBlockingQueue<>();

    private final Map<String, Way> ways = new LinkedHashMap<>();
    private KlockSession builder;
    private KlockSession third;
    private final Queue<Thread> watched = new ConcurrentLinkedQueue<>();
    private final Queue<String> leaks = new ConcurrentLinkedQueue<>();

    /** Adds one; a word for its name. */
    public void add(String name, Way way) {
        if (ways.put(name, way) != null) {
            throw new IllegalArgumentException(name + " is there twice");
        }
    }

    /** Makes threads for a pool that are looked at before and after all that they do for it. */
    public ThreadFactory threads() {
        return poolWork -> {
            Thread thread = new Thread(() -> {
                look("begins");
                try {
                    poolWork.run();
                } finally {
                    look("ends");
                }
            });
            thread.setDaemon(true);
            return watched(thread);
        };
    }

    /** {@link #run} waits for this thread to end. */
    public <T extends Thread> T watched(T thread) {
        watched.add(thread);
        return thread;
    }

    /** Called by a thread that should work for nobody. */
    public void look(String when) {
        KlockSession session = Klock.current();
        if (session != null) {
            leaks.add(Thread.currentThread().getName() + " " + when + " as " + session.agentId());
        }
    }

    /** Has {@code work} done by a thread that the process has started, and that works for the process. */
    public static void byProcess(Runnable work) throws InterruptedException {
        COMPLETER.put(work);
    }

    /** Hands over work by {@code way}, which does not say when it is done, and waits until it is. */
    public static void awaited(Consumer<Runnable> way, Runnable work) throws InterruptedException {
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

    /** As {@link #awaited}, but another agent has handed over work by {@code way} before, which is not done until this has been handed over. */
    public void behindAnothers(Consumer<Runnable> way, Runnable work) throws InterruptedException {
        CountDownLatch handedOver = new CountDownLatch(1);
        (Klock.current() == builder ? third : builder).run(() -> way.accept(() -> {
            try {
                handedOver.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
        awaited(counted -> {
            way.accept(counted);
            handedOver.countDown();
        }, work);
    }

    /**
     * Goes all ways, as builder, as third, and as the process, which ends with this.
     *
     * @param atTheEnd shuts the pools down, so that their threads end
     */
    public void run(Runnable atTheEnd) throws Exception {
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
        try (KlockSession first = Klock.open(Path.of("klock.yaml"), "builder", Duration.ZERO);
                KlockSession second = Klock.open(Path.of("klock.yaml"), "third", Duration.ZERO)) {
            builder = first;
            third = second;
            for (Map.Entry<String, Way> way : ways.entrySet()) {
                builder.run(() -> say("builder", way, "w/a", "w/b"));
                third.run(() -> say("third", way, "w/b", "w/a"));
                say("app", way, "w/out", "w/a");
            }
            atTheEnd.run();
            List<String> left = new ArrayList<>();
            for (Thread thread : watched) {
                thread.join(LONG.toMillis());
                if (thread.isAlive()) {
                    left.add(thread.getName() + " has not ended");
                }
            }
            left.addAll(leaks);
            System.out.println("threads " + watched.size() + ": " + (left.isEmpty() ? "clean" : left));
        }
        System.exit(0);
    }

    private static void say(String who, Map.Entry<String, Way> way, String own, String others) {
        StringBuilder result = new StringBuilder(who + " " + way.getKey());
        String name = who + "-" + way.getKey();
        Runnable work = () -> {
            String now = " " + write(own, name) + " " + write(others, name);
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
