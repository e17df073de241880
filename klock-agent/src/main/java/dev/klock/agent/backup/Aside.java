package dev.klock.agent.backup;

import dev.klock.agent.backup.RollbackReport.Outcome;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;

/** What is not put back because somebody else's work is there: the images of it are put beside, below the session's directory. */
final class Aside {
    private static final String ASIDE = "aside";

    private final Backups backups;
    private final Anchored files;
    private final Undo undo;

    Aside(Backups backups, Anchored files, Undo undo) {
        this.backups = backups;
        this.files = files;
        this.undo = undo;
    }

    /** Leaves theirs in place. */
    void keepTheirs(Plan p, String why) {
        p.outcome = Outcome.KEPT_THEIRS;
        p.action = Plan.NOTHING;
        p.isNotBack();
        p.note(why);
        if (p.e.image.kind != FileState.FILE && p.e.image.kind != FileState.LINK || undo.dry()) {
            return;
        }
        Path image = putAside(p, p.e.image, p.e.contentAt, ASIDE, "");
        if (image != null) {
            p.keeps(image, why);
        }
    }

    /** What could not be put back is given to the user to put back by hand. */
    void ofFailed(Plan p) {
        boolean isKept = p.e.image.kind == FileState.LINK || p.e.image.kind == FileState.FILE && p.e.contentAt >= 0;
        if (p.outcome == Outcome.FAILED && isKept && !undo.dry()) {
            Path image = putAside(p, p.e.image, p.e.contentAt, ASIDE, "");
            if (image != null) {
                p.keeps(image, p.detail);
            }
        }
    }

    /** Answers where it now is; null if it could not be put there. */
    private Path putAside(Plan p, FileState image, long contentAt, String in, String suffix) {
        if (contentAt < 0 && image.kind == FileState.FILE) {
            p.note("our image is damaged");
            return null;
        }
        try {
            Path aside = backups.aside(in, p.index, p.e.name);
            aside = aside.resolveSibling(aside.getFileName() + suffix);
            Path own = files.own(aside);
            Files.deleteIfExists(own);
            if (image.kind == FileState.LINK) {
                Files.createSymbolicLink(own, files.text(image.link));
                return aside;
            }
            try (FileChannel out = FileChannel.open(own, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
                backups.copy(image, contentAt, Channels.newOutputStream(out));
                out.force(true);
            }
            return aside;
        } catch (IOException failed) {
            p.note("our image could not be put beside it: " + Plan.reason(failed));
            return null;
        }
    }

    /** What was there at first is in place: what others made between two changes of the session may be nowhere else. */
    private void keepOthers(Plan p) {
        for (int i = 0; i < p.e.earlier.length; i++) {
            Entry.Earlier was = p.e.earlier[i];
            if (was.contentAt >= 0) {
                Path aside = putAside(p, was.image, was.contentAt, ASIDE, ".v" + (i + 2));
                if (aside != null) {
                    p.note("a version of others is " + aside);
                }
            }
        }
    }

    /**
     * Somebody else's change between two of the session's is what came back; what was there at first goes aside, and so does every version
     * of others that the session has changed since, for it may be nowhere else.
     */
    void betweenTwo(Plan p) {
        Entry e = p.e;
        if (e.earlier.length == 0 || p.outcome == null || p.outcome == Outcome.FAILED) {
            return;
        }
        if (e.forced) {
            if (undo.force() && !undo.dry() && p.outcome != Outcome.UNCHANGED) {
                keepOthers(p);
            }
            return;
        }
        boolean kept = p.outcome == Outcome.KEPT_THEIRS;
        if (!kept) {
            p.outcome = Outcome.KEPT_THEIRS;
            p.note("changed by someone else between two changes of the session: ".concat(e.image.kind == FileState.ABSENT ? "nothing is there, as they left it"
                    : "their version is in place"));
        }
        if (undo.dry()) {
            return;
        }
        int others = 0;
        for (int i = 0; i < e.earlier.length; i++) {
            Entry.Earlier was = e.earlier[i];
            if (was.contentAt >= 0) {
                Path aside = putAside(p, was.image, was.contentAt, ASIDE, i == 0 && !kept ? "" : ".v" + (i + 1));
                if (aside != null && (i == 0 && !kept || p.aside == null)) {
                    p.keeps(aside, p.detail);
                }
                others += i == 0 ? 0 : 1;
            } else if (i > 0 && was.image.kind == FileState.LINK) {
                p.note("before that others had put " + was.image.describe() + " there");
            }
        }
        if (others > 0) {
            p.note("earlier versions of others are beside ours, as .v2 and so on");
        }
    }

    /**
     * What came while a child ran, and the program changed then: the child's work goes, but somebody else may have made it, and it may be nowhere else.
     */
    void ofChildren(Plan p) {
        if (p.outcome == null || undo.dry()) {
            return;
        }
        for (int i = 0; i < p.e.beside.length; i++) {
            Entry.Earlier was = p.e.beside[i];
            boolean isLink = was.image.kind == FileState.LINK;
            if (isLink ? Arrays.equals(p.e.image.link, was.image.link) : was.image.sha != null && Arrays.equals(p.e.image.sha, was.image.sha)) {
                continue;
            }
            if (!isLink && was.contentAt < 0) {
                p.note("what came while a child ran, " + was.image.describe() + ", was too large to be kept");
                continue;
            }
            Path kept = putAside(p, was.image, was.contentAt, "displaced", ".v" + (i + 1));
            if (kept != null && p.aside == null) {
                p.keeps(kept, Displaced.WHILE_A_CHILD_RAN);
            } else if (kept != null) {
                p.note("what came while a child ran is in " + kept);
            }
        }
    }
}
