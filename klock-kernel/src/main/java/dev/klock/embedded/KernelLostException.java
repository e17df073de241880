package dev.klock.embedded;

/** What a kernel, or several in common, knew is not known any more, or not all of it: nobody can tell who holds what. */
public final class KernelLostException extends Exception {
    private static final long serialVersionUID = 1;

    public KernelLostException(String message, Throwable cause) {
        super(message, cause);
    }
}
