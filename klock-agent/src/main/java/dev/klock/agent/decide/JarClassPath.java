package dev.klock.agent.decide;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringTokenizer;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * What is on the class path without being in {@code java.class.path}: what the manifests of its jars name as {@code Class-Path}, and the
 * manifests of those. Taken apart as the JDK's own loader does: relative to the jar, percent-encoded, files only.
 */
final class JarClassPath {
    /** Jars looked into; a loop of names ends anyway, a generated path need not. */
    private static final int MAX_JARS = 10_000;

    private JarClassPath() {
    }

    /**
     * Reads every jar's manifest: milliseconds for a class path of a hundred jars.
     *
     * @param jars    the entries of the class path, as the JVM was given them
     * @param changed what the session has changed: what such a jar names is not followed, for it would be the session's own choice
     * @param before  a jar that changed its content or its name later is not followed either
     */
    static List<String> namedBy(List<String> jars, Changed changed, FileTime before) {
        List<String> named = new ArrayList<>();
        Set<String> seen = new HashSet<>(jars);
        ArrayDeque<String> open = new ArrayDeque<>();
        for (String jar : jars) {
            // the JDK's loader counts from where the links in a name of the command line lead, but not from those of names in a manifest
            open.add(real(jar));
        }
        for (int n = 0; n < MAX_JARS && !open.isEmpty(); n++) {
            String jar = open.poll();
            for (String element : elements(jar, changed, before)) {
                if (seen.add(element)) {
                    named.add(element);
                    open.add(element);
                }
            }
        }
        return named;
    }

    /** Tells of a file's name whether the session has changed it. */
    interface Changed {
        boolean isChanged(String file);
    }

    private static String real(String jar) {
        try {
            return new File(jar).getCanonicalPath();
        } catch (IOException unknown) {
            return jar;
        }
    }

    private static List<String> elements(String jar, Changed changed, FileTime before) {
        List<String> elements = new ArrayList<>();
        File file = new File(jar);
        try {
            if (!file.isFile() || changed.isChanged(jar) || ((FileTime) Files.getAttribute(file.toPath(), "unix:ctime")).compareTo(before) >= 0) {
                return elements;
            }
            String value = null;
            try (JarFile opened = new JarFile(file, false)) {
                Manifest manifest = opened.getManifest();
                value = manifest == null ? null : manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
            }
            URL base = value == null ? null : file.toURI().toURL();
            for (StringTokenizer words = new StringTokenizer(value == null ? "" : value); words.hasMoreTokens();) {
                String path = path(base, words.nextToken());
                if (path != null) {
                    elements.add(path);
                }
            }
        } catch (IOException | RuntimeException unreadable) {
            // no jar, or none that the JVM could read: nothing is on the class path for its sake
            return elements;
        }
        return elements;
    }

    /** The file that an element names; null if it is none, or not one the JDK would follow. */
    private static String path(URL base, String element) {
        try {
            URL url = new URL(base, element);
            boolean file = url.getProtocol().equals("file") && (url.getHost() == null || url.getHost().isEmpty() || url.getHost().equalsIgnoreCase("localhost"));
            String path = file ? java.net.URLDecoder.decode(url.getPath().replace("+", "%2B"), java.nio.charset.StandardCharsets.UTF_8) : "";
            return path.length() < 2 ? null : path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        } catch (IOException | IllegalArgumentException notOne) {
            return null;
        }
    }
}
