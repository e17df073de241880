package dev.klock.sandbox.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceTest {
    @TempDir
    Path temporary;

    @Test
    void calls_aThreadThatHasGoneElsewhere_namesAreFromThere() throws IOException {
        Path trace = Files.write(temporary.resolve("trace"), List.of(
                "7 unlink(\"before\") = 0",
                "7 fchdir(5</tmp/hsperfdata_me>) = 0",
                "7 unlink(\"19821\" <unfinished ...>",
                "8 unlink(\"other\") = 0",
                "7 <... unlink resumed>) = 0",
                "7 openat(AT_FDCWD</tmp/hsperfdata_me>, \"42\", O_RDWR) = 6</tmp/hsperfdata_me/42>",
                "7 fchdir(4</w>) = 0",
                "7 unlink(\"after\") = 0"));

        assertThat(Trace.of(trace, Path.of("/w")).calls()).isEqualTo(Map.of("/w/before", 1, "/tmp/hsperfdata_me/19821", 1,
                "/w/other", 1, "/tmp/hsperfdata_me/42", 1, "/w/after", 1));
    }
}
