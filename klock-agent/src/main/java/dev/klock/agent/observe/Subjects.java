package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.bridge.Hooks;
import dev.klock.kernel.Predicate;
import java.util.Arrays;
import java.util.List;

/**
 * Whose each hooked call is. A thread works for the process's own session unless it was told otherwise ({@link #enter(Observer)}), and each
 * session has an {@link Observer} that judges for it. What goes by an open descriptor concerns the session that has opened it, too, whoever
 * the thread works for; what has begun for one session ends for it.
 *
 * <p>How it works. Each call sets its thread's depth flag first and clears it in a {@code finally}; a hook that finds the flag set, or that runs in
 * klock's own code ({@link #enter()}), returns at once, so klock never judges itself and never recurses (C09, G01). The flag is set and cleared in
 * one frame, by a store each: whatever the call runs into, a stack that is used up above all, the next one on the thread is judged.
 *
 * <p>Where there is only one session, whose call it is costs a look at one field. Thread-safe; no lock is taken.
 */
public final class Subjects implements Hooks {
    private static final Observer[] NONE = {};

    /** Tells whom a thread works for when it begins. */
    interface Begun {
        /** Null for the process. Asked once for a thread. */
        Observer begun(Thread thread);
    }

    private final Works works = new Works();
    private Observer process;
    /** Of the sessions beside the process's, those that are not over, or have files open still; replaced, not changed. */
    private volatile Observer[] others = NONE;

    /** Called once, before the first hook. */
    public void begin(Observer ofProcess) {
        process = ofProcess;
    }

    /** From here on threads can work for {@code observer}'s session. */
    public synchronized void add(Observer observer) {
        Observer[] more = Arrays.copyOf(others, others.length + 1);
        more[others.length] = observer;
        others = more;
    }

    /** The session is over: whoever works for it works for the process from here on. */
    public synchronized void remove(Observer observer) {
        Observer[] now = others;
        int n = 0;
        Observer[] rest = new Observer[now.length];
        for (int i = 0; i < now.length; i++) {
            if (now[i] != observer) {
                rest[n++] = now[i];
            }
        }
        others = Arrays.copyOf(rest, n);
    }

    /** Called before any thread of the program's begins. */
    void beginBy(Begun begun) {
        works.begun = begun;
    }

    /** What the calling thread is doing. */
    Work work() {
        return works.get();
    }

    /** Whom the calling thread works for; null: for the process. */
    public Observer current() {
        return works.get().subject;
    }

    /** The calling thread works for {@code next}, null for the process, until {@link #leave(int)} is given what this answers. */
    public int enter(Observer next) {
        return works.get().enter(next);
    }

    /** Undoes the {@link #enter(Observer)} that gave {@code token}, with all after it; false if it is undone already, or of another thread. */
    public boolean leave(int token) {
        return works.get().leave(token);
    }

    /** The calling thread works for {@code next}, null for the process, in place of whom it worked for. */
    public void set(Observer next) {
        works.get().subject = next;
    }

    /** The calling thread's, for klock's own code on the program's threads: whatever that runs into, it is to be as it was. */
    public Exemption exemption() {
        return works.get();
    }

    /** klock's own code begins on this thread, which is klock's, too: until {@link #leave}, nothing it does is judged. Nests. */
    public void enter() {
        works.get().depth++;
    }

    /** Undoes one {@link #enter()}. */
    public void leave() {
        works.get().depth--;
    }

    /** Whether klock's own code runs on this thread ({@link #enter()}), or a hook. */
    public boolean isEntered() {
        return works.get().depth != 0;
    }

    private Observer of(Work work) {
        Observer subject = work.subject;
        return subject == null || subject.isGivenUp() ? process : subject;
    }

    // ---- calls of libraries

    /** As {@link Observer#called}; null also on klock's own threads. */
    public Target called(String hook, Predicate predicate, String scheme, String path, String whole) {
        Work work = works.get();
        if (work.depth != 0) {
            return null;
        }
        work.depth = 1;
        try {
            return of(work).called(work, hook, predicate, scheme, path, whole);
        } finally {
            work.depth = 0;
        }
    }

    /** As {@link Observer#calledAgain}. */
    public void calledAgain(String hook) {
        of(works.get()).calledAgain(hook);
    }

    /** As {@link Observer#calledInVain}. */
    public void calledInVain(String hook, RuntimeException cause) {
        of(works.get()).calledInVain(hook, cause);
    }

    /** As {@link Observer#openedUnseen}; null also on klock's own threads. */
    public String openedUnseen(String name, boolean writes, String[] beside) {
        Work work = works.get();
        if (work.depth != 0) {
            return null;
        }
        work.depth = 1;
        try {
            return of(work).openedUnseen(work, name, writes, beside);
        } finally {
            work.depth = 0;
        }
    }

    /** As {@link Observer#made}. */
    public void made(List<Target> made) {
        of(works.get()).made(made);
    }

    // ---- hooks

    @Override
    public void name(int op, String name, int arg) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).name(work, op, name, arg);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void path(int op, byte[] name, int arg) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).path(work, op, name, arg);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void at(int op, int dirFd, byte[] name, int arg) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).at(work, op, dirFd, name, arg);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void names(int op, String from, String to) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).names(work, op, from, to);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void paths(int op, byte[] from, byte[] to) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).paths(work, op, from, to);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void ats(int op, int fromFd, byte[] from, int toFd, byte[] to) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).ats(work, op, fromFd, from, toFd, to);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void fd(int op, int fd, int arg) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).fd(work, op, fd, arg);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void begin(int op, byte[] from, byte[] to, int arg) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).begin(work, op, from, to, arg);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void start(int op, byte[] program, byte[] arguments, int argumentCount, byte[] environment, int environmentCount, byte[] dir, int[] fds) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).start(work, op, program, arguments, argumentCount, environment, environmentCount, dir, fds);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void signal(int op, long pid, long startTime, boolean force) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).signal(work, op, pid, startTime, force);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void endPoint(int op, byte[] address, String host, int port, int fd) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).endPoint(work, op, address, host, port, fd);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void lookUp(int op, String host, byte[] address) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).lookUp(work, op, host, address);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void request(int op, String method, String protocol, String host, int port, String path) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).request(work, op, method, protocol, host, port, path);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void variable(int op, String name, String value) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).variable(work, op, name, value);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void library(int op, String name) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).library(work, op, name);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void reached(int op, String owner, String member) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).reached(work, op, owner, member);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void agent(int op) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).agent(work, op);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void service(int op, String name) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).service(work, op, name);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void attach(int op, String pid) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).attach(work, op, pid);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void command(int op, String command) {
        Work work = works.get();
        if (work.depth == 0) {
            work.depth = 1;
            try {
                of(work).command(work, op, command);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void datagram(boolean again) {
        Work work = works.get();
        if (work.depth == 0) {
            work.datagram = true;
            work.rebind = again;
        }
    }

    @Override
    public void received(int fd, byte[] address, int port) {
        of(works.get()).received(fd, address, port);
    }

    @Override
    public void resolved(String host, byte[][] addresses) {
        of(works.get()).resolved(host, addresses);
    }

    @Override
    public void named(String host) {
        Work work = works.get();
        of(work).named(work, host);
    }

    @Override
    public boolean keeps(String name, String value) {
        Work work = works.get();
        if (work.depth != 0) {
            return false;
        }
        work.depth = 1;
        try {
            return of(work).keeps(name, value);
        } finally {
            work.depth = 0;
        }
    }

    @Override
    public boolean event(int op, String name) {
        Work work = works.get();
        if (work.depth != 0) {
            return true;
        }
        work.depth = 1;
        try {
            return of(work).event(op, name);
        } finally {
            work.depth = 0;
        }
    }

    /** Whoever changes the class, and on whatever thread: also while klock's own code runs. */
    @Override
    public void changed(ClassLoader loader, String name, byte[] before, byte[] after) {
        process.changed(works.get(), loader, name, before, after);
    }

    @Override
    public void started(int op, Process started) {
        Work work = works.get();
        Frame f = work.depth == 0 ? work.top(op) : null;
        if (f != null) {
            work.depth = 1;
            try {
                f.observer.started(started);
                f.observer.end(work, f, 0);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void end(int op, int result) {
        Work work = works.get();
        if (work.depth != 0) {
            return;
        }
        Frame f = work.top(op);
        if (f != null) {
            work.depth = 1;
            try {
                f.observer.end(work, f, result);
            } finally {
                work.depth = 0;
            }
        }
    }

    @Override
    public void fenced(int op, int fd) {
        Work work = works.get();
        if (work.depth != 0) {
            return;
        }
        work.depth = 1;
        try {
            Observer mine = of(work);
            mine.fenced(fd);
            Observer owner = opener(fd);
            if (owner != mine && owner != null) {
                owner.fenced(fd);
            }
        } finally {
            work.depth = 0;
        }
    }

    @Override
    public void closing(int op, int fd) {
        process.forget(fd);
        Observer[] all = others;
        for (int i = 0; i < all.length; i++) {
            all[i].forget(fd);
        }
        Observer owner = opener(fd);
        Work work = owner == null ? null : works.get();
        if (work == null || work.depth != 0) {
            return;
        }
        work.depth = 1;
        try {
            owner.closing(op, fd);
        } finally {
            work.depth = 0;
        }
    }

    @Override
    public void mapping(int op, int fd) {
        Observer owner = opener(fd);
        Work work = owner == null ? null : works.get();
        if (work == null || work.depth != 0) {
            return;
        }
        work.depth = 1;
        try {
            owner.mapping(op, fd);
        } finally {
            work.depth = 0;
        }
    }

    /** Whose session has opened {@code fd} for writing on a file; null if none has. */
    private Observer opener(int fd) {
        Observer[] all = others;
        for (int i = 0; i < all.length; i++) {
            if (all[i].hasOpen(fd)) {
                return all[i];
            }
        }
        return process.hasOpen(fd) ? process : null;
    }

    @Override
    public void halting(int status) {
        Work work = works.get();
        work.depth++;
        try {
            process.halting(status);
        } finally {
            work.depth--;
        }
    }

    @Override
    public void ending() {
        Work work = works.get();
        work.depth++;
        try {
            process.ending();
        } finally {
            work.depth--;
        }
    }

    private static final class Works extends ThreadLocal<Work> {
        /** Null where nobody has told. */
        private Begun begun;

        @Override
        protected Work initialValue() {
            Work work = new Work();
            if (begun != null) {
                work.subject = begun.begun(Thread.currentThread());
            }
            return work;
        }
    }
}
