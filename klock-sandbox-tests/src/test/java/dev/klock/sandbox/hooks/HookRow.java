package dev.klock.sandbox.hooks;

import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.subject.HookProbes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One row of the hook table in klock.jar; the head of the table explains the columns.
 *
 * @param door whether it is a door and not a context
 * @param lazy whether its class is woven when it is first loaded
 * @param releases the JDK feature releases that have the method
 * @param owner internal class name
 * @param site the call inside the method that it stands before, "-" for the method's start
 * @param standsFor the native's caller that it stands for, "-" for itself
 */
public record HookRow(boolean door, boolean lazy, List<Integer> releases, String owner, String method, String descriptor, String op, String site,
                      String standsFor) {
    private static final String TABLE = "META-INF/klock/dev/klock/agent/weave/hooks.tsv";

    /** All rows. */
    public static List<HookRow> all() {
        List<HookRow> rows = new ArrayList<>();
        for (String line : KlockJar.table(TABLE)) {
            String[] row = line.split("\t");
            rows.add(new HookRow(row[0].startsWith("door"), row[0].matches(".* (lazy|early)"), releases(row[1]), row[2], row[3], row[4], row[7], row[9], row[10]));
        }
        return rows;
    }

    /** The doors to files and processes of a release; an unlisted release has those of the nearest older one. */
    public static List<HookRow> doors(int feature) {
        return everyDoor(feature).stream().filter(row -> !row.lazy).toList();
    }

    /** All doors of a release: also those to the network and to native code, which have tests of their own; their classes are woven late. */
    public static List<HookRow> everyDoor(int feature) {
        return of(feature).stream().filter(HookRow::door).toList();
    }

    /** The doors that are tried in pairs: those to files and processes, and all others that there is a probe for. */
    static List<HookRow> withPairs(int feature) {
        List<HookRow> own = doors(feature);
        return everyDoor(feature).stream().filter(row -> own.contains(row) || HookProbes.PROBES.stream()
                .anyMatch(probe -> probe.rows().stream().anyMatch(row::isMeantBy))).toList();
    }

    /** The rows of classes that are woven late, and contexts among them, that are not tried in pairs: they have tests of their own. */
    public static List<HookRow> withoutPairs(int feature) {
        List<HookRow> pairs = withPairs(feature);
        return of(feature).stream().filter(row -> row.lazy && !pairs.contains(row)).toList();
    }

    private static List<HookRow> of(int feature) {
        List<HookRow> all = all();
        int nearest = all.stream().flatMap(row -> row.releases.stream()).filter(release -> release <= feature)
                .mapToInt(Integer::intValue).max().orElseThrow();
        return all.stream().filter(row -> row.releases.contains(nearest)).toList();
    }

    static List<Integer> releases(String list) {
        return Arrays.stream(list.split(",")).map(Integer::valueOf).toList();
    }

    /** {@code class.method(descriptor)}. */
    public String hooked() {
        return owner + "." + method + descriptor;
    }

    /** Whether a probe that names {@code reference} means this row: class and method, descriptor if given, {@code @call} for a row with a site. */
    boolean isMeantBy(String reference) {
        int at = reference.indexOf('@');
        String called = at < 0 ? "" : reference.substring(at + 1);
        String name = at < 0 ? reference : reference.substring(0, at);
        boolean place = at < 0 ? site.equals("-") : site.contains("." + called + "(");
        return place && (name.contains("(") ? hooked().equals(name) : (owner + "." + method).equals(name));
    }

    @Override
    public String toString() {
        return owner + "." + method + (site.equals("-") ? descriptor : " before " + site);
    }
}
