package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Builds what is known of a session from the records of its pack, in the order in which they were written. What a record says is in
 * {@link Backups}, which writes them. Used by one thread, once.
 */
final class Replay implements Pack.Reader {
    private final Backups backups;
    private final Identities known;
    private final Set<Long> damaged = new HashSet<>();
    private Name moving;
    private Name movingTo;

    Replay(Backups backups) {
        this.backups = backups;
        this.known = backups.known;
    }

    @Override
    public void record(int type, ByteBuffer in, long dataAt, long dataLength, boolean intact) throws IOException {
        switch (type) {
            case Backups.BEGIN:
                if (!Backups.isReadable(in.getInt())) {
                    throw new IOException(backups.directory + " was written by another version of klock");
                }
                backups.startedMs = in.getLong();
                backups.restoredAfterCrash = in.get() != 0;
                requireOwn(in);
                known.moves.isNoted(false);
                break;
            case Backups.HOME:
                backups.recordedHome = path(in);
                known.moves.isNoted(in.hasRemaining());
                break;
            case Backups.BOOT:
                backups.boot = new byte[in.remaining()];
                in.get(backups.boot);
                break;
            case Backups.DAMAGE:
                backups.damage = new String(path(in), StandardCharsets.UTF_8);
                break;
            case Backups.SOURCE:
                backups.sources.replayed(new String(path(in), StandardCharsets.ISO_8859_1), in.getInt());
                break;
            case Backups.SCOPE:
                backups.addScope(path(in));
                break;
            case Backups.IMAGE:
                replayImage(in, dataAt, dataLength, intact);
                break;
            case Backups.TOUCH: {
                Entry e = known.entry(new Name(path(in)));
                if (e.role == Entry.TOUCHED) {
                    backups.open(e);
                } else if (e.role != Entry.NONE) {
                    e.role = Entry.TOUCHED;
                }
                e.interrupted = e.role == Entry.TOUCHED;
                break;
            }
            case Backups.LEFT: {
                Entry e = known.entry(new Name(path(in)));
                if (e.role != Entry.TOUCHED) {
                    break;
                }
                FileState left = FileState.decode(in);
                // records are in the order in which they were written, which is not that in which threads have looked
                long at = in.hasRemaining() ? in.getLong() : backups.next();
                backups.passed(at);
                e.byChild |= in.hasRemaining() && in.get() != 0;
                backups.left(e, left, at);
                e.leftOnDisk = true;
                e.interrupted = false;
                moving = e.name.equals(moving) ? null : moving;
                known.index(e.left, e);
                break;
            }
            case Backups.TREE: {
                Name root = new Name(path(in));
                moving = in.hasRemaining() ? root : null;
                movingTo = in.hasRemaining() ? new Name(path(in)) : null;
                for (Entry e : known.all()) {
                    if (e.role == Entry.TOUCHED && (e.name.equals(root) || e.name.below(root))) {
                        e.open();
                        e.interrupted = e.name.equals(root);
                    }
                }
                break;
            }
            case Backups.OPEN: {
                Entry e = known.entry(new Name(path(in)));
                e.openDepth = in.getInt();
                e.childWorked |= e.openDepth > 0;
                break;
            }
            case Backups.MOVED: {
                Name from = new Name(path(in));
                known.carried(from, new Name(path(in)), 0);
                moving = null;
                for (Entry e : known.all()) {
                    e.interrupted &= !e.name.below(from);
                }
                break;
            }
            case Backups.MOVES:
                known.moves.decode(in);
                break;
            case Backups.PLACE: {
                Entry e = known.entry(new Name(path(in)));
                e.lost = in.get();
                e.place = in.hasRemaining() ? new Name(path(in)) : null;
                break;
            }
            case Backups.END:
                backups.state = Backups.State.values()[in.get()];
                backups.endsUnknown = in.hasRemaining() && in.get() != 0;
                backups.isHalfUndone = false;
                break;
            case Backups.SEEN: {
                FileState state = FileState.decode(in);
                known.leftSo(state);
                break;
            }
            case Backups.MET: {
                Entry e = known.entry(new Name(path(in)));
                FileState state = FileState.decode(in);
                if (e.role == Entry.TOUCHED && e.metAlso(state)) {
                    known.index(state, e);
                }
                break;
            }
            case Backups.MAPPED: {
                Entry e = known.entry(new Name(path(in)));
                List<FileState> to = new ArrayList<>(1);
                while (in.hasRemaining()) {
                    to.add(FileState.decode(in));
                }
                e.onlyMapped = e.role == Entry.TOUCHED && e.left == null ? to.toArray(new FileState[0]) : null;
                break;
            }
            case Backups.OWN_MTIME:
                known.entry(new Name(path(in))).ownMtime = in.getLong();
                break;
            case Backups.IN_PLACE:
                known.entry(new Name(path(in))).inPlace = true;
                break;
            case Backups.ROLLBACK:
                backups.begun = true;
                backups.isHalfUndone = true;
                while (in.hasRemaining()) {
                    byte what = in.get();
                    Entry e = known.entry(new Name(path(in)));
                    e.timesDue |= (what & Rollback.TIMES) != 0;
                    e.decided |= (what & Rollback.DECIDED) != 0;
                    e.found |= what & (Rollback.GONE | Rollback.CHANGED);
                }
                break;
            case Backups.OUTCOME: {
                Entry e = known.entry(new Name(path(in)));
                RollbackReport.Outcome outcome = RollbackReport.Outcome.values()[in.get()];
                byte[] detail = path(in);
                byte[] aside = path(in);
                e.inPlace &= outcome == RollbackReport.Outcome.FAILED;
                e.ended(new RollbackReport.Entry(e.name.bytes, outcome, detail.length == 0 ? null : new String(detail, StandardCharsets.UTF_8),
                        aside.length == 0 ? null : backups.directory.resolve(new String(aside, StandardCharsets.UTF_8))));
                break;
            }
            default:
                break;
        }
    }

    /** A directory that was about to be renamed, and of which it is not known whether it was; null if there is none. */
    Name moving() {
        return moving;
    }

    Name movingTo() {
        return movingTo;
    }

    private void replayImage(ByteBuffer in, long dataAt, long dataLength, boolean intact) {
        Entry e = known.entry(new Name(path(in)));
        int role = in.getInt();
        long ref = in.getLong();
        FileState image = FileState.decode(in);
        boolean lost = ref >= 0 && !Sources.isOwn(ref) && (image.sha == null || !backups.sources.isKnown(ref));
        long contentAt = lost ? -1 : ref >= 0 ? ref : dataLength > 0 ? dataAt : -1;
        if (role == Entry.BESIDE) {
            e.isBeside(image, contentAt);
            return;
        }
        if (e.role == Entry.TOUCHED) {
            if (role != Entry.TOUCHED) {
                return;
            }
            e.superseded();
        }
        e.image = image;
        e.contentAt = contentAt;
        if (!intact) {
            damaged.add(dataAt);
        }
        e.damaged = damaged.contains(e.contentAt);
        e.left = null;
        e.onlyMapped = null;
        e.leftAt = backups.next();
        e.role = role;
        e.interrupted = role == Entry.TOUCHED;
        known.index(image, e);
    }

    private byte[] path(ByteBuffer in) {
        byte[] path = new byte[in.getInt()];
        in.get(path);
        return path;
    }

    /** Somebody may have put another session's journal, or its whole directory, where this one's was. */
    private void requireOwn(ByteBuffer in) throws IOException {
        byte[] id = new byte[in.remaining()];
        in.get(id);
        String of = new String(id, StandardCharsets.UTF_8);
        if (!Store.fileName(of).equals(backups.directory.getFileName().toString())) {
            throw new IOException("the journal in " + backups.directory + " is that of session " + of + ": somebody has put it there");
        }
    }
}
