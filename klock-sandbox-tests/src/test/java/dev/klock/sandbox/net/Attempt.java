package dev.klock.sandbox.net;

import java.util.concurrent.Callable;

/** What a step of a subject came to, in one line. */
final class Attempt {
    private Attempt() {
    }

    /** What {@code step} answers or, if it throws, each cause's class and first line of message. */
    static String of(Callable<String> step) {
        try {
            return step.call();
        } catch (Throwable thrown) {
            StringBuilder chain = new StringBuilder();
            for (Throwable t = thrown; t != null; t = t.getCause()) {
                chain.append(chain.length() == 0 ? "" : " <- ").append(t.getClass().getSimpleName()).append(' ')
                        .append(String.valueOf(t.getMessage()).lines().findFirst().orElse(""));
            }
            return chain.toString();
        }
    }
}
