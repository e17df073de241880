package dev.klock.agent.weave;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
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
        List<String[]> rows = new ArrayList<>();
        int nearest = 0;
        try (InputStream in = HookTable.class.getResourceAsStream("hooks.tsv");
             BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.isEmpty() || line.charAt(0) == '#') {
                    continue;
                }
                String[] row = split(line, '\t');
                if (row.length != COLUMNS) {
                    throw new IllegalStateException("hooks.tsv: " + COLUMNS + " columns expected: " + line);
                }
                rows.add(row);
                for (String jdk : split(row[1], ',')) {
                    int listed = Integer.parseInt(jdk);
                    if (listed <= feature && listed > nearest) {
                        nearest = listed;
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("hooks.tsv cannot be read", e);
        }
        HookTable table = new HookTable(feature, nearest);
        String wanted = Integer.toString(nearest);
        for (String[] row : rows) {
            for (String jdk : split(row[1], ',')) {
                if (jdk.equals(wanted)) {
                    Hook hook = new Hook(row, table.hooks.size());
                    table.hooks.add(hook);
                    List<Hook> ofClass = table.byClass.get(hook.owner);
                    if (ofClass == null) {
                        ofClass = new ArrayList<>(4);
                        table.byClass.put(hook.owner, ofClass);
                    }
                    ofClass.add(hook);
                }
            }
        }
        return table;
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
