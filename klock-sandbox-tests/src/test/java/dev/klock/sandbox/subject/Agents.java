package dev.klock.sandbox.subject;

import dev.klock.Answer;
import dev.klock.Klock;
import dev.klock.KlockException;
import dev.klock.KlockSession;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Steps of {@link Script} by sessions of several agents:
 *
 * <pre>
 *  open AGENT MS [FILE]   asks for the session of AGENT, waiting so long; prints the verdict
 *  as AGENT STEP          print what it throws, whatever it is, and go on
 *  off AGENT STEP         the same by a thread of a pool that all agents share
 *  retry AGENT MS         prints the verdict
 *  more AGENT PREDICATE RESOURCE  asks for one more lease, without waiting; prints the verdict
 *  state AGENT            prints whether it may work, and what it is
 *  age AGENT              prints since when it has its age
 *  counts AGENT           prints how often it has waited and died
 *  release AGENT          gives back what its manifest was granted
 *  close AGENT            abort AGENT
 *  dive AGENT N           asks N times for what it holds at each depth of the stack, from its end upwards
 *  try STEP               print what it throws, whatever it is, and go on
 *  plain STEP             by the thread itself
 * </pre>
 */
public final class Agents {
    private static final Map<String, KlockSession> SESSIONS = new HashMap<>();
    private static final ExecutorService POOL = Executors.newFixedThreadPool(1, task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    private Agents() {
    }

    public static void main(String[] steps) throws Exception {
        System.out.println("main begins");
        for (String step : steps) {
            run(Script.words(step));
        }
        System.out.println("main ends");
    }

    private static void run(List<String> words) throws Exception {
        String agent = words.get(1);
        KlockSession session = SESSIONS.get(agent);
        List<String> rest = words.subList(2, words.size());
        switch (words.get(0)) {
            case "open" -> open(agent, Duration.ofMillis(Long.parseLong(rest.get(0))), Path.of(rest.size() > 1 ? rest.get(1) : "klock.yaml"));
            case "as" -> as(agent, session, rest);
            case "off" -> {
                Future<?> done;
                try (KlockSession.Entered entered = session.enter()) {
                    done = POOL.submit(() -> attempt(agent, rest));
                }
                done.get();
            }
            case "retry" -> say(agent, session.retry(Duration.ofMillis(Long.parseLong(rest.get(0)))));
            case "more" -> say(agent, session.acquire(Duration.ZERO, String.join(" ", rest)));
            case "state" -> System.out.println(agent + " " + session.isValid() + " " + session.state() + " " + session.isEnforced());
            case "age" -> System.out.println(agent + " since " + session.priorityTimestampMs());
            case "counts" -> System.out.println(agent + " waited " + session.answer().waits() + ", died " + session.answer().deaths());
            case "dive" -> {
                for (int i = 0; i < Integer.parseInt(rest.get(0)); i++) {
                    dive(session, i, i);
                }
            }
            case "release" -> session.release(session.answer());
            case "close" -> session.close();
            case "abort" -> session.abort("enough");
            case "try" -> {
                try {
                    run(words.subList(1, words.size()));
                } catch (Throwable thrown) {
                    System.out.println("caught " + thrown.getClass().getName());
                }
            }
            case "plain" -> Script.run(words.subList(1, words.size()));
            default -> throw new IllegalArgumentException(words.toString());
        }
    }

    private static void open(String agent, Duration wait, Path manifest) throws InterruptedException {
        try {
            KlockSession session = Klock.open(manifest, agent, wait);
            SESSIONS.put(agent, session);
            say(agent, session.answer());
        } catch (KlockException e) {
            System.out.println(agent + " refused: " + e.getMessage());
        }
    }

    private static long dive(KlockSession session, int odd, long a) {
        long below = 0;
        try {
            below = odd % 2 == 0 ? dive(session, odd, a + 1) : dive(session, odd, a) + a;
        } catch (StackOverflowError end) {
            below++;
        }
        try {
            session.answer();
            session.state();
            session.retry(Duration.ZERO);
        } catch (StackOverflowError | InterruptedException end) {
            below++;
        }
        return below;
    }

    private static void say(String agent, Answer answer) {
        System.out.println(agent + " " + answer.verdict() + (answer.reason() == null ? "" : ": " + answer.reason()));
    }

    private static void as(String agent, KlockSession session, List<String> step) {
        try {
            session.run(() -> attempt(agent, step));
        } catch (IllegalStateException e) {
            System.out.println(agent + " may not: " + e.getMessage());
        }
    }

    private static void attempt(String agent, List<String> step) {
        try {
            Script.run(step);
            System.out.println(agent + " did " + String.join(" ", step));
        } catch (Throwable thrown) {
            System.out.println(agent + " caught " + thrown.getClass().getName());
        }
    }
}
