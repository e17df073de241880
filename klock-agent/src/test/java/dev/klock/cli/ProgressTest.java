package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private Terminal terminal(boolean isTerminal) {
        return new Terminal(new PrintWriter(out, true), new PrintWriter(err, true), isTerminal);
    }

    @Test
    void bar_onATerminal_isDrawnOnStderrAndTakenAway() {
        Progress progress = new Progress(terminal(true), "recover", 0);
        progress.done(5000, 20_000);
        assertThat(err.toString()).isEqualTo("\r\u001b[Krecover [#######.......................] 5000/20000");

        progress.end();
        assertThat(err.toString()).endsWith("\r\u001b[K");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void bar_ofWhatIsOverSoon_isNotDrawn() {
        Progress progress = new Progress(terminal(true), "undo", TimeUnit.HOURS.toNanos(1));
        progress.done(1, 2);
        progress.end();
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void bar_ofManyPaths_isNotDrawnForEach() {
        Progress progress = new Progress(terminal(true), "undo", 0);
        long start = System.nanoTime();
        for (int i = 0; i < 1_000_000; i++) {
            progress.done(i, 1_000_000);
        }
        long tenths = (System.nanoTime() - start) / 100_000_000L;
        assertThat(err.toString().split("\r").length - 1).isBetween(1, (int) tenths + 1);
    }

    @Test
    void bar_whereNobodyLooks_isNotDrawn() {
        Progress progress = new Progress(terminal(false), "undo", 0);
        progress.done(1, 2);
        progress.end();
        assertThat(err.toString()).isEmpty();
    }
}
