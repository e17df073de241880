package dev.klock.sandbox.subject;

import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Tries what is not declared where there is hardly any stack or heap left, or again and again, and counts what came of it: {@code stack},
 * {@code heap}, {@code same N}, {@code distinct N}.
 */
public final class Exhausted {
    private static final byte[] BYTES = "overwritten".getBytes(StandardCharsets.UTF_8);
    private static int denied;
    private static int errors;
    private static int through;
    private static List<byte[]> hoard = new ArrayList<>();

    private Exhausted() {
    }

    /** @param args what to try, how often, the file to read, the file to write */
    public static void main(String[] args) {
        int times = Integer.parseInt(args[1]);
        Path read = Path.of(args[2]);
        Path write = Path.of(args[3]);
        // once where there is room, so that the classes are there
        attempt(read, write);
        switch (args[0]) {
            case "stack" -> {
                for (int i = 0; i < times; i++) {
                    descend(read, write, i);
                }
            }
            case "heap" -> {
                for (int size = 1 << 20; size >= 8; size >>= 1) {
                    fill(size);
                    for (int i = 0; i < times; i++) {
                        attempt(read, write);
                    }
                }
                hoard = null;
            }
            case "same" -> {
                for (int i = 0; i < times; i++) {
                    attempt(read, write);
                }
            }
            case "distinct" -> {
                for (int i = 0; i < times; i++) {
                    attempt(read.resolveSibling("n" + i), write);
                }
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.gc();
        long used = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        System.out.println("denied " + (denied > 0) + ", through " + through + ", errors " + (errors > 0) + ", used " + (used >> 20) + " MB, denied in all " + denied);
    }

    /** Down to where the stack ends, then again and again on the way up. {@code odd} makes the frames of each round end elsewhere. */
    private static void descend(Path read, Path write, int odd) {
        try {
            if (odd % 3 == 0) {
                descend(read, write, odd);
            } else {
                deeper(read, write, odd, 1L, 2L, 3L);
            }
        } catch (StackOverflowError end) {
            errors++;
        }
        attempt(read, write);
    }

    private static long deeper(Path read, Path write, int odd, long a, long b, long c) {
        try {
            return odd % 3 == 1 ? deeper(read, write, odd, b, c, a + 1) : deeper(read, write, odd, c, b, a) + b;
        } catch (StackOverflowError end) {
            errors++;
            attempt(read, write);
            return a;
        }
    }

    private static void fill(int size) {
        try {
            while (true) {
                hoard.add(new byte[size]);
            }
        } catch (OutOfMemoryError full) {
            errors++;
        }
    }

    private static void attempt(Path read, Path write) {
        try {
            Files.readAllBytes(read);
            through++;
        } catch (Throwable stopped) {
            count(stopped);
        }
        try (FileOutputStream out = new FileOutputStream(write.toFile())) {
            out.write(BYTES);
            through++;
        } catch (Throwable stopped) {
            count(stopped);
        }
    }

    private static void count(Throwable stopped) {
        if (stopped.getClass().getName().equals("dev.klock.ScopeViolationError")) {
            denied++;
        } else {
            errors++;
        }
    }
}
