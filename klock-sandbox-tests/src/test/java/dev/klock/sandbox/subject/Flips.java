package dev.klock.sandbox.subject;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Leads the link {@code w/out/link} to {@code w/out/c} and to {@code w/private} in turn and opens {@code link/p}: {@code turn N} one after the
 * other, {@code race N} on two threads. Prints how often what was expected came, and what came else.
 */
public final class Flips {
    private static final Path LINK = Path.of("w/out/link");
    private static final Path FILE = LINK.resolve("p");
    private static final Path[] TO = {Path.of("c"), Path.of("../private")};
    private static volatile boolean over;

    private Flips() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[1]);
        Files.createSymbolicLink(LINK, TO[0]);
        if (args[0].equals("turn")) {
            turn(rounds);
            return;
        }
        Thread flipper = new Thread(() -> {
            try {
                for (int i = 1; !over; i++) {
                    flip(i);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, "flipper");
        flipper.start();
        int written = 0;
        int stopped = 0;
        int leaked = 0;
        for (int i = 0; i < rounds; i++) {
            try {
                write(i);
                written++;
                leaked += read(i).contains("precious") ? 1 : 0;
            } catch (Error | IOException e) {
                // between two links there is none
                stopped++;
            }
        }
        over = true;
        flipper.join();
        System.out.println("written " + (written > 0) + ", stopped " + (stopped > 0) + ", leaked " + leaked);
    }

    private static void turn(int rounds) throws IOException {
        int wrong = 0;
        for (int i = 1; i <= rounds; i++) {
            flip(i);
            boolean denied = false;
            try {
                write(i);
            } catch (Error e) {
                denied = e.getClass().getName().equals("dev.klock.ScopeViolationError");
            }
            wrong += denied == (i % 2 == 1) ? 0 : 1;
        }
        System.out.println("wrong " + wrong);
    }

    private static void flip(int i) throws IOException {
        Files.delete(LINK);
        Files.createSymbolicLink(LINK, TO[i % 2]);
    }

    private static String read(int i) throws IOException {
        if (i % 2 == 0) {
            return Files.readString(FILE);
        }
        try (FileInputStream in = new FileInputStream(FILE.toFile())) {
            return new String(in.readAllBytes());
        }
    }

    private static void write(int i) throws IOException {
        if (i % 3 == 0) {
            Files.writeString(FILE, "overwritten " + i);
        } else {
            try (RandomAccessFile file = new RandomAccessFile(FILE.toFile(), "rw")) {
                file.writeByte('x');
            }
        }
    }
}
