package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ConflictMatrixTest {
    @Tag("K0-2")
    @Tag("K2-3")
    @Tag("K2-4")
    @Tag("K1-3")
    @Tag("RS-2")
    @ParameterizedTest
    @CsvSource({
        // held, then PROVIDES CONSUMES MUTATES DELETES DEPENDS_ON RENAMES: + can coexist, - cannot
        "PROVIDES,   -+--+-",
        "CONSUMES,   ++--+-",
        "MUTATES,    ------",
        "DELETES,    ------",
        "DEPENDS_ON, ++--+-",
        "RENAMES,    ------",
    })
    void matrix_eachOf36Cells_isAsThePaperHasIt(Predicate held, String row) {
        for (Predicate asked : Predicate.values()) {
            boolean conflicts = row.charAt(asked.ordinal()) == '-';
            assertThat(ConflictMatrix.conflicts(held, asked)).as("%s then %s", held, asked).isEqualTo(conflicts);
            assertThat((ConflictMatrix.conflictMask(held) & asked.bit()) != 0).isEqualTo(conflicts);
            assertThat(ConflictMatrix.type(held, asked) != null).isEqualTo(conflicts);
            // and the kernel does what the table says
            Worlds w = new Worlds();
            SessionKey a = w.session("a", 1);
            SessionKey b = w.session("b", 2);
            w.submit(a, held + " /x");
            assertThat(w.submit(b, asked + " /x").verdict()).isEqualTo(conflicts ? Verdict.DIE : Verdict.GRANTED);
        }
    }

    @Test
    @Tag("K2-2")
    void matrix_everyPair_isSymmetric() {
        for (Predicate a : Predicate.values()) {
            for (Predicate b : Predicate.values()) {
                assertThat(ConflictMatrix.conflicts(a, b)).isEqualTo(ConflictMatrix.conflicts(b, a));
                assertThat(ConflictMatrix.type(a, b)).isEqualTo(ConflictMatrix.type(b, a));
            }
        }
    }

    @Test
    @Tag("K2-11")
    void type_namedPairs_areTheFourTypes() {
        assertThat(ConflictMatrix.type(Predicate.PROVIDES, Predicate.PROVIDES)).isEqualTo(ConflictType.CREATION_COLLISION);
        assertThat(ConflictMatrix.type(Predicate.CONSUMES, Predicate.MUTATES)).isEqualTo(ConflictType.STALE_READ_RISK);
        assertThat(ConflictMatrix.type(Predicate.MUTATES, Predicate.CONSUMES)).isEqualTo(ConflictType.STALE_READ_RISK);
        assertThat(ConflictMatrix.type(Predicate.MUTATES, Predicate.MUTATES)).isEqualTo(ConflictType.DESTRUCTIVE_INTERFERENCE);
        for (Predicate p : Predicate.values()) {
            assertThat(ConflictMatrix.type(p, Predicate.DELETES)).isEqualTo(ConflictType.EXISTENCE_FAILURE);
            // a rename takes the name away, so it counts as one, with a label of our own (C3)
            assertThat(ConflictMatrix.type(p, Predicate.RENAMES)).isEqualTo(ConflictType.EXISTENCE_FAILURE);
            assertThat(ConflictMatrix.label(p, Predicate.RENAMES))
                    .isEqualTo(p == Predicate.DELETES ? ConflictType.EXISTENCE_FAILURE : ConflictType.IDENTITY_CHANGE);
        }
    }

    @Tag("K1-16")
    @Tag("K1-5")
    @ParameterizedTest
    @EnumSource(Predicate.class)
    void severest_ofTwo_excludesWhatEitherExcludes(Predicate a) {
        for (Predicate b : Predicate.values()) {
            Predicate severest = ConflictMatrix.severest(a, b);
            assertThat(severest).isIn(a, b).isEqualTo(ConflictMatrix.severest(b, a));
            assertThat(ConflictMatrix.conflictMask(severest))
                    .isEqualTo(ConflictMatrix.conflictMask(a) | ConflictMatrix.conflictMask(b));
        }
    }

    @Tag("K1-2")
    @Test
    void predicates_are_theFiveOfTheCoreAndRenames() {
        assertThat(Predicate.values()).extracting(Enum::name).containsExactly(
                "PROVIDES", "CONSUMES", "MUTATES", "DELETES", "DEPENDS_ON", "RENAMES");
        Worlds w = new Worlds(KernelOptions.standard().core5());
        SessionKey a = w.session("a", 1);
        assertThat(w.submit(a, "RENAMES /x").refusal().code()).isEqualTo(Refusal.Code.BAD_PREDICATE);
    }

    @Test
    @Tag("RS-1")
    @Tag("K0-1")
    void triple_hasSubjectPredicateObjectConfidenceAndTimestamp() {
        Triple t = new Triple("a", Predicate.MUTATES, Resource.file("/x"), Triple.MEDIUM, 17);
        assertThat(t.subject()).isEqualTo("a");
        assertThat(t.predicate()).isEqualTo(Predicate.MUTATES);
        assertThat(t.object()).isEqualTo(Resource.file("/x"));
        assertThat(t.confidence()).isEqualTo(0.6);
        assertThat(t.timestampMs()).isEqualTo(17);
        Worlds w = new Worlds();
        SessionKey b = w.session("b", 1);
        Outcome out = w.kernel.apply(Command.Submit.of(b, List.of(t)), w.now);
        assertThat(out.refusal().code()).isEqualTo(Refusal.Code.BAD_SUBJECT);
    }

    @Test
    @Tag("RS-6")
    @Tag("C16")
    void triple_eachResourceType_hasItsKey() {
        for (String scheme : List.of("FILE", "SYMBOL", "API_ENDPOINT", "DATABASE_TABLE", "CONFIG_KEY")) {
            Worlds w = new Worlds();
            SessionKey a = w.session("a", 1);
            SessionKey b = w.session("b", 2);
            Resource r = Resource.parse(scheme, scheme.equals("FILE") ? "/x" : "x.y");
            assertThat(r.toString()).isEqualTo((scheme.equals("DATABASE_TABLE") ? "DB" : scheme) + ":" + r.path());
            w.kernel.apply(Command.Submit.of(a, List.of(Triple.of(Predicate.MUTATES, r))), 0);
            assertThat(w.kernel.apply(Command.Submit.of(b, List.of(Triple.of(Predicate.MUTATES, r))), 0).verdict()).isEqualTo(Verdict.DIE);
        }
    }

    @Test
    @Tag("K2-11")
    void label_ofARename_isOurOwnUnlessADeleteSaysMore() {
        for (Predicate held : Predicate.values()) {
            for (Predicate asked : Predicate.values()) {
                boolean renames = held == Predicate.RENAMES || asked == Predicate.RENAMES;
                boolean deletes = held == Predicate.DELETES || asked == Predicate.DELETES;
                assertThat(ConflictMatrix.label(held, asked)).as("%s, %s", held, asked)
                        .isEqualTo(renames && !deletes ? ConflictType.IDENTITY_CHANGE : ConflictMatrix.type(held, asked));
            }
        }
        assertThat(ConflictMatrix.label(Predicate.RENAMES, Predicate.DELETES)).isNotEqualTo(ConflictType.IDENTITY_CHANGE);
        assertThat(ConflictMatrix.label(Predicate.DELETES, Predicate.RENAMES)).isNotEqualTo(ConflictType.IDENTITY_CHANGE);
    }
}
