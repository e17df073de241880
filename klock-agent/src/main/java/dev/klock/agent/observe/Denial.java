package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Scope;
import java.util.Locale;

/** An access that is outside the manifest. Immutable. */
public final class Denial {
    /** Before the name of a manifest's hook. */
    public static final String HOOK = "hook:";

    private final Op op;
    private final Predicate predicate;
    private final Target target;
    private final boolean tree;
    /** For a tree: {@link Scope#decideTree}'s answer. */
    private final int below;
    private final boolean late;
    private final String requested;
    private final String hook;
    private final boolean withoutEffect;

    Denial(Op op, Predicate predicate, Target target, boolean late, String requested) {
        this(op, predicate, target, false, Scope.NONE, late, requested, null, false);
    }

    private Denial(Op op, Predicate predicate, Target target, boolean tree, int below, boolean late, String requested, String hook, boolean withoutEffect) {
        this.hook = hook;
        this.withoutEffect = withoutEffect;
        this.op = op;
        this.predicate = predicate;
        this.target = target;
        this.tree = tree;
        this.below = below;
        this.late = late;
        this.requested = requested;
    }

    /** Of everything at and below {@code root}, about which {@code scope} is asked. */
    static Denial ofTree(Op op, Predicate predicate, Target root, Scope scope, String requested) {
        return new Denial(op, predicate, root, true, scope.decideTree(predicate, root.path(), false), false, requested, null, false);
    }

    /** @param hook the name of the manifest's hook that observed it */
    static Denial ofCall(Predicate predicate, Target target, String hook) {
        return new Denial(Op.LIBRARY_CALL, predicate, target, false, Scope.NONE, false, null, hook, false);
    }

    /** What is there already cannot be made, and what is not cannot be removed. */
    static Denial withoutEffect(Op op, Predicate predicate, Target target, String requested) {
        return new Denial(op, predicate, target, false, Scope.NONE, false, requested, null, true);
    }

    public Op op() {
        return op;
    }

    /** What logs call the operation: {@code open_read}, or the manifest's hook: {@code hook:flags}. */
    public String operation() {
        return hook != null ? HOOK.concat(hook) : op.name().toLowerCase(Locale.ROOT);
    }

    public Predicate predicate() {
        return predicate;
    }

    /** What it would have touched. */
    public Target target() {
        return target;
    }

    /** Whether it is about everything at and below {@link #target()} (K6-7). */
    public boolean isTree() {
        return tree;
    }

    /** Whether the effect has already happened: the name led elsewhere by the time the JDK opened it (D06). */
    public boolean isLate() {
        return late;
    }

    /** Whether it would change nothing, because of what is there or is not. */
    public boolean isWithoutEffect() {
        return withoutEffect;
    }

    /** The name as the program gave it; null where it gave none, as with an open descriptor. */
    public String requested() {
        return requested;
    }

    /** {@link Target#decide}'s answer: none, a deny line, or {@link Target#PROTECTED}; for a tree that may be a deny line below. */
    public int decision() {
        int own = target.decide(predicate);
        return Scope.isDenied(below) && (own == Scope.NONE || Scope.isAllowed(own)) ? below : own;
    }

    /** Whether the target is klock's own, which no mode gives away. */
    public boolean isProtected() {
        return decision() == Target.PROTECTED;
    }

    /** The resource in a manifest's form, control characters escaped. */
    public String resource() {
        String shown = target.shown();
        return !tree ? shown : shown.endsWith("/") ? shown + "**" : shown + "/**";
    }

    @Override
    public String toString() {
        return predicate.name() + ' ' + resource();
    }
}
