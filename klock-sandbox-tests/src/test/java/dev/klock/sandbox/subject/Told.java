package dev.klock.sandbox.subject;

import dev.klock.Klock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Prints what it is told of what others had before it began, by the file and by {@link Klock}; tries what it must not do with that file and
 * beside it; then does the steps of a {@link Script}.
 */
public final class Told {
    private Told() {
    }

    public static void main(String[] steps) throws Exception {
        String name = System.getProperty("dev.klock.observation-update");
        Klock.onObservationUpdate(changes -> changes.forEach(change -> System.out.println("told " + change)));
        if (name == null) {
            System.out.println("nothing to be told");
        } else {
            Path file = Path.of(name);
            System.out.println("file " + Files.isRegularFile(file) + " " + Files.readString(file));
            for (String step : List.of("append " + file + " x", "delete " + file, "list " + file.getParent(), "read " + file.resolveSibling("other.json"),
                    "read " + file.getParent().resolveSibling("key"))) {
                System.out.print(step.substring(0, step.indexOf(' ')) + " ");
                Script.run(Script.words("try " + step));
            }
        }
        for (String step : steps) {
            Script.run(Script.words(step));
        }
    }
}
