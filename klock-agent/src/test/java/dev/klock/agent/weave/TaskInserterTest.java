package dev.klock.agent.weave;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The calls that tell of tasks, beside the hooks that guard the host. */
class TaskInserterTest {
    private static final int FEATURE = Runtime.version().feature();

    private static byte[] bytes(String owner) throws IOException {
        try (InputStream in = Object.class.getResourceAsStream("/" + owner + ".class")) {
            return in.readAllBytes();
        }
    }

    private static List<TaskRow> rows(List<TaskRow> all, String owner) {
        List<TaskRow> rows = new ArrayList<>();
        for (TaskRow row : all) {
            if (row.owner.equals(owner)) {
                rows.add(row);
            }
        }
        return rows;
    }

    private static Set<String> owners(int feature) throws IOException {
        Set<String> owners = new TreeSet<>();
        for (TaskRow row : TaskRow.forRelease(feature)) {
            owners.add(row.owner);
        }
        return owners;
    }

    @Test
    void release_thatIsNotListed_hasTheRowsOfTheNearest() throws IOException {
        assertThat(TaskRow.forRelease(21)).hasSameSizeAs(TaskRow.forRelease(17));
        assertThat(TaskRow.forRelease(29)).hasSameSizeAs(TaskRow.forRelease(25));
        assertThat(TaskRow.forRelease(25).size()).isGreaterThan(TaskRow.forRelease(17).size());
        assertThat(TaskRow.forRelease(11)).isEmpty();
    }

    @Test
    void releases_thatTheTableIsMadeFor_areListed() throws IOException {
        for (int feature : new int[] {11, 18, 21, 24, 26}) {
            assertThat(TaskRow.isListed(feature)).as("" + feature).isFalse();
        }
        assertThat(TaskRow.isListed(17)).isTrue();
        assertThat(TaskRow.isListed(25)).isTrue();
    }

    @Test
    void classes_thatAreAlsoGuarded_areKnown() throws IOException {
        for (int feature : new int[] {17, 25}) {
            Set<String> both = owners(feature);
            both.retainAll(HookTable.forRelease(feature).byClass().keySet());
            assertThat(both).isEqualTo(feature == 17 ? Set.of("java/lang/Thread") : Set.of());
        }
    }

    /** On 25 the guard has no rows for it, so some are made up. */
    @Test
    void guardedClass_inEitherOrder_keepsBoth() throws IOException {
        String owner = "java/lang/Thread";
        List<TaskRow> rows = rows(TaskRow.forRelease(FEATURE), owner);
        List<Hook> hooks = HookTable.forRelease(17).hooksOf(owner);
        List<Hook> there = new ArrayList<>();
        Inserter.weave(bytes(owner), hooks, there);
        byte[] guarded = Inserter.weave(bytes(owner), there, new ArrayList<>());
        Set<TaskRow> done = new HashSet<>();
        byte[] both = TaskInserter.weave(guarded, rows, done, TaskInserter.bridgeMethods());
        assertThat(done).containsExactlyInAnyOrderElementsOf(rows);
        assertThat(Installation.lost(there, guarded, both)).isNull();
        byte[] otherWay = Inserter.weave(TaskInserter.weave(bytes(owner), rows, done, TaskInserter.bridgeMethods()), there, new ArrayList<>());
        Set<TaskRow> left = new HashSet<>();
        TaskInserter.find(otherWay, rows, left);
        assertThat(left).containsExactlyInAnyOrderElementsOf(rows);
        Set<Hook> guards = new HashSet<>();
        FinalCalls.find(otherWay, there, guards);
        assertThat(guards).containsExactlyInAnyOrderElementsOf(there);
    }

    @Test
    void everyRow_matchesTheRunningRelease() throws IOException {
        List<TaskRow> all = TaskRow.forRelease(FEATURE);
        Set<TaskRow> done = new HashSet<>();
        for (String owner : owners(FEATURE)) {
            TaskInserter.weave(bytes(owner), rows(all, owner), done, TaskInserter.bridgeMethods());
        }
        assertThat(done).containsExactlyInAnyOrderElementsOf(all);
    }
}
