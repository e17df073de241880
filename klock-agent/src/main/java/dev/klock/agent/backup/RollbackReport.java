package dev.klock.agent.backup;

import dev.klock.agent.resolve.Names;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What a rollback did, path by path, in the order of the paths. Immutable but for the byte arrays, which nobody may change. */
public final class RollbackReport {
    /** How it went for one path. */
    public enum Outcome {
        /** Content, metadata or existence is again what it was at the session's first touch; content was read back and its SHA-256 compared. */
        RESTORED,
        /** The session had created it; it is gone. */
        REMOVED,
        /** Nothing had to be done: it is as it was. */
        UNCHANGED,
        /** Somebody else changed it after the session did: theirs stays, our image was put beside under the session's directory (C32). */
        KEPT_THEIRS,
        /** It could not be put back; the image is kept and the rollback can be run again. */
        FAILED,
        /** It is as it was: whoever asked for this has interrupted it before. In no journal. */
        NOT_REACHED
    }

    /** How a detail ends that is of a copy only, behind the reason. */
    private static final String KEPT = "what was there is kept";

    /** How a detail begins: something that is nobody's business to take away is between the path and its way back. */
    static final String OBSTRUCTED = "it cannot come back: ";
    /** Likewise, within a directory that was to go. */
    static final String HOLDS = "a directory is there, with something in it that stays";
    /** How a detail begins of what is elsewhere now, and stays there. */
    static final String TAKEN = "the session made it, and somebody else has moved it to ";
    /** How a detail ends that is foretold of somebody else's work. */
    static final String WOULD_GIVE_WAY = "; it would give way";

    private final List<Entry> entries;
    private final int verified;
    private final boolean recorded;
    private final String damage;
    private final int kept;
    private final Path keptIn;

    RollbackReport(List<Entry> entries, int verified, boolean recorded, String damage) {
        this(entries, verified, recorded, damage, 0, null);
    }

    /** @param kept files in {@code keptIn} that gave way, are named by no entry, and may be open elsewhere still */
    RollbackReport(List<Entry> entries, int verified, boolean recorded, String damage, int kept, Path keptIn) {
        this.kept = kept;
        this.keptIn = keptIn;
        this.damage = damage;
        this.entries = Collections.unmodifiableList(entries);
        this.verified = verified;
        this.recorded = recorded;
    }

    /** One line per path the session had touched, sorted by path. */
    public List<Entry> entries() {
        return entries;
    }

    /** One line for people: how much of what gave way is kept, and where; null if nothing is. */
    public String displacedLine() {
        int uncertain = displaced().size();
        int all = kept + uncertain;
        if (all == 0) {
            return null;
        }
        if (uncertain == 0) {
            return "what the session made of " + all + (all == 1 ? " file" : " files") + " is kept in " + displacedIn();
        }
        String whose = uncertain == all ? ", and may be somebody else's,"
                : ", " + uncertain + " of which may be somebody else's,";
        return "what was there of " + all + (all == 1 ? " file" : " files") + whose + " is in " + displacedIn();
    }

    /** The directory of what gave way; null if nothing did. */
    public Path displacedIn() {
        List<Entry> displaced = displaced();
        return !displaced.isEmpty() ? displaced.get(0).aside().getParent() : kept > 0 ? keptIn : null;
    }

    /** What gave way to an image and may have been somebody else's after all: a copy of each is kept. */
    public List<Entry> displaced() {
        List<Entry> displaced = new ArrayList<>();
        for (Entry e : entries) {
            if (e.outcome != Outcome.KEPT_THEIRS && e.outcome != Outcome.FAILED && e.aside != null) {
                displaced.add(e);
            }
        }
        return displaced;
    }

    /** Those that are not as they were before the session: kept as others left them, or failed. */
    public List<Entry> conflicts() {
        List<Entry> conflicts = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry e = entries.get(i);
            if (e.outcome == Outcome.KEPT_THEIRS || e.outcome == Outcome.FAILED) {
                conflicts.add(e);
            }
        }
        return conflicts;
    }

    /** Those that are back, with something to know of it: what could not be put back with them, or where what gave way is. */
    public List<Entry> notes() {
        List<Entry> notes = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry e = entries.get(i);
            if (e.detail != null && e.outcome != Outcome.KEPT_THEIRS && e.outcome != Outcome.FAILED) {
                notes.add(e);
            }
        }
        return notes;
    }

    /** Whether some of what others changed would be put back if that were forced. */
    public boolean isForceOfUse() {
        for (int i = 0; i < entries.size(); i++) {
            Entry e = entries.get(i);
            if (e.outcome == Outcome.KEPT_THEIRS && !e.isObstructed() && (e.detail == null || e.detail.indexOf(TAKEN) < 0)) {
                return true;
            }
        }
        return false;
    }

    /** Whether something is in the way of some, which has to be taken away by hand: forced or not, it stays. */
    public boolean isObstructed() {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).isObstructed()) {
                return true;
            }
        }
        return false;
    }

    /** Number of paths with this outcome. */
    public int count(Outcome outcome) {
        int n = 0;
        for (Entry e : entries) {
            if (e.outcome == outcome) {
                n++;
            }
        }
        return n;
    }

    /** Number of RESTORED files whose content was read back after restoring and found to have the image's SHA-256. */
    public int verified() {
        return verified;
    }

    /** Whether nothing FAILED and the session is durably marked as rolled back; if not, run the rollback again. */
    public boolean complete() {
        return recorded && count(Outcome.FAILED) == 0;
    }

    /** What is missing of the journal, for people: what the session changed is then not known whole. Null as a rule. */
    public String damage() {
        return damage;
    }

    /** One line for people. */
    public String summary() {
        return (damage == null ? "" : damage + "; of what is known: ") + count(Outcome.RESTORED) + " restored (" + verified + " verified), "
                + count(Outcome.REMOVED) + " removed, "
                + count(Outcome.UNCHANGED) + " unchanged, " + count(Outcome.KEPT_THEIRS) + " kept as others left them, "
                + count(Outcome.FAILED) + " failed" + (count(Outcome.NOT_REACHED) == 0 ? "" : ", " + count(Outcome.NOT_REACHED) + " not reached");
    }

    @Override
    public String toString() {
        return summary() + " " + entries;
    }

    /** The outcome for one path. */
    public static final class Entry {
        private final byte[] path;
        private final Outcome outcome;
        private final String detail;
        private final Path aside;

        Entry(byte[] path, Outcome outcome, String detail, Path aside) {
            this.path = path;
            this.outcome = outcome;
            this.detail = detail;
            this.aside = aside;
        }

        /** The path's bytes. */
        public byte[] path() {
            return path;
        }

        /** The path for people: bytes that are not printable UTF-8 are shown as {@code \xNN}. */
        public String name() {
            return Name.show(path);
        }

        boolean isObstructed() {
            return outcome == Outcome.KEPT_THEIRS && detail != null && (detail.indexOf(OBSTRUCTED) >= 0 || detail.indexOf(HOLDS) >= 0);
        }

        /** Whether this only says what would be done, and somebody else's work would give way. */
        public boolean wouldSetAside() {
            return detail != null && detail.indexOf(WOULD_GIVE_WAY) >= 0;
        }

        /** The path for programs, as {@link Names#exact}. */
        public String exactName() {
            return Names.exact(path);
        }

        public Outcome outcome() {
            return outcome;
        }

        /** Why, for KEPT_THEIRS and FAILED, and what to know for others; null if there is nothing to say. */
        public String detail() {
            return detail;
        }

        /** Whether it came back as it was, and the detail says no more than why what gave way is kept, as {@link #displacedLine} does for all. */
        public boolean isWhole() {
            return detail == null || aside != null && detail.endsWith(KEPT) && detail.indexOf("; ") + 2 + KEPT.length() >= detail.length();
        }

        /** Where a copy was put aside: our image (KEPT_THEIRS, FAILED), or what had to give way and was not certainly ours; null if none. */
        public Path aside() {
            return aside;
        }

        /** For people: the path, why, and where a copy is. */
        public String line() {
            return name() + (detail == null ? "" : " (" + detail + ")") + (aside == null ? "" : kept() + aside);
        }

        private String kept() {
            return outcome == Outcome.KEPT_THEIRS || outcome == Outcome.FAILED ? isImage() ? ", the image is in " : ", what was there is in " : ": ";
        }

        private boolean isImage() {
            return !aside.getParent().endsWith("displaced");
        }

        /** For people, behind {@link #detail}: where the copy is and of what; empty if there is none. */
        public String copy() {
            return aside == null ? "" : kept() + aside;
        }

        @Override
        public String toString() {
            return outcome + " " + name() + (detail == null ? "" : " (" + detail + ")") + (aside == null ? "" : " -> " + aside);
        }
    }
}
