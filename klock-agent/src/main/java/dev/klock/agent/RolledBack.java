package dev.klock.agent;

import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.log.Stderr;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;

/** What a rollback did, in the words of the log and of stderr. */
final class RolledBack {
    /** So many notes of what is back are said each; there may be one for every file of a tree. */
    private static final int MAX_NOTES = 10;
    /** So many paths that are not back are said each; all of a tree may not be. */
    private static final int MAX_NOT_BACK = 100;

    /** Resources that are as they were. */
    final List<String> back = new ArrayList<>();
    /** Resources that are not, and why. */
    final List<String> conflicts = new ArrayList<>();
    /** Resources that are back, with what is to be known of them. */
    final List<String> notes = new ArrayList<>();
    private final List<String> notBack = new ArrayList<>();
    private final List<String> notWhole = new ArrayList<>();
    private final String sessionId;
    private final RollbackReport report;

    /** {@code report} may be null: nothing was rolled back. {@code sessionId} is the one that was. */
    RolledBack(String sessionId, RollbackReport report) {
        this.sessionId = sessionId;
        this.report = report;
        if (report == null) {
            return;
        }
        List<RollbackReport.Entry> entries = report.entries();
        for (int i = 0; i < entries.size(); i++) {
            RollbackReport.Entry entry = entries.get(i);
            switch (entry.outcome()) {
                case RESTORED:
                case REMOVED:
                    back.add(Resource.file(entry.name()).toString());
                    break;
                case UNCHANGED:
                    break;
                default:
                    conflicts.add(detailed(entry));
                    notBack.add(detailed(entry).concat(entry.copy()));
                    break;
            }
        }
        List<RollbackReport.Entry> noted = report.notes();
        for (int i = 0; i < noted.size(); i++) {
            RollbackReport.Entry entry = noted.get(i);
            notes.add(detailed(entry).concat(entry.copy()));
            if (!entry.isWhole()) {
                notWhole.add(detailed(entry).concat(entry.copy()));
            }
        }
    }

    private static String detailed(RollbackReport.Entry entry) {
        return Resource.file(entry.name()) + " (" + entry.detail() + ")";
    }

    /** On stderr: what is not back, what is but not whole, what to do next, and where what gave way is. {@code log} has all the notes. */
    void say(String log) {
        if (report == null) {
            return;
        }
        for (int i = 0; i < notBack.size() && i < MAX_NOT_BACK; i++) {
            Stderr.error("not rolled back: ".concat(notBack.get(i)));
        }
        if (notBack.size() > MAX_NOT_BACK) {
            Stderr.error("not rolled back: " + (notBack.size() - MAX_NOT_BACK) + " more, all are in the conflicts of " + log);
        }
        for (int i = 0; i < notWhole.size() && i < MAX_NOTES; i++) {
            Stderr.warn("rolled back, but not whole: ".concat(notWhole.get(i)));
        }
        if (notWhole.size() > MAX_NOTES) {
            Stderr.warn("rolled back, but not whole: " + (notWhole.size() - MAX_NOTES) + " more, all are in the notes of " + log);
        }
        if (report.count(RollbackReport.Outcome.FAILED) > 0) {
            Stderr.error("what could not be put back is tried again by the next start, or by: java -jar klock.jar recover --session ".concat(sessionId));
        }
        if (report.isObstructed()) {
            Stderr.error("what cannot come back has something in its way that stays, forced or not; take that away, then: java -jar klock.jar undo --session ".concat(sessionId));
        }
        if (report.isForceOfUse()) {
            Stderr.error("what others changed stays as they left it; to put it back all the same: java -jar klock.jar undo --force --session ".concat(sessionId));
        }
        String displaced = report.displacedLine();
        if (displaced != null) {
            Stderr.announce(displaced);
        }
    }
}
