package dev.klock.sandbox.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The steps of the protocol of images and rollback, as a session's files show after its process was killed. Read without klock: of a pack
 * it knows the heads of records, of a home the names in it.
 */
enum Step {
    /** The session is claimed, its journal not begun. */
    CLAIMED("the session is claimed, its journal not begun"),
    BEGUN("the journal is begun, nothing changed"),
    TORN("a record is half written"),
    IMAGED("an image is written, its change not made"),
    TREE("a whole directory is imaged, its change not over"),
    CHANGED("a change is made, what it left not on record"),
    LEFT("what a change left is on record"),
    UNDECIDED("a recovery has begun, nothing is decided"),
    DECIDED("decisions are on record, nothing moved"),
    DISPLACED("what has to go is being moved away"),
    BESIDE("images are written beside their places"),
    TWICE("an image has its name, and its temporary one still"),
    IN_PLACE("a file is being written in place"),
    BACK("all is back, the outcomes not on record"),
    OUTCOMES("outcomes are on record, the end not"),
    ENDED("the end is on record, the mark still there"),
    /** No step: nothing was left to be done. */
    OVER("all was over");

    private static final int MARK = 0x4B4C4B52;
    private static final int FIXED = 24;
    private static final int BEGIN = 1;
    private static final int IMAGE = 3;
    private static final int TOUCH = 4;
    private static final int LEFT_SO = 5;
    private static final int END = 6;
    private static final int ROLLBACK = 8;
    private static final int WRITES_IN_PLACE = 9;
    private static final int OUTCOME = 10;
    private static final int TREE_IMAGED = 14;
    private static final int TOUCHED = 3;
    private static final int ABSENT = 0;

    private final String words;

    Step(String words) {
        this.words = words;
    }

    /** For people. */
    String words() {
        return words;
    }

    /** Whether the tree is as it was at first; asked only where nothing else tells. */
    interface IsBack {
        boolean get() throws IOException;
    }

    /** What is known of a path: whether something was there, its inode, and when its content and itself were changed last, ns since the epoch. */
    private record Known(boolean there, long inode, long modifiedNs, long changedNs) {
    }

    /** A pack, read up to its end. */
    private static final class Journal {
        private int last;
        private int lastOfRollback;
        private boolean begun;
        private boolean torn;
        /** The directory that is being renamed or deleted with all below; null if none is. */
        private String inTree;
        private byte[] path;
        private byte[] writtenInPlace;
        private final Map<String, Known> known = new HashMap<>();
        private final Map<String, Known> images = new HashMap<>();

        Journal(ByteBuffer pack) {
            while (pack.remaining() >= FIXED && pack.getInt(pack.position()) == MARK) {
                int at = pack.position();
                int type = pack.getInt(at + 4);
                int headLength = pack.getInt(at + 8);
                long dataLength = pack.getLong(at + 12);
                long next = at + FIXED + headLength + (dataLength == 0 ? 0 : dataLength + 4);
                if (next > pack.limit()) {
                    break;
                }
                record(type, pack.slice(at + FIXED, headLength));
                pack.position((int) next);
            }
            torn = pack.hasRemaining();
        }

        private void record(int type, ByteBuffer head) {
            switch (type) {
                case BEGIN -> begun = true;
                case IMAGE -> {
                    byte[] name = name(head);
                    int role = head.getInt();
                    head.getLong();
                    Known image = state(head);
                    known.put(key(name), image);
                    images.put(key(name), image);
                    if (role == TOUCHED) {
                        last = type;
                        path = name;
                    }
                }
                case TOUCH -> {
                    last = type;
                    path = name(head);
                }
                case TREE_IMAGED -> {
                    last = type;
                    inTree = key(name(head));
                }
                case LEFT_SO -> {
                    last = type;
                    String left = key(name(head));
                    inTree = left.equals(inTree) ? null : inTree;
                    known.put(left, state(head));
                }
                case ROLLBACK, OUTCOME, END -> lastOfRollback = type;
                case WRITES_IN_PLACE -> {
                    lastOfRollback = type;
                    writtenInPlace = name(head);
                }
                default -> {
                }
            }
        }

        static String key(byte[] name) {
            return new String(name, StandardCharsets.ISO_8859_1);
        }

        private static byte[] name(ByteBuffer head) {
            byte[] name = new byte[head.getInt()];
            head.get(name);
            return name;
        }

        /** Kind, flags, four numbers, then device, inode, type of device, size, and the times of the content's and the file's last change. */
        private static Known state(ByteBuffer head) {
            int at = head.position();
            return new Known(head.get(at) != ABSENT, head.getLong(at + 26), head.getLong(at + 50), head.getLong(at + 58));
        }
    }

    /** The step at which the session whose directory is {@code session} was interrupted, for files below {@code tree}. */
    static Step of(Path session, Path tree, IsBack isBack) throws IOException {
        Path pack = session.resolve("pack");
        Journal journal = new Journal(ByteBuffer.wrap(Files.exists(pack) ? Files.readAllBytes(pack) : new byte[0]));
        if (!journal.begun) {
            return CLAIMED;
        }
        if (journal.lastOfRollback != 0) {
            return ofRollback(session, tree, journal, isBack);
        }
        if (journal.torn) {
            return TORN;
        }
        if (Files.exists(session.resolveSibling(".recover.lock"))) {
            return UNDECIDED;
        }
        if (journal.inTree != null) {
            return TREE;
        }
        return switch (journal.last) {
            case 0 -> BEGUN;
            case LEFT_SO -> LEFT;
            default -> isChanged(journal) ? CHANGED : IMAGED;
        };
    }

    private static Step ofRollback(Path session, Path tree, Journal journal, IsBack isBack) throws IOException {
        if (journal.lastOfRollback == END) {
            return Files.exists(session.resolveSibling(".open").resolve(session.getFileName())) ? ENDED : OVER;
        }
        if (journal.lastOfRollback == OUTCOME) {
            return OUTCOMES;
        }
        if (journal.lastOfRollback == WRITES_IN_PLACE && !hasItsTime(journal)) {
            return IN_PLACE;
        }
        boolean beside = false;
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                if (path.getFileName().toString().startsWith(".klock-restore-")) {
                    beside = true;
                    if ((int) Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS) > 1) {
                        return TWICE;
                    }
                }
            }
        }
        if (beside) {
            return BESIDE;
        }
        if (isBack.get()) {
            return BACK;
        }
        String[] displaced = session.resolve("displaced").toFile().list();
        return displaced != null && displaced.length > 0 ? DISPLACED : DECIDED;
    }

    /** A file that is written in place gets the time of its image last. */
    private static boolean hasItsTime(Journal journal) throws IOException {
        Known image = journal.images.get(Journal.key(journal.writtenInPlace));
        Path path = Path.of(new String(journal.writtenInPlace, StandardCharsets.UTF_8));
        return image != null && Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                && image.modifiedNs() / 1000 == Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).to(TimeUnit.MICROSECONDS);
    }

    private static boolean isChanged(Journal journal) throws IOException {
        Known before = journal.known.get(Journal.key(journal.path));
        Path path = Path.of(new String(journal.path, StandardCharsets.UTF_8));
        if (before == null || !before.there() || !Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return before != null && before.there() != Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        }
        Map<String, Object> now = Files.readAttributes(path, "unix:ino,ctime", LinkOption.NOFOLLOW_LINKS);
        return before.inode() != (long) now.get("ino") || before.changedNs() != ((FileTime) now.get("ctime")).to(TimeUnit.NANOSECONDS);
    }

    /** How often each was met, as a table: in programs that work, in their own rollback or in a recovery. */
    static String table(Map<Step, int[]> met, List<String> columns) {
        StringBuilder table = new StringBuilder(String.format("%-55s", "step that a kill has hit"));
        columns.forEach(column -> table.append(String.format(" %12s", column)));
        for (Step step : values()) {
            table.append(String.format("%n%-55s", step.words));
            for (int count : met.getOrDefault(step, new int[columns.size()])) {
                table.append(String.format(" %12d", count));
            }
        }
        return table.append('\n').toString();
    }
}
