package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Three threads that rename, make and delete whatever they find in the directory that the first argument names, directories more than
 * anything; then the main thread writes the second. The third argument is the seed.
 */
public final class Movers {
    private static final int THREADS = 3;
    private static final int STEPS = 200;

    private Movers() {
    }

    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(Long.parseLong(arguments[2]) * THREADS + i);
            Thread thread = new Thread(() -> {
                for (int step = 0; step < STEPS; step++) {
                    step(root, random);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Files.writeString(Path.of(arguments[1]), "stray");
    }

    private static void step(Path root, Random random) {
        try {
            Path found = any(root, random);
            Path directory = any(root, random);
            Path fresh = (Files.isDirectory(directory) ? directory : root).resolve("abcdef".charAt(random.nextInt(6)) + "");
            switch (random.nextInt(6)) {
                case 0:
                    Files.createDirectory(fresh);
                    break;
                case 1:
                    Files.writeString(fresh, "made " + random.nextInt());
                    break;
                case 2:
                    Files.delete(found);
                    break;
                default:
                    found.toFile().renameTo(fresh.toFile());
                    break;
            }
        } catch (IOException | UncheckedIOException refused) {
            // another thread was there first
            return;
        }
    }

    private static Path any(Path root, Random random) throws IOException {
        try (Stream<Path> below = Files.walk(root)) {
            List<Path> all = below.filter(path -> !path.equals(root)).toList();
            return all.isEmpty() ? root.resolve("a") : all.get(random.nextInt(all.size()));
        }
    }
}
