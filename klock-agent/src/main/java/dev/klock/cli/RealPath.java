package dev.klock.cli;

import dev.klock.agent.config.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/** What a name leads to, links followed one by one as the kernel does; what does not exist stays as it is written. */
final class RealPath {
    /** The kernel's own limit. */
    private static final int MAX_LINKS = 40;

    private RealPath() {
    }

    /**
     * The absolute path without links that {@code path}, absolute, leads to. A link as the last component is followed if {@code follow}.
     *
     * @throws UsageException the links lead in a circle, or it is no path of this system
     */
    static String of(String path, boolean follow) throws UsageException {
        Path real = Path.of("/");
        Deque<String> rest = new ArrayDeque<>();
        push(rest, path);
        int links = 0;
        while (!rest.isEmpty()) {
            String name = rest.pop();
            if (name.equals("..")) {
                real = real.getParent() == null ? real : real.getParent();
                continue;
            }
            Path next;
            try {
                next = real.resolve(name);
            } catch (IllegalArgumentException e) {
                throw new UsageException("'" + path + "' is no path here: " + e.getMessage());
            }
            if (!Files.isSymbolicLink(next) || rest.isEmpty() && !follow) {
                real = next;
                continue;
            }
            if (++links > MAX_LINKS) {
                throw new UsageException(path + " leads in a circle of symbolic links");
            }
            try {
                String target = Files.readSymbolicLink(next).toString();
                real = target.startsWith("/") ? Path.of("/") : real;
                push(rest, target);
            } catch (IOException e) {
                real = next;
            }
        }
        return real.toString();
    }

    private static void push(Deque<String> rest, String path) {
        String[] names = path.split("/");
        for (int i = names.length - 1; i >= 0; i--) {
            if (!names[i].isEmpty() && !names[i].equals(".")) {
                rest.push(names[i]);
            }
        }
    }
}
