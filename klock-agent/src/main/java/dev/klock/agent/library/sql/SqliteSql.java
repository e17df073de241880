package dev.klock.agent.library.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a text of SQLite's SQL makes its native code open beside the database: {@code ATTACH}, {@code VACUUM INTO}, {@code load_extension}, and
 * temporary files where {@code PRAGMA temp_store_directory} says.
 * Texts are cut into words exactly as SQLite does it, which unlike other databases knows no escapes but doubled quotes.
 */
public final class SqliteSql {
    /**
     * Something that is opened.
     *
     * @param name of the file, as the text has it; null for one that cannot be told from the text, or a library
     * @param made as a new file, however the database is opened
     */
    public record Opened(String name, boolean made) {
    }

    private static final char WORD = 'w';
    private static final char STRING = 's';
    /** A name in quotes: as good as a string where a file is named. */
    private static final char QUOTED = 'q';
    private static final char OTHER = 'o';
    /** The mark at the beginning of some files: a blank, if it does not stand within a word. */
    private static final char BYTE_ORDER = '\uFEFF';

    private static final String TEMPORARY = "TEMP_STORE_DIRECTORY";

    private final String sql;
    private int at;
    /** The kinds of a statement's words, and the words. */
    private final StringBuilder kinds = new StringBuilder();
    private final List<String> words = new ArrayList<>();

    private SqliteSql(String sql) {
        this.sql = sql;
    }

    /** What executing {@code sql} opens. */
    public static List<Opened> opened(String sql) {
        String upper = sql.toUpperCase(Locale.ROOT);
        if (!upper.contains("ATTACH") && !upper.contains("VACUUM") && !upper.contains("LOAD_EXTENSION") && !upper.contains(TEMPORARY)) {
            return List.of();
        }
        List<Opened> opened = new ArrayList<>();
        SqliteSql reader = new SqliteSql(sql);
        while (reader.at < sql.length()) {
            reader.statement();
            reader.addTo(opened);
        }
        return opened;
    }

    private void addTo(List<Opened> opened) {
        for (int i = 0; i + 1 < words.size(); i++) {
            if (kinds.charAt(i) != STRING && words.get(i).equalsIgnoreCase("load_extension") && words.get(i + 1).equals("(")) {
                opened.add(new Opened(null, false));
            }
        }
        int first = is(0, "EXPLAIN") ? is(1, "QUERY") ? 3 : 1 : 0;
        if (is(first, "ATTACH")) {
            int name = is(first + 1, "DATABASE") ? first + 2 : first + 1;
            boolean told = name < words.size() && kinds.charAt(name) != OTHER && is(name + 1, "AS");
            opened.add(new Opened(told ? words.get(name) : null, false));
        } else if (is(first, "VACUUM")) {
            int into = is(first + 1, "INTO") ? first + 1 : first + 2;
            if (is(into, "INTO")) {
                boolean told = into + 2 == words.size() && kinds.charAt(into + 1) == STRING;
                opened.add(new Opened(told ? words.get(into + 1) : null, true));
            }
        } else if (is(first, "PRAGMA") && words.stream().anyMatch(TEMPORARY::equalsIgnoreCase)) {
            opened.add(new Opened(null, true));
        }
    }

    private boolean is(int index, String word) {
        return index < words.size() && kinds.charAt(index) == WORD && words.get(index).equalsIgnoreCase(word);
    }

    /** The words up to the next semicolon. */
    private void statement() {
        kinds.setLength(0);
        words.clear();
        int length = sql.length();
        while (at < length) {
            char c = sql.charAt(at);
            if (c == ';') {
                at++;
                return;
            }
            if (sql.startsWith("--", at)) {
                at = behind("\n", at);
            } else if (sql.startsWith("/*", at)) {
                at = behind("*/", at + 2);
            } else if (c == '\'' || c == '"' || c == '`' || c == '[') {
                add(c == '\'' ? STRING : QUOTED, quoted(c == '[' ? ']' : c));
            } else if (isOfAWord(c) && c != BYTE_ORDER) {
                int from = at;
                while (at < length && isOfAWord(sql.charAt(at))) {
                    at++;
                }
                add(c >= '0' && c <= '9' || c == '$' ? OTHER : WORD, sql.substring(from, at));
            } else {
                at++;
                if (c > ' ' && c != BYTE_ORDER) {
                    add(OTHER, String.valueOf(c));
                }
            }
        }
    }

    private void add(char kind, String word) {
        kinds.append(kind);
        words.add(word);
    }

    private int behind(String end, int from) {
        int found = sql.indexOf(end, from);
        return found < 0 ? sql.length() : found + end.length();
    }

    private String quoted(char end) {
        StringBuilder b = new StringBuilder();
        for (at++; at < sql.length(); at++) {
            char c = sql.charAt(at);
            if (c == end) {
                at++;
                if (end == ']' || at >= sql.length() || sql.charAt(at) != end) {
                    break;
                }
            }
            b.append(c);
        }
        return b.toString();
    }

    private static boolean isOfAWord(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c > 127;
    }
}
