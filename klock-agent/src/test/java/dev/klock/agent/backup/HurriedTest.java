package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file that the session changes again before anybody has looked at what it left there: none of that is somebody else's. */
@Tag("K6-5")
@Tag("C32")
class HurriedTest {
    /** A descriptor that is about to be closed; which one is of no matter to a file that nobody else changes. */
    private static final int ANY = 0;

    @TempDir
    Path temp;
    private Backups backups;
    private Path file;
    private Path other;
    private long ns;

    @BeforeEach
    void make() throws IOException {
        temp = temp.toRealPath();
        file = Files.createDirectory(temp.resolve("out")).resolve("f");
        other = file.resolveSibling("g");
        Files.writeString(file, "first of f");
        Files.writeString(other, "first of g");
        backups = Backups.open(Files.createDirectory(temp.resolve(".klock")), "s", new TestFiles());
    }

    @AfterEach
    void close() throws IOException {
        backups.close();
    }

    private void begin(Path path) throws IOException {
        backups.image(Work.name(path), ns);
    }

    private void end(Path path) {
        backups.left(Work.name(path));
    }

    /** Changes {@code path} so often, all within the same moment, that its last state is not looked at. */
    private void writeBusily(Path path) throws IOException {
        ns = System.nanoTime();
        for (int i = 0; i < 4; i++) {
            begin(path);
            Files.writeString(path, "busy " + "x".repeat(i));
            backups.left(Work.name(path), ANY);
        }
    }

    private void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }

    private void rollsBack() throws IOException {
        RollbackReport report = backups.rollback();

        assertThat(report.entries()).allMatch(e -> e.outcome() == RollbackReport.Outcome.RESTORED);
        assertThat(file).hasContent("first of f");
        assertThat(other).hasContent("first of g");
    }

    @Test
    void secondChange_besideOneThatHasNotBegunToWrite_findsNoStranger() throws IOException {
        begin(file);
        begin(file);
        begin(other);
        rename(other, file);
        end(other);
        end(file);
        end(file);
        writeBusily(file);

        begin(file);
        begin(file);
        end(file);
        end(file);

        rollsBack();
    }

    @Test
    void fileRenamedToWhereAnotherThreadIsAtWork_findsNoStranger() throws IOException {
        writeBusily(other);
        begin(file);
        begin(other);
        begin(file);
        rename(other, file);

        begin(file);
        end(file);
        end(other);
        begin(file);
        end(file);
        end(file);
        end(file);

        rollsBack();
    }
}
