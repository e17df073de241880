package dev.klock.agent.library;

import dev.klock.agent.library.sql.SqlReader;
import dev.klock.agent.library.sql.SqlTriple;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.LibraryHook;
import dev.klock.manifest.Line;
import dev.klock.resource.Resource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;

/**
 * The preset {@code jdbc}: the SQL that a program gives to any driver, as {@code DB:} triples.
 *
 * <p>SQL is judged where it is given: when a statement is executed, added to a batch, or prepared. A statement that was prepared before is
 * only asked, when it is executed, whether the session still goes on.
 *
 * <p>A table is {@code DB:schema.table} or {@code DB:table}, as the statement names it; the whole database is {@code DB:} and the JDBC URL,
 * without what follows a {@code ;} or {@code ?}, and without a user's name and password.
 */
final class JdbcHook extends Hook {
    private static final String DB = "DB";
    private static final String UNKNOWN = "jdbc:unknown";

    private static final int EXECUTE = 0;
    private static final int PREPARE = 1;
    /** Executes what was judged before. */
    private static final int AGAIN = 2;
    private static final int CONNECT = 3;
    /** Drivers carry it out by SQL of their own, which is not the program's. */
    private static final int INSIDE = 4;
    /** Changes the table behind a row, by SQL of the driver's own. */
    private static final int ROW = 5;
    /** Gives a name that some drivers put into SQL as it is. */
    private static final int NAME = 6;

    private static final String STRING = "java.lang.String";
    private static final String XID = "javax.transaction.xa.Xid";
    /** Kind, type, and methods with the types of their parameters; S is java.lang.String, X is javax.transaction.xa.Xid. */
    private static final String[][] METHODS = {
        {"0", "java.sql.Statement", "execute(S)", "execute(S,int)", "execute(S,int[])", "execute(S,S[])", "executeQuery(S)", "executeUpdate(S)",
            "executeUpdate(S,int)", "executeUpdate(S,int[])", "executeUpdate(S,S[])", "executeLargeUpdate(S)", "executeLargeUpdate(S,int)",
            "executeLargeUpdate(S,int[])", "executeLargeUpdate(S,S[])", "addBatch(S)"},
        {"1", "java.sql.Connection", "prepareStatement(S)", "prepareStatement(S,int)", "prepareStatement(S,int[])", "prepareStatement(S,S[])",
            "prepareStatement(S,int,int)", "prepareStatement(S,int,int,int)", "prepareCall(S)", "prepareCall(S,int,int)", "prepareCall(S,int,int,int)"},
        {"2", "java.sql.PreparedStatement", "execute()", "executeQuery()", "executeUpdate()", "executeLargeUpdate()"},
        {"2", "java.sql.Statement", "executeBatch()", "executeLargeBatch()"},
        {"3", "java.sql.Driver", "connect(S,java.util.Properties)"},
        {"4", "java.sql.Connection", "getSchema()", "setSchema(S)", "getCatalog()", "setCatalog(S)", "setReadOnly(boolean)", "isValid(int)",
            "setAutoCommit(boolean)", "setTransactionIsolation(int)", "getTransactionIsolation()"},
        {"4", "java.sql.Statement", "getGeneratedKeys()"},
        {"4", "javax.transaction.xa.XAResource", "start(X,int)", "end(X,int)", "prepare(X)", "commit(X,boolean)", "rollback(X)", "recover(int)", "forget(X)"},
        {"4", "java.sql.DatabaseMetaData", "getURL()", "getDatabaseProductVersion()", "getProcedures(S,S,S)", "getProcedureColumns(S,S,S,S)",
            "getTables(S,S,S,S[])", "getSchemas()", "getSchemas(S,S)", "getCatalogs()", "getTableTypes()", "getColumns(S,S,S,S)",
            "getColumnPrivileges(S,S,S,S)", "getTablePrivileges(S,S,S)", "getBestRowIdentifier(S,S,S,int,boolean)", "getVersionColumns(S,S,S)",
            "getPrimaryKeys(S,S,S)", "getImportedKeys(S,S,S)", "getExportedKeys(S,S,S)", "getCrossReference(S,S,S,S,S,S)", "getTypeInfo()",
            "getIndexInfo(S,S,S,boolean,boolean)", "getUDTs(S,S,S,int[])", "getSuperTypes(S,S,S)", "getSuperTables(S,S,S)",
            "getAttributes(S,S,S,S)", "getFunctions(S,S,S)", "getFunctionColumns(S,S,S,S)", "getPseudoColumns(S,S,S,S)",
            "getClientInfoProperties()"},
        {"5", "java.sql.ResultSet", "insertRow()", "updateRow()", "deleteRow()"},
        {"6", "java.sql.Connection", "setSavepoint(S)"}};

    private final SqlReader reader = new SqlReader();

    /** The lines of the manifest that deny something to a table. */
    private final List<Line> denied = new ArrayList<>();

    JdbcHook(LibraryHook declared, int index, List<Line> deny) {
        super(declared, index);
        for (int i = 0; i < deny.size(); i++) {
            Resource resource = deny.get(i).resource();
            if (resource.scheme().equals(DB) && !resource.path().startsWith("jdbc:")) {
                denied.add(deny.get(i));
            }
        }
    }

    @Override
    void addTo(List<HookedMethod> sites) {
        for (String[] row : METHODS) {
            for (int i = 2; i < row.length; i++) {
                int open = row[i].indexOf('(');
                sites.add(new HookedMethod(this, row[0].charAt(0) - '0', row[1], row[i].substring(0, open),
                        parameters(row[i].substring(open + 1, row[i].length() - 1))));
            }
        }
    }

    private static List<String> parameters(String list) {
        List<String> types = new ArrayList<>();
        for (int from = 0; from < list.length();) {
            int comma = list.indexOf(',', from);
            int to = comma < 0 ? list.length() : comma;
            String type = list.substring(from, to);
            types.add(type.startsWith("S") ? STRING.concat(type.substring(1)) : type.equals("X") ? XID : type);
            from = to + 1;
        }
        return types;
    }

    @Override
    boolean counts(HookedMethod site) {
        return site.kind == EXECUTE || site.kind == PREPARE || site.kind == AGAIN || site.kind == ROW;
    }

    @Override
    void judge(HookedMethod site, String type, String method, Object self, Object[] arguments, Calling calling) {
        switch (site.kind) {
            case EXECUTE:
            case PREPARE:
                sql((String) arguments[0], site.kind == EXECUTE && !method.equals("addBatch"), self, calling);
                break;
            case AGAIN:
                calling.goesOn();
                break;
            case CONNECT:
                connect((String) arguments[0], (Properties) arguments[1], calling);
                break;
            case ROW:
                row((ResultSet) self, calling);
                break;
            case NAME:
                if (!isPlain((String) arguments[0])) {
                    whole(Predicate.MUTATES, whole(url(self)), calling);
                }
                break;
            default:
                break;
        }
    }

    private void sql(String sql, boolean now, Object self, Calling calling) {
        calling.goesOn();
        if (sql == null) {
            return;
        }
        String url = url(self);
        String whole = whole(url);
        List<SqlTriple> triples = reader.read(sql, url);
        for (int i = 0; i < triples.size(); i++) {
            SqlTriple one = triples.get(i);
            if (one.table() == null) {
                whole(one.predicate(), whole, calling);
            } else if (!one.ifThere() || isThere(self, one.table())) {
                // what has another one's name is not told from it
                boolean makes = now && one.makes() && !isThere(self, one.table());
                calling.access(one.predicate(), DB, UserHook.bounded(one.table()), whole, makes);
            }
        }
    }

    /** Something is done to the database, nobody knows to which of its tables: so to those, too, for which a line denies something. */
    private void whole(Predicate predicate, String whole, Calling calling) {
        calling.access(predicate, DB, whole);
        for (int i = 0; predicate != Predicate.CONSUMES && i < denied.size(); i++) {
            Line line = denied.get(i);
            calling.access(line.predicate(), DB, line.resource().path(), whole, false);
        }
    }

    /** Whether there is a table of that name, in whatever schema unless it says which; true too if that cannot be told. */
    private static boolean isThere(Object self, String table) {
        try (ResultSet tables = connection(self).getMetaData().getTables(null, null, "%", null)) {
            while (tables.next()) {
                String name = tables.getString("TABLE_NAME");
                String schema = tables.getString("TABLE_SCHEM");
                String catalog = tables.getString("TABLE_CAT");
                if (table.equals(SqlReader.canonical(name)) || table.equals(SqlReader.canonical(schema, name))
                        || table.equals(SqlReader.canonical(catalog, name)) || table.equals(SqlReader.canonical(catalog, schema, name))) {
                    return true;
                }
            }
            return false;
        } catch (SQLException | RuntimeException | LinkageError e) {
            return true;
        }
    }

    private static boolean isPlain(String name) {
        for (int i = 0; name != null && i < name.length(); i++) {
            char c = name.charAt(i);
            if (!Character.isLetterOrDigit(c) && " _-.:".indexOf(c) < 0) {
                return false;
            }
        }
        return true;
    }

    /** The tables are those that the columns say they are of; where one does not say, it may be any. */
    private void row(ResultSet rows, Calling calling) {
        calling.goesOn();
        String whole = whole(url(rows));
        Set<String> tables = new LinkedHashSet<>();
        try {
            Connection connection = connection(rows);
            String here = connection.getSchema() != null ? connection.getSchema() : connection.getCatalog();
            ResultSetMetaData columns = rows.getMetaData();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                String table = columns.getTableName(i);
                String schema = columns.getSchemaName(i);
                String within = schema == null || schema.isEmpty() ? columns.getCatalogName(i) : schema;
                tables.add(table == null || table.isEmpty() ? "" : SqlReader.canonical(within == null || within.equals(here) ? "" : within, table));
            }
        } catch (SQLException | RuntimeException | LinkageError e) {
            // an old driver, or closed
            tables.add("");
        }
        for (String table : tables) {
            if (table.isEmpty()) {
                whole(Predicate.MUTATES, whole, calling);
            } else {
                calling.access(Predicate.MUTATES, DB, UserHook.bounded(table), whole, false);
            }
        }
    }

    /** H2 carries out SQL that stands in the URL, where a backslash may stand before any character, or among the properties. */
    private void connect(String url, Properties properties, Calling calling) {
        if (url == null || !url.startsWith("jdbc:h2:")) {
            return;
        }
        boolean initial = url.replace("\\", "").toUpperCase(Locale.ROOT).contains(";INIT=");
        if (properties != null) {
            for (Object key : properties.keySet()) {
                initial |= key instanceof String && ((String) key).equalsIgnoreCase("INIT");
            }
        }
        if (initial) {
            whole(Predicate.MUTATES, whole(url), calling);
        }
    }

    /** Where the connection leads; the driver's code runs here. */
    private static String url(Object self) {
        try {
            Connection connection = connection(self);
            String url = connection == null ? null : connection.getMetaData().getURL();
            return url == null ? UNKNOWN : url;
        } catch (SQLException | RuntimeException e) {
            // closed: the driver will say so
            return UNKNOWN;
        }
    }

    private static Connection connection(Object self) throws SQLException {
        Object from = self instanceof ResultSet ? ((ResultSet) self).getStatement() : self;
        return from instanceof Statement ? ((Statement) from).getConnection() : (Connection) from;
    }

    /** What of a URL names the database. */
    static String whole(String url) {
        int end = url.length();
        for (int i = 0; i < end; i++) {
            char c = url.charAt(i);
            if (c == ';' || c == '?') {
                end = i;
            }
        }
        String name = url.substring(0, end);
        int at = name.lastIndexOf('@');
        if (at >= 0) {
            int slashes = name.indexOf("//");
            int from = slashes >= 0 && slashes < at ? slashes + 2 : name.indexOf(':', name.indexOf(':', name.indexOf(':') + 1) + 1) + 1;
            name = from > 0 && from <= at ? name.substring(0, from) + name.substring(at + 1) : name.substring(at + 1);
        }
        return UserHook.bounded(name.isEmpty() ? UNKNOWN : name);
    }
}
