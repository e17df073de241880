package dev.klock.agent.library;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compared with what {@code strace} showed of SQLite itself. */
class SqliteNameTest {
    private static final int USUAL = SqliteName.READ_WRITE | SqliteName.CREATE | SqliteName.URI;

    @ParameterizedTest
    @CsvSource({"shop.db,shop.db,true", "shop.db?mode=ro,shop.db?mode=ro,true", "FILE:a.db,FILE:a.db,true", "' u.db',' u.db',true", ":memory:?x,:memory:?x,true", "file:shop.db?mode=ro,shop.db,false",
        "file:d%20e.db,d e.db,true", "file:t%3fmode=ro,t?mode=ro,true", "file:a%zz%4,a%zz%4,true", "file:g.db#x?mode=ro,g.db,true", "file:///data/shop.db,/data/shop.db,true",
        "file://localhost/tmp/h.db,/tmp/h.db,true", "file:/p.db,/p.db,true", "file:n.db?x=mode=ro,n.db,true", "file:q.db?immutable=1,q.db,false", "file:q.db?immutable=1&immutable=0,q.db,true",
        "file:q.db?immutable=0,q.db,true", "file:m.db?mode=memory&mode=rw,m.db,true", "file:r.db?mode=ro&cache=shared,r.db,false", "file:y.db?vfs=unix-none,y.db,true", "file:a%00b,a,true",
        "file:x?vfs=memdb&vfs=unix,x,true", "file:s%C3%A4.db,sä.db,true"})
    void name_ofAFile_isWhatSqliteOpens(String name, String file, boolean writes) {
        assertThat(SqliteName.of(name, USUAL)).isEqualTo(new SqliteName(file, writes));
    }

    @ParameterizedTest
    @CsvSource({"''", ":memory:", "file::memory:?cache=shared", "file:r.db?%6Dode=memory", "file:x?mode=memory", "file:/x?vfs=memdb", "file:%00v.db", "file:", "file:?mode=ro"})
    void name_ofNoFile_opensNone(String name) {
        assertThat(SqliteName.of(name, USUAL).file()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"1,false", "2,true", "6,true", "65,false"})
    void flags_sayWhetherItIsWritten(int flags, boolean writes) {
        assertThat(SqliteName.of("shop.db", flags)).isEqualTo(new SqliteName("shop.db", writes));
    }
}
