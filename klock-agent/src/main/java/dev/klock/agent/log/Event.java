package dev.klock.agent.log;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;

/**
 * One observed access and what was decided about it. Immutable; the log gives it its number and session.
 *
 * @param timeMs when, in milliseconds since 1970
 * @param agentId whose; null for the session's own agent
 * @param thread the name of the thread that tried
 * @param op the hook's operation in lower case, such as {@code open_read}; null if there is none
 * @param predicate what was attempted
 * @param resource on what, resolved
 * @param requested the name as the program gave it; null if it is the resource's
 * @param decision what was decided
 * @param decidedBy the manifest line ({@code klock.yaml:7}), {@code baseline}, {@code lease} or {@code mode}
 * @param caller the first frame outside the JDK, null if not known
 * @param count how many accesses this stands for, from 1
 * @param note what else is to be known of it, null if nothing
 * @param stack whence it was tried, as of a throwable; null if that is not to be told. Nobody may change it
 */
public record Event(long timeMs, String agentId, String thread, String op, Predicate predicate, Resource resource, String requested,
        Decision decision, String decidedBy, String caller, long count, String note, StackTraceElement[] stack) {
    /** {@link #decidedBy} of what a lease allows that was added to the manifest's. */
    public static final String LEASE = "lease";

    /** {@code count} accesses, and what is to be known of them. */
    public Event(long timeMs, String agentId, String thread, String op, Predicate predicate, Resource resource, String requested,
            Decision decision, String decidedBy, String caller, long count, String note) {
        this(timeMs, agentId, thread, op, predicate, resource, requested, decision, decidedBy, caller, count, note, null);
    }

    /** {@code count} accesses of which no more is to be known. */
    public Event(long timeMs, String agentId, String thread, String op, Predicate predicate, Resource resource, String requested,
            Decision decision, String decidedBy, String caller, long count) {
        this(timeMs, agentId, thread, op, predicate, resource, requested, decision, decidedBy, caller, count, null, null);
    }

    /** One access. */
    public Event(long timeMs, String agentId, String thread, String op, Predicate predicate, Resource resource, String requested,
            Decision decision, String decidedBy, String caller) {
        this(timeMs, agentId, thread, op, predicate, resource, requested, decision, decidedBy, caller, 1, null, null);
    }

    /** The same, to be kept for longer. */
    Event withoutStack() {
        return stack == null ? this : new Event(timeMs, agentId, thread, op, predicate, resource, requested, decision, decidedBy, caller, count, note, null);
    }

    /** Whether {@code other} is the same access decided the same way, whenever, by whichever thread and code. */
    boolean repeats(Event other) {
        return predicate == other.predicate && decision == other.decision && resource.equals(other.resource) && same(op, other.op)
                && same(agentId, other.agentId) && same(requested, other.requested) && same(decidedBy, other.decidedBy)
                && same(note, other.note);
    }

    int repeatHash() {
        return (resource.hashCode() * 31 + predicate.ordinal()) * 31 + decision.ordinal();
    }

    private static boolean same(String a, String b) {
        return a == null ? b == null : a.equals(b);
    }
}
