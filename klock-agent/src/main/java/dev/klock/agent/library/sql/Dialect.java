package dev.klock.agent.library.sql;

/** What only some databases do, where it matters. */
enum Dialect {
    STANDARD, MYSQL, SQL_SERVER,
    /** A table comes before what WITH names alike. */
    H2;

    static Dialect of(String url) {
        if (url.startsWith("jdbc:mysql:") || url.startsWith("jdbc:mariadb:")) {
            return MYSQL;
        }
        if (url.startsWith("jdbc:sqlserver:") || url.startsWith("jdbc:jtds:")) {
            return SQL_SERVER;
        }
        return url.startsWith("jdbc:h2:") ? H2 : STANDARD;
    }

    /** Whether what UPDATE and DELETE change may be named by the alias that it gets in FROM; elsewhere such an alias is another table's. */
    boolean hasAliasesAsTargets() {
        return this == MYSQL || this == SQL_SERVER;
    }
}
