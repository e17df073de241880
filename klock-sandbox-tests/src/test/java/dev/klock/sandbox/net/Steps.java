package dev.klock.sandbox.net;

import dev.klock.sandbox.hooks.HookRow;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.trace.TracerJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Runs a subject's steps in a child and reads what came of each. */
final class Steps {
    private final Jdk jdk;
    private final Path directory;
    private final Class<?> subject;
    private String scope = "";
    private String[] jvm = {};
    private String home;

    Steps(Jdk jdk, Path directory, Class<?> subject) {
        this.jdk = jdk;
        this.directory = directory;
        this.subject = subject;
    }

    /** The manifest's lines, each a list entry of YAML. */
    Steps declaring(String... lines) {
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            text.append("  - ").append(line).append('\n');
        }
        scope = text.toString();
        return this;
    }

    /** Further arguments for the JVM. */
    Steps jvm(String... arguments) {
        jvm = arguments;
        return this;
    }

    /** Whose the environment says the home is. */
    Steps home(Path place) {
        home = place.toString();
        return this;
    }

    /** Without klock. */
    Map<String, String> bare(String... steps) {
        return results(child(steps).run(), steps);
    }

    /** The rows, by their places in {@code rows}, that the steps enter, without klock. */
    Set<Integer> enters(List<HookRow> rows, String... steps) throws IOException {
        StringBuilder table = new StringBuilder();
        for (HookRow row : rows) {
            table.append(rows.indexOf(row)).append('\t').append(row.owner()).append('\t').append(row.method()).append('\t')
                    .append(row.descriptor()).append('\t').append(row.site()).append('\n');
        }
        Path file = Files.writeString(directory.resolve("rows"), table);
        results(child(steps).jvmBefore("-javaagent:" + TracerJar.in(directory) + "=" + file).run(), steps);
        Set<Integer> entered = new TreeSet<>();
        for (String row : Files.readString(directory.resolve("rows.entered")).replaceAll("[\\[\\]]", "").split(",")) {
            entered.add(Integer.valueOf(row));
        }
        return entered;
    }

    /** In a mode that goes on after a denial. */
    Map<String, String> watched(String mode, String... steps) {
        return results(outcome("mode=" + mode + ",denials.limit=10000", steps), steps);
    }

    Outcome strict(String... steps) {
        return outcome("", steps);
    }

    Outcome outcome(String options, String... steps) {
        String head = "ver: \"1.0\"\nagent_id: tester\nscope:" + (scope.isEmpty() ? " []\n" : "\n");
        return child(steps).klock(options).manifest(head + scope).run();
    }

    private Child child(String... steps) {
        Child child = Child.on(jdk).in(directory).main(subject, steps).env("SECRET", "s3cret").env("DECLARED", "known")
                .jvm(jvm);
        if (home != null) {
            child.env("HOME", home);
        }
        return jdk.feature() >= 22 ? child.jvm("--enable-native-access=ALL-UNNAMED") : child;
    }

    private static Map<String, String> results(Outcome outcome, String[] steps) {
        Map<String, String> results = new LinkedHashMap<>();
        List<String> lines = outcome.out().lines().toList();
        for (String step : steps) {
            String result = lines.stream().filter(line -> line.startsWith(step + ": ")).findFirst()
                    .orElseThrow(() -> new AssertionError("no result of " + step + ": " + outcome));
            results.put(step, result.substring(step.length() + 2));
        }
        return results;
    }
}
