package dev.klock.agent.weave;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The hook table of one JDK feature release: {@code hooks.tsv} beside this class, whose head explains its columns. An unknown release
 * gets the rows of the nearest older one; whether they fit is then found out by {@link Installation#gaps()}.
 */
public final class HookTable {
    private static final int COLUMNS = 11;

    private final int feature;
    private final int release;
    private final List<Hook> hooks = new ArrayList<>();
    private final Map<String, List<Hook>> byClass = new LinkedHashMap<>();

    private HookTable(int feature, int release) {
        this.feature = feature;
        this.release = release;
    }

    /** Reads the rows for the JDK feature release {@code feature}. */
    public static HookTable forRelease(int feature) {
        String text = text();
        HookTable table = new HookTable(feature, nearest(text, feature));
        String wanted = Integer.toString(table.release);
        String[] row = new String[COLUMNS];
        // read before main: only the cells of wanted rows become strings
        for (int from = 0, to; from < text.length(); from = to + 1) {
            to = text.indexOf('\n', from);
            if (isRow(text, from) && lists(text, from, wanted)) {
                int cell = from;
                for (int i = 0; i < COLUMNS; i++) {
                    int end = i == COLUMNS - 1 ? to : text.indexOf('\t', cell);
                    if (end < 0 || end > to) {
                        throw new IllegalStateException("hooks.tsv: " + COLUMNS + " columns expected: " + text.substring(from, to));
                    }
                    row[i] = text.substring(cell, end);
                    cell = end + 1;
                }
                table.add(new Hook(row, table.hooks.size()));
            }
        }
        return table;
    }

    /** A table that lies beside this class. Through the loader: a class of a module is asked in a way that costs more. */
    public static InputStream open(String table) {
        return HookTable.class.getClassLoader().getResourceAsStream("dev/klock/agent/weave/".concat(table));
    }

    private static String text() {
        try (InputStream in = open("hooks.tsv")) {
            // one byte a character: the JVM searches such texts many times faster before anything is compiled
            String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return text.endsWith("\n") ? text : text.concat("\n");
        } catch (IOException e) {
            throw new IllegalStateException("hooks.tsv cannot be read", e);
        }
    }

    private static boolean isRow(String text, int from) {
        char first = text.charAt(from);
        return first != '\n' && first != '#';
    }

    /** The highest release listed that is not above {@code feature}; 0 if there is none. */
    private static int nearest(String text, int feature) {
        int nearest = 0;
        for (int from = 0; from < text.length(); from = text.indexOf('\n', from) + 1) {
            if (isRow(text, from)) {
                int listed = 0;
                for (int i = text.indexOf('\t', from) + 1;; i++) {
                    char c = text.charAt(i);
                    if (c >= '0' && c <= '9') {
                        listed = listed * 10 + c - '0';
                        continue;
                    }
                    if (listed <= feature && listed > nearest) {
                        nearest = listed;
                    }
                    if (c != ',') {
                        break;
                    }
                    listed = 0;
                }
            }
        }
        return nearest;
    }

    /** Whether the second cell of the row at {@code from} names {@code release}. */
    private static boolean lists(String text, int from, String release) {
        int at = text.indexOf('\t', from);
        do {
            at++;
            if (text.startsWith(release, at)) {
                char next = text.charAt(at + release.length());
                if (next == ',' || next == '\t') {
                    return true;
                }
            }
            while (text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                at++;
            }
        } while (text.charAt(at) == ',');
        return false;
    }

    private void add(Hook hook) {
        hooks.add(hook);
        List<Hook> ofClass = byClass.get(hook.owner);
        if (ofClass == null) {
            ofClass = new ArrayList<>(4);
            byClass.put(hook.owner, ofClass);
        }
        ofClass.add(hook);
    }

    /** The release these rows were written for: the running one, or the nearest older one. */
    public int release() {
        return release;
    }

    /** Whether the rows were written for the very release that was asked for. */
    public boolean isListed() {
        return release == feature;
    }

    /** All rows, in the table's order. */
    public List<Hook> hooks() {
        return hooks;
    }

    /** The rows by internal class name. */
    Map<String, List<Hook>> byClass() {
        return byClass;
    }

    /** The rows of a class, by its internal name; null if it has none. */
    public List<Hook> hooksOf(String className) {
        return byClass.get(className);
    }

    /** The parts of {@code text} between separators; one more than it has separators. */
    public static String[] split(String text, char separator) {
        List<String> parts = new ArrayList<>(COLUMNS);
        int from = 0;
        for (int at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, from)) {
            parts.add(text.substring(from, at));
            from = at + 1;
        }
        parts.add(text.substring(from));
        return parts.toArray(new String[0]);
    }
}
