package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What kind of file system a place is on, as the kernel's table of mounts says. */
final class FileSystemType {
    private FileSystemType() {
    }

    /** The type of the mount that the real path {@code place} is below, such as {@code ext4}; empty if the table does not say. */
    static String of(Path place) throws IOException {
        String[] lines = new String(Files.readAllBytes(Path.of("/proc/self/mountinfo")), StandardCharsets.ISO_8859_1).split("\n");
        byte[] name = place.toString().getBytes(StandardCharsets.UTF_8);
        return of(new String(name, StandardCharsets.ISO_8859_1), lines);
    }

    /** Of two mounts at one place the later one is seen. */
    static String of(String place, String[] lines) {
        String type = "";
        int longest = -1;
        for (int i = 0; i < lines.length; i++) {
            String[] fields = lines[i].split(" ");
            int separator = 6;
            while (separator < fields.length && !fields[separator].equals("-")) {
                separator++;
            }
            if (separator + 1 >= fields.length) {
                continue;
            }
            String point = plain(fields[4]);
            boolean above = place.equals(point) || place.startsWith(point.endsWith("/") ? point : point.concat("/"));
            if (above && point.length() >= longest) {
                longest = point.length();
                type = fields[separator + 1];
            }
        }
        return type;
    }

    /** Spaces, tabs, line ends and backslashes are written as three octal digits. */
    private static String plain(String shown) {
        if (shown.indexOf('\\') < 0) {
            return shown;
        }
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < shown.length(); i++) {
            char c = shown.charAt(i);
            if (c == '\\' && i + 3 < shown.length()) {
                plain.append((char) Integer.parseInt(shown.substring(i + 1, i + 4), 8));
                i += 3;
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }
}
