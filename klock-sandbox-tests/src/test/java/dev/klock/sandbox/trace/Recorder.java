package dev.klock.sandbox.trace;

/**
 * Which rows were entered, by any thread, since the last {@link #clear()}. Traced JDK methods call it, so it is on the boot class path
 * then and uses nothing but an array; without the tracer nothing is ever entered.
 */
public final class Recorder {
    private static final boolean[] ENTERED = new boolean[1024];

    private Recorder() {
    }

    public static void enter(int row) {
        ENTERED[row] = true;
    }

    public static void clear() {
        for (int i = 0; i < ENTERED.length; i++) {
            ENTERED[i] = false;
        }
    }

    /** The rows entered, as a JSON array. */
    public static String entered() {
        StringBuilder rows = new StringBuilder("[");
        for (int i = 0; i < ENTERED.length; i++) {
            if (ENTERED[i]) {
                rows.append(rows.length() == 1 ? "" : ",").append(i);
            }
        }
        return rows.append(']').toString();
    }
}
