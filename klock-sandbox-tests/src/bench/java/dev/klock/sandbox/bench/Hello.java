package dev.klock.sandbox.bench;

/** The least program there is. */
public final class Hello {
    private Hello() {
    }

    public static void main(String[] arguments) {
        System.out.println("hello, world");
    }
}
