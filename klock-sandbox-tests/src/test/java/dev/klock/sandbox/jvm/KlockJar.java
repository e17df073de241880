package dev.klock.sandbox.jvm;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/** The finished jar, as a user gets it. */
public final class KlockJar {
    private KlockJar() {
    }

    /** The module's directory, wherever the tests were started from. */
    public static Path module() {
        String basedir = System.getProperty("basedir");
        Path here = Path.of(basedir == null ? "" : basedir).toAbsolutePath();
        return here.endsWith("klock-sandbox-tests") ? here : here.resolve("klock-sandbox-tests");
    }

    /** Where it is; fails if it was not built. */
    public static Path path() {
        Path jar = module().resolveSibling("klock-agent/target/klock.jar").normalize();
        if (!Files.isRegularFile(jar)) {
            throw new IllegalStateException(jar + " is not there: these tests run with the finished jar, so run 'mvn verify' from the root");
        }
        return jar;
    }

    /** The lines of a table that the jar carries, without blank ones and comments. */
    public static List<String> table(String entry) {
        try (JarFile jar = new JarFile(path().toFile())) {
            ZipEntry found = jar.getEntry(entry);
            if (found == null) {
                throw new IllegalStateException(path() + " has no " + entry);
            }
            try (InputStream in = jar.getInputStream(found)) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
                        .filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
