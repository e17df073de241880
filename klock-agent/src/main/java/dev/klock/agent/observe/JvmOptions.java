package dev.klock.agent.observe;

import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * The options that a child JVM gets before its program begins, in the order in which it takes them: read as its launcher and the VM read
 * them, {@code @file}s included. What stands behind the main class is the program's own.
 *
 * <p>Does I/O; callers have exempted themselves. Not thread-safe.
 */
final class JvmOptions {
    /** Those behind which their value stands as a word of its own. */
    private static final String[] WITH_VALUE = {"-cp", "-classpath", "--class-path", "-d", "--describe-module", "--source", "-p", "--module-path",
        "--upgrade-module-path", "--add-modules", "--enable-native-access", "--limit-modules", "--add-exports", "--add-opens", "--add-reads",
        "--patch-module"};
    /** More of a file is not read. */
    private static final int MAX_FILE_BYTES = 1 << 20;
    private static final int S_IFMT = 0170000;
    private static final int S_IFREG = 0100000;

    private final HostFiles files;
    private final Resolver resolver;
    /** The real name of the directory that it starts in. */
    private final String directory;
    private final List<String> options = new ArrayList<>();
    private boolean valueNext;
    private boolean plain;
    private boolean over;

    JvmOptions(HostFiles files, Resolver resolver, String directory) {
        this.files = files;
        this.resolver = resolver;
        this.directory = directory;
    }

    List<String> all() {
        return options;
    }

    /** The text of a variable that the VM itself reads; null if it is not set. */
    void ofTheVm(String text) {
        if (text != null) {
            options.addAll(words(text, false));
        }
    }

    /** The text of {@code JDK_JAVA_OPTIONS}, which the launcher puts before the words it is given; null if it is not set. */
    void ofTheLauncher(String text) {
        List<String> words = text == null ? List.of() : words(text, false);
        for (int i = 0; i < words.size(); i++) {
            given(words.get(i));
        }
    }

    /** The next word of the launcher's command line. */
    void given(String word) {
        if (plain || over || word.length() < 2 || word.charAt(0) != '@') {
            next(word);
        } else if (word.charAt(1) == '@') {
            next(word.substring(1));
        } else {
            List<String> words = words(content(word.substring(1)), true);
            for (int i = 0; i < words.size(); i++) {
                next(words.get(i));
            }
        }
    }

    private void next(String word) {
        if (over) {
            return;
        }
        if (valueNext) {
            valueNext = false;
        } else if (!word.startsWith("-")) {
            // the main class, or the jar or module in its place
            over = true;
        } else {
            options.add(word);
            plain |= word.equals("--disable-@files");
            over = word.startsWith("--module=");
            for (int i = 0; i < WITH_VALUE.length; i++) {
                valueNext |= WITH_VALUE[i].equals(word);
            }
        }
    }

    /** Empty for what is no plain file: to read a pipe would take from the child what is meant for it. */
    private String content(String name) {
        Resolved file = resolver.resolve(name, directory, true);
        byte[] path = file.path() == null ? null : Names.bytes(file.path());
        if (path == null || (files.mode(path) & S_IFMT) != S_IFREG) {
            return "";
        }
        try (InputStream in = Files.newInputStream(files.path(path))) {
            return Names.real(in.readNBytes(MAX_FILE_BYTES));
        } catch (IOException unread) {
            return "";
        }
    }

    /**
     * The words of a text, without the quotes around them or parts of them. In a file a line ends a quote, there are comments, and in quotes
     * a backslash stands before a character that is meant as it is.
     */
    static List<String> words(String text, boolean file) {
        List<String> words = new ArrayList<>();
        StringBuilder word = null;
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote == 0 || file && isLineEnd(c)) {
                quote = 0;
                if (isSpace(c)) {
                    if (word != null) {
                        words.add(word.toString());
                    }
                    word = null;
                } else if (file && c == '#') {
                    word = null;
                    while (i + 1 < text.length() && !isLineEnd(text.charAt(i + 1))) {
                        i++;
                    }
                } else {
                    word = word == null ? new StringBuilder() : word;
                    if (c == '"' || c == '\'') {
                        quote = c;
                    } else {
                        word.append(c);
                    }
                }
            } else if (c == quote) {
                quote = 0;
            } else if (file && c == '\\' && i + 1 < text.length()) {
                c = text.charAt(++i);
                if (!isLineEnd(c)) {
                    word.append(escaped(c));
                    continue;
                }
                while (i + 1 < text.length() && isSpace(text.charAt(i + 1))) {
                    i++;
                }
            } else {
                word.append(c);
            }
        }
        if (word != null) {
            words.add(word.toString());
        }
        return words;
    }

    private static char escaped(char c) {
        switch (c) {
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'f':
                return '\f';
            default:
                return c;
        }
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }

    private static boolean isLineEnd(char c) {
        return c == '\n' || c == '\r';
    }
}
