package dev.klock.sandbox.audit;

import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A copy of klock.jar with other tables. */
public final class AlteredJar {
    private static final String TABLES = "META-INF/klock/dev/klock/agent/weave/";

    private final Map<String, UnaryOperator<Stream<String>>> changes = new TreeMap<>();

    /** Changes the lines of the hook table. */
    public AlteredJar hooks(UnaryOperator<Stream<String>> change) {
        changes.put(TABLES + "hooks.tsv", change);
        return this;
    }

    /** Changes the lines of the table of who runs whose tasks. */
    AlteredJar propagation(UnaryOperator<Stream<String>> change) {
        changes.put(TABLES + "propagation.tsv", change);
        return this;
    }

    /** Changes the lines of the two tables of the ledger. */
    AlteredJar ledger(UnaryOperator<Stream<String>> change) {
        changes.put(TABLES + "natives.tsv", change);
        changes.put(TABLES + "natives-image.tsv", change);
        return this;
    }

    /** Writes the copy into {@code directory}. */
    public Path in(Path directory) {
        Path target = directory.resolve("altered-klock.jar");
        try (JarFile jar = new JarFile(KlockJar.path().toFile()); OutputStream file = Files.newOutputStream(target);
             ZipOutputStream out = new ZipOutputStream(file)) {
            Enumeration<JarEntry> entries = jar.entries();
            while (entries.hasMoreElements()) {
                JarEntry entry = entries.nextElement();
                byte[] bytes = jar.getInputStream(entry).readAllBytes();
                UnaryOperator<Stream<String>> change = changes.get(entry.getName());
                if (change != null) {
                    List<String> lines = change.apply(new String(bytes, StandardCharsets.UTF_8).lines()).toList();
                    bytes = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
                }
                out.putNextEntry(new ZipEntry(entry.getName()));
                out.write(bytes);
                out.closeEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return target;
    }

    /** The line with another list of releases in its column {@code column}: {@code from} becomes {@code to}. */
    static String renumbered(String line, int column, int from, int to) {
        if (line.startsWith("#") || line.isBlank()) {
            return line;
        }
        String[] row = line.split("\t", -1);
        row[column] = ("," + row[column] + ",").replace("," + from + ",", "," + to + ",").replaceAll("^,|,$", "");
        return String.join("\t", row);
    }
}
