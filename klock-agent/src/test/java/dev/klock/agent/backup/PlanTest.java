package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class PlanTest {
    /** What failed is told in the words of whoever has to mend it, and without names that only klock knows. */
    @Test
    void reason_isForPeople() {
        assertThat(Plan.reason(new AccessDeniedException("/w/d/.klock-restore-1a2b-7"))).isEqualTo("nothing may be written in /w/d");
        assertThat(Plan.reason(new AccessDeniedException("/.klock-restore-1a2b-7"))).isEqualTo("nothing may be written in /");
        assertThat(Plan.reason(new AccessDeniedException("/w/d/f"))).isEqualTo("permission denied: /w/d/f");
        assertThat(Plan.reason(new NoSuchFileException("/w/d/f"))).isEqualTo("there is no /w/d/f any more");
        assertThat(Plan.reason(new FileSystemException("/w/d/f", null, "No space left on device"))).isEqualTo("No space left on device");
        assertThat(Plan.reason(new DirectoryNotEmptyException("/w/d"))).isEqualTo("DirectoryNotEmptyException: /w/d");
        assertThat(Plan.reason(new UncheckedIOException(new IOException("said")))).isEqualTo("said");
        assertThat(Plan.reason(new IOException())).isEqualTo("IOException");
    }
}
