package dev.klock.sandbox.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All that is published is built twice from the same sources, and has the same bytes: in two directories, time zones and languages, and for two users.
 * The umask is 022 in both: the archivers of Maven's plugins keep what it makes of a file's mode. Not a test of every build, since it takes minutes: {@code docs/distribution.md} says when it runs.
 */
class RebuildProof {
    private static final Path ROOT = KlockJar.module().getParent();

    private static void copySources(Path to) throws IOException {
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
                if (List.of("target", ".git", ".klock").contains(directory.getFileName().toString()) && !directory.equals(ROOT)) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                Files.createDirectories(to.resolve(ROOT.relativize(directory)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(ROOT.relativize(file)));
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void build(Path directory, Map<String, String> environment) throws IOException, InterruptedException {
        copySources(directory);
        Path log = directory.resolve("build.log");
        ProcessBuilder builder = new ProcessBuilder("sh", "-c",
                "umask 022 && exec mvn -B -Prelease -Dmaven.test.skip=true -pl klock-kernel,klock-agent verify").directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("MAVEN_") || name.equals("TZ") || name.startsWith("LC_") || name.equals("LANG"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        int exit = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start().waitFor();
        List<String> lines = Files.readAllLines(log);
        assertThat(exit).as(String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()))).isZero();
    }

    /** What is published of a build, by name; checksums are of these, and signatures of their own time. */
    private static Map<String, Path> published(Path directory) throws IOException {
        Map<String, Path> published = new TreeMap<>();
        for (String module : List.of("klock-kernel", "klock-agent")) {
            try (Stream<Path> files = Files.list(directory.resolve(module + "/target"))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String name = file.getFileName().toString();
                    if (name.startsWith("klock.jar") || name.startsWith(module + "-")) {
                        published.put(name, file);
                    }
                }
            }
        }
        return published;
    }

    private static TreeSet<String> differences(Path one, Path other) throws IOException {
        TreeSet<String> differ = new TreeSet<>();
        try (ZipFile first = new ZipFile(one.toFile()); ZipFile second = new ZipFile(other.toFile())) {
            for (ZipEntry entry : first.stream().toList()) {
                ZipEntry twin = second.getEntry(entry.getName());
                if (twin == null) {
                    differ.add(entry.getName() + " (in one only)");
                } else {
                    try (InputStream a = first.getInputStream(entry); InputStream b = second.getInputStream(twin)) {
                        if (!Arrays.equals(a.readAllBytes(), b.readAllBytes())) {
                            differ.add(entry.getName());
                        }
                    }
                }
            }
        }
        return differ;
    }

    @Test
    void publishedArtefacts_builtTwice_haveTheSameBytes(@TempDir Path temporary) throws Exception {
        Path here = temporary.resolve("here");
        Path there = temporary.resolve("another directory/below/there");
        build(here, Map.of("TZ", "UTC", "LC_ALL", "C.UTF-8"));
        build(there, Map.of("TZ", "Pacific/Kiritimati", "LC_ALL", "C",
                "JAVA_TOOL_OPTIONS", "-Duser.name=somebody -Duser.language=de -Duser.country=DE"));
        Map<String, Path> first = published(here);
        Map<String, Path> second = published(there);
        assertThat(first.keySet()).isEqualTo(second.keySet());
        for (String name : first.keySet()) {
            assertThat(Files.mismatch(first.get(name), second.get(name)))
                    .as(() -> {
                        try {
                            return name + (name.endsWith(".jar") ? " differs in " + differences(first.get(name), second.get(name)) : " differs");
                        } catch (IOException e) {
                            return name + " differs, and cannot be read: " + e;
                        }
                    }).isEqualTo(-1);
        }
        assertThat(first.keySet()).filteredOn(name -> name.endsWith(".sha256") || name.endsWith(".sha512")).hasSize(2 * 10);
    }
}
