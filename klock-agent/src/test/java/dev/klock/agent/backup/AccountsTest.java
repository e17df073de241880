package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a session has left is told from what others have made of it since, while it runs and when it is closed (K6-7). */
@Tag("K6-7")
class AccountsTest {
    @TempDir
    Path temp;
    private Path out;
    private Backups backups;
    private Work work;

    @BeforeEach
    void open() throws IOException {
        temp = temp.toRealPath();
        out = Files.createDirectory(temp.resolve("out"));
        Files.writeString(out.resolve("other"), "before");
        backups = Backups.open(Files.createDirectory(temp.resolve(".klock")), "s", Work.FILES);
        work = new Work(backups);
    }

    @AfterEach
    void close() throws IOException {
        backups.close();
    }

    private boolean answersFor(Path p) {
        return backups.accounts().answersFor(Work.name(p));
    }

    private Accounts.Closed closed() throws IOException {
        Accounts.Closed closed = new Accounts.Closed();
        closed.add(backups.accounts());
        backups.close();
        return closed;
    }

    @Test
    void whatWasLeft_isTheSessions_untilOthersChangeIt() throws IOException {
        Path file = out.resolve("f");
        work.write(file, "ours");
        assertThat(answersFor(file)).isTrue();
        Files.writeString(file, "theirs, longer");
        assertThat(answersFor(file)).isFalse();
        assertThat(answersFor(out.resolve("other"))).as("nobody's").isFalse();
    }

    @Test
    void whatIsBeingChanged_isTheSessions() throws IOException {
        Path file = out.resolve("other");
        backups.image(Work.name(file));
        Files.writeString(file, "half");
        assertThat(answersFor(file)).isTrue();
        backups.left(Work.name(file));
    }

    @Test
    void directoryThatANameWentFrom_isTheSessions_untilOthersTakeOneAway() throws IOException {
        Files.writeString(out.resolve("f"), "before");
        work.delete(out.resolve("f"));
        assertThat(answersFor(out)).isTrue();
        Files.setLastModifiedTime(out, java.nio.file.attribute.FileTime.fromMillis(1_000_000));
        assertThat(answersFor(out)).isFalse();
    }

    @Test
    void whatARollbackPutBack_isTheSessions_untilOthersChangeIt() throws IOException {
        Path file = out.resolve("other");
        work.write(file, "ours");
        work.write(out.resolve("made"), "ours");
        backups.rollback();
        assertThat(file).hasContent("before");
        assertThat(answersFor(file)).isTrue();
        assertThat(answersFor(out)).isTrue();
        Files.writeString(file, "theirs, longer");
        assertThat(answersFor(file)).isFalse();
    }

    @Test
    void whatOneThatIsClosedLeft_isToldFromWhatOthersMadeOfIt() throws IOException {
        Path file = out.resolve("f");
        work.write(file, "ours");
        work.write(out.resolve("other"), "ours");
        Files.writeString(out.resolve("other"), "theirs before it was closed");
        backups.done();
        Accounts.Closed closed = closed();
        assertThat(closed.answersFor(Work.name(file))).isTrue();
        assertThat(closed.answersFor(Work.name(out.resolve("other")))).isFalse();
        Files.writeString(file, "theirs, longer");
        assertThat(closed.answersFor(Work.name(file))).isFalse();
        closed.clear();
        assertThat(closed.isEmpty()).isTrue();
    }
}
