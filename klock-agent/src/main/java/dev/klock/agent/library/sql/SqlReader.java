package dev.klock.agent.library.sql;

import dev.klock.kernel.Predicate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.sf.jsqlparser.parser.CCJSqlParser;
import net.sf.jsqlparser.parser.ParseException;
import net.sf.jsqlparser.parser.StringProvider;
import net.sf.jsqlparser.statement.Statements;

/**
 * Reads SQL of any dialect.
 *
 * <p>What is not surely understood is opaque: {@code MUTATES} on the whole database. That is not only what the parser refuses. Databases
 * differ in where a string or a comment ends, and a text that one of them reads as two statements may be one harmless string to the parser;
 * so whatever is read differently by some database is opaque, too ({@link Lexis}).
 *
 * <p>A text with several statements does all of them. Thread-safe; keeps what it has read last.
 */
public final class SqlReader {
    private static final List<SqlTriple> OPAQUE = List.of(SqlTriple.whole(Predicate.MUTATES));
    /** Longer texts are not read: parsing takes time that grows with them. */
    static final int MAX_LENGTH = 200_000;
    /** The parser's second way, which understands more, may take time exponential in the depth of brackets. */
    private static final int MAX_COMPLEX_LENGTH = 20_000;
    private static final int MAX_COMPLEX_DEPTH = 8;
    /** Deeper brackets are not read: the parser calls itself for each, and starts anew where the stack ends. */
    private static final int MAX_DEPTH = 200;
    private static final int KEPT = 512;
    private static final int KEPT_LENGTH = 4096;

    /** Begins and ends transactions; touches no data by itself. */
    private static final Pattern TRANSACTION = Pattern.compile("\\s*(?:BEGIN(?:\\s+(?:DEFERRED|IMMEDIATE|EXCLUSIVE))?(?:\\s+(?:TRANSACTION|WORK))?"
            + "|START\\s+TRANSACTION|COMMIT(?:\\s+(?:TRANSACTION|WORK))?|END(?:\\s+TRANSACTION)?|ROLLBACK(?:\\s+(?:TRANSACTION|WORK))?"
            + "|(?:SAVEPOINT|RELEASE(?:\\s+SAVEPOINT)?|ROLLBACK\\s+TO(?:\\s+SAVEPOINT)?)\\s+\\w+)\\s*;?\\s*", Pattern.CASE_INSENSITIVE);
    /** SQLite's questions about the database. With an argument some others would change it. */
    private static final Pattern TELLING_PRAGMA = Pattern.compile("\\s*PRAGMA\\s+(?:\\w+\\.)?(?:(?:table_info|table_xinfo|index_list|index_info|index_xinfo"
            + "|foreign_key_list)\\s*\\(\\s*[\\w'\"]+\\s*\\)|table_list|database_list|collation_list|function_list|compile_options|user_version"
            + "|schema_version|application_id|encoding|page_count|page_size|freelist_count|journal_mode|foreign_keys)\\s*;?\\s*", Pattern.CASE_INSENSITIVE);

    /** H2's MERGE, which replaces rows of the same key, and its older ways of INSERT. */
    private static final Pattern MERGE_ROWS = Pattern.compile("(?is)\\s*MERGE\\s+INTO\\s+([\\w.\"]+\\s*(?:\\([^()]*\\)\\s*)?)(?:KEY\\s*\\([^()]*\\)\\s*)?((?:VALUES|SELECT)\\b.*)");
    private static final Pattern QUERY_PLAN = Pattern.compile("(?i)\\s*EXPLAIN\\s+QUERY\\s+PLAN\\s");

    private final Map<String, List<SqlTriple>> kept = new Kept();

    /** What executing {@code sql} does; {@code url} is the connection's, for what only one database does. */
    public List<SqlTriple> read(String sql, String url) {
        Dialect dialect = Dialect.of(url);
        String key = dialect.name().concat(sql);
        synchronized (kept) {
            List<SqlTriple> known = kept.get(key);
            if (known != null) {
                return known;
            }
        }
        List<SqlTriple> triples = read(sql, dialect);
        if (sql.length() <= KEPT_LENGTH) {
            synchronized (kept) {
                kept.put(key, triples);
            }
        }
        return triples;
    }

    private static List<SqlTriple> read(String sql, Dialect dialect) {
        if (sql.length() > MAX_LENGTH || Lexis.depth(sql) > MAX_DEPTH || Lexis.isAmbiguous(sql, dialect == Dialect.MYSQL)) {
            return OPAQUE;
        }
        if (sql.isBlank() || TRANSACTION.matcher(sql).matches()) {
            return List.of();
        }
        if (TELLING_PRAGMA.matcher(sql).matches()) {
            return List.of(SqlTriple.whole(Predicate.CONSUMES));
        }
        try {
            Collection<SqlTriple> all = new ArrayList<>();
            Statements statements = parse(usual(sql), dialect == Dialect.SQL_SERVER);
            int selects = 0;
            int tables = 0;
            for (int i = 0; i < statements.size(); i++) {
                StatementReader reader = new StatementReader(dialect);
                reader.read(statements.get(i));
                all.addAll(reader.triples());
                selects += reader.selects();
                tables += StatementReader.isOfATable(statements.get(i)) ? 1 : 0;
            }
            // one stands where the visitor does not look; TABLE x is a query wherever it is not said of what a statement is
            if (selects < Lexis.count(sql, "SELECT") || tables < Lexis.count(sql, "TABLE") || all.contains(OPAQUE.get(0)) || isTakenApart(sql, all)) {
                return OPAQUE;
            }
            return List.copyOf(all);
        } catch (Exception | StackOverflowError | LinkageError e) {
            // refused, or built in a way that the reader does not know
            return OPAQUE;
        }
    }

    /** Whether one name of a table may have been taken for several, since there are dots in it. */
    private static boolean isTakenApart(String sql, Collection<SqlTriple> all) {
        for (String name : Lexis.dotted(sql)) {
            String parts = canonical(name.split("\\."));
            for (SqlTriple triple : all) {
                if (triple.table() == null || ('.' + triple.table() + '.').contains('.' + parts + '.')) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The statement in words that the parser knows, where it does not know those of one database. */
    private static String usual(String sql) {
        Matcher merge = MERGE_ROWS.matcher(sql);
        if (merge.matches()) {
            return "INSERT INTO " + merge.group(1) + ' ' + merge.group(2);
        }
        Matcher plan = QUERY_PLAN.matcher(sql);
        return plan.lookingAt() ? "EXPLAIN " + sql.substring(plan.end()) : sql;
    }

    /** Without the parser's own front, which works on a thread of its own and logs. */
    private static Statements parse(String sql, boolean brackets) throws ParseException {
        try {
            return parser(sql, false, brackets).Statements();
        } catch (ParseException | RuntimeException e) {
            if (sql.length() > MAX_COMPLEX_LENGTH || Lexis.depth(sql) > MAX_COMPLEX_DEPTH) {
                throw e;
            }
            return parser(sql, true, brackets).Statements();
        }
    }

    private static CCJSqlParser parser(String sql, boolean complex, boolean brackets) {
        return new CCJSqlParser(new StringProvider(sql)).withAllowComplexParsing(complex).withErrorRecovery(false).withUnsupportedStatements(false)
                .withBackslashEscapeCharacter(false).withHashLineComments(false).withSquareBracketQuotation(brackets);
    }

    /** A name as a resource, from the parts that a driver has of it; null and the empty ones are left out. */
    public static String canonical(String... parts) {
        return canonical(Arrays.asList(parts));
    }

    /** {@code name} as resources have it: without quotes, in lower case. */
    static String canonical(List<String> parts) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            String part = parts.get(i);
            if (part == null || part.isEmpty()) {
                continue;
            }
            b.append(b.length() == 0 ? "" : ".");
            String plain = unquoted(part);
            // else "a.b" would be b of a
            b.append(plain.indexOf('.') < 0 ? plain : '"' + plain + '"');
        }
        // databases compare names in upper or in lower case; some letters beyond ASCII have one of it in the other
        for (int i = 0; i < b.length(); i++) {
            b.setCharAt(i, Character.toLowerCase(Character.toUpperCase(b.charAt(i))));
        }
        return b.toString();
    }

    private static String unquoted(String part) {
        char first = part.charAt(0);
        char last = part.charAt(part.length() - 1);
        boolean quoted = part.length() > 1 && (first == '"' && last == '"' || first == '`' && last == '`' || first == '\'' && last == '\''
                || first == '[' && last == ']');
        if (!quoted) {
            return part;
        }
        return part.substring(1, part.length() - 1).replace("" + last + last, String.valueOf(last));
    }

    private static final class Kept extends LinkedHashMap<String, List<SqlTriple>> {
        private static final long serialVersionUID = 1L;

        Kept() {
            super(64, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, List<SqlTriple>> eldest) {
            return size() > KEPT;
        }
    }
}
