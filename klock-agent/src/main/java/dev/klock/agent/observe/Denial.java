package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.resolve.Names;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Scope;
import java.util.List;

/** An access that is outside the manifest. Immutable; its texts are made only when asked for. */
public final class Denial {
    private static final int NEAREST = 3;

    private final Op op;
    private final Predicate predicate;
    private final Target target;
    private final boolean tree;
    private final boolean late;
    private final String requested;
    private final Scope scope;
    private final List<Line> lines;

    Denial(Op op, Predicate predicate, Target target, boolean tree, boolean late, String requested, Scope scope, List<Line> lines) {
        this.op = op;
        this.predicate = predicate;
        this.target = target;
        this.tree = tree;
        this.late = late;
        this.requested = requested;
        this.scope = scope;
        this.lines = lines;
    }

    public Op op() {
        return op;
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

    /** The name as the program gave it; null where it gave none, as with an open descriptor. */
    public String requested() {
        return requested;
    }

    /** {@link Target#decide}'s answer: none, a deny line, or {@link Target#PROTECTED}. */
    public int decision() {
        return target.decide(predicate);
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

    /** What the manifest names for the target: {@code CONSUMES, PROVIDES} in the core's order, or {@code nothing}. */
    public String declared() {
        int declared = target.declared();
        StringBuilder text = new StringBuilder();
        Predicate[] all = Predicate.values();
        for (int i = 0; i < all.length; i++) {
            if ((declared & all[i].bit()) != 0) {
                text.append(text.length() == 0 ? "" : ", ").append(all[i].name());
            }
        }
        return text.length() == 0 ? "nothing" : text.toString();
    }

    /**
     * The message of the {@code ScopeViolationError} (K6-2, UX): attempted and declared, then a line that would allow it, then the
     * nearest declared scopes.
     */
    public String message() {
        StringBuilder text = new StringBuilder(200);
        text.append("Agent attempted ").append(predicate.name()).append(" on ").append(resource());
        int decision = decision();
        if (decision == Target.PROTECTED) {
            return text.append(" but that is klock's own and no manifest gives it away.").toString();
        }
        if (Scope.isDenied(decision)) {
            return text.append(" but the manifest denies it").append(line(Scope.denyLine(decision))).append('.').toString();
        }
        String declared = declared();
        text.append(declared.equals("nothing") ? " but declared nothing." : " but only declared " + declared + '.');
        if (requested != null && !requested.equals(target.path())) {
            text.append("\n  asked for as: ").append(Names.shown(requested));
        }
        text.append("\n  to allow it:  ").append(predicate.name()).append(' ').append(resource());
        int[] nearest = scope.nearest(target.scheme(), target.path(), NEAREST);
        for (int i = 0; i < nearest.length; i++) {
            if (nearest[i] < lines.size()) {
                text.append(i == 0 ? "\n  declared near: " : ", ").append(Names.shown(lines.get(nearest[i]).toString()));
            }
        }
        return text.toString();
    }

    private static String line(int index) {
        return " (deny entry " + (index + 1) + ')';
    }

    @Override
    public String toString() {
        return predicate.name() + ' ' + resource();
    }
}
