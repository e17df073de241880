package dev.klock.sandbox.jvm;

import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * The JDKs that tests run their children on: the running one, and those that the path list {@code KLOCK_TEST_JDKS} names or, without
 * it, those installed beside the running one. Each once, by real path; only releases from 17 on.
 */
public final class Jdks {
    static final int OLDEST = 17;
    private static final List<Jdk> FOUND = find();

    private Jdks() {
    }

    /** All of them, oldest first; never empty. */
    public static List<Jdk> all() {
        return FOUND;
    }

    /** The same as a stream, for method sources. */
    public static Stream<Jdk> each() {
        return FOUND.stream();
    }

    /** Those of release {@code feature} and newer; may be empty. */
    public static List<Jdk> from(int feature) {
        return FOUND.stream().filter(jdk -> jdk.feature() >= feature).toList();
    }

    /** The oldest, for tests of what does not depend on the JDK. */
    public static Jdk oldest() {
        return FOUND.get(0);
    }

    /** The newest, for tests of what does not depend on the JDK. */
    public static Jdk newest() {
        return FOUND.get(FOUND.size() - 1);
    }

    private static List<Jdk> find() {
        Path running = Path.of(System.getProperty("java.home"));
        List<Path> candidates = new ArrayList<>();
        candidates.add(running);
        String named = System.getenv("KLOCK_TEST_JDKS");
        try {
            if (named != null && !named.isBlank()) {
                for (String home : named.split(File.pathSeparator)) {
                    if (!isJdk(Path.of(home))) {
                        throw new IllegalStateException("KLOCK_TEST_JDKS names " + home + ", which is not a JDK " + OLDEST + " or newer");
                    }
                    candidates.add(Path.of(home));
                }
            } else {
                try (DirectoryStream<Path> installed = Files.newDirectoryStream(running.toRealPath().getParent())) {
                    installed.forEach(candidates::add);
                }
            }
            Map<Path, Jdk> found = new LinkedHashMap<>();
            for (Path home : candidates) {
                if (isJdk(home)) {
                    found.put(home.toRealPath(), new Jdk(home.toRealPath(), feature(home)));
                }
            }
            return found.values().stream().sorted(Comparator.comparingInt(Jdk::feature).thenComparing(Jdk::home)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isJdk(Path home) throws IOException {
        return Files.isExecutable(home.resolve("bin/java")) && Files.isRegularFile(home.resolve("lib/modules"))
                && feature(home) >= OLDEST;
    }

    private static int feature(Path home) throws IOException {
        Path release = home.resolve("release");
        if (!Files.isRegularFile(release)) {
            return 0;
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(release)) {
            properties.load(reader);
        }
        String version = properties.getProperty("JAVA_VERSION", "0").replace("\"", "");
        return Integer.parseInt(version.split("[.+-]")[0]);
    }
}
