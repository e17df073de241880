package dev.klock.agent.backup;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The directories that the session has renamed, in order. A rename changes nothing of what is below: no name, no inode number, no time. So what
 * is below a new name is what the session has brought along only where the same name below the old one had it; whatever else is there somebody
 * else has put there, or given that name.
 *
 * <p>Thread-safe; directories are renamed one after the other.
 */
final class Moves {
    private static final class Move {
        final Name from;
        final Name to;

        Move(Name from, Name to) {
            this.from = from;
            this.to = to;
        }
    }

    private static final Move[] NONE = {};

    /** Replaced, not changed. */
    private volatile Move[] all = NONE;
    /** Whether the journal tells of them: not those of older versions. */
    private volatile boolean noted = true;

    void isNoted(boolean is) {
        noted = is;
    }

    boolean isNoted() {
        return noted;
    }

    boolean isEmpty() {
        return all.length == 0;
    }

    void add(Name from, Name to) {
        Move[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = new Move(from, to);
        all = more;
    }

    /** Whether what is at {@code to} now would have been at {@code from} once, as far as the session has moved it. */
    boolean led(Name from, Name to) {
        Move[] moves = all;
        Name at = to;
        for (int i = moves.length - 1; i >= 0; i--) {
            Name before = along(at, moves[i].to, moves[i].from);
            if (before == null) {
                if (along(at, moves[i].from, moves[i].to) != null) {
                    // what was here then is away, and this came later
                    return false;
                }
            } else {
                at = before;
                if (at.equals(from)) {
                    return true;
                }
            }
        }
        return false;
    }

    int count() {
        return all.length;
    }

    /** The names that what came to {@code name} by the move of that number, from 1 on, had before, the last first; none if that brought nothing there. */
    List<Name> before(Name name, int move) {
        Move[] moves = all;
        List<Name> names = new ArrayList<>();
        Name at = along(name, moves[move - 1].to, moves[move - 1].from);
        for (int i = move - 2; at != null; i--) {
            names.add(at);
            if (i < 0) {
                return names;
            }
            Name before = along(at, moves[i].to, moves[i].from);
            while (before == null && along(at, moves[i].from, moves[i].to) == null && i > 0) {
                i--;
                before = along(at, moves[i].to, moves[i].from);
            }
            at = before;
        }
        return names;
    }

    /** The name that {@code name} has when {@code from} becomes {@code to}; null if it is not at or below that. */
    static Name along(Name name, Name from, Name to) {
        return name.equals(from) ? to : name.below(from) ? name.moved(from, to) : null;
    }

    /** All of them, for {@link #decode}. */
    byte[] encode() {
        Move[] moves = all;
        int length = 0;
        for (Move m : moves) {
            length += 8 + m.from.bytes.length + m.to.bytes.length;
        }
        ByteBuffer out = ByteBuffer.allocate(length);
        for (Move m : moves) {
            out.putInt(m.from.bytes.length).put(m.from.bytes).putInt(m.to.bytes.length).put(m.to.bytes);
        }
        return out.array();
    }

    /** These are all that were before. */
    void decode(ByteBuffer in) {
        List<Move> moves = new ArrayList<>();
        while (in.hasRemaining()) {
            moves.add(new Move(name(in), name(in)));
        }
        all = moves.toArray(NONE);
    }

    private static Name name(ByteBuffer in) {
        byte[] name = new byte[in.getInt()];
        in.get(name);
        return new Name(name);
    }
}
