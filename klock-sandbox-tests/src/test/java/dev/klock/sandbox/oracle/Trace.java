package dev.klock.sandbox.oracle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The paths in the output of {@code strace -f -y}, with the number of system calls that named each: every call with a path, and those on a
 * descriptor that look at or change what it stands for.
 */
public final class Trace {
    /** Calls whose descriptor, not a name, tells what is meant. */
    private static final String BY_DESCRIPTOR = "getdents64,fchmod,fchown,ftruncate,utimensat,fgetxattr,fsetxattr,flistxattr,fremovexattr,fstatfs";
    /** {@code 123 call(arguments …}; what is resumed has been read at its beginning. */
    private static final Pattern CALL = Pattern.compile("(\\d+) +([a-z0-9_]+)\\((.*)");
    private static final Pattern DESCRIPTOR = Pattern.compile("\\d+<([^>]*)>.*");
    private static final Pattern NAME = Pattern.compile("(?:(?:AT_FDCWD|\\d+)<([^>]*)>, )?\"((?:[^\"\\\\]|\\\\.)*)\"");

    private final Map<String, Integer> calls = new TreeMap<>();
    /** By thread, those that have gone elsewhere: a JVM does, to look through the performance data that others left. */
    private final Map<String, Path> whereabouts = new HashMap<>();
    private final Path directory;

    private Trace(Path directory) {
        this.directory = directory;
    }

    /** To be put before a command; writes into {@code file}. */
    static String[] to(Path file) {
        return strace("-y", "-s", "4096", "-e", "signal=none", "-e", "trace=%file,inotify_add_watch,fchdir," + BY_DESCRIPTOR, "-o", file.toString())
                .toArray(new String[0]);
    }

    /** Whether strace is there and may trace. */
    public static boolean isPossible() {
        return traces("strace", "-o", "/dev/null", "true");
    }

    /** {@code strace} of a process and its threads and children. Not with {@code --seccomp-bpf}: hardly a fault is injected then. */
    public static List<String> strace(String... arguments) {
        List<String> command = new ArrayList<>(List.of("strace", "-f", "-qq"));
        command.addAll(List.of(arguments));
        return command;
    }

    private static boolean traces(String... command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException missing) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** @param directory where the traced program ran */
    static Trace of(Path file, Path directory) throws IOException {
        Trace trace = new Trace(directory);
        for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
            Matcher call = CALL.matcher(line);
            if (call.matches()) {
                trace.read(call.group(1), call.group(2), call.group(3));
            }
        }
        return trace;
    }

    private void read(String thread, String call, String arguments) {
        Matcher descriptor = DESCRIPTOR.matcher(arguments);
        if (List.of(BY_DESCRIPTOR.split(",")).contains(call) && descriptor.matches() && !arguments.matches("\\d+<[^>]*>, \".*")) {
            add(descriptor.group(1));
            return;
        }
        if (call.equals("fchdir") && descriptor.matches()) {
            whereabouts.put(thread, Path.of(descriptor.group(1)));
            return;
        }
        // a symbolic link's text is no path of anything, and what comes after the names is what the kernel answers
        int first = call.startsWith("symlink") ? 1 : 0;
        int last = call.startsWith("rename") || call.startsWith("link") ? 1 : first;
        Matcher name = NAME.matcher(arguments);
        for (int i = 0; i <= last && name.find(); i++) {
            if (i >= first && !name.group(2).isEmpty()) {
                Path base = name.group(1) == null ? whereabouts.getOrDefault(thread, directory) : Path.of(name.group(1));
                add(base.resolve(name.group(2)).normalize().toString());
            }
        }
    }

    private void add(String path) {
        calls.merge(path, 1, Integer::sum);
    }

    /** Calls by path. */
    Map<String, Integer> calls() {
        return calls;
    }

    @Override
    public String toString() {
        return calls.entrySet().stream().sorted(Comparator.comparing(Map.Entry::getKey)).toList().toString();
    }
}
