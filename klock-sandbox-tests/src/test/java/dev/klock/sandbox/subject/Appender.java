package dev.klock.sandbox.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Appends a numbered record to each of some files, by an ordinary read, change and write: {@code NAME ROUNDS PAUSE FILE…}, where it thinks for PAUSE ms
 * in between. Of two that do so at the same
 * time to one file, the one loses the other's record. Says what it wrote and when: {@code wrote FILE NUMBER FROM UNTIL}, nanoseconds of the
 * machine's clock.
 */
public final class Appender {
    private Appender() {
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        System.out.println("begins");
        List<String> said = new ArrayList<>();
        for (int round = Integer.parseInt(arguments[1]); round > 0; round--) {
            for (int i = 3; i < arguments.length; i++) {
                said.add(append(Path.of(arguments[i]), arguments[0], Long.parseLong(arguments[2])));
            }
        }
        said.forEach(System.out::println);
        System.out.println("ends");
    }

    /** What it wrote, as above. */
    static String append(Path file, String name, long pauseMs) throws IOException, InterruptedException {
        long from = System.nanoTime();
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        Thread.sleep(pauseMs);
        int number = lines.size() + 1;
        lines.add(number + " " + name);
        // whole or not at all: who is stopped for longer than its lease must not leave half a file to the next
        Path draft = file.resolveSibling(file.getFileName() + "." + name + ".new");
        Files.write(draft, lines);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        return "wrote " + file.getParent().getFileName() + "/" + file.getFileName() + " " + number + " " + from + " " + System.nanoTime();
    }
}
