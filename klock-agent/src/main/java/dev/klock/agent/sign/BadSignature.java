package dev.klock.agent.sign;

/** Why bytes are not vouched for, or a key is none; the message is one line for people. */
public final class BadSignature extends Exception {
    private static final long serialVersionUID = 1L;

    BadSignature(String message) {
        super(message);
    }
}
