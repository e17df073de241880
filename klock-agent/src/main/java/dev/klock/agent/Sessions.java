package dev.klock.agent;

import dev.klock.agent.backup.Accounts;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.notice.Notice;
import dev.klock.agent.notice.Notices;
import dev.klock.agent.observe.Subjects;
import dev.klock.bridge.HostFiles;
import java.util.Arrays;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * All sessions of this JVM: the process's, and those of agents in it. Their threads come and go by {@link Subjects}, their writes pass {@link
 * Fences}, and the {@link Guard} looks after all of them.
 */
final class Sessions implements Supplier<Function<Object[], Object>> {
    private static final Session[] NONE = {};

    private final Subjects subjects = new Subjects();
    private final Fences fences = new Fences();
    /** Null before anybody is told of anything, which most starts do without. */
    private volatile Notices notices;
    private final Guard guard;
    private ProcessSession process;
    /** Beside the process's; those that are over leave when nothing of theirs is open any more. Replaced, not changed. */
    private volatile Session[] others = NONE;
    /** What those have left that are not among the {@link #others} any more, while a child may run that began before. */
    private final Accounts.Closed closed = new Accounts.Closed();
    private volatile boolean ending;

    Sessions(HostFiles files) {
        guard = new Guard(this, files);
    }

    Subjects subjects() {
        return subjects;
    }

    Fences fences() {
        return fences;
    }

    Guard guard() {
        return guard;
    }

    /** Called once, before the first hook. */
    void begin(ProcessSession ofProcess) {
        process = ofProcess;
        fences.add(ofProcess.fence());
        subjects.begin(ofProcess.observer());
    }

    ProcessSession process() {
        return process;
    }

    /** Whether anybody is told of anything. */
    boolean areTold() {
        Notices now = notices;
        return now != null && now.areHeard() || process.isRecorderLoaded();
    }

    void tell(Notice notice) {
        if (process.isRecorderLoaded()) {
            notices().record(notice);
        }
        notices().tell(notice);
    }

    private synchronized Notices notices() {
        if (notices == null) {
            notices = new Notices(subjects);
        }
        return notices;
    }

    /** Where the program's listeners ask; called when it has to do with any. */
    @Override
    public Function<Object[], Object> get() {
        return notices().listeners();
    }

    synchronized void add(Session session) {
        fences.add(session.fence());
        subjects.add(session.observer());
        Session[] more = Arrays.copyOf(others, others.length + 1);
        more[others.length] = session;
        others = more;
    }

    private synchronized void remove(Session session) {
        if (lookAround(session)) {
            closed.add(session.backups.accounts());
        }
        fences.remove(session.fence());
        subjects.remove(session.observer());
        session.putAway();
        Session[] rest = new Session[others.length];
        int n = 0;
        for (int i = 0; i < others.length; i++) {
            if (others[i] != session) {
                rest[n++] = others[i];
            }
        }
        others = Arrays.copyOf(rest, n);
    }

    /** Whether children of another than {@code session} are looked after. */
    private boolean lookAround(Session session) {
        boolean any = process.looksAround();
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            any |= all[i] != session && all[i].looksAround();
        }
        return any;
    }

    /** Whether what is at {@code path} now is there by the work of another session than {@code session}, as klock knows itself. */
    boolean haveOthersLeft(Session session, byte[] path) {
        Session[] all = others;
        boolean have = session != process && process.backups.accounts().answersFor(path);
        for (int i = 0; i < all.length && !have; i++) {
            have = all[i] != session && all[i].backups.accounts().answersFor(path);
        }
        return have || closed.answersFor(path);
    }

    /** Whether the program has ended. */
    boolean isEnding() {
        return ending;
    }

    /** The program has ended: so have they. */
    void completeOthers(int status) {
        ending = true;
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            all[i].finish(status);
        }
    }

    // ---- for the guard

    /** Whether anything is to be wound up. */
    boolean isAnyStopping() {
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            if (all[i].isToBeWound()) {
                return true;
            }
        }
        return process.isToBeWound();
    }

    /** Winds up those beside the process's that are stopping. If the process's is, all of them are. */
    void windOthers() {
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            Session session = all[i];
            if (process.isStopping()) {
                session.stop(Session.ABORTED, Session.EXIT_ABORTED);
            }
            if (session.isToBeWound()) {
                try {
                    session.wind();
                } catch (RuntimeException e) {
                    session.unwound();
                    Stderr.error("session " + session.sessionId + " could not be wound up: " + e + "; its images are kept, finish with: java -jar klock.jar recover");
                }
            }
        }
    }

    void tick() {
        process.tick();
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            Session session = all[i];
            if (!session.isOver()) {
                session.tick();
            } else if (session.isWound() && !session.observer().hasOpen()) {
                remove(session);
            }
        }
        if (!closed.isEmpty() && !lookAround(null)) {
            closed.clear();
        }
    }

    boolean haveChildren() {
        boolean any = process.hasChildren();
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            any |= all[i].hasChildren();
        }
        return any;
    }

    void settleEnded() {
        process.settleEnded();
        Session[] all = others;
        for (int i = 0; i < all.length; i++) {
            if (!all[i].isOver()) {
                all[i].settleEnded();
            }
        }
    }
}
