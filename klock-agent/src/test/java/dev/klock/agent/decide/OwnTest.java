package dev.klock.agent.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Predicate;
import org.junit.jupiter.api.Test;

class OwnTest {
    private final Own own = new Own(new String[] {"/w/.klock", "/u/.cache/klock"}, new String[] {"/w/klock.yaml"});

    @Test
    void forbidden_insideEitherHome_isEverything() {
        for (Predicate predicate : new Predicate[] {Predicate.CONSUMES, Predicate.MUTATES, Predicate.PROVIDES, Predicate.DELETES,
            Predicate.RENAMES, Predicate.DEPENDS_ON}) {
            assertThat(own.forbidden("/w/.klock/log/x") & predicate.bit()).isNotZero();
            assertThat(own.forbidden("/u/.cache/klock/woven-1") & predicate.bit()).isNotZero();
            assertThat(own.forbidden("/u/.cache/klock") & predicate.bit()).isNotZero();
        }
        assertThat(own.forbidden("/u/.cache/klock2")).isZero();
        assertThat(own.forbidden("/w/klock.yaml") & Predicate.CONSUMES.bit()).isZero();
    }

    @Test
    void within_aDirectoryAboveTheCache_namesIt() {
        assertThat(own.within("/u")).isEqualTo("/u/.cache/klock");
        assertThat(own.within("/v")).isNull();
    }

    @Test
    void own_thatShowsAFile_letsThatOneBeRead_andNothingElseOfTheHome() {
        Own showing = own.showing("told/s1.json");

        int read = Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit();
        assertThat(showing.allowed("/w/.klock/told/s1.json")).isEqualTo(read);
        assertThat(showing.forbidden("/w/.klock/told/s1.json") & read).isZero();
        assertThat(showing.forbidden("/w/.klock/told/s1.json")).isEqualTo(own.forbidden("/w/klock.yaml")).isNotZero();
        for (String other : new String[] {"/w/.klock/told/s2.json", "/w/.klock/told", "/w/.klock", "/w/.klock/key", "/u/.cache/klock/told/s1.json"}) {
            assertThat(showing.forbidden(other)).as(other).isEqualTo(own.forbidden(other)).isNotZero();
            assertThat(showing.allowed(other)).as(other).isZero();
        }
        assertThat(own.allowed("/w/.klock/told/s1.json")).isZero();
    }
}
