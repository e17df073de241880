package dev.klock.sandbox.subject;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Leads the link {@code w/out/link} to {@code w/out/c} and to {@code w/private} in turn and opens {@code link/p}: {@code turn N} one after the
 * other, {@code race N} on two threads; {@code look N} asks what is there by every way instead; {@code swap N} has two directories change
 * places, in which the link lead inside and outside, and nothing made or removed. Prints how often what was expected came, and what came else.
 */
public final class Flips {
    private static final Path LINK = Path.of("w/out/link");
    private static final Path FILE = LINK.resolve("p");
    private static final Path[] TO = {Path.of("c"), Path.of("../private")};
    private static final Path SWAP = Path.of("w/out/swap/one");
    private static final Path SWAPPED = SWAP.resolve("link/p");
    private static volatile boolean over;

    private Flips() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[1]);
        boolean swaps = args[0].equals("swap");
        if (!swaps) {
            Files.createSymbolicLink(LINK, TO[0]);
        }
        if (args[0].equals("turn")) {
            turn(rounds);
            return;
        }
        Thread flipper = new Thread(() -> {
            try {
                for (int i = 1; !over; i++) {
                    if (swaps) {
                        swap();
                    } else {
                        flip(i);
                    }
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, "flipper");
        flipper.start();
        int written = 0;
        int stopped = 0;
        int leaked = 0;
        for (int i = 0; i < rounds && !args[0].equals("race"); i++) {
            try {
                leaked += swaps ? read(SWAPPED, i).contains("precious") ? 1 : 0 : look(i) ? 1 : 0;
                written++;
            } catch (Error | IOException e) {
                stopped++;
            }
        }
        for (int i = 0; i < rounds && args[0].equals("race"); i++) {
            try {
                write(i);
                written++;
                leaked += read(FILE, i).contains("precious") ? 1 : 0;
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

    private static void swap() throws IOException {
        Path third = SWAP.resolveSibling("third");
        Path other = SWAP.resolveSibling("other");
        Files.move(SWAP, third);
        Files.move(other, SWAP);
        Files.move(third, other);
    }

    private static String read(Path file, int i) throws IOException {
        if (i % 2 == 0) {
            return Files.readString(file);
        }
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            return new String(in.readAllBytes());
        }
    }

    /** Whether anything is told of {@code only} and {@code way}, which are outside. */
    private static boolean look(int i) throws IOException {
        Path only = LINK.resolve("only");
        switch (i % 10) {
            case 0:
                return Files.exists(only);
            case 1:
                return only.toFile().exists();
            case 2:
                return only.toFile().length() > 0;
            case 3:
                return Files.size(only) > 0;
            case 4:
                return only.toFile().lastModified() > 0;
            case 5:
                String[] names = LINK.toFile().list();
                return names != null && List.of(names).contains("only");
            case 6:
                return Files.readSymbolicLink(LINK.resolve("way")) != null;
            case 7:
                return only.toRealPath() != null;
            case 8:
                try (Stream<Path> list = Files.list(LINK)) {
                    return list.anyMatch(path -> path.endsWith("only"));
                }
            default:
                return only.toFile().canRead();
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
