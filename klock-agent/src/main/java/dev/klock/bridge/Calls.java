package dev.klock.bridge;

/**
 * What woven methods of libraries call, by way of {@code java.lang.KlockCalls}. Defined into the boot loader only where a manifest has
 * hooks; it has no state.
 */
public interface Calls {
    /**
     * A woven method begins. Returns, and the method goes on, or throws {@code ScopeViolationError} and nothing of it happens.
     *
     * @param site which of the hooks' methods it was taken for when it was woven
     * @param type the class that the method stands in
     * @param method its name
     * @param self what it is called on; null if it is static
     * @param arguments neither kept nor changed
     * @return what {@link #exit} is to be given when the method ends; null: nothing is to be done then
     */
    Object enter(int site, String type, String method, Object self, Object[] arguments);

    /** The method ends; {@code thrown} is what it throws, null if it returns. Never throws. */
    void exit(Object token, Throwable thrown);
}
