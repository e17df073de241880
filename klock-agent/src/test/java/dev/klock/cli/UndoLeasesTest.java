package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.backup.Backups;
import dev.klock.kernel.Triple;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UndoLeasesTest {
    private static Backups.Touched file(String path) {
        return new Backups.Touched(path.getBytes(StandardCharsets.ISO_8859_1), false);
    }

    private static List<String> wanted(List<Backups.Touched> paths) {
        return UndoLeases.wanted(paths).stream().map(Triple::toString).toList();
    }

    private static List<Backups.Touched> files(String before, int count) {
        return IntStream.range(0, count).mapToObj(i -> file(before + i)).toList();
    }

    @Test
    void fewPaths_areLeasedEach() {
        assertThat(wanted(List.of(file("/w/b"), file("/w/a/*"), file("/top")))).containsExactly("MUTATES FILE:/top", "MUTATES FILE:/w/a/\\*", "MUTATES FILE:/w/b");
    }

    @Test
    void directoryThatGoes_isLeasedWithAllBelow() {
        assertThat(wanted(List.of(new Backups.Touched("/w/moved".getBytes(StandardCharsets.UTF_8), true), file("/w/moved/made"), file("/w/movedaway"))))
                .containsExactly("MUTATES FILE:/w/movedaway", "MUTATES FILE:/w/moved/**");
    }

    @Test
    void nameThatNoManifestCanWrite_isLeasedWithItsDirectory() {
        assertThat(wanted(List.of(file("/w/a/li\nne"), file("/w/b\1/c/d"), file("/w/n/\377"), file("/w/n/b")))).containsExactly("MUTATES FILE:/w/**");
        assertThat(wanted(List.of(file("/w/n/\377"), file("/w/b")))).containsExactly("MUTATES FILE:/w/b", "MUTATES FILE:/w/n/**");
    }

    @Test
    void manyPaths_areLeasedByTheirDirectories_theDeepestFirst() {
        List<Backups.Touched> paths = new ArrayList<>(files("/w/deep/er/f", 20_000));
        paths.addAll(files("/w/x/f", UndoLeases.MOST - 1));
        assertThat(wanted(paths)).hasSize(UndoLeases.MOST).contains("MUTATES FILE:/w/deep/er/**", "MUTATES FILE:/w/x/f7");
        paths.add(file("/w/x/more"));
        assertThat(wanted(paths)).containsExactly("MUTATES FILE:/w/deep/**", "MUTATES FILE:/w/x/**");
    }

    @Test
    void rootDirectory_isNeverLeased() {
        assertThat(wanted(files("/f", UndoLeases.MOST + 10))).hasSize(UndoLeases.MOST + 10).doesNotContain("MUTATES FILE:/**");
    }
}
