package dev.klock.agent.decide;

import dev.klock.agent.resolve.Names;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Grant;
import dev.klock.manifest.Scope;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The one {@link Target} of each resource.
 *
 * <p>Bounded: beyond {@link #LIMIT} entries, those the session has not changed are dropped, with notice to the {@link Retirement}. What
 * remains grows only with the number of files the session itself changes. A dropped target may still be in use by a thread; whatever
 * state such a thread gives it reaches the one in the table too.
 *
 * <p>Thread-safe; readers take no lock.
 */
public final class Targets implements JarClassPath.Changed {
    /** Hears of targets that leave the table. */
    public interface Retirement {
        void retired(Target target);
    }

    /** Entries above which the table is swept. */
    static final int LIMIT = 65_536;
    /** In keys, before what a resource is part of; no path holds it. */
    private static final String WITHIN = "\0";
    static final Predicate[] PREDICATES = Predicate.values();

    private final Scope scope;
    private final Baseline baseline;
    private final Own own;
    private final Retirement retirement;
    private final int limit;
    private final ConcurrentHashMap<String, Target> table = new ConcurrentHashMap<>();
    /** Changed under the lock of the table; reset without, since that cannot fail. */
    private volatile boolean sweeps;
    private volatile int sweepAt;
    /** See {@link #broughtHere}; never false again. */
    private volatile boolean strangers;
    private volatile boolean trees;

    public Targets(Scope scope, Baseline baseline, Own own, Retirement retirement) {
        this(scope, baseline, own, retirement, LIMIT);
    }

    Targets(Scope scope, Baseline baseline, Own own, Retirement retirement, int limit) {
        this.scope = scope;
        this.baseline = baseline;
        this.own = own;
        this.retirement = retirement;
        this.limit = limit;
        sweepAt = limit;
    }

    /** The predicate of this ordinal. */
    public static Predicate predicate(int ordinal) {
        return PREDICATES[ordinal];
    }

    /** The manifest. */
    public Scope scope() {
        return scope;
    }

    public Baseline baseline() {
        return baseline;
    }

    public Own own() {
        return own;
    }

    /** The file with this real name. */
    public Target file(String real) {
        Target target = table.get(real);
        return target != null ? target : add(real, "FILE", real);
    }

    /** The executable, or process, with this name. */
    public Target process(String real) {
        String key = "PROCESS:".concat(real);
        Target target = table.get(key);
        return target != null ? target : add(key, "PROCESS", real);
    }

    /** The resource of another scheme than FILE: URL, ENV, NATIVE; {@code path} in a manifest's form. */
    public Target other(String scheme, String path) {
        String key = scheme.concat(":").concat(path);
        Target target = table.get(key);
        return target != null ? target : add(key, scheme, Names.ofText(path));
    }

    /**
     * The resource {@code path}, which is part of {@code whole} of the same scheme: what is declared for the whole is declared for it, and
     * what is denied the whole, or what its last names name ({@code a.b} is also {@code b}), is denied it.
     */
    public Target part(String scheme, String path, String whole) {
        String key = scheme.concat(":").concat(path).concat(WITHIN).concat(whole);
        Target target = table.get(key);
        if (target != null) {
            return target;
        }
        int names = 0;
        for (int dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
            names++;
        }
        Grant[] wider = new Grant[names + 1];
        for (int dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
            wider[names--] = scope.lookup(scheme, path.substring(dot + 1));
        }
        wider[0] = scope.lookup(scheme, whole);
        return put(key, new Target(scheme, Names.ofText(path), scope.lookup(scheme, path), 0, 0, wider, whole));
    }

    /** One like {@code target}, which is neither a file nor a program, but made by the session: apart from the table, where others may meet its name. */
    public Target made(Target target) {
        Target made = new Target(target.scheme(), target.real(), scope.lookup(target.scheme(), target.path()), 0, 0, null, null);
        made.change(Target.CREATED, 0);
        return made;
    }

    /** The file if it has been met. */
    Target known(String real) {
        return table.get(real);
    }

    int size() {
        return table.size();
    }

    /** All targets, in no order, as a snapshot that later changes do not disturb. For counts at the end; not for hooks. */
    public Target[] all() {
        return table.values().toArray(new Target[0]);
    }

    private Target add(String key, String scheme, String real) {
        boolean file = scheme.equals("FILE");
        Grant grant = scope.lookup(scheme, Names.text(real));
        int base = 0;
        if (file) {
            base = baseline.allowed(real) | own.allowed(real);
        } else if (scheme.equals("ENV") && grant.decide(Predicate.CONSUMES, false) == Scope.NONE && Baseline.isVariable(real)) {
            // unlike those of files these rows are no need of the JVM: a deny line goes before them
            base = Predicate.CONSUMES.bit();
        }
        return put(key, new Target(scheme, real, grant, base, file ? own.forbidden(real) : 0, null, null));
    }

    private Target put(String key, Target target) {
        Target other = table.putIfAbsent(key, target);
        if (other != null) {
            return other;
        }
        if (table.mappingCount() > sweepAt) {
            sweep(target);
        }
        return target;
    }

    private void sweep(Target justAdded) {
        synchronized (table) {
            if (sweeps) {
                return;
            }
            sweeps = true;
        }
        try {
            for (Iterator<Target> i = table.values().iterator(); i.hasNext();) {
                Target target = i.next();
                if (target != justAdded && !target.hasState()) {
                    i.remove();
                    target.change(Target.RETIRED, 0);
                    if (target.hasState()) {
                        keep(target);
                    }
                    retirement.retired(target);
                }
            }
            sweepAt = Math.max(limit, table.size() * 2);
        } finally {
            sweeps = false;
        }
    }

    /** Whether {@code target} lies in a directory that the session moved here whole, so that it came with it; then it counts as created. */
    public boolean cameWithTree(Target target) {
        if (!trees || strangers) {
            return false;
        }
        String real = target.real();
        for (int slash = real.lastIndexOf('/'); slash > 0; slash = real.lastIndexOf('/', slash - 1)) {
            Target above = table.get(real.substring(0, slash));
            if (above != null && above.isTree()) {
                change(target, Target.CREATED, 0);
                return true;
            }
        }
        return false;
    }

    /** Whether the session has changed {@code target}, or brought it here with a directory above it. */
    public boolean isChanged(Target target) {
        if (target.isChanged()) {
            return true;
        }
        String real = target.real();
        for (int slash = real.lastIndexOf('/'); slash > 0; slash = real.lastIndexOf('/', slash - 1)) {
            Target above = table.get(real.substring(0, slash));
            if (above != null && above.isChangedWithin()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the session itself has changed, made, moved or removed the file {@code real}, or brought it here with a directory above it. */
    public boolean isTouched(String real) {
        Target target = table.get(real);
        if (target != null && (target.isCreated() || target.isImaged() || target.isGone())) {
            return true;
        }
        for (int slash = real.lastIndexOf('/'); trees && slash > 0; slash = real.lastIndexOf('/', slash - 1)) {
            Target above = table.get(real.substring(0, slash));
            if (above != null && above.isTree()) {
                return true;
            }
        }
        return false;
    }

    /**
     * What may be done with {@code target} because it is on the class path by what the manifest of a jar there says, as a mask of
     * {@link Predicate#bit()}. For what would be denied otherwise: the first time it reads those jars.
     */
    public int onClassPath(Target target) {
        return target.isFile() ? baseline.allowedByJars(target.real(), this) : 0;
    }

    /**
     * Whether the manifest lets something be made, changed or moved at {@code name} or above it: then where it leads may be the program's own
     * choice, in this run or one before. {@code name}: absolute, as it was asked for, links and all.
     */
    public boolean isOpenToChange(String name) {
        int changes = Predicate.PROVIDES.bit() | Predicate.MUTATES.bit() | Predicate.RENAMES.bit() | Predicate.DELETES.bit();
        if (name.contains("/../") || name.endsWith("/..")) {
            return true;
        }
        for (int slash = name.length(); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
            if ((file(name.substring(0, slash)).allowed() & changes) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether the session has changed the file {@code name}, which may be relative or lead through links. */
    @Override
    public boolean isChanged(String name) {
        String real = baseline.realOf(name);
        return real == null || isTouched(real) || isChanged(file(real));
    }

    /** A child of the session has changed {@code target}, or the session has put the directory {@code target} here with all that lies in it. */
    public void changed(Target target) {
        change(target, Target.CHANGED, 0);
    }

    /** The pre-image of {@code target} is safe; {@code absent}: that nothing is there, which stays so until {@link #created}. */
    public void imaged(Target target, boolean absent) {
        change(target, absent ? Target.IMAGED | Target.GONE : Target.IMAGED, 0);
    }

    /** The session has brought {@code target} into being; {@code tree}: with all that lies in it. */
    public void created(Target target, boolean tree) {
        trees |= tree;
        change(target, Target.CREATED | (tree ? Target.TREE : 0), Target.GONE | Target.REPLACED | (tree ? 0 : Target.TREE));
    }

    /**
     * The session has given {@code target} its name, but did not make it. From here on directories that it moves whole, or has moved, may hold what it
     * has not made either.
     */
    public void broughtHere(Target target) {
        strangers = true;
        putBack(target);
    }

    /** The session has put another file in the place of the one that was there before it. */
    public void putBack(Target target) {
        change(target, 0, Target.GONE | Target.REPLACED);
    }

    /** The session has removed {@code target}; {@code replacing}: to put another in its place; {@code tree}: with all that lay in it. */
    public void gone(Target target, boolean replacing, boolean tree) {
        change(target, Target.GONE | (replacing && !target.isCreated() ? Target.REPLACED : 0), Target.CREATED | Target.TREE);
        if (tree) {
            String below = target.real().concat("/");
            for (Iterator<Target> i = table.values().iterator(); i.hasNext();) {
                Target t = i.next();
                if (t.real().startsWith(below) && t.hasState()) {
                    change(t, Target.GONE, Target.CREATED | Target.TREE);
                }
            }
        }
    }

    private void change(Target target, int set, int clear) {
        target.change(set, clear);
        keep(target);
    }

    /** Makes sure that the table's target has the state, should {@code target} have been dropped from it meanwhile. */
    private void keep(Target target) {
        String scheme = target.scheme();
        String key = scheme.equals("FILE") ? target.real()
                : scheme.concat(":").concat(scheme.equals("PROCESS") ? target.real() : target.path())
                        .concat(target.whole() == null ? "" : WITHIN.concat(target.whole()));
        Target kept = table.putIfAbsent(key, target);
        if (kept == null) {
            target.change(0, Target.RETIRED);
        } else if (kept != target) {
            int state = target.state() & ~Target.RETIRED;
            kept.change(state, ~state);
        }
    }
}
