package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The cover relation, one test per cell: what a declared predicate allows, and what a denied one stops. */
class CoverTest {
    private static final Predicate[] COLUMNS = {Predicate.PROVIDES, Predicate.CONSUMES, Predicate.MUTATES, Predicate.DELETES,
        Predicate.DEPENDS_ON, Predicate.RENAMES};

    // rows declared, columns attempted, in the order of COLUMNS; c = only on what the session itself created
    private static final String[][] ALLOWS = {
        {"PROVIDES", "y c c c y c"},
        {"CONSUMES", "- y - - y -"},
        {"MUTATES", "- y y - y -"},
        {"DELETES", "- - - y y -"},
        {"DEPENDS_ON", "- - - - y -"},
        {"RENAMES", "- - - - y y"},
    };

    // rows denied, columns attempted
    private static final String[][] STOPS = {
        {"PROVIDES", "x - - - - -"},
        {"CONSUMES", "- x x - - x"},
        {"MUTATES", "- - x - - -"},
        {"DELETES", "- - - x - -"},
        {"DEPENDS_ON", "x x x x x x"},
        {"RENAMES", "- - - - - x"},
    };

    @TestFactory
    @Tag("C34")
    @Tag("K1-4")
    @Tag("K1-5")
    @Tag("J07")
    List<DynamicTest> declared_attempted_isAllowedAsTheTableSays() {
        List<DynamicTest> tests = new ArrayList<>();
        for (String[] row : ALLOWS) {
            Predicate declared = Predicate.valueOf(row[0]);
            Scope scope = Scope.builder().allow(declared, Resource.parse("FILE:/w/out/*"), 7).build();
            String[] cells = row[1].split(" ");
            for (int i = 0; i < cells.length; i++) {
                Predicate attempted = COLUMNS[i];
                String cell = cells[i];
                tests.add(DynamicTest.dynamicTest(declared + " declared, " + attempted + " attempted on what exists", () -> assertThat(
                        scope.decide(attempted, "FILE", "/w/out/a", false)).isEqualTo(cell.equals("y") ? 7 : Scope.NONE)));
                tests.add(DynamicTest.dynamicTest(declared + " declared, " + attempted + " attempted on what the session created",
                        () -> assertThat(scope.decide(attempted, "FILE", "/w/out/a", true)).isEqualTo(cell.equals("-") ? Scope.NONE : 7)));
            }
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> denied_attempted_isStoppedAsTheTableSays() {
        List<DynamicTest> tests = new ArrayList<>();
        for (String[] row : STOPS) {
            Predicate denied = Predicate.valueOf(row[0]);
            Scope.Builder builder = Scope.builder();
            for (Predicate p : COLUMNS) {
                builder.allow(p, Resource.parse("FILE:/w/**"), p.ordinal());
            }
            Scope scope = builder.deny(denied, Resource.parse("FILE:/w/a"), 3).build();
            String[] cells = row[1].split(" ");
            for (int i = 0; i < cells.length; i++) {
                Predicate attempted = COLUMNS[i];
                boolean stopped = cells[i].equals("x");
                for (boolean created : new boolean[] {false, true}) {
                    tests.add(DynamicTest.dynamicTest(denied + " denied, " + attempted + " attempted, created " + created, () -> {
                        int decision = scope.decide(attempted, "FILE", "/w/a", created);
                        assertThat(Scope.isDenied(decision)).isEqualTo(stopped);
                        assertThat(Scope.isAllowed(decision)).isEqualTo(!stopped);
                        assertThat(stopped ? Scope.denyLine(decision) : decision).isEqualTo(stopped ? 3 : attempted.ordinal());
                    }));
                }
            }
        }
        return tests;
    }

    @Test
    @Tag("C34")
    @Tag("J07")
    @Tag("J08")
    void linesOnOneResource_anyOrder_coverTheirUnion() {
        Resource r = Resource.parse("FILE:/w/a");
        Scope one = Scope.builder().allow(Predicate.DELETES, r, 0).allow(Predicate.PROVIDES, r, 1).allow(Predicate.CONSUMES, r, 2).build();
        Scope other = Scope.builder().allow(Predicate.CONSUMES, r, 2).allow(Predicate.PROVIDES, r, 1).allow(Predicate.DELETES, r, 0).build();
        for (Predicate p : COLUMNS) {
            for (boolean created : new boolean[] {false, true}) {
                assertThat(Scope.isAllowed(one.decide(p, "FILE", "/w/a", created)))
                        .isEqualTo(Scope.isAllowed(other.decide(p, "FILE", "/w/a", created)));
            }
        }
        assertThat(one.decide(Predicate.DELETES, "FILE", "/w/a", false)).isZero();
        assertThat(one.decide(Predicate.PROVIDES, "FILE", "/w/a", false)).isEqualTo(1);
        assertThat(one.decide(Predicate.CONSUMES, "FILE", "/w/a", false)).isEqualTo(2);
        assertThat(one.decide(Predicate.MUTATES, "FILE", "/w/a", false)).isEqualTo(Scope.NONE);
        assertThat(one.declaredPredicates("FILE", "/w/a"))
                .isEqualTo(Predicate.DELETES.bit() | Predicate.PROVIDES.bit() | Predicate.CONSUMES.bit());
    }
}
