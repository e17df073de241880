package dev.klock;

/**
 * Thrown in the program's thread, before the effect, when an access is outside what the session's manifest declares (K6-2).
 *
 * <p>It is an {@link Error} because libraries catch exceptions and go on; catching this one changes nothing either: in strict mode
 * the session has already ended when it is thrown.
 *
 * <p>Under {@code -javaagent:klock.jar} this class belongs to the boot loader, so that programs on the class path can catch it by
 * type. It refers to nothing outside {@code java.lang}.
 */
public final class ScopeViolationError extends Error {
    private static final long serialVersionUID = 1L;

    /** A denial; {@code message} names the attempted predicate, the resource, and what was declared. */
    public ScopeViolationError(String message) {
        super(message);
    }

    /**
     * A denial whose description must stay cheap: with {@code withStackTrace} false no stack is captured, so that a storm of denials
     * costs little to report. What is denied never depends on it.
     */
    public ScopeViolationError(String message, boolean withStackTrace) {
        super(message, null, false, withStackTrace);
    }
}
