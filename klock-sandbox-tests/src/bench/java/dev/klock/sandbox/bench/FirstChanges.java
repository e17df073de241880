package dev.klock.sandbox.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Prints how many milliseconds the start of a command takes, which is when what it may change is imaged ({@code start COMMAND…}), or the
 * median time of the first change of each file below a directory, in microseconds ({@code write DIRECTORY}).
 */
public final class FirstChanges {
    private FirstChanges() {
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("start")) {
            List<String> command = Arrays.asList(arguments).subList(1, arguments.length);
            long begun = System.nanoTime();
            Process process = new ProcessBuilder(command).inheritIO().start();
            System.out.println((System.nanoTime() - begun) / 1_000_000);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(command + " failed");
            }
            return;
        }
        List<Path> files;
        try (Stream<Path> all = Files.walk(Path.of(arguments[1]))) {
            files = all.filter(Files::isRegularFile).toList();
        }
        long[] tookNs = new long[files.size()];
        for (int i = 0; i < tookNs.length; i++) {
            byte[] content = Files.readAllBytes(files.get(i));
            long begun = System.nanoTime();
            Files.write(files.get(i), content);
            tookNs[i] = System.nanoTime() - begun;
        }
        Arrays.sort(tookNs);
        System.out.println(tookNs[tookNs.length / 2] / 1000);
    }
}
