package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.ServiceLoader;
import java.util.jar.JarFile;

/**
 * Reads what is on its class path in all the ways a framework does: {@code resources} of these names, a {@code service}, a {@code jar} opened
 * by itself; {@code replace FROM TO}, {@code read FILE}.
 */
public final class ReadsClassPath {
    private ReadsClassPath() {
    }

    public static void main(String[] steps) throws Exception {
        for (String step : steps) {
            String[] words = step.split(" ");
            switch (words[0]) {
                case "resource" -> print(ReadsClassPath.class.getResource(words[1]).openStream());
                case "all" -> {
                    for (URL url : Collections.list(ReadsClassPath.class.getClassLoader().getResources(words[1]))) {
                        System.out.println(url);
                        url.openStream().close();
                    }
                }
                case "service" -> System.out.println(ServiceLoader.load(Runnable.class).stream().count() + " services");
                case "jar" -> {
                    try (JarFile jar = new JarFile(words[1])) {
                        System.out.println(jar.size() + " entries");
                    }
                }
                case "replace" -> Files.copy(Path.of(words[1]), Path.of(words[2]), StandardCopyOption.REPLACE_EXISTING);
                case "link" -> Files.createSymbolicLink(Path.of(words[1]), Path.of(words[2]));
                case "read" -> System.out.print(Files.readString(Path.of(words[1])));
                default -> throw new IllegalArgumentException(step);
            }
        }
    }

    private static void print(InputStream opened) throws IOException {
        try (opened) {
            System.out.print(new String(opened.readAllBytes()));
        }
    }
}
