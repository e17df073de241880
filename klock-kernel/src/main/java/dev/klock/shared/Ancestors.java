package dev.klock.shared;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Names of processes that mean one process for certain, as long as the machine is up: number, start, and the name space that the number is of,
 * since numbers are given anew and are others in a container.
 */
public final class Ancestors {
    private static final int PARENT = 1;
    private static final int START = 19;

    private Ancestors() {
    }

    /** Those who have started this process, nearest first; those that cannot be seen from here are left out. */
    public static Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        try {
            String space = space();
            for (long pid = Long.parseLong(stat("self")[PARENT]); pid > 0; ) {
                String[] stat = stat(Long.toString(pid));
                if (!names.add(name(pid, stat, space))) {
                    break;
                }
                pid = Long.parseLong(stat[PARENT]);
            }
        } catch (IOException | RuntimeException e) {
            // one that has just ended, or that must not be looked at: what has been found so far is right
            return names;
        }
        return names;
    }

    /** The number in a process's name. */
    public static String number(String name) {
        return name.substring(0, name.indexOf(' '));
    }

    /** This process's name. */
    static String own() throws IOException {
        return name(ownNumber(), stat("self"), space());
    }

    /** This process's number. {@code ProcessHandle} would tell it too, and load more than a hundred classes before a program's main. */
    public static long ownNumber() throws IOException {
        try {
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        } catch (NumberFormatException e) {
            throw new IOException("/proc/self does not tell this process's number", e);
        }
    }

    private static String name(long pid, String[] stat, String space) {
        return pid + " " + stat[START] + " " + space;
    }

    private static String space() throws IOException {
        return Files.readSymbolicLink(new File("/proc/self/ns/pid").toPath()).toString();
    }

    /** What follows the program's name, which may hold anything: state, parent, and so on. */
    private static String[] stat(String pid) throws IOException {
        try (InputStream in = new FileInputStream("/proc/" + pid + "/stat")) {
            byte[] bytes = new byte[4096];
            String text = new String(bytes, 0, in.readNBytes(bytes, 0, bytes.length), StandardCharsets.ISO_8859_1);
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
            if (fields.length <= START) {
                throw new IOException("/proc/" + pid + "/stat has too few fields");
            }
            return fields;
        }
    }
}
