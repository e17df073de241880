package dev.klock.sandbox.subject;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;

/**
 * Threads that write a file each again and again in the directory that the first argument names, whatever happens, while the main thread
 * writes the second. The third says how many there are; they are virtual where the JDK has such (21 and newer).
 */
public final class Busy {
    private Busy() {
    }

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        ThreadFactory threads = factory();
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            Path file = directory.resolve("busy" + i);
            threads.newThread(() -> writeForEver(file)).start();
        }
        while (Files.notExists(directory.resolve("busy2"))) {
            Thread.sleep(10);
        }
        Thread.sleep(300);
        Files.writeString(Path.of(arguments[1]), "stray");
    }

    private static void writeForEver(Path file) {
        for (int i = 0; true; i++) {
            try {
                Files.writeString(file, "round " + i);
                // nothing else gives a carrier to the next virtual thread
                Thread.yield();
            } catch (IOException | Error refused) {
                // and once more
                continue;
            }
        }
    }

    private static ThreadFactory factory() throws ReflectiveOperationException {
        if (Runtime.version().feature() < 21) {
            return task -> {
                Thread thread = new Thread(task);
                thread.setDaemon(true);
                return thread;
            };
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }
}
