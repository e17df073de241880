package dev.klock.sandbox.subject;

import dev.klock.Answer;
import dev.klock.Klock;
import dev.klock.KlockSession;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Does the work of {@link Appender} for several agents at once, each in a session of its own: {@code MANIFEST PAUSE AGENT FILE… -- AGENT FILE…}. Says
 * of each {@code granted}, {@code died}, {@code lost} or, when its session is closed, {@code done NAME}, before that {@code closing NAME}, and then what it wrote.
 */
public final class AgentAppenders {
    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private AgentAppenders() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println("begins");
        Path manifest = Path.of(arguments[0]);
        long pauseMs = Long.parseLong(arguments[1]);
        List<Thread> threads = new ArrayList<>();
        List<String> agent = new ArrayList<>();
        for (int i = 2; i <= arguments.length; i++) {
            if (i == arguments.length || arguments[i].equals("--")) {
                List<String> one = List.copyOf(agent);
                agent.clear();
                threads.add(new Thread(() -> work(manifest, one.get(0), one.subList(1, one.size()), pauseMs), one.get(0)));
            } else {
                agent.add(arguments[i]);
            }
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("ends");
    }

    private static void work(Path manifest, String name, List<String> files, long pauseMs) {
        while (!attempt(manifest, name, files, pauseMs)) {
            // stopped for longer than its leases last, before its first step
            System.out.println("lost before it began " + name);
        }
    }

    /** False if its leases were gone before it did anything under them: then another session may do it all. */
    private static boolean attempt(Path manifest, String name, List<String> files, long pauseMs) {
        List<String> said = new ArrayList<>();
        boolean[] began = {false};
        try (KlockSession session = Klock.open(manifest, name, WAIT)) {
            Answer last = session.answer();
            if (!last.isGranted() && last.verdict() != Answer.Verdict.GONE) {
                System.out.println("died " + name);
                last = session.retry(PATIENCE);
            }
            if (last.verdict() == Answer.Verdict.GONE) {
                return false;
            }
            if (!last.isGranted()) {
                System.out.println("starved " + name + ": " + last);
                return true;
            }
            try {
                session.call(() -> {
                    began[0] = true;
                    for (String file : files) {
                        said.add(Appender.append(Path.of(file), name, pauseMs));
                    }
                    return null;
                });
            } catch (Throwable e) {
                if (!began[0] && !session.isValid()) {
                    return false;
                }
                System.out.println((session.isValid() ? "failed " : "lost ") + name + ": " + e);
                return true;
            }
            System.out.println("closing " + name);
        } catch (Exception e) {
            System.out.println("failed " + name + ": " + e);
            return true;
        }
        System.out.println("done " + name);
        said.forEach(line -> System.out.println(line + " " + name));
        return true;
    }
}
