package dev.klock.cli;

import dev.klock.agent.backup.Undo;

/** A bar on stderr while something takes long, on a terminal only. */
final class Progress implements Undo.Progress {
    private static final long SILENT_NS = 500_000_000L;
    private static final long EVERY_NS = 100_000_000L;
    private static final int WIDTH = 30;

    private final Terminal terminal;
    private final String what;
    private long next;
    private boolean shown;

    Progress(Terminal terminal, String what) {
        this(terminal, what, SILENT_NS);
    }

    /** @param silentNs for how long nothing is shown: what is over by then needs no bar */
    Progress(Terminal terminal, String what, long silentNs) {
        this.terminal = terminal;
        this.what = what;
        next = System.nanoTime() + silentNs;
    }

    @Override
    public void done(int paths, int of) {
        if (!terminal.hasColours() || System.nanoTime() - next < 0) {
            return;
        }
        next = System.nanoTime() + EVERY_NS;
        shown = true;
        int full = (int) ((long) WIDTH * paths / Math.max(1, of));
        terminal.status(what + " [" + "#".repeat(full) + ".".repeat(WIDTH - full) + "] " + paths + "/" + of);
    }

    void end() {
        if (shown) {
            terminal.status("");
        }
    }
}
