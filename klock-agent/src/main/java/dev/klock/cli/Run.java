package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.UsageException;
import dev.klock.digest.StateDigest;
import dev.klock.kernel.Backoff;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Runs a program under klock, and again as long as it dies of a lease that somebody older has: its digest keeps it as old as it was, so that it
 * gets there in the end (K4-7, K8-5). Its input, output and exit code are the program's.
 */
@Command(description = "Run a program under klock. One that ends with 107, since somebody older has what it wants, is started again: after 50 ms, then twice"
        + " as long each time, up to 10 s. Its exit code is the last one's.")
final class Run extends Verb {
    /** So long a program that was told to end by a signal to all of its terminal is left alone. */
    private static final long ENDS_ITSELF_MS = 300;
    private static final String AGENT = "-javaagent:";
    private static final String JAVA_OPTIONS = "JAVA_TOOL_OPTIONS";

    @Option(names = "--with", paramLabel = "KEY=VALUE", completionCandidates = Choices.AgentArguments.class, description = "An argument of the agent (see README), such as mode=block; may be repeated.")
    private List<String> arguments = new ArrayList<>();

    @Option(names = "--retry-for", paramLabel = "DURATION", defaultValue = "15m",
            description = "How long to start it again, from the first time on, such as 30s or 1h; 0 for never. By default 15m.")
    private String retryFor;

    @Parameters(arity = "1..*", paramLabel = "COMMAND", description = {"The program and its arguments, best behind --. java gets klock as its first option;"
            + " what is not java gets it by JAVA_TOOL_OPTIONS, for all JVMs that it starts."})
    private List<String> command;

    /** The program, while it runs. */
    private volatile Process running;
    private volatile boolean stopped;

    Run(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        long patienceMs = LaunchOptions.durationMs(retryFor);
        if (patienceMs < 0) {
            throw new UsageException("--retry-for must be a duration of at most 24h such as 30s, 15m or 1h, not " + retryFor);
        }
        ProcessBuilder builder = builder();
        // who ends this ends the program, and learns how it ended
        Thread last = new Thread(this::stop, "klock-run-stop");
        Runtime.getRuntime().addShutdownHook(last);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        for (int attempts = 0; ; attempts++) {
            int exit = once(builder);
            long delayMs = Backoff.STANDARD.delayMs(attempts, ThreadLocalRandom.current().nextDouble());
            if (exit != StateDigest.EXIT_CODE || stopped) {
                return exit;
            }
            if (deadline - System.nanoTime() < TimeUnit.MILLISECONDS.toNanos(delayMs)) {
                terminal.complain("no lease in " + (attempts + 1) + (attempts == 0 ? " attempt" : " attempts") + " within " + retryFor + "; given up (--retry-for)");
                return exit;
            }
            terminal.complain("ended with 107; starts it again in " + delayMs + " ms");
            pause(delayMs);
        }
    }

    private int once(ProcessBuilder builder) throws UsageException, IOException {
        Process process;
        synchronized (this) {
            if (stopped) {
                // this process has been told to end, and ends by that
                awaitEnd();
            }
            try {
                process = builder.start();
            } catch (IOException e) {
                throw new UsageException(command.get(0) + " cannot be started: " + e.getMessage());
            }
            running = process;
        }
        while (true) {
            try {
                return process.waitFor();
            } catch (InterruptedException e) {
                // nobody interrupts this thread for a reason of ours
                continue;
            }
        }
    }

    private void awaitEnd() {
        while (true) {
            try {
                wait();
            } catch (InterruptedException e) {
                // as below
                continue;
            }
        }
    }

    /** This process is told to end: so is the program, which may take its time. */
    private void stop() {
        Process process;
        synchronized (this) {
            stopped = true;
            process = running;
        }
        if (process == null || !process.isAlive()) {
            return;
        }
        try {
            // a terminal has told it, too, and one signal is enough
            if (!process.waitFor(ENDS_ITSELF_MS, TimeUnit.MILLISECONDS)) {
                process.destroy();
            }
            Runtime.getRuntime().halt(process.waitFor());
        } catch (InterruptedException e) {
            return;
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            // as above
        }
    }

    private ProcessBuilder builder() throws UsageException, IOException {
        String agent = AGENT + Host.jar() + (arguments.isEmpty() ? "" : "=" + String.join(",", arguments));
        // what the agent would refuse is refused here, once
        LaunchOptions.read(String.join(",", arguments), environment);
        List<String> words = new ArrayList<>(command);
        boolean has = words.stream().anyMatch(word -> word.startsWith(AGENT) && new File(word.substring(AGENT.length()).split("=", 2)[0]).getName().startsWith("klock"));
        if (has && !arguments.isEmpty()) {
            throw new UsageException("the command names klock itself; give it " + String.join(",", arguments) + " there, not by --with");
        }
        ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
        if (!has && new File(words.get(0)).getName().equals("java")) {
            words.add(1, agent);
        } else if (!has) {
            String more = environment.variable(JAVA_OPTIONS);
            if (agent.indexOf(' ') >= 0) {
                throw new UsageException(words.get(0) + " is not java, and " + JAVA_OPTIONS + " cannot hold a blank, as " + agent + " has: name java itself");
            }
            builder.environment().put(JAVA_OPTIONS, more == null ? agent : agent + " " + more);
        }
        return builder;
    }
}
