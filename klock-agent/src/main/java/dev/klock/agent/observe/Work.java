package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.resolve.Resolved;
import java.util.Arrays;

/** What one thread is doing; used by that thread only. */
final class Work {
    /** The session that the thread works for; null for the process's. */
    Observer subject;
    /** Above 0 while a hook or klock's own code runs. */
    int depth;
    /** The next bind or connect is a datagram socket's; and it only restores an earlier one. */
    boolean datagram;
    boolean rebind;
    /** The socket this thread bound last without asking for a port; -1 for none. */
    int ephemeral = -1;
    /** The name that the JDK got for an address and looks up next by itself. */
    String named;
    /** The name that was looked up last to be changed leads through a link, so that what it opened is to be looked at. */
    boolean linked;
    /** What the name, or descriptor, that was looked up last to be changed leads to, if it has been removed; else null. */
    Resolved removed;
    /** {@link System#nanoTime()} when the last name of a change was looked up; see {@link Frame#nowNs}. */
    long nowNs;
    /** Whom it worked for before, the last one last. */
    private Observer[] subjects = {};
    private int entered;
    private int size;
    private Frame[] frames = new Frame[4];

    Frame push(int op, int epoch) {
        if (size == frames.length) {
            frames = Arrays.copyOf(frames, size * 2);
        }
        Frame f = frames[size];
        if (f == null) {
            f = new Frame();
            frames[size] = f;
        }
        size++;
        f.op = op;
        f.epoch = epoch;
        return f;
    }

    /** Works for {@code next} from here on; answers what {@link #leave} is to be given. */
    int enter(Observer next) {
        if (entered == subjects.length) {
            subjects = Arrays.copyOf(subjects, entered * 2 + 4);
        }
        subjects[entered] = subject;
        subject = next;
        return entered++;
    }

    /** Works again for whom it worked before the {@link #enter} that gave {@code token}, and all after it; false if that is over already. */
    boolean leave(int token) {
        if (token < 0 || token >= entered) {
            return false;
        }
        subject = subjects[token];
        while (entered > token) {
            subjects[--entered] = null;
        }
        return true;
    }

    /** What the last {@link #enter} that is not over has given; -1 for none. */
    int entered() {
        return entered - 1;
    }

    /** The innermost frame of {@code op}; null if there is none. */
    Frame top(int op) {
        for (int i = size - 1; i >= 0; i--) {
            if (frames[i].op == op) {
                return frames[i];
            }
        }
        return null;
    }

    /** What a copy or move that is under way has decided for {@code target}, as a mask of {@link Predicate#bit()}. */
    int within(Target target) {
        int mask = 0;
        for (int i = size - 1; i >= 0; i--) {
            Frame f = frames[i];
            if (f.a != null && f.a.real().equals(target.real())) {
                mask |= f.partA;
            }
            if (f.b != null && f.b.real().equals(target.real())) {
                mask |= f.partB;
            }
        }
        return mask;
    }

    /** Operations that have begun and not ended. */
    int marked() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += frames[i].marked ? 1 : 0;
        }
        return count;
    }

    /** Takes the innermost frame off; null if there is none. The caller clears it. */
    Frame pop() {
        return size == 0 ? null : frames[--size];
    }
}
