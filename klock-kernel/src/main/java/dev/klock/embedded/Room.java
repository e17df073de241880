package dev.klock.embedded;

/**
 * Looks, before something is begun that must not end in its middle, whether there is stack and heap for it. Where there is none the error
 * comes here, where nothing has been changed.
 */
final class Room {
    /**
     * How many calls of {@link #touch}, each of about 100 bytes of stack when compiled and 300 when not, one above the other. Measured on 17 and 25 with
     * dives to the end of a stack: with 32 each of 600 ended the kernel, with 48 none of those in this JVM and one of 200 of those that are shared.
     */
    static final int FOR_COMMAND = 96;
    static final int FOR_SHARED_COMMAND = 192;
    /** What a command allocates is below it, unless it is about hundreds of resources. */
    private static final int HEAP_BYTES = 1 << 16;

    /** Written and never read, so that nothing of this is optimised away. */
    private static volatile long touched;
    private static volatile byte[] taken;

    private Room() {
    }

    /** @throws StackOverflowError the calling thread has no stack left for so many frames */
    static void ensure(int frames) {
        touched = touch(frames, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** @throws OutOfMemoryError there are no 64 KB of heap */
    static void ensureHeap() {
        taken = new byte[HEAP_BYTES];
        taken = null;
    }

    /** All eight are needed after the call, so they are kept on the stack. */
    private static long touch(int frames, long a, long b, long c, long d, long e, long f, long g, long h) {
        return frames == 0 ? a : (touch(frames - 1, b, c, d, e, f, g, h, a) ^ a) + (b ^ c) + (d ^ e) + (f ^ g) + h;
    }
}
