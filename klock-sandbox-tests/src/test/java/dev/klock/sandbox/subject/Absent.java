package dev.klock.sandbox.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * One thread makes {@code w/out/new} and deletes it, again and again; another renames it to {@code w/x}, which is not declared, by whatever
 * door, or starts it as a program, which is not declared either: {@code rename|start ROUNDS}. Prints whether that was ever stopped, ever came
 * too late, and ever went through.
 */
public final class Absent {
    private static final Path NEW = Path.of("w/out/new");
    private static final Path UNDECLARED = Path.of("w/x");
    private static volatile boolean over;
    private static volatile boolean program;

    private Absent() {
    }

    public static void main(String[] args) throws Exception {
        int stopped = 0;
        int absent = 0;
        int through = 0;
        program = args[0].equals("start");
        Thread maker = new Thread(Absent::make, "maker");
        maker.start();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            try {
                boolean done = program ? new ProcessBuilder(NEW.toString()).start().waitFor() == 0 : i % 2 == 0 ? NEW.toFile().renameTo(UNDECLARED.toFile())
                        : Files.exists(Files.move(NEW, UNDECLARED, StandardCopyOption.ATOMIC_MOVE));
                absent += done ? 0 : 1;
                through += done ? 1 : 0;
            } catch (Error e) {
                stopped++;
            } catch (IOException e) {
                absent++;
            }
        }
        over = true;
        maker.join();
        System.out.println("stopped " + (stopped > 0) + ", absent " + (absent > 0) + ", through " + through);
    }

    private static void make() {
        try {
            while (!over) {
                if (program) {
                    Files.createSymbolicLink(NEW, Path.of("/bin/true"));
                } else {
                    Files.writeString(NEW, "new");
                }
                Files.deleteIfExists(NEW);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
