package dev.klock.sandbox.subject;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ordinary file work in the directory that the first argument names: the second says how many tasks do it, the third {@code virtual}
 * for one virtual thread each (21 and newer), else a pool of 8.
 */
public final class FileWork {
    private FileWork() {
    }

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        int tasks = Integer.parseInt(arguments[1]);
        ExecutorService executor = arguments[2].equals("virtual")
                ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)
                : Executors.newFixedThreadPool(8);
        AtomicLong bytes = new AtomicLong();
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            int number = i;
            Callable<Integer> task = () -> work(directory, number, bytes);
            results.add(executor.submit(task));
        }
        long sum = 0;
        for (Future<Integer> result : results) {
            sum += result.get();
        }
        executor.shutdown();
        try (var entries = Files.list(directory)) {
            System.out.println(tasks + " tasks, sum " + sum + ", " + bytes + " bytes read, " + entries.count() + " files left");
        }
    }

    private static int work(Path directory, int number, AtomicLong bytes) {
        try {
            Path file = directory.resolve("task" + number);
            Files.writeString(file, "first\n");
            Files.writeString(file, "second " + number + "\n");
            try (FileInputStream in = new FileInputStream(file.toFile())) {
                bytes.addAndGet(in.readAllBytes().length);
            }
            if (number % 2 == 0) {
                Files.delete(file);
            }
            return Files.exists(file) ? 1 : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
