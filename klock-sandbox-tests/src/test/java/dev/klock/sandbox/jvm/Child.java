package dev.klock.sandbox.jvm;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A program in a JVM of its own. Set it up with the fluent methods, then {@link #run()} it once. Not thread-safe.
 *
 * <p>Without {@link #klock} it runs bare, for comparison. No more children run at a time than there are cores.
 */
public final class Child {
    private static final Semaphore CORES = new Semaphore(Runtime.getRuntime().availableProcessors(), true);
    /** How often a test that repeats things should do so, as a factor; {@code -Dklock.test.scale}. */
    public static final int SCALE = Integer.getInteger("klock.test.scale", 1);
    /** The exit code of a process that SIGKILL has ended. */
    public static final int KILLED = 137;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Where Surefire leaves the compiled subjects. */
    private static final Path SUBJECTS = KlockJar.module().resolve("target/test-classes");

    private final Jdk jdk;
    private final List<String> launcher = new ArrayList<>();
    private final List<String> agentsBefore = new ArrayList<>();
    private final List<String> jvmArguments = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final List<Path> classPath = new ArrayList<>(List.of(SUBJECTS));
    private final Map<String, String> environment = new LinkedHashMap<>();
    private Path directory;
    private Path jar;
    private Path program;
    private boolean cli;
    private String klockOptions;
    private String main;
    private Duration patience = PATIENCE;

    private Child(Jdk jdk) {
        this.jdk = jdk;
    }

    /** A child on {@code jdk}. */
    public static Child on(Jdk jdk) {
        return new Child(jdk);
    }

    /** Runs in this directory. */
    public Child in(Path directory) {
        this.directory = directory;
        return this;
    }

    /** Runs {@code subject}'s main method. */
    public Child main(Class<?> subject, String... arguments) {
        return main(subject.getName(), arguments);
    }

    /** Runs the main method of the class of this name. */
    public Child main(String subject, String... arguments) {
        this.main = subject;
        this.arguments.addAll(Arrays.asList(arguments));
        return this;
    }

    /** Runs {@code java -jar program}, so that the jar is all of the class path that the command line names. */
    public Child jar(Path program, String... arguments) {
        this.program = program;
        this.arguments.addAll(Arrays.asList(arguments));
        return this;
    }

    /** Adds the places that these classes of the test's own class path come from to the child's. */
    public Child with(Class<?>... libraries) {
        for (Class<?> library : libraries) {
            classPath.add(placeOf(library));
        }
        return this;
    }

    /** Gives it this class path instead, without the tests' subjects. */
    public Child onlyClassPath(List<Path> places) {
        classPath.clear();
        return classPath(places);
    }

    /** Adds jars and directories to the child's class path. */
    public Child classPath(List<Path> places) {
        classPath.addAll(places);
        return this;
    }

    /** The jar or directory that a class of the test's class path comes from. */
    public static Path placeOf(Class<?> library) {
        try {
            return Path.of(library.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Adds arguments for the JVM, behind klock's. */
    public Child jvm(String... arguments) {
        jvmArguments.addAll(Arrays.asList(arguments));
        return this;
    }

    /** Adds arguments for the JVM that stand before klock's. */
    public Child jvmBefore(String... arguments) {
        agentsBefore.addAll(Arrays.asList(arguments));
        return this;
    }

    /** Runs under klock with these agent arguments ({@code key=value,…}); "" for none. */
    public Child klock(String options) {
        this.klockOptions = options;
        this.jar = KlockJar.path();
        return this;
    }

    /** Writes this manifest as {@code klock.yaml} into the directory. */
    public Child manifest(String text) {
        return file("klock.yaml", text);
    }

    /** Writes a file into the directory. */
    public Child file(String name, String text) {
        try {
            Files.writeString(directory.resolve(name), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Runs it by way of this command, which gets the JVM's command line as further arguments. */
    public Child through(String... command) {
        launcher.addAll(Arrays.asList(command));
        return this;
    }

    /** Sets an environment variable. */
    public Child env(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** How long it may take before it is killed and the test fails; a minute if not said. */
    public Child patience(Duration patience) {
        this.patience = patience;
        return this;
    }

    /** The command line, for messages. */
    public List<String> command() {
        List<String> command = new ArrayList<>(launcher);
        command.add(jdk.java().toString());
        // short-lived programs: what a JVM needs to warm up would be most of the test
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
        command.addAll(agentsBefore);
        if (klockOptions != null) {
            command.add("-javaagent:" + jar + (klockOptions.isEmpty() ? "" : "=" + klockOptions));
        }
        command.addAll(jvmArguments);
        if (cli || program != null) {
            command.addAll(List.of("-jar", (cli ? jar : program).toString()));
            command.addAll(arguments);
            return command;
        }
        command.add("-cp");
        command.add(String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList()));
        command.add(main);
        command.addAll(arguments);
        return command;
    }

    /** Runs it to its end. */
    public Outcome run() {
        return together(List.of(this)).get(0);
    }

    /** Starts it and kills it (SIGKILL) as soon as {@code file} exists and {@code later} has passed; fails if it ends before. */
    public Outcome killedWhen(Path file, Duration later) {
        Outcome outcome = killedWhenOrEnded(file, later);
        if (outcome.exit() != KILLED) {
            throw new AssertionError("ended before it could be killed: " + outcome);
        }
        return outcome;
    }

    /** The same for what may also end by itself before. */
    public Outcome killedWhenOrEnded(Path file, Duration later) {
        CORES.acquireUninterruptibly();
        try {
            Running running = start();
            long deadline = System.nanoTime() + patience.toNanos();
            while (!Files.exists(file) && running.process().isAlive() && System.nanoTime() < deadline) {
                Thread.sleep(2);
            }
            Thread.sleep(later.toMillis());
            running.kill();
            return running.await();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            CORES.release();
        }
    }

    /** Runs {@code java -jar klock.jar} with the arguments of {@link #verb}. */
    public Child verb(String... words) {
        this.jar = KlockJar.path();
        this.cli = true;
        this.arguments.addAll(Arrays.asList(words));
        return this;
    }

    /** Runs several at once, as near to the same moment as can be, and waits for all. */
    public static List<Outcome> together(List<Child> children) {
        CORES.acquireUninterruptibly();
        try {
            List<Running> running = new ArrayList<>();
            for (Child child : children) {
                running.add(child.start());
            }
            List<Outcome> outcomes = new ArrayList<>();
            for (Running one : running) {
                outcomes.add(one.await());
            }
            return outcomes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            CORES.release();
        }
    }

    /** Starts it, beside whatever runs; for a program that others are to meet. */
    public Running begin() {
        try {
            return start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Running start() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command()).directory(directory.toFile());
        Map<String, String> inherited = builder.environment();
        // what the machine sets for klock or for every JVM must not change what a test sees
        for (String name : List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")) {
            inherited.remove(name);
        }
        inherited.keySet().removeIf(name -> name.startsWith("KLOCK_"));
        inherited.putAll(environment);
        long started = System.nanoTime();
        Process process = builder.start();
        process.getOutputStream().close();
        return new Running(this, process, started, new Drained(process.getInputStream()), new Drained(process.getErrorStream()));
    }

    /** What a stream has given so far, and whether that is all. */
    private static final class Drained {
        private final ByteArrayOutputStream all = new ByteArrayOutputStream();
        private final CompletableFuture<Void> end = new CompletableFuture<>();

        Drained(InputStream stream) {
            Thread reader = new Thread(() -> {
                try (stream) {
                    byte[] some = new byte[8192];
                    for (int n = stream.read(some); n >= 0; n = stream.read(some)) {
                        all.write(some, 0, n);
                    }
                    end.complete(null);
                } catch (IOException e) {
                    end.completeExceptionally(e);
                }
            }, "child output");
            reader.setDaemon(true);
            reader.start();
        }

        String soFar() {
            return all.toString(StandardCharsets.UTF_8);
        }

        String whole() throws InterruptedException {
            try {
                end.get(10, TimeUnit.SECONDS);
                return soFar();
            } catch (ExecutionException e) {
                throw new IllegalStateException("a child's output could not be read", e.getCause());
            } catch (java.util.concurrent.TimeoutException e) {
                throw new IllegalStateException("a child's output did not end", e);
            }
        }
    }

    /** One that was started. */
    public record Running(Child child, Process process, long startedNanos, Drained out, Drained err) {
        /** Waits until {@code file} is there; fails if the program ends before. */
        public Running until(Path file) {
            return until(file.toString(), () -> Files.exists(file));
        }

        /** Waits until {@code text} stands on its standard error; fails if the program ends before. */
        public Running untilSays(String text) {
            return until(text, () -> err.soFar().contains(text));
        }

        private Running until(String what, BooleanSupplier is) {
            long deadline = System.nanoTime() + child.patience.toNanos();
            while (!is.getAsBoolean()) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new AssertionError("no " + what + ": " + await());
                }
                pause(5);
            }
            return this;
        }

        /** Sends it a signal, such as {@code STOP}. */
        public Running signal(String name) {
            try {
                new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start().waitFor();
                return this;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        /** For so many milliseconds; an interrupt ends it with an exception. */
        public static void pause(long ms) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        /** Waits for its end. */
        public Outcome await() {
            try {
                boolean ended = process.waitFor(child.patience.toMillis(), TimeUnit.MILLISECONDS);
                if (!ended) {
                    try (Stream<ProcessHandle> children = process.descendants()) {
                        children.forEach(ProcessHandle::destroyForcibly);
                    }
                    kill();
                    process.waitFor();
                }
                Duration took = Duration.ofNanos(System.nanoTime() - startedNanos);
                Outcome outcome = new Outcome(process.exitValue(), out.whole(), err.whole(), took, child.directory,
                        String.join(" ", child.command()));
                if (!ended) {
                    throw new AssertionError("did not end within " + child.patience + ": " + outcome);
                }
                return outcome;
            } catch (InterruptedException e) {
                kill();
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        /** Not by the Process, which would close the streams that are still being read. */
        public void kill() {
            process.toHandle().destroyForcibly();
        }
    }
}
