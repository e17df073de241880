package dev.klock.sandbox.subject;

import java.nio.file.Files;
import java.nio.file.Path;

/** Calls what klock's threads do on threads of its own, then writes the file that the argument names. */
public final class Runner {
    private static final int PATIENCE_MS = 20_000;

    private Runner() {
    }

    public static void main(String[] arguments) throws Exception {
        boolean found = false;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("klock")) {
                found = true;
                Thread own = new Thread(() -> thread.run());
                own.setDaemon(true);
                own.start();
                own.join(PATIENCE_MS);
                System.out.println(own.isAlive() ? "still in " + thread : "came back");
            }
        }
        if (!found) {
            System.out.println("no thread of klock's");
        }
        Files.writeString(Path.of(arguments[0]), "stray");
    }
}
