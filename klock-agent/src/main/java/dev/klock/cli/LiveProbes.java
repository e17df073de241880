package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.Option;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.weave.Hook;
import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@link dev.klock.cli.probe.Probes} under klock.jar in child JVMs of the same Java, in a directory of its own that is gone
 * afterwards: once in block mode, where each probe must be denied, and once in strict mode, where the session ends while writers are open.
 */
final class LiveProbes {
    private static final String PROBES = "dev/klock/cli/probe/Probes";
    private static final String[] CLASSES = {PROBES, PROBES + "$Body", PROBES + "$Handle"};
    private static final int MANY = 200;
    private static final long PATIENCE_S = 60;
    private static final int EXIT_ABORTED = 108;
    /** What the machine sets for klock or for every JVM must not change what the children do. */
    private static final String[] UNWANTED = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"};

    private final LaunchEnvironment environment;
    private final File jar;
    private final Path directory;
    private final Map<String, String> outcomes = new LinkedHashMap<>();
    private String refusal;

    private LiveProbes(LaunchEnvironment environment, File jar, Path directory) {
        this.environment = environment;
        this.jar = jar;
        this.directory = directory;
    }

    /** Runs all; takes a few seconds. @throws IOException the children could not be started or did not end */
    static LiveProbes run(LaunchEnvironment environment) throws IOException {
        Path directory = Files.createTempDirectory("klock-doctor").toRealPath();
        try {
            LiveProbes probes = new LiveProbes(environment, Host.jar(), directory);
            probes.prepare();
            probes.runChildren();
            return probes;
        } catch (InterruptedException e) {
            throw new IOException("interrupted while the probes ran");
        } finally {
            delete(directory);
        }
    }

    /** What klock said when it refused to start the child, or what else went wrong with it; null if all ran. */
    String refusal() {
        return refusal;
    }

    /** How the row was met: "denied", what happened instead, or null if no probe is there for it. */
    String outcome(Hook hook) {
        String found = null;
        for (Map.Entry<String, String> outcome : outcomes.entrySet()) {
            if (means(outcome.getKey(), hook)) {
                if (outcome.getValue().equals("denied")) {
                    return outcome.getValue();
                }
                found = outcome.getValue();
            }
        }
        return found;
    }

    /** {@code class.method}, with the descriptor where that names several, and {@code @name} of the call where the row is about one inside. */
    private static boolean means(String reference, Hook hook) {
        int at = reference.indexOf('@');
        String name = at < 0 ? reference : reference.substring(0, at);
        boolean place = at < 0 ? hook.site.equals("-") : hook.site.contains("." + reference.substring(at + 1) + "(");
        String method = hook.owner + "." + hook.method;
        return place && name.equals(name.indexOf('(') < 0 ? method : method + hook.descriptor);
    }

    /**
     * <pre>
     *  classes/…        the probes
     *  plain            a file; names below it are nowhere
     *  read/            declared for reading: file, spare, empty/, link, socket
     *  write/           declared for writing: file, many/
     * </pre>
     */
    private void prepare() throws IOException {
        for (String name : CLASSES) {
            Path target = directory.resolve("classes").resolve(name + ".class");
            Files.createDirectories(target.getParent());
            try (InputStream in = LiveProbes.class.getClassLoader().getResourceAsStream(name + ".class")) {
                Files.copy(in, target);
            }
        }
        Files.writeString(directory.resolve("plain"), "plain");
        Path read = Files.createDirectory(directory.resolve("read"));
        Files.writeString(read.resolve("file"), "file");
        Files.writeString(read.resolve("spare"), "spare");
        Files.createDirectory(read.resolve("empty"));
        Files.createSymbolicLink(read.resolve("link"), Path.of("file"));
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(read.resolve("socket")));
        }
        Path write = Files.createDirectory(directory.resolve("write"));
        Files.writeString(write.resolve("file"), "a file to write to");
        Path many = Files.createDirectory(write.resolve("many"));
        for (int i = 0; i < MANY; i++) {
            Files.writeString(many.resolve("f" + i), "first");
        }
        manifest("names", Predicate.CONSUMES, read);
        manifest("writes", Predicate.MUTATES, write);
    }

    private void manifest(String run, Predicate predicate, Path subtree) throws IOException {
        StringBuilder text = new StringBuilder("{\"ver\": \"1.0\", \"agent_id\": \"doctor\", \"scope\": [");
        Escapes.json(text, predicate.name() + " " + Resource.of("FILE", subtree.toString(), Resource.Form.SUBTREE));
        Files.writeString(Files.createDirectory(directory.resolve(run)).resolve("klock.json"), text.append("]}"));
    }

    private void runChildren() throws IOException, InterruptedException {
        Process stranger = java(null, "wait").start();
        List<Process> children = new ArrayList<>();
        children.add(stranger);
        try {
            Process names = underKlock("names", "block", Long.toString(stranger.pid()));
            children.add(names);
            Process writes = underKlock("writes", "strict");
            children.add(writes);
            boolean nameProbes = collect(names, "names", 0);
            if (refusal == null && !nameProbes) {
                refusal = "the probes did not come to their end";
            }
            collect(writes, "writes", EXIT_ABORTED);
            if (!stranger.isAlive()) {
                outcomes.put("java/lang/ProcessHandleImpl.destroyProcess", "was not denied: the process has ended");
            }
        } finally {
            for (Process child : children) {
                child.destroyForcibly();
            }
            for (Process child : children) {
                child.waitFor(PATIENCE_S, TimeUnit.SECONDS);
            }
        }
    }

    private Process underKlock(String run, String mode, String... more) throws IOException {
        Path own = directory.resolve(run);
        StringBuilder agent = new StringBuilder("-javaagent:").append(jar.getPath()).append("=mode=").append(mode);
        String[] values = {own.resolve("klock.json").toString(), own.resolve(".klock").toString()};
        Option[] options = {Option.MANIFEST, Option.HOME};
        for (int i = 0; i < options.length; i++) {
            agent.append(',').append(LaunchOptions.argument(options[i], values[i]));
        }
        agent.append(",denials.limit=1000000");
        List<String> arguments = new ArrayList<>(List.of(run, directory.toString()));
        arguments.addAll(List.of(more));
        ProcessBuilder builder = java(agent.toString(), arguments.toArray(new String[0]));
        return builder.redirectError(own.resolve("stderr").toFile()).redirectOutput(own.resolve("stdout").toFile()).start();
    }

    private ProcessBuilder java(String agent, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(environment.property("java.home") + "/bin/java");
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-Dprobe.many=" + MANY));
        if (agent != null) {
            command.add(agent);
        }
        command.addAll(List.of("-cp", directory.resolve("classes").toString(), PROBES.replace('/', '.')));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        Map<String, String> inherited = builder.environment();
        for (String name : UNWANTED) {
            inherited.remove(name);
        }
        inherited.keySet().removeIf(name -> name.startsWith("KLOCK_"));
        return builder;
    }

    /** Whether the probes came to their end. */
    private boolean collect(Process child, String run, int expected) throws IOException, InterruptedException {
        if (!child.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new IOException("the " + run + " probes did not end within " + PATIENCE_S + " s");
        }
        boolean ended = false;
        for (String line : Files.readAllLines(directory.resolve(run).resolve("stdout"), StandardCharsets.UTF_8)) {
            int tab = line.indexOf('\t');
            if (tab > 0) {
                outcomes.put(line.substring(0, tab), line.substring(tab + 1));
            }
            ended |= line.equals("end");
        }
        if (child.exitValue() != expected && refusal == null) {
            refusal = "the child ended with " + child.exitValue();
            for (String line : Files.readAllLines(directory.resolve(run).resolve("stderr"), StandardCharsets.UTF_8)) {
                // the last one but the session's own summary says why it ended
                if (line.startsWith("klock: ") && !line.startsWith("klock: doctor session ")) {
                    refusal = line.substring("klock: ".length());
                }
            }
        }
        return ended;
    }

    private static void delete(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
