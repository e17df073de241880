package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which file is it? What a session knows of paths, and of the files behind them by inode number: a file that is found somewhere may have
 * come there with a rename or under another of its names, be open still, or be somebody else's to which the number of one that is gone
 * was given. Every question is about what is at a name now ({@code now}); the answers change nothing.
 *
 * <p>Thread-safe; an entry's own fields are guarded by its monitor (see {@link Entry}).
 */
final class Identities {
    /** How often what changes each time it is looked at is looked at once more. */
    private static final int MAX_LOOKS = 10;
    /** Questions to {@link #isTheirs}: whether what is at a name that was left is others', … */
    private static final int FOREIGN = 0;
    /** … whether they have put another file where the session has one open, … */
    private static final int REPLACED = 1;
    /** … and whether they have changed a file that the session knows by other names, too. */
    private static final int CHANGED = 2;
    private static final long NS_PER_MICRO = 1000;
    /** For so long a call that makes a file without a descriptor of it may take, as that of File.createNewFile. */
    private static final long MAX_MAKING_NS = 200_000_000L;

    private final HostFiles files;
    /** {@link #files} if those are a rollback's, else null. */
    private final Anchored anchored;
    private final ConcurrentHashMap<Name, Entry> entries;
    /** Entries that had, or were left with, an inode number; arrays are replaced, not changed. */
    private final ConcurrentHashMap<Long, Entry[]> byInode;
    /** By inode number: the state in which the session last left a file, under whatever name. */
    private final ConcurrentHashMap<Long, Last> known;
    final Moves moves;
    /** By the name to which it was brought; null before it is asked for. */
    private Map<Name, Entry> brought;

    /**
     * How a file was last left. A write gives a file its new times before its new size: who looks in between sees the time of what comes
     * after, and nothing tells which of the two looks was the later one.
     */
    private static final class Last {
        final FileState state;
        /** Another one of the same moment; null as a rule. */
        final FileState other;
        /** Whether the session has made it so; else it has met the file so, and changed nothing, as with all that is in a directory that it did not move after all. */
        final boolean isOwn;

        Last(FileState state, FileState other, boolean isOwn) {
            this.state = state;
            this.other = other;
            this.isOwn = isOwn;
        }
    }

    Identities(HostFiles files) {
        this.files = files;
        anchored = null;
        entries = new ConcurrentHashMap<>();
        byInode = new ConcurrentHashMap<>();
        known = new ConcurrentHashMap<>();
        moves = new Moves();
    }

    private Identities(Identities same, Anchored files) {
        this.files = files;
        anchored = files;
        entries = same.entries;
        byInode = same.byInode;
        known = same.known;
        moves = same.moves;
    }

    /** The same for a rollback, which looks at files by {@code way}; what becomes known in one is known in the other. */
    Identities by(Anchored way) {
        return new Identities(this, way);
    }

    /** What is known of the path, null if nothing is. */
    Entry get(Name name) {
        return entries.get(name);
    }

    /** Every path that is known, in no order; more may come while it is gone through. */
    Collection<Entry> all() {
        return entries.values();
    }

    /** What is known of the path; a fresh entry if nothing is. */
    Entry entry(Name name) {
        Entry e = entries.get(name);
        if (e == null) {
            Entry fresh = new Entry(name);
            e = entries.putIfAbsent(name, fresh);
            if (e == null) {
                e = fresh;
            }
        }
        return e;
    }

    /** {@code e} had, or was left with, this inode number. */
    void index(FileState state, Entry e) {
        if (state.kind == FileState.ABSENT) {
            return;
        }
        synchronized (byInode) {
            Entry[] known = byInode.get(state.ino);
            if (known == null) {
                byInode.put(state.ino, new Entry[] {e});
                return;
            }
            for (Entry k : known) {
                if (k == e) {
                    return;
                }
            }
            Entry[] more = Arrays.copyOf(known, known.length + 1);
            more[known.length] = e;
            byInode.put(state.ino, more);
        }
    }

    /** Whether an entry had, or was left with, this inode number. */
    boolean isKnown(long ino) {
        return byInode.containsKey(ino);
    }

    /** Whether the session has met what e was last left with at no other path. */
    boolean isOnlyAt(Entry e) {
        Entry[] known = e.left == null ? null : byInode.get(e.left.ino);
        return known != null && known.length == 1 && known[0] == e;
    }

    /** Whether e had, or was left with, the inode number of {@code state}. */
    boolean isKnown(Entry e, FileState state) {
        Entry[] known = state.kind == FileState.ABSENT ? null : byInode.get(state.ino);
        for (int i = 0; known != null && i < known.length; i++) {
            if (known[i] == e) {
                return true;
            }
        }
        return false;
    }

    /** The session has just left a file so, under whatever name; unless another thread has seen it later, and was faster to say so. */
    void leftSo(FileState state) {
        leftSo(state, true);
    }

    /** @param isOwn whether it may be the session's doing that the file is so: not if it was so when it was met */
    void leftSo(FileState state, boolean isOwn) {
        while (true) {
            Last before = known.get(state.ino);
            if (before != null && before.state.isShortlyAfter(state)) {
                return;
            }
            boolean atOnce = before != null && before.state.sameInode(state) && before.state.ctime == state.ctime;
            boolean stillOwn = before != null && before.isOwn && state.couldBeMoved(before.state);
            Last last = new Last(state, !atOnce ? null : state.couldBeMoved(before.state) ? before.other : before.state, isOwn || stillOwn);
            if (before == null ? known.putIfAbsent(state.ino, last) == null : known.replace(state.ino, before, last)) {
                return;
            }
        }
    }

    /** Whether the session is known to have changed this file itself, not only its names, since it was imaged. */
    boolean wasChangedInPlace(FileState image) {
        Last last = known.get(image.ino);
        return last != null && last.state.sameInode(image) && (!last.state.couldBeMoved(image) || !last.state.sameOwnerAndMode(image));
    }

    // --- names that lead elsewhere

    /** The topmost component above {@code name} that is there and is not a directory, or null. */
    Name blocked(Name name) {
        if (anchored != null && name.parent() != null && anchored.reaches(name.parent())) {
            return null;
        }
        Name found = null;
        for (Name up = name.parent(); up != null; up = up.parent()) {
            int mode = files.mode(up.bytes);
            if (mode != 0 && (mode & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
                found = up;
            }
        }
        return found;
    }

    /**
     * Whether the name, which was a real one when it was recorded, leads through a link by now, so that what is found there is something
     * else. {@code ways}: what is known of directories already.
     */
    boolean isBlocked(Name name, Map<Name, Boolean> ways) {
        Name parent = name.parent();
        if (parent == null) {
            return false;
        }
        Boolean known = ways.get(parent);
        if (known == null) {
            int mode = files.mode(parent.bytes);
            known = mode != 0 && (mode & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS || isBlocked(parent, ways);
            ways.put(parent, known);
        }
        return known;
    }

    /** What is at {@code name}, not counting ways through links that were put above it later. */
    FileState at(Name name) throws IOException {
        return blocked(name) == null ? FileState.look(files, name) : FileState.absent();
    }

    /** Whether the object still is at {@code name}, not counting ways through links that were put above it later. */
    boolean holds(Name name, FileState object) {
        try {
            return at(name).sameInode(object);
        } catch (IOException unreachable) {
            return false;
        }
    }

    // --- as the session left it

    /** The state in which the session last left the file and that it is in, or null. */
    FileState leftLike(FileState now) {
        Last last = known.get(now.ino);
        if (last == null || !last.isOwn || now.couldBeMoved(last.state)) {
            return last == null || !last.isOwn ? null : last.state;
        }
        return last.other != null && now.couldBeMoved(last.other) ? last.other : null;
    }

    /** Whether a file is as the session last left it, wherever it is now. */
    boolean leftAsIs(FileState now) {
        return leftLike(now) != null;
    }

    /** {@link #leftAsIs} of anything; a directory's inode number alone might be another's by now. */
    boolean isAsLeft(FileState now) {
        FileState left = leftLike(now);
        return left != null && (now.kind != FileState.DIRECTORY || left.mtime == now.mtime);
    }

    /** Whether the session has not left the file otherwise since, under whatever name. */
    boolean isLast(FileState left) {
        Last last = known.get(left.ino);
        return last != null && last.state == left;
    }

    /**
     * Whether what is at the path now was put there, or changed, by somebody else after the session left it. Another thread may be changing
     * it meanwhile under another of its names, and its end comes after the look: so yes only for what two looks have found the same.
     */
    boolean foreign(Entry e, FileState now) throws IOException {
        return isTheirs(e, now, FOREIGN);
    }

    private boolean isTheirs(Entry e, FileState now, int how) throws IOException {
        FileState seen = now;
        for (int n = 0; looksTheirs(e, seen, how); n++) {
            FileState again = FileState.look(files, e.name);
            if (!looksTheirs(e, again, how)) {
                return false;
            }
            if (n == MAX_LOOKS || again.sameStat(seen)) {
                return true;
            }
            seen = again;
        }
        return false;
    }

    private boolean looksTheirs(Entry e, FileState now, int how) throws IOException {
        switch (how) {
            case FOREIGN: return looksForeign(e, now);
            case REPLACED: return looksReplaced(e, now);
            default: return looksChanged(e, now);
        }
    }

    private boolean looksForeign(Entry e, FileState now) throws IOException {
        FileState left = e.left;
        switch (now.kind) {
            case FileState.ABSENT:
                return false;
            case FileState.DIRECTORY:
                return left.kind != FileState.DIRECTORY && !isAsLeft(now) && !movedHere(e.name, now);
            case FileState.FILE:
                // who puts size and time back cannot put back the inode's own time, which also a change of the mode alone moves
                boolean disguised = left.sha != null && left.nlink == 1 && now.nlink == 1 && now.sameInode(left) && now.ctime != left.ctime
                        && isLast(left);
                if (!disguised && (now.couldBeMoved(left) || leftAsIs(now))) {
                    return false;
                }
                if (left.kind == FileState.FILE && left.sha != null && left.size == now.size
                        && Arrays.equals(Sha256.of(files.path(e.name.bytes)), left.sha)) {
                    return false;
                }
                return !openElsewhere(now) && !movedHere(e.name, now);
            case FileState.LINK:
                return !Arrays.equals(now.link, left.link) && !isAsLeft(now) && !movedHere(e.name, now);
            default:
                return !now.sameInode(left) && !isAsLeft(now) && !movedHere(e.name, now);
        }
    }

    /**
     * Whether the session has removed or renamed a directory above e after it last touched or left e: then what is at the name now came there
     * later, by whomever.
     */
    boolean isGoneWithDirectory(Entry e) {
        for (Name up = e.name.parent(); up != null; up = up.parent()) {
            Entry a = entries.get(up);
            if (a != null && a.role == Entry.TOUCHED && a.goneAt > e.leftAt) {
                return true;
            }
        }
        return false;
    }

    /** Whether {@code now}, found at e's name, which is gone with a directory above, is somebody else's: not what came back with the directory. */
    boolean isNew(Entry e, FileState now) throws IOException {
        return now.kind != FileState.ABSENT && isGoneWithDirectory(e) && !isAsLeft(now) && !movedHere(e.name, now);
    }

    /**
     * Whether the regular file at the name of e, which the session has open or mapped, is another one that somebody else has put there: none
     * that the session ever had at the name, has left or has open, under whatever name. Asked of this process while it is alive only. A file that
     * one of its threads is making in this moment is looked at once more.
     */
    boolean isReplaced(Entry e, FileState now) throws IOException {
        return isTheirs(e, now, REPLACED);
    }

    private boolean looksReplaced(Entry e, FileState now) {
        if (now.kind != FileState.FILE || e.isOpenOn(now) && (e.isNumberHeld(now) || !e.hadSeveral()) || leftAsIs(now)) {
            return false;
        }
        if (now.size == 0 && System.nanoTime() - e.touchedNs < MAX_MAKING_NS) {
            // a thread may have made it, have no descriptor of it, and not have said so yet; what is written has one
            return false;
        }
        Entry[] candidates = byInode.get(now.ino);
        for (int i = 0; candidates != null && i < candidates.length; i++) {
            Entry c = candidates[i];
            if (c.role == Entry.TOUCHED && (now.couldBeMoved(c.image) || c != e && isOpenOn(c, now) || c.isHurriedOn(now))) {
                return false;
            }
        }
        return !OpenFiles.isOpenForWriting(now);
    }

    /**
     * After a crash: whether the session had nothing of e's path but mappings, and {@code now} is not what it had mapped: nothing, or another file that
     * the session has not had, or left, under any other name.
     */
    boolean isBesideMapped(Entry e, FileState now) throws IOException {
        FileState[] mapped = e.onlyMapped;
        if (mapped == null || isGoneWithDirectory(e) || now.kind != FileState.ABSENT && isAsLeft(now)) {
            return false;
        }
        for (FileState file : mapped) {
            if (now.sameInode(file)) {
                return false;
            }
        }
        for (Entry from : imagedAs(now)) {
            if (now.couldBeMoved(from.image)) {
                return false;
            }
        }
        return true;
    }

    // --- the same file under another name

    /**
     * Whether somebody else has changed what is in the file at e's name since the session left it last, under whatever name: then what is there
     * now is theirs, and not what the image of another name holds. No of a file that the session has open.
     */
    boolean changedByOthers(Entry e, FileState now) throws IOException {
        return isTheirs(e, now, CHANGED);
    }

    private boolean looksChanged(Entry e, FileState now) throws IOException {
        Entry[] candidates = now.kind == FileState.FILE ? byInode.get(now.ino) : null;
        if (candidates == null || leftAsIs(now) || openElsewhere(e, now)) {
            return false;
        }
        for (Entry c : candidates) {
            if (c.role == Entry.TOUCHED && now.couldBeMoved(c.image)) {
                return false;
            }
        }
        Last last = known.get(now.ino);
        // another time alone is no change
        return last == null || last.state.sha == null || !last.state.sameInode(now) || last.state.size != now.size
                || !Arrays.equals(Sha256.of(files.path(e.name.bytes)), last.state.sha);
    }

    /** The other names of the file at e's name that the session has met it at: those at which it is still, or was among others. */
    List<Entry> otherNames(Entry e, FileState now) {
        List<Entry> names = new ArrayList<>();
        Entry[] candidates = byInode.get(now.ino);
        for (int i = 0; candidates != null && i < candidates.length; i++) {
            Entry c = candidates[i];
            if (c != e && c.role == Entry.TOUCHED && c.image.sameInode(now) && c.contentAt >= 0
                    && (holds(c.name, now) || c.image.nlink > 1 && hasNamesLeft(candidates, now, 0))) {
                names.add(c);
            }
        }
        return names;
    }

    /** How many names the session has given the file, which are there and go with a rollback. */
    int namesMade(Entry e, FileState now) {
        int made = 0;
        Entry[] candidates = byInode.get(now.ino);
        for (int i = 0; candidates != null && i < candidates.length; i++) {
            Entry c = candidates[i];
            made += c != e && c.role == Entry.TOUCHED && !c.image.sameInode(now) && holds(c.name, now) ? 1 : 0;
        }
        return made;
    }

    /** Another name of the same file that was imaged before: its image is what this one was, whatever was written since. */
    Entry twin(Entry e, FileState now) {
        Entry[] candidates = byInode.get(now.ino);
        if (candidates == null) {
            return null;
        }
        Entry twin = null;
        boolean known = leftAsIs(now);
        for (Entry other : candidates) {
            if (other == e || other.role != Entry.TOUCHED) {
                continue;
            }
            known |= now.couldBeMoved(other.image) || holds(other.name, now) || isOpenOn(other, now);
            if (now.sameInode(other.image) && (other.image.hasOtherNames() || now.hasOtherNames() && holds(other.name, now)) && (now.kind != FileState.FILE || other.contentAt >= 0)) {
                twin = other;
            }
        }
        // a descriptor that outlived its name may have changed it since, too; as long as not all of its names are gone, the number is its own
        return twin != null && (known || hasNamesLeft(candidates, now, 0)) ? twin : null;
    }

    /** The paths that this file, or directory, was at when the session first met them, or an earlier one that its inode number was given to. */
    List<Entry> imagedAs(FileState now) {
        List<Entry> met = new ArrayList<>();
        Entry[] candidates = byInode.get(now.ino);
        for (int i = 0; candidates != null && i < candidates.length; i++) {
            if (candidates[i].role == Entry.TOUCHED && candidates[i].image.sameInode(now)) {
                met.add(candidates[i]);
            }
        }
        return met;
    }

    /**
     * The session has renamed the directory {@code from}, with all that was below it. What was left there after {@code since}, an order as {@link Entry#leftAt},
     * is there no more: a child may have ended, and what it left been noted, after the image of the directory had opened all of it, and before the rename.
     */
    void carried(Name from, Name to, long since) {
        moves.add(from, to);
        for (Entry e : entries.values()) {
            if (e.role == Entry.TOUCHED) {
                if (e.lost == 0) {
                    carried(e, from, to);
                }
                if (e.name.below(from)) {
                    synchronized (e) {
                        if (e.users == 0 && e.left != null && e.left.kind != FileState.ABSENT && e.leftAt > since) {
                            e.open();
                        }
                    }
                }
            }
        }
    }

    private void carried(Entry e, Name from, Name to) {
        Name place = e.place;
        Name at = Moves.along(place == null ? e.name : place, from, to);
        if (at == null) {
            return;
        }
        FileState here = e.left;
        here = here == null ? e.lastKnown() : here;
        // what is open may have given way to something else, or have been removed, without anything being known to have been left
        boolean known = (e.users == 0 || e.name.equals(from)) && (place == null ? here.kind != FileState.ABSENT && !(e.left == null && isGoneWithDirectory(e))
                : isStillAt(e, place, from));
        e.place = known && !at.equals(e.name) ? at : null;
    }

    /** Whether nothing that the session has done itself at {@code place}, which was e's, has put something else, or nothing, there. {@code moved}: is being renamed; may be null. */
    private boolean isStillAt(Entry e, Name place, Name moved) {
        Entry there = entries.get(place);
        if (there == null || there.role != Entry.TOUCHED) {
            return true;
        }
        FileState last = there.left;
        last = last == null ? there.prior : last;
        return (there.users == 0 || place.equals(moved)) && (last == null ? there.image.kind == FileState.ABSENT : isKnown(e, last));
    }

    /** Of the directory that came to {@code name} by the session's rename of that number, from 1 on: the path at which it was imaged; null if none did. */
    Entry originOf(Name name, int move) {
        for (Name before : moves.before(name, move)) {
            Entry e = entries.get(before);
            if (e != null && e.role != Entry.NONE && e.image.kind == FileState.DIRECTORY) {
                return e;
            }
        }
        return null;
    }

    /** Whether the directory that e had, or was left with, is at {@code name} now. */
    boolean isNow(Name name, Entry e) throws IOException {
        FileState now = FileState.look(files, name);
        FileState last = e.left == null ? e.lastKnown() : e.left;
        return now.kind == FileState.DIRECTORY && (now.sameInode(e.image) || now.sameInode(last));
    }

    /** Whether children were at work at {@code name} once: what they moved is known by its inode number only. */
    private boolean childrenWorked(Name name) {
        for (Name up = name; up != null; up = up.parent()) {
            Entry e = entries.get(up);
            if (e != null && e.childWorked) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the session has brought to {@code name} what was at {@code from}, or, where its moves are not all that has moved things, may have.
     *
     * @param there whether it is at {@code from}, too
     */
    private boolean isBrought(Name from, Name name, boolean there) {
        return moves.led(from, name) || !there && (!moves.isNoted() || childrenWorked(name));
    }

    /** Those of {@link #imagedAs} from which the session may have brought it to {@code name}. */
    List<Entry> broughtAs(Name name, FileState now) {
        List<Entry> from = imagedAs(now);
        for (int i = from.size() - 1; i >= 0; i--) {
            if (!isBrought(from.get(i).name, name, false)) {
                from.remove(i);
            }
        }
        return from;
    }

    /**
     * Whether what was at e's name is to be found at its place, unless somebody else has done something to it there: the session itself has not taken it
     * away, and is not changing it.
     */
    boolean isFollowed(Entry e) {
        Name place = e.place;
        if (place == null || e.users > 0 || childrenWorked(place)) {
            return false;
        }
        Entry there = entries.get(place);
        return there == null || there.role != Entry.TOUCHED || there.left != null && isStillAt(e, place, null);
    }

    /**
     * Whether {@code now}, found at {@code name}, is what was at e's name before a directory was moved, as it was then: a rename of a directory changes
     * no time of what is below. Of a directory, whether it is the one.
     */
    boolean isAsBrought(Entry e, Name name, FileState now) {
        boolean any = !moves.isNoted() || childrenWorked(name) || now.kind != FileState.FILE || now.nlink > 1 || openElsewhere(now);
        return isKnown(e, now) && (any || isUntouched(now));
    }

    /** Whether nobody has changed the file, or given it another name, since the session last saw it, wherever that was. */
    private boolean isUntouched(FileState now) {
        Entry[] candidates = byInode.get(now.ino);
        boolean same = false;
        for (int i = 0; candidates != null && i < candidates.length; i++) {
            Entry c = candidates[i];
            same |= c.role == Entry.TOUCHED && (c.users > 0 || isAt(c.image, now) || isAt(c.left, now) || isAt(c.prior, now));
            for (FileState met : c.met) {
                same |= isAt(met, now);
            }
        }
        Last last = known.get(now.ino);
        return same || last != null && (isAt(last.state, now) || isAt(last.other, now));
    }

    /** Whether what was at e's name before directories were moved is at its place, {@code place}, and nobody but the session has changed it. */
    boolean isBroughtAsItWas(Entry e, Name place, FileState now) throws IOException {
        return isUntouched(now) || isKnown(e, now) && (movedWhileOpen(place, now) != null
                || knownElsewhere(place, now) != null && isAsBrought(e, place, now)) || isLikeBrought(e, now) && isSameBrought(e, now);
    }

    /** What the session has brought to {@code name} with a directory, as far as that is followed; null if nothing. For a rollback, during which it is the same. */
    Entry broughtTo(Name name) {
        if (brought == null) {
            brought = new HashMap<>();
            for (Entry e : entries.values()) {
                if (e.role == Entry.TOUCHED && e.place != null && e.lost == 0 && isFollowed(e)) {
                    Entry other = brought.get(e.place);
                    if (other == null || other.image.kind == FileState.ABSENT) {
                        brought.put(e.place, e);
                    }
                }
            }
        }
        return brought.get(name);
    }

    /** Whether something in the directory, which is another one than the session has brought there, is as it has brought it: then an undo has made it anew. */
    boolean holdsWhatWasBrought(List<Name> inside) throws IOException {
        for (Name name : inside) {
            Entry e = broughtTo(name);
            if (e != null && isLikeBrought(e, FileState.look(files, name))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether {@code now}, found where the session has brought what was at e's name, is another one that has all that this had, and its times: the undo of
     * a later session, which had moved it on, has made it anew, or a copy has.
     */
    boolean isLikeBrought(Entry e, FileState now) {
        if (!couldBeBrought(e, now)) {
            return false;
        }
        FileState was = lastBrought(e);
        switch (now.kind) {
            case FileState.FILE: return now.size == was.size && now.mtime == was.mtime;
            case FileState.DIRECTORY: {
                Entry there = entries.get(e.place);
                return now.mtime == was.mtime || now.mtime == e.ownMtime || there != null && now.mtime == there.ownMtime;
            }
            // the JDK may give these no nanoseconds
            default: return now.mtime / NS_PER_MICRO == was.mtime / NS_PER_MICRO;
        }
    }

    /** {@link #isLikeBrought} but for size and times. */
    boolean couldBeBrought(Entry e, FileState now) {
        FileState was = lastBrought(e);
        return now.kind != FileState.ABSENT && now.kind == was.kind && now.isLike(was) && now.sameOwnerAndMode(was)
                && (!now.hasOtherNames() || was.hasOtherNames());
    }

    /** {@link #isLikeBrought}: whether it is known that it holds the same. */
    boolean isSameBrought(Entry e, FileState now) throws IOException {
        FileState was = lastBrought(e);
        byte[] sha = was.sha == null && was.sameStat(e.image) ? e.image.sha : was.sha;
        return now.kind != FileState.FILE || sha != null && Arrays.equals(Sha256.of(files.path(e.place.bytes)), sha);
    }

    /** How the session has left what was at e's name, where it has brought it. */
    FileState lastBrought(Entry e) {
        Entry there = entries.get(e.place);
        boolean changed = there != null && there.role == Entry.TOUCHED && there.left != null && there.left.kind != FileState.ABSENT;
        return changed ? there.left : e.lastKnown();
    }

    /** Of a file of several names the inode's own time changes with any of them. */
    private static boolean isAt(FileState noted, FileState now) {
        return noted != null && noted.sameInode(now) && (noted.ctime == now.ctime || noted.nlink > 1);
    }

    /** The entry that {@code now}, found at {@code name}, was moved from, or null. */
    Entry knownElsewhere(Name name, FileState now) {
        Entry[] candidates = byInode.get(now.ino);
        if (candidates == null) {
            return null;
        }
        Entry origin = null;
        boolean known = leftAsIs(now);
        for (Entry from : candidates) {
            if (from.role != Entry.TOUCHED) {
                continue;
            }
            boolean there = holds(from.name, now);
            boolean here = from.name.equals(name);
            // what the session has open is that file: its number cannot have been given to another
            known |= now.couldBeMoved(from.image) || there && !here && from.left == null || isOpenOn(from, now);
            if (!here && (origin == null || from.image.sameInode(now)) && isBrought(from.name, name, there)) {
                origin = from;
            }
        }
        return known && (now.kind != FileState.DIRECTORY || origin == null || !moves.isNoted() || moves.led(origin.name, name) || isDirectory(candidates, name, now))
                ? origin : null;
    }

    /** Whether the directory {@code now} is one that had its number when the session knew it, and none that was given it since: by its time, or what is in it. */
    private boolean isDirectory(Entry[] candidates, Name name, FileState now) {
        List<Name> inside = null;
        for (Entry c : candidates) {
            if (c.role != Entry.TOUCHED) {
                continue;
            }
            if (now.mtime == c.ownMtime || isOfTime(c.image, now) || isOfTime(c.left, now) || isOfTime(c.prior, now)) {
                return true;
            }
            try {
                inside = inside == null ? list(name) : inside;
                for (Name child : inside) {
                    Entry was = entries.get(c.name.child(child.last()));
                    if (was != null && was.role == Entry.TOUCHED && isKnown(was, FileState.look(files, child))) {
                        return true;
                    }
                }
            } catch (IOException unreadable) {
                // it may be anybody's, and stays
                return false;
            }
        }
        return false;
    }

    private static boolean isOfTime(FileState noted, FileState now) {
        return noted != null && noted.sameInode(now) && noted.mtime == now.mtime;
    }

    private List<Name> list(Name directory) throws IOException {
        List<Name> children = new ArrayList<>();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(files.path(directory.bytes))) {
            for (Path child : list) {
                children.add(directory.child(files.name(child.getFileName())));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return children;
    }

    /**
     * After a crash, the entry that the file {@code now}, found at {@code name}, was moved from with its directory, though it is not as it was
     * then: a descriptor that was opened by another of its names went on changing it until the process was gone. Null if there is none.
     */
    Entry movedWhileOpen(Name name, FileState now) throws IOException {
        Entry[] candidates = now.kind == FileState.FILE ? byInode.get(now.ino) : null;
        if (candidates == null) {
            return null;
        }
        Entry origin = null;
        boolean open = false;
        for (Entry c : candidates) {
            if (c.role == Entry.TOUCHED) {
                open |= c.interrupted && c.wasAt(now);
                origin = c.image.nlink > 1 && c.image.sameInode(now) && isAlong(c.name, name) ? c : origin;
            }
        }
        // of the names known to be gone from where they were, one is here
        return open && origin != null && hasNamesLeft(candidates, now, 1) ? origin : null;
    }

    /**
     * Whether the file {@code now}, met for the first time at e's name, came there with its directory: not as it was then, but it still has
     * another name that it had, so that it is the same file, and the session has it open.
     */
    boolean movedAlong(Entry e, FileState now) throws IOException {
        Entry[] candidates = now.kind == FileState.FILE && now.nlink > 1 ? byInode.get(now.ino) : null;
        if (candidates == null) {
            return false;
        }
        for (Entry c : candidates) {
            if (c.role == Entry.TOUCHED && c.image.nlink > 1 && c.image.sameInode(now) && isAlong(c.name, e.name)) {
                return hasNamesLeft(candidates, now, 0) && !changedByOthers(e, now);
            }
        }
        return false;
    }

    /** Whether {@code to} is what became of {@code from} when the directory that it is in was moved. */
    private boolean isAlong(Name from, Name to) throws IOException {
        Entry directory = from.equals(to) || !Arrays.equals(from.last(), to.last()) ? null : entries.get(from.parent());
        return directory != null && directory.image != null && directory.image.sameInode(FileState.look(files, to.parent()));
    }

    /** Whether what is at {@code name} came there with a directory that this session renamed: then there was nothing here at its start. */
    boolean movedHere(Name name, FileState now) throws IOException {
        return isBelowMoved(name) && knownElsewhere(name, now) != null;
    }

    /**
     * Whether what is at {@code name}, below a moved directory, came along, or is a file that the session itself has left so, or has open, under whatever
     * name: another thread may have moved it there in the same moment. Who else gives it another name changes the inode's own time.
     */
    boolean isOfSession(Name name, FileState now) {
        if (knownElsewhere(name, now) != null) {
            return true;
        }
        Last last = now.kind == FileState.FILE ? known.get(now.ino) : null;
        return now.kind == FileState.FILE && openElsewhere(now)
                || last != null && now.nlink == 1 && now.couldBeMoved(last.state) && now.ctime == last.state.ctime;
    }

    /** Whether a directory above is not the one that the session met there. */
    boolean isBelowMoved(Name name) throws IOException {
        boolean below = false;
        for (Name up = name.parent(); up != null && !below; up = up.parent()) {
            Entry a = entries.get(up);
            if (a != null && a.role == Entry.TOUCHED) {
                below = a.image.kind != FileState.DIRECTORY || a.gone || !FileState.look(files, up).sameInode(a.image);
            }
        }
        return below;
    }

    /**
     * Whether an earlier, unfinished rollback has put the file back in place for another of its names, or had begun to: that changed it
     * under this name, too.
     */
    boolean isComingBack(Entry name, FileState now) throws IOException {
        Entry[] candidates = now.kind == FileState.FILE ? byInode.get(now.ino) : null;
        if (candidates == null) {
            return false;
        }
        for (Entry c : candidates) {
            if (c != name && c.decided && now.sameInode(c.image)
                    && (c.inPlace || c.image.size == now.size && Arrays.equals(Sha256.of(files.path(name.name.bytes)), c.image.sha))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether what is found now, under whatever name, counts as the session's only because it came, or changed, while a child was at work: others may
     * have made it.
     */
    boolean isOfAChild(FileState now) {
        return isOfAChild(now, false);
    }

    /** {@link #isOfAChild} of what the program has not begun to change since. */
    boolean isChilds(FileState now) {
        return isOfAChild(now, true);
    }

    private boolean isOfAChild(FileState now, boolean unchanged) {
        Entry[] candidates = now.kind == FileState.FILE || now.kind == FileState.LINK ? byInode.get(now.ino) : null;
        for (int i = 0; candidates != null && i < candidates.length; i++) {
            Entry c = candidates[i];
            FileState left = c.left;
            if (c.role == Entry.TOUCHED && (unchanged ? c.isChilds : c.byChild) && (left != null && left.sameInode(now) || c.wasAt(now))) {
                return true;
            }
        }
        return false;
    }

    // --- being changed under another name

    /**
     * Whether the session has this file open by the path of c: not another one that was given the number of one that it had open there. That number is free
     * when the file has no name and no descriptor any more.
     */
    private boolean isOpenOn(Entry c, FileState now) {
        return c.isOpenOn(now) && (c.isNumberHeld(now) || holds(c.name, now) || hasNamesLeft(byInode.get(now.ino), now, 0) || OpenFiles.isOpenForWriting(now));
    }

    /** Whether the session is changing the file under another of its names, or was when that name went. */
    boolean openElsewhere(FileState now) {
        return openElsewhere(null, now);
    }

    /** {@link #openElsewhere(FileState)} by another path than {@code except}'s. */
    boolean openElsewhere(Entry except, FileState now) {
        Entry[] candidates = byInode.get(now.ino);
        if (candidates == null) {
            return false;
        }
        for (Entry c : candidates) {
            if (c != except && c.role == Entry.TOUCHED && c.left == null && (now.nlink > 1 && holds(c.name, now) || isOpenOn(c, now))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the file was being changed when the session ended, under a name that may have gone since: a descriptor and a mapping
     * outlive the name that they were opened by. It has other names still: the inode number of a file that has none may be another's by now.
     */
    boolean wasOpen(Entry except, FileState now, boolean crashed) {
        Entry[] candidates = byInode.get(now.ino);
        if (candidates == null) {
            return false;
        }
        for (Entry c : candidates) {
            // what went with its directory was not open, though nothing is known to have been left at its name; after a crash nothing tells
            boolean open = isOpenOn(c, now) || c.left == null && (crashed || !isGoneWithDirectory(c)) && c.wasAt(now);
            if (c != except && c.role == Entry.TOUCHED && open && hasNamesLeft(candidates, now, 0)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the file had, when the session first met it or from the session, more names than are known to be gone: then {@code now} is it.
     *
     * @param along names that are gone from where they were, but only with their directory
     */
    private boolean hasNamesLeft(Entry[] candidates, FileState now, int along) {
        int names = 0;
        int made = 0;
        int gone = 0;
        for (Entry c : candidates) {
            boolean had = c.image.sameInode(now);
            FileState last = c.left == null || c.left.kind == FileState.ABSENT ? c.prior : c.left;
            boolean gave = !had && (last != null && last.sameInode(now) || c.wasAt(now));
            names = had ? Math.max(names, c.image.nlink) : names;
            made += gave ? 1 : 0;
            gone += (had || gave) && !holds(c.name, now) ? 1 : 0;
        }
        return gone < names + made + along;
    }
}
