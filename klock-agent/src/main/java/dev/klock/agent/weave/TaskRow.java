package dev.klock.agent.weave;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One row of {@code propagation.tsv}, whose head explains the columns: a JDK method and what it tells of tasks. Immutable. */
final class TaskRow {
    private static final int COLUMNS = 7;

    /** Internal name of the class. */
    final String owner;
    final String method;
    final String descriptor;
    /** The first word of "where". */
    final String place;
    /** The call that is replaced or stood before, as owner.name(descriptor); empty if the row names none. */
    final String site;
    /** Methods of the bridge class: two for "around", else one. */
    final String[] calls;
    final String[] arguments;

    private TaskRow(String[] cells) {
        owner = cells[1];
        method = cells[2];
        descriptor = cells[3];
        int space = cells[4].indexOf(' ');
        place = space < 0 ? cells[4] : cells[4].substring(0, space);
        site = space < 0 ? "" : cells[4].substring(space + 1);
        calls = HookTable.split(cells[5], ' ');
        arguments = cells[6].equals("-") ? new String[0] : HookTable.split(cells[6], ' ');
    }

    /** The rows for a JDK feature release: its own, or those of the nearest older one that has any. */
    static List<TaskRow> forRelease(int feature) throws IOException {
        List<String[]> all = all();
        int nearest = nearest(all, feature);
        List<TaskRow> rows = new ArrayList<>();
        for (String[] cells : all) {
            for (String release : HookTable.split(cells[0], ',')) {
                if (Integer.parseInt(release) == nearest) {
                    rows.add(new TaskRow(cells));
                }
            }
        }
        return rows;
    }

    /** Whether the table is made for that release. Of another one nobody knows what rows are missing. */
    static boolean isListed(int feature) throws IOException {
        return nearest(all(), feature) == feature;
    }

    private static List<String[]> all() throws IOException {
        List<String[]> all = new ArrayList<>();
        try (InputStream in = HookTable.open("propagation.tsv")) {
            for (String line : HookTable.split(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1), '\n')) {
                if (!line.isEmpty() && line.charAt(0) != '#') {
                    String[] cells = HookTable.split(line, '\t');
                    if (cells.length != COLUMNS) {
                        throw new IllegalStateException("propagation.tsv: " + COLUMNS + " columns expected: " + line);
                    }
                    all.add(cells);
                }
            }
        }
        return all;
    }

    private static int nearest(List<String[]> all, int feature) {
        int nearest = 0;
        for (String[] cells : all) {
            for (String release : HookTable.split(cells[0], ',')) {
                int listed = Integer.parseInt(release);
                nearest = listed <= feature && listed > nearest ? listed : nearest;
            }
        }
        return nearest;
    }

    boolean is(String place) {
        return this.place.equals(place);
    }

    /** {@code class.method(descriptor)}, and where in it. */
    @Override
    public String toString() {
        return owner.replace('/', '.') + "." + method + descriptor + " " + place + (site.isEmpty() ? "" : " " + site);
    }
}
