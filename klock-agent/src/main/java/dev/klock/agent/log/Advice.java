package dev.klock.agent.log;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lines of advice that can be copied into a shell and then mean what was meant: the same home, the same path. */
public final class Advice {
    private static final String KLOCK = "java -jar klock.jar ";
    /** What stands for itself in every shell; the first character is no dash and no tilde. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./+:@%][A-Za-z0-9_./+:@%=,-]*");
    private static final Pattern WITHOUT_HOME = Pattern.compile("java -jar klock\\.jar (recover|undo|diff|sessions|backups prune)\\b");

    private Advice() {
    }

    /**
     * The verb for a session.
     *
     * @param verb with its flags
     * @param home what was given as {@code --home}; null if nothing was
     * @param path what was given as PATH; null if nothing was
     */
    public static String line(String verb, String session, String home, String path) {
        StringBuilder line = new StringBuilder(KLOCK).append(verb).append(home(home)).append(" --session ").append(quoted(session));
        if (path != null) {
            line.append(path.startsWith("-") ? " -- " : " ").append(quoted(path));
        }
        return line.toString();
    }

    /** {@code text} of a part of klock that knows no {@code --home}, with it in each advice; as it is if that is null. */
    public static String at(String home, String text) {
        return home == null || text == null || !text.contains(KLOCK) ? text : WITHOUT_HOME.matcher(text).replaceAll("$0" + Matcher.quoteReplacement(home(home)));
    }

    private static String home(String home) {
        return home == null ? "" : home.startsWith("-") ? " --home=" + quoted(home) : " --home " + quoted(home);
    }

    /** One word of a shell's; with a control character, of bash's and its like. */
    public static String quoted(String word) {
        if (PLAIN.matcher(word).matches()) {
            return word;
        }
        if (word.chars().noneMatch(Character::isISOControl)) {
            return "'" + word.replace("'", "'\\''") + "'";
        }
        StringBuilder quoted = new StringBuilder("$'");
        for (char c : word.toCharArray()) {
            if (c == '\'' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < 0x20 || c == 0x7f) {
                quoted.append(String.format("\\x%02x", (int) c));
            } else if (Character.isISOControl(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('\'').toString();
    }
}
