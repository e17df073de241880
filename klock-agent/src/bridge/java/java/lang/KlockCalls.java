package java.lang;

import dev.klock.bridge.Calls;

/**
 * The one class that woven methods of libraries call. It lives in {@code java.lang} because that package alone is seen from every class:
 * each module reads java.base, and no class loader, however it isolates what it loads (OSGi), may answer for {@code java.*} itself. Defined
 * only where a manifest has hooks. Reflection does not list its members, and it takes its one reference once.
 */
public final class KlockCalls {
    /** How many frames {@link #room} asks for, each of about 100 bytes when compiled and 300 when not. */
    private static final int FRAMES = 256;

    private static Calls calls;
    /** The JVM copies a class for whoever weaves it; few are larger. */
    private static final int HEAP_BYTES = 1 << 16;
    /** Written and never read, so that nothing of {@link #room} is optimised away. */
    private static volatile long touched;
    private static volatile byte[] taken;

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

    /**
     * Called before a class is defined: to weave it takes stack and heap. Where there is too little the error comes here, as it could have come anyhow,
     * and the class is loaded another time; had it come later, the class would have stayed without its hooks.
     *
     * @throws StackOverflowError the calling thread has too little stack left
     * @throws OutOfMemoryError there is too little heap
     */
    public static void room() {
        touched = touch(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8);
        taken = new byte[HEAP_BYTES];
        taken = null;
    }

    /** All eight are needed after the call, so they are kept on the stack. */
    private static long touch(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? a : (touch(frames - 1, b, c, d, e, f, g, h, a) ^ a) + (b ^ c) + (d ^ e) + (f ^ g) + h;
    }

    /** See {@link Calls#exit}. */
    public static void exit(Object token, Throwable thrown) {
        calls.exit(token, thrown);
    }
}
