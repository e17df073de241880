package dev.klock.agent.library;

import dev.klock.agent.library.sql.SqliteSql;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.LibraryHook;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The part of the preset {@code jdbc} that sees what the native code of SQLite opens, in the last Java methods before it: the database itself,
 * its copies, and what SQL names. A hook of its own, so that it sees them while one of JDBC's methods is under way.
 */
final class SqliteHook extends Hook {
    private static final int OPEN = 0;
    private static final int BACKUP = 1;
    private static final int RESTORE = 2;
    private static final int SQL = 3;
    /** Where in a database's head it says how it is to be read. */
    private static final int READ_VERSION = 19;
    private static final int ALL = SqliteName.READ_WRITE | SqliteName.CREATE | SqliteName.URI;

    private static final String TYPE = "org.sqlite.core.NativeDB";
    private static final String STRING = "java.lang.String";
    private static final String PROGRESS = "org.sqlite.core.DB$ProgressObserver";

    /** The flags that a database was opened with: what it attaches is opened with the same. */
    private final Map<Object, Integer> flags = Collections.synchronizedMap(new WeakHashMap<>());

    SqliteHook(LibraryHook declared, int index) {
        super(declared, index);
        // a program that has another database's driver, or none, need not be told
        called();
    }

    @Override
    void addTo(List<HookedMethod> sites) {
        add(sites, OPEN, "_open", STRING, "int");
        add(sites, BACKUP, "backup", STRING, STRING, PROGRESS);
        add(sites, BACKUP, "backup", STRING, STRING, PROGRESS, "int", "int", "int");
        add(sites, RESTORE, "restore", STRING, STRING, PROGRESS);
        add(sites, RESTORE, "restore", STRING, STRING, PROGRESS, "int", "int", "int");
        add(sites, SQL, "_exec", STRING);
        add(sites, SQL, "prepare", STRING);
    }

    private void add(List<HookedMethod> sites, int kind, String method, String... parameters) {
        sites.add(new HookedMethod(this, kind, TYPE, method, List.of(parameters)));
    }

    @Override
    void judge(HookedMethod site, String type, String method, Object self, Object[] arguments, Calling calling) {
        switch (site.kind) {
            case OPEN:
                int given = (Integer) arguments[1];
                flags.put(self, given);
                opens((String) arguments[0], given, calling);
                break;
            case BACKUP:
                opens((String) arguments[1], ALL, calling);
                break;
            case RESTORE:
                opens((String) arguments[1], SqliteName.READ | SqliteName.URI, calling);
                break;
            default:
                sql((String) arguments[0], flags.getOrDefault(self, ALL), calling);
                break;
        }
    }

    private static void sql(String sql, int given, Calling calling) {
        List<SqliteSql.Opened> all = sql == null ? List.of() : SqliteSql.opened(sql);
        for (int i = 0; i < all.size(); i++) {
            SqliteSql.Opened one = all.get(i);
            if (one.name() == null) {
                calling.access(Predicate.CONSUMES, "NATIVE", "sqlite");
            } else {
                opens(one.name(), one.made() ? given | ALL : given, calling);
            }
        }
    }

    private static void opens(String name, int given, Calling calling) {
        if (name == null) {
            return;
        }
        opens(SqliteName.of(name, given), calling);
        if ((given & SqliteName.URI) == 0) {
            // unless it was built to take it for a URI all the same
            opens(SqliteName.plain(name, given), calling);
        }
    }

    private static void opens(SqliteName name, Calling calling) {
        if (name.file() == null) {
            return;
        }
        if (name.writes()) {
            calling.opens(name.file(), true, "-journal", "-wal", "-shm");
            return;
        }
        String real = calling.opens(name.file(), false);
        if (real != null && isWriteAhead(real)) {
            // these are made by who only reads, too
            calling.opens(real.concat("-wal"), true);
            calling.opens(real.concat("-shm"), true);
        }
    }

    /** Whether the database keeps a log beside it. Read as the program could, which may read it. */
    private static boolean isWriteAhead(String file) {
        try (FileInputStream in = new FileInputStream(file)) {
            byte[] head = in.readNBytes(READ_VERSION + 1);
            return head.length > READ_VERSION && head[READ_VERSION] == 2;
        } catch (IOException e) {
            return false;
        }
    }
}
