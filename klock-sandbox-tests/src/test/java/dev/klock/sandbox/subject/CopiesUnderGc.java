package dev.klock.sandbox.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Copies and moves files and a directory again and again while the collector looks at the frames of the methods that do it. */
public final class CopiesUnderGc {
    private CopiesUnderGc() {
    }

    public static void main(String[] arguments) throws IOException {
        Thread collector = new Thread(() -> {
            while (true) {
                System.gc();
            }
        });
        collector.setDaemon(true);
        collector.start();
        Path out = Path.of("w/out");
        for (int i = 0; i < 300; i++) {
            Files.copy(out.resolve("a"), out.resolve("copy"), StandardCopyOption.REPLACE_EXISTING);
            Files.copy(out, out.resolve("directory"));
            Files.move(out.resolve("copy"), out.resolve("moved"), StandardCopyOption.REPLACE_EXISTING);
            Files.delete(out.resolve("directory"));
        }
        Files.delete(out.resolve("moved"));
        System.out.println("done");
    }
}
