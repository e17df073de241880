package dev.klock.agent.backup;

import dev.klock.agent.backup.RollbackReport.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** What is to be done for one path, and what has become of it. Used by the thread that rolls back. */
final class Plan {
    /** Whose what is there now is: the session's for certain … */
    static final int OURS = 1;
    /** … the session's as far as anybody knows, so that what gives way is kept … */
    static final int ATTRIBUTED = 2;
    /** … somebody else's, which stays. */
    static final int THEIRS = 3;

    static final int NOTHING = 0;
    static final int REMOVE = 1;
    static final int REPLACE = 2;
    static final int MAKE = 3;
    static final int WRITE = 4;
    static final int METADATA = 5;

    /** How the note of what others did to something that comes back begins. */
    static final String BACK = "it is back; ";

    final Entry e;
    final int index;
    FileState now;
    int owner = OURS;
    int action = NOTHING;
    boolean times;
    /** {@link Rollback#GONE} or {@link Rollback#CHANGED}, if this is so of what a directory's rename has taken from here; else 0. */
    int found;
    /** Others may have made what is there while a child was at work. */
    boolean ofAChild;
    Outcome outcome;
    String detail;
    Path aside;
    /** What the file is to be like but for its content, where that is not the image's: what somebody else has given it since; else null. */
    FileState like;
    /** Written beside its place, not yet safe and not yet renamed. */
    Path temporary;
    FileChannel channel;
    /** What that is, with all but its name. */
    FileState made;
    IOException unsafe;
    /** How often what was written beside its place was gone again. */
    int vanished;
    /** What was written has been read back, and is the image's. */
    boolean isVerified;

    Plan(Entry e, int index) {
        this.e = e;
        this.index = index;
    }

    void fail(Exception reason) {
        outcome = Outcome.FAILED;
        detail = reason(reason);
        action = NOTHING;
    }

    void note(String more) {
        detail = detail == null ? more : detail.contains(more) ? detail : detail + "; " + more;
    }

    /** What was noted when it was thought that it would come back is still true of where it is. */
    void isNotBack() {
        detail = detail != null && detail.startsWith(BACK) ? detail.substring(BACK.length()) : detail;
    }

    /** {@code file} holds what gave way, or was not put back; what was named so before is named in words. */
    void keeps(Path file, String why) {
        note(why);
        if (aside != null && !aside.equals(file)) {
            note("what was there is in " + aside);
        }
        aside = file;
    }

    /** The reason for people. */
    static String reason(Exception e) {
        if (e instanceof UncheckedIOException) {
            return reason(((UncheckedIOException) e).getCause());
        }
        return Anchored.readable(text(e));
    }

    private static String text(Exception e) {
        if (e instanceof FileSystemException) {
            return text((FileSystemException) e);
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    private static String text(FileSystemException e) {
        String file = e.getFile();
        if (e.getReason() != null || file == null) {
            return e.getReason() != null ? e.getReason() : e.getClass().getSimpleName();
        }
        int slash = file.lastIndexOf('/');
        if (e instanceof AccessDeniedException) {
            boolean isBeside = file.startsWith(Rollback.BESIDE, slash + 1);
            return isBeside ? "nothing may be written in " + file.substring(0, Math.max(1, slash)) : "permission denied: " + file;
        }
        if (e instanceof NoSuchFileException) {
            return "there is no " + file + " any more";
        }
        return e.getClass().getSimpleName() + ": " + e.getMessage();
    }
}
