package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.log.ThisProcess;
import dev.klock.agent.resolve.Names;
import dev.klock.kernel.Predicate;
import java.util.Iterator;

/**
 * What else a program needs to open {@code /proc/<pid>/environ} or {@code /proc/<pid>/mem}, beside a line for the file: what it gets at there
 * by other doors (F13). Stateless.
 */
final class ProcessFiles {
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int MUTATES = Predicate.MUTATES.ordinal();
    private static final String PROC = "/proc/";

    private final Targets targets;
    private final Judge judge;

    ProcessFiles(Targets targets, Judge judge) {
        this.targets = targets;
        this.judge = judge;
    }

    /** {@code file}: see {@link Target#isOfAProcess}. */
    void opens(Work work, int op, Target file) {
        String real = file.real();
        boolean environment = real.endsWith("/environ");
        String pid = real.substring(PROC.length(), Math.max(PROC.length(), real.indexOf('/', PROC.length())));
        boolean own = pid.equals(Long.toString(ThisProcess.pid()));
        if (!own) {
            judge.access(work, op, judge.programOf(pid), environment ? CONSUMES : MUTATES, "process ".concat(pid), null);
        }
        if (environment) {
            for (Iterator<String> i = System.getenv().keySet().iterator(); i.hasNext();) {
                judge.access(work, op, targets.other("ENV", i.next()), CONSUMES, Names.text(real), null);
            }
        } else if (own) {
            judge.access(work, op, targets.other(Judge.NATIVE, "ffm"), CONSUMES, Names.text(real), null);
        }
    }
}
