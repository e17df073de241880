package dev.klock.sandbox.subject;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Changes and deletes the files a and b in the directory that the first argument names, then writes the second, while another thread
 * interrupts every thread there is.
 */
public final class Interrupts {
    private Interrupts() {
    }

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        try (FileOutputStream a = new FileOutputStream(directory.resolve("a").toFile())) {
            a.write("changed".getBytes());
        }
        directory.resolve("b").toFile().delete();
        Thread interrupter = new Thread(() -> {
            while (true) {
                Thread.getAllStackTraces().keySet().forEach(Thread::interrupt);
            }
        });
        interrupter.setDaemon(true);
        interrupter.start();
        while (!Thread.interrupted()) {
            Thread.onSpinWait();
        }
        Files.writeString(Path.of(arguments[1]), "stray");
    }
}
