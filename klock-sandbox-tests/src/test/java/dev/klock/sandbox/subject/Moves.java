package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/**
 * Several threads move files over each other, write, append to and delete them below {@code w/out}, until the first writes {@code w/x}, which
 * is not declared, in the midst of it. {@code MILLISECONDS SEED WHAT...}: beside files, {@code trees} are moved, {@code links} are made,
 * {@code slow} writers keep files open.
 */
public final class Moves {
    private static final int THREADS = 4;
    private static final int FILES = 6;
    private static final Path OUT = Path.of("w/out");
    private static boolean trees;
    private static boolean links;
    private static boolean slow;

    private Moves() {
    }

    public static void main(String[] args) throws Exception {
        for (String what : args[2].split(" ")) {
            trees |= what.equals("trees");
            links |= what.equals("links");
            slow |= what.equals("slow");
        }
        for (String d : new String[] {"d0", "d1"}) {
            Files.createDirectories(OUT.resolve(d));
        }
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(Long.parseLong(args[1]) * THREADS + t);
            Thread thread = new Thread(() -> work(random), "mover-" + t);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(Long.parseLong(args[0]));
        Files.writeString(Path.of("w/x"), "strayed");
    }

    private static Path pick(Random random) {
        int n = random.nextInt(FILES);
        Path directory = n % 3 == 0 ? OUT : OUT.resolve("d" + n % 3 % 2);
        return directory.resolve("f" + n);
    }

    private static void work(Random random) {
        for (int i = 0; ; i++) {
            try {
                step(random, i);
            } catch (FileSystemException e) {
                // another thread was here before
                continue;
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void step(Random random, int i) throws IOException {
        int what = random.nextInt(16);
        Path file = pick(random);
        if (what < 7) {
            Files.move(file, pick(random), what < 4 ? StandardCopyOption.REPLACE_EXISTING : StandardCopyOption.ATOMIC_MOVE);
        } else if (what < 10) {
            Files.writeString(file, "number " + i + "\n");
        } else if (what < 12) {
            Files.writeString(file, "more " + i + "\n", StandardOpenOption.APPEND, StandardOpenOption.CREATE);
        } else if (what == 12 && slow) {
            try (OutputStream out = Files.newOutputStream(file)) {
                for (int n = 0; n < 4; n++) {
                    out.write(("slow " + i + " " + n + "\n").getBytes(StandardCharsets.UTF_8));
                    pause(random.nextInt(4));
                }
            }
        } else if (what == 13 && links) {
            Files.createLink(pick(random), file);
        } else if (what == 14 && trees) {
            Path gone = OUT.resolve("e");
            Path other = OUT.resolve("d" + random.nextInt(2));
            Files.move(other, gone);
            Files.move(gone, other);
        } else {
            Files.deleteIfExists(file);
        }
    }

    private static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
