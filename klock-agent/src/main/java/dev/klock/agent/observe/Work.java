package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.resolve.Resolved;
import java.util.Arrays;

/** What one thread is doing; used by that thread only. */
final class Work extends Exemption {
    /** {@link #said} before any task was called for. */
    private static final Object SAID = new Object();

    /** The session that the thread works for; null for the process's. */
    Observer subject;
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
    /**
     * Null unless somebody has said whom this is for ({@link #enter(Observer)}), and no task of others that came by itself has begun since: then the
     * task that is called for right now and enters by itself, or {@link #SAID}.
     */
    private Object said;
    /** Whom it worked for before, the last one last, whether that was said, and what was answered to who began anew; no number twice. */
    private Observer[] subjects = {};
    private Object[] saids = {};
    private int[] tokens = {};
    private int entered;
    private int lastToken;
    /** What was answered for tasks that the thread has begun to run and not ended. */
    private int[] tasks = {};
    private int running;
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

    /** Works for {@code next} from here on, as somebody says; answers what {@link #leave} is to be given. Nothing has changed if it throws. */
    int enter(Observer next) {
        return enter(next, SAID);
    }

    private int enter(Observer next, Object nextSaid) {
        if (entered == subjects.length) {
            int[] more = Arrays.copyOf(tokens, entered * 2 + 4);
            Object[] moreSaids = Arrays.copyOf(saids, more.length);
            subjects = Arrays.copyOf(subjects, more.length);
            saids = moreSaids;
            tokens = more;
        }
        subjects[entered] = subject;
        saids[entered] = said;
        tokens[entered++] = ++lastToken;
        subject = next;
        said = nextSaid;
        return lastToken;
    }

    /** Works again for whom it worked before the {@link #enter} that gave {@code token}, and all after it; false if that is over already. */
    boolean leave(int token) {
        int at = entered - 1;
        while (at >= 0 && tokens[at] != token) {
            at--;
        }
        if (at < 0) {
            return false;
        }
        subject = subjects[at];
        said = saids[at];
        while (entered > at) {
            subjects[--entered] = null;
            saids[entered] = null;
        }
        return true;
    }

    /**
     * Begins {@code task}, until {@link #leaveTask}: for {@code submitter}, unless it was said whom this is for, and the task is {@code called} by what was
     * said so of, or is what was {@linkplain #enterCalled called} last.
     */
    void enterTask(Observer submitter, Object task, boolean called) {
        boolean holds = called ? said != null : said == task;
        begin(holds ? subject : submitter, holds ? said : null);
    }

    /** {@code task} is called, and will {@linkplain #enterTask enter} by itself; until {@link #leaveTask}. */
    void enterCalled(Object task) {
        begin(subject, said == null ? null : task);
    }

    /** A task that will {@linkplain #enterTask enter} by itself comes without being called; until {@link #leaveTask}. */
    void enterUncalled() {
        begin(subject, null);
    }

    private void begin(Observer next, Object nextSaid) {
        if (running == tasks.length) {
            tasks = Arrays.copyOf(tasks, running * 2 + 4);
        }
        tasks[running] = enter(next, nextSaid);
        running++;
    }

    /** The task that began last is over, with whatever it has entered and not left. */
    void leaveTask() {
        leave(tasks[--running]);
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
