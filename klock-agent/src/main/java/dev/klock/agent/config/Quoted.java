package dev.klock.agent.config;

/** What somebody wrote, as it is shown in a message. */
final class Quoted {
    private Quoted() {
    }

    /** {@code text} in quotes, cut when long, so that the line stays one. */
    static String of(String text) {
        return text.length() <= 80 ? "'" + text + "'" : "'" + text.substring(0, 77) + "...'";
    }
}
