package dev.klock.agent.decide;

import dev.klock.agent.resolve.Names;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Grant;
import dev.klock.manifest.Scope;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * One resource of this run: what is allowed on it, what the session has done with it, and how often. There is one per object, kept by
 * {@link Targets}; any thread may use it without a lock.
 */
public final class Target {
    /** {@link #decide}: the JVM itself reads it, whatever the manifest says. */
    public static final int BASELINE = Integer.MAX_VALUE;
    /** {@link #decide}: a step of a JDK idiom that replaces a file, which as a whole is a declared MUTATES (C34). */
    public static final int REPLACING = Integer.MAX_VALUE - 1;
    /** A variable that a child got as part of its environment: recorded, not judged. */
    public static final int PASSED = Integer.MAX_VALUE - 2;
    /** {@link #decide}: klock's own; denied in every mode. */
    public static final int PROTECTED = Integer.MIN_VALUE;

    /** The session has brought it into being. */
    static final int CREATED = 1;
    /** Its state before the session's first change is safe. */
    static final int IMAGED = 2;
    /** The session has removed it, given it another name, or found nothing there, and has not made it since. */
    static final int GONE = 4;
    /** The session has removed it in order to put another in its place. */
    static final int REPLACED = 8;
    /** A directory that came here whole: what lies in it came with it and counts as created by the session. */
    static final int TREE = 16;
    /** No longer in the table; a name must be looked up anew. */
    static final int RETIRED = 32;
    /** A child of the session has changed it, or it is a directory that the session has put here whole. */
    static final int CHANGED = 64;

    private static final AtomicIntegerFieldUpdater<Target> STATE = AtomicIntegerFieldUpdater.newUpdater(Target.class, "state");
    private static final int PREDICATES = 6;

    private final String scheme;
    private final String real;
    private final Grant grant;
    /** What else decides: the first by all its lines, where the own grant says nothing, the others by deny lines; null if nothing does. */
    private final Grant[] wider;
    private final String whole;
    private final int baseline;
    private final int forbidden;
    private final boolean ofAProcess;
    private final int onExisting;
    private final int onCreated;
    private final AtomicLongArray counts = new AtomicLongArray(PREDICATES);
    private volatile int state;
    private volatile int causes;
    private volatile int denials;
    private volatile boolean blocks;
    private byte[] bytes;

    /** @param baseline what the JVM's own reads allow, @param forbidden what klock's own safety forbids: masks of {@link Predicate#bit()} */
    Target(String scheme, String real, Grant grant, int baseline, int forbidden, Grant[] wider, String whole) {
        this.wider = wider;
        this.whole = whole;
        this.scheme = scheme;
        this.real = real;
        this.grant = grant;
        this.baseline = baseline;
        this.forbidden = forbidden;
        int existing = baseline;
        int created = baseline;
        for (int i = 0; i < PREDICATES; i++) {
            Predicate predicate = Targets.PREDICATES[i];
            existing |= Scope.isAllowed(byLines(predicate, false)) ? predicate.bit() : 0;
            created |= Scope.isAllowed(byLines(predicate, true)) ? predicate.bit() : 0;
        }
        ofAProcess = real.startsWith("/proc/") && (real.endsWith("/environ") || real.endsWith("/mem")) && scheme.equals("FILE");
        onExisting = existing & ~forbidden;
        onCreated = created & ~forbidden;
    }

    /** Whether what a process is made of can be read, or changed, there: its memory, its environment. */
    public boolean isOfAProcess() {
        return ofAProcess;
    }

    /** Upper case: FILE, PROCESS. */
    public String scheme() {
        return scheme;
    }

    /** Whether it is something in the file system. */
    public boolean isFile() {
        return scheme.equals("FILE");
    }

    /** The real name ({@link Names}): bytes as chars. */
    public String real() {
        return real;
    }

    /** The path in a manifest's form. */
    public String path() {
        return Names.text(real);
    }

    /** The bytes of the real name; shared, not to be changed. */
    public byte[] bytes() {
        byte[] b = bytes;
        if (b == null) {
            b = Names.bytes(real);
            bytes = b;
        }
        return b;
    }

    /** {@code FILE:/w/out/a}, fit for a message. */
    public String shown() {
        return scheme + ':' + Names.shown(path());
    }

    /** Whether it was a pipe or a terminal when it was last looked at, whose open may wait for others. */
    public boolean mayBlock() {
        return blocks;
    }

    /** See {@link #mayBlock()}. */
    public void mayBlock(boolean now) {
        if (blocks != now) {
            blocks = now;
        }
    }

    /** What may be done with it as it is now, as a mask of {@link Predicate#bit()}. */
    public int allowed() {
        return ((state & CREATED) != 0 ? onCreated : onExisting) | causes;
    }

    /** Whether {@code predicate} is allowed as things are now, and by what: one of this class's constants, or as {@link Grant#decide}. */
    public int decide(Predicate predicate) {
        if ((forbidden & predicate.bit()) != 0) {
            return PROTECTED;
        }
        int decision = byLines(predicate, (state & CREATED) != 0);
        return !Scope.isAllowed(decision) && ((baseline | causes) & predicate.bit()) != 0 ? BASELINE : decision;
    }

    private int byLines(Predicate predicate, boolean created) {
        for (int i = 0; wider != null && i < wider.length; i++) {
            int decision = wider[i].decide(predicate, false);
            if (Scope.isDenied(decision)) {
                return decision;
            }
        }
        int decision = grant.decide(predicate, created);
        return wider != null && decision == Scope.NONE ? wider[0].decide(predicate, false) : decision;
    }

    /** The path of what it is part of; null if it is nothing like that. */
    String whole() {
        return whole;
    }

    /** The predicates that the manifest names for it, as a mask of {@link Predicate#bit()}. */
    public int declared() {
        return grant.declaredPredicates();
    }

    /** Allowed accesses so far. */
    public long count(Predicate predicate) {
        return counts.get(predicate.ordinal());
    }

    /** Counts an allowed access; true for the first of its kind. */
    public boolean counted(int predicate) {
        return counts.getAndIncrement(predicate) == 0;
    }

    /** Counts a denial; answers how many there were before. */
    public int deniedBefore() {
        int before = denials;
        denials = before + 1;
        return before;
    }

    /** Allows what the JVM was found to read by itself for a cause other than its path. */
    public void allowCause(int predicates) {
        causes |= predicates & ~forbidden;
    }

    public boolean isCreated() {
        return (state & CREATED) != 0;
    }

    public boolean isImaged() {
        return (state & IMAGED) != 0;
    }

    /** Whether the session has removed it, given it another name, or found nothing there, and has not made it since. */
    public boolean isGone() {
        return (state & GONE) != 0;
    }

    /** Whether it is not what it was before the session, as far as is known: the session, or a child of it, has begun to change it. */
    boolean isChanged() {
        return (state & (CREATED | IMAGED | CHANGED)) != 0;
    }

    /** Whether it is a directory whose whole content the session, or a child of it, has brought here. */
    boolean isChangedWithin() {
        return (state & (TREE | CHANGED)) != 0;
    }

    public boolean isReplaced() {
        return (state & REPLACED) != 0;
    }

    public boolean isProtected() {
        return forbidden != 0;
    }

    /** Whether it is in klock's home, which answers reads as if it were not there. */
    public boolean isHidden() {
        return (forbidden & Predicate.CONSUMES.bit()) != 0;
    }

    boolean isTree() {
        return (state & TREE) != 0;
    }

    /** Whether it must not leave the table: forgetting would change what is allowed or imaged. */
    boolean hasState() {
        return (state & ~RETIRED) != 0;
    }

    boolean isRetired() {
        return (state & RETIRED) != 0;
    }

    void change(int set, int clear) {
        int was;
        do {
            was = state;
        } while (!STATE.compareAndSet(this, was, was & ~clear | set));
    }

    int state() {
        return state;
    }

    @Override
    public String toString() {
        return shown();
    }
}
