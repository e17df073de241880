package java.lang;

import dev.klock.bridge.Calls;

/**
 * The one class that woven methods of libraries call. It lives in {@code java.lang} because that package alone is seen from every class:
 * each module reads java.base, and no class loader, however it isolates what it loads (OSGi), may answer for {@code java.*} itself. Defined
 * only where a manifest has hooks. Reflection does not list its members, and it takes its one reference once.
 */
public final class KlockCalls {
    private static Calls calls;

    private KlockCalls() {
    }

    /** Called by klock before anything is woven; later calls change nothing. */
    public static synchronized void connect(Calls newCalls) {
        if (calls == null) {
            calls = newCalls;
        }
    }

    /** See {@link Calls#enter}. */
    public static Object enter(int site, String type, String method, Object self, Object[] arguments) {
        return calls == null ? null : calls.enter(site, type, method, self, arguments);
    }

    /** See {@link Calls#exit}. */
    public static void exit(Object token, Throwable thrown) {
        calls.exit(token, thrown);
    }
}
