package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Sessions that are over, for tests of what is done with them. */
public final class PastSession {
    private PastSession() {
    }

    /** What a session does. */
    public interface Story {
        void tell(Work work) throws IOException;
    }

    /** One that ended well after it had written {@code text} to {@code file}. */
    public static void wrote(Path home, String id, Path file, String text) throws IOException {
        done(home, id, work -> work.write(file, text));
    }

    /** One that ended well. */
    public static void done(Path home, String id, Story story) throws IOException {
        try (Backups backups = Backups.open(home, id, Work.FILES)) {
            story.tell(new Work(backups));
            backups.done();
        }
    }

    /** One whose journal is of a format that nobody knows yet. */
    public static void ofAnotherVersion(Path home, String id) throws IOException {
        try (Pack pack = Pack.create(Store.directory(home, id).resolve("pack"))) {
            pack.append(Backups.BEGIN, ByteBuffer.allocate(13).putInt(Backups.FORMAT + 1).array(), null, 0);
        }
    }

    /** One that went astray. */
    public static RollbackReport rolledBack(Path home, String id, Story story) throws IOException {
        try (Backups backups = Backups.open(home, id, Work.FILES)) {
            story.tell(new Work(backups));
            return backups.rollback();
        }
    }

    /** One whose process was killed. */
    public static void crashed(Path home, String id, Story story) throws IOException {
        try (Backups backups = Backups.open(home, id, Work.FILES)) {
            story.tell(new Work(backups));
        }
    }

    /** Begins to undo one that is over, and ends after so many steps, as an interruption does. */
    public static RollbackReport undoneInPart(Path home, String id, int steps) throws IOException {
        int[] left = {steps};
        try (Backups backups = Backups.reopen(home, id, Work.FILES)) {
            return backups.rollback(new Undo(null, false, false, new Undo.Progress() {
                @Override
                public void done(int paths, int of) {
                    // it is not shown
                }

                @Override
                public boolean goesOn() {
                    return left[0]-- > 0;
                }

                @Override
                public boolean isInterrupted() {
                    return left[0] < 0;
                }
            }));
        }
    }

    /** Removes a tree, as {@code rm -rf} does. */
    public static void wipe(Path tree) throws IOException {
        RandomWorkTest.wipe(tree);
    }

    /** One that was killed. */
    public static void killed(Path home, String id, Story story) throws IOException {
        try (Backups backups = Backups.open(home, id, Work.FILES)) {
            story.tell(new Work(backups));
        }
    }
}
