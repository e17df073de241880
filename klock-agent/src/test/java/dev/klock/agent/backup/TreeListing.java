package dev.klock.agent.backup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A directory tree as text, one line a path, to compare before and after. Shares nothing with the code under test: it reads with
 * Files.walk and says type, mode, owner, times, content, link text and which names are one file.
 */
final class TreeListing {
    private TreeListing() {
    }

    static Map<String, String> of(Path root) throws IOException {
        Map<String, String> lines = new TreeMap<>();
        Map<Object, String> firstName = new HashMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            all.sorted().forEach(p -> {
                try {
                    lines.put(root.relativize(p).toString(), line(root, p, firstName));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        return lines;
    }

    private static String line(Path root, Path p, Map<Object, String> firstName) throws IOException {
        Map<String, Object> a = Files.readAttributes(p, "unix:*", LinkOption.NOFOLLOW_LINKS);
        // JDK 17 sets times to the microsecond only.
        long micros = ((FileTime) a.get("lastModifiedTime")).to(TimeUnit.MICROSECONDS);
        String line = Integer.toOctalString((Integer) a.get("mode")) + " " + a.get("uid") + ":" + a.get("gid") + " " + micros;
        if (Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS)) {
            return line;
        }
        line += " " + a.get("nlink") + " names, first " + firstName.computeIfAbsent(a.get("ino"), k -> root.relativize(p).toString());
        if (Files.isSymbolicLink(p)) {
            return line + " -> " + Files.readSymbolicLink(p);
        }
        if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS)) {
            byte[] content = Files.readAllBytes(p);
            String shown = content.length < 40 ? Arrays.toString(content) : content.length + " bytes, hash " + Arrays.hashCode(content);
            return line + " " + shown;
        }
        return line;
    }
}
