package sums;

/** What Maven builds under klock. */
public final class Sum {
    private Sum() {
    }

    public static int of(int a, int b) {
        return a + b;
    }
}
