package dev.klock.agent.library.sql;

import java.util.ArrayList;
import java.util.List;

/** What databases read in different ways before they parse: where strings, quoted names and comments end. */
final class Lexis {
    private Lexis() {
    }

    /** Whether another database could see other statements in it than the parser does. {@code mysql}: it will be MySQL or MariaDB. */
    static boolean isAmbiguous(String sql, boolean mysql) {
        if (sql.indexOf('\0') >= 0 || mysql && sql.indexOf('#') >= 0) {
            return true;
        }
        int length = sql.length();
        for (int i = 0; i < length; i++) {
            char c = sql.charAt(i);
            if (isQuote(c)) {
                if (c == '\'' && isChosenQuote(sql, i)) {
                    return true;
                }
                // a backslash keeps the quote behind it from ending the string in MySQL, and in PostgreSQL's E''
                int end = i + 1;
                while (end < length && sql.charAt(end) != c) {
                    if (sql.charAt(end) == '\\' && (mysql || end + 1 == length || isQuote(sql.charAt(end + 1)))) {
                        return true;
                    }
                    end++;
                }
                if (end == length) {
                    return true;
                }
                i = end;
            } else if (c == '[') {
                // an index, or a quoted name of SQL Server, Access and SQLite
                for (int k = i + 1; k < length && sql.charAt(k) != ']'; k++) {
                    if (isQuote(sql.charAt(k)) || sql.charAt(k) == ';' || sql.startsWith("--", k) || sql.startsWith("/*", k)) {
                        return true;
                    }
                }
            } else if (sql.startsWith("/*", i)) {
                int end = sql.indexOf("*/", i + 2);
                // MySQL carries out /*! and /*M!; PostgreSQL's comments nest
                if (end < 0 || sql.startsWith("/*!", i) || sql.startsWith("/*M!", i) || sql.substring(i + 2, end).contains("/*")) {
                    return true;
                }
                i = end + 1;
            } else if (sql.startsWith("--", i)) {
                // to MySQL it is a comment only before a blank
                if (mysql && i + 2 < length && sql.charAt(i + 2) > ' ') {
                    return true;
                }
                int end = i;
                while (end < length && sql.charAt(end) != '\n') {
                    // some end a line there, others do not
                    if (sql.charAt(end) == '\r' && (end + 1 == length || sql.charAt(end + 1) != '\n')) {
                        return true;
                    }
                    end++;
                }
                i = end;
            } else if (c == '/' && sql.startsWith("//", i) || c == '$' && isTag(sql, i) || isOddBlank(c)) {
                return true;
            }
        }
        return false;
    }

    /** A blank to some, the end of the text or part of a name to others. */
    private static boolean isOddBlank(char c) {
        return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c > '~' && !Character.isLetterOrDigit(c) && !Character.isSurrogate(c);
    }

    /** Oracle's strings in quotes of one's choice: {@code q'[...]'}, {@code nq'!...!'}. */
    private static boolean isChosenQuote(String sql, int quote) {
        int at = quote - 1;
        if (at < 0 || Character.toLowerCase(sql.charAt(at)) != 'q') {
            return false;
        }
        at -= at > 0 && Character.toLowerCase(sql.charAt(at - 1)) == 'n' ? 2 : 1;
        return at < 0 || !Character.isJavaIdentifierPart(sql.charAt(at));
    }

    /** PostgreSQL's strings between tags: {@code $$...$$}, {@code $a$...$a$}. */
    private static boolean isTag(String sql, int dollar) {
        int end = dollar + 1;
        while (end < sql.length() && sql.charAt(end) != '$' && Character.isJavaIdentifierPart(sql.charAt(end))) {
            end++;
        }
        return end < sql.length() && sql.charAt(end) == '$';
    }

    private static boolean isQuote(char c) {
        return c == '\'' || c == '"' || c == '`';
    }

    /** How often {@code word} stands in a text that is not ambiguous, strings, quoted names and comments apart. */
    static int count(String sql, String word) {
        int count = 0;
        int length = sql.length();
        for (int i = 0; i < length; i++) {
            char c = sql.charAt(i);
            int behind = behind(sql, i);
            if (behind > i) {
                i = behind - 1;
            } else if (Character.isJavaIdentifierStart(c)) {
                int to = i + 1;
                while (to < length && Character.isJavaIdentifierPart(sql.charAt(to))) {
                    to++;
                }
                count += to - i == word.length() && sql.regionMatches(true, i, word, 0, to - i) ? 1 : 0;
                i = to - 1;
            }
        }
        return count;
    }

    /** The names in quotes that have a dot in them, without the quotes, of a text that is not ambiguous; the parser takes them for several names. */
    static List<String> dotted(String sql) {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < sql.length(); i++) {
            char c = sql.charAt(i);
            int behind = c == '[' ? end(sql.indexOf(']', i), sql.length()) : behind(sql, i);
            if (behind > i) {
                String name = sql.substring(i + 1, Math.max(i + 1, behind - (c == '[' ? 0 : 1)));
                if ((c == '"' || c == '`' || c == '[') && name.indexOf('.') >= 0) {
                    found.add(name);
                }
                i = behind - 1;
            }
        }
        return found;
    }

    /** Behind the string, quoted name or comment that begins at {@code i}; {@code i} if none does. */
    private static int behind(String sql, int i) {
        char c = sql.charAt(i);
        int length = sql.length();
        if (isQuote(c)) {
            return Math.min(end(sql.indexOf(c, i + 1), length) + 1, length);
        }
        if (sql.startsWith("/*", i)) {
            return Math.min(end(sql.indexOf("*/", i + 2), length) + 2, length);
        }
        return sql.startsWith("--", i) ? Math.min(end(sql.indexOf('\n', i), length) + 1, length) : i;
    }

    private static int end(int found, int length) {
        return found < 0 ? length : found;
    }

    /** How deep brackets nest at most. */
    static int depth(String sql) {
        int depth = 0;
        int most = 0;
        for (int i = 0; i < sql.length(); i++) {
            char c = sql.charAt(i);
            if (c == '(') {
                depth++;
                most = Math.max(most, depth);
            } else if (c == ')') {
                depth--;
            }
        }
        return most;
    }
}
