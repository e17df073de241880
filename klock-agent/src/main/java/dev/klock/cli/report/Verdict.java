package dev.klock.cli.report;

import dev.klock.agent.log.Decision;

/**
 * How a session went, in one word and one sentence.
 *
 * @param level how good that is
 * @param title a few words
 * @param text  a sentence
 */
record Verdict(Level level, String title, String text) {
    /** From good to bad. */
    enum Level {
        GOOD, NEUTRAL, WARNING, BAD
    }

    static Verdict of(SessionReport report) {
        SessionStory story = report.story;
        long denied = story.count(Decision.DENY);
        long warned = story.count(Decision.WARN);
        long back = story.size("rolled_back");
        long not = story.size("conflicts");
        String left = not > 0 ? times(not, "path is", "paths are") + " NOT as before: see the conflicts below." : "";
        String end = story.end();
        if (end == null) {
            return report.running ? new Verdict(Level.NEUTRAL, "Still running", "What follows is what it has done so far: " + decisions(denied, warned) + '.')
                    : new Verdict(Level.BAD, "Crashed", "The log ends without a summary: the process was killed or the machine stopped. "
                            + (report.state == null ? "" : "Its images: " + report.state + "."));
        }
        switch (end) {
            case "aborted":
                return new Verdict(Level.BAD, not > 0 ? "Aborted, not all rolled back" : "Aborted and rolled back",
                        "Something was attempted that the manifest does not allow, and the session was ended. " + (back > 0 ? times(back, "path was", "paths were") + " put back. "
                                : "There was nothing to put back. ") + left);
            case "died":
                return new Verdict(Level.WARNING, "Died", "Somebody older had what the manifest wants: nothing was done, or all of it undone; it may be started again. " + left);
            case "lease-lost":
                return new Verdict(Level.BAD, "Lease lost", "Its leases ran out while it was stopped, and it was ended; what it had changed stays. " + left);
            case "completed":
                break;
            default:
                return new Verdict(Level.BAD, "Ended: " + end, "The session did not end by itself: " + decisions(denied, warned) + ". " + left);
        }
        if (denied > 0) {
            return new Verdict(Level.BAD, "Violations", times(denied, "access was", "accesses were") + " denied before taking effect, and the program went on."
                    + (warned > 0 ? " " + times(warned, "other was", "others were") + " outside the manifest and not stopped." : ""));
        }
        if (warned > 0) {
            return new Verdict(Level.WARNING, "Outside the manifest", times(warned, "access was", "accesses were") + " outside the manifest and went on: nothing was stopped"
                    + ("permissive".equals(story.mode()) ? ", since the mode was permissive." : "."));
        }
        if (!story.isWhole()) {
            return new Verdict(Level.WARNING, "No violation, but the log is not whole", "Some of what was done may not be told here: see the blind spots.");
        }
        if (story.count(Decision.LEARN) > 0) {
            return new Verdict(Level.NEUTRAL, "Learnt", times(story.count(Decision.LEARN), "access was", "accesses were") + " recorded; nothing was stopped.");
        }
        return new Verdict(Level.GOOD, "Clean", "Everything that was done is inside the manifest.");
    }

    private static String decisions(long denied, long warned) {
        return denied + " denied, " + warned + " warned about";
    }

    static String times(long n, String one, String many) {
        return n + " " + (n == 1 ? one : many);
    }
}
