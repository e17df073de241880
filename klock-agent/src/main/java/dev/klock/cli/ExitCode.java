package dev.klock.cli;

import dev.klock.agent.config.UsageException;

/** What the command line ends with. */
final class ExitCode {
    /** Clean. */
    static final int OK = 0;
    /** klock itself failed. */
    static final int FAILED = 1;
    /** Bad usage or a bad manifest. */
    static final int USAGE = UsageException.EXIT_CODE;
    /** Violations were found. */
    static final int VIOLATIONS = 3;
    /** Undo left something in place because others changed it since. */
    static final int REFUSED = 4;

    private ExitCode() {
    }
}
