package dev.klock.agent.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Predicate;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TargetsTest {
    private static final Scope SCOPE = Scope.builder()
            .allow(Predicate.PROVIDES, Resource.of("FILE", "/w/out", Resource.Form.SUBTREE), 0)
            .allow(Predicate.MUTATES, Resource.file("/w/caf\u00e9"), 1)
            .allow(Predicate.PROVIDES, Resource.of("PROCESS", "/usr/bin/git", Resource.Form.EXACT), 2)
            .build();
    private final List<String> retired = new ArrayList<>();

    private Targets targets(int limit) {
        return new Targets(SCOPE, Baseline.none(), new Own("/w/.klock", "/w/klock.yaml"), t -> retired.add(t.real()), limit);
    }

    @Test
    void one_object_has_one_target() {
        Targets targets = targets(10);
        assertThat(targets.file("/w/out/a")).isSameAs(targets.file("/w/out/a"));
        assertThat(targets.process("/usr/bin/git")).isNotSameAs(targets.file("/usr/bin/git"));
        assertThat(targets.process("/usr/bin/git").allowed()).isEqualTo(Predicate.PROVIDES.bit() | Predicate.DEPENDS_ON.bit());
        assertThat(targets.process("/usr/bin/git").shown()).isEqualTo("PROCESS:/usr/bin/git");
    }

    @Test
    void a_name_in_bytes_is_looked_up_as_text() {
        Targets targets = targets(10);
        assertThat(targets.file("/w/caf\u00c3\u00a9").decide(Predicate.MUTATES)).isEqualTo(1);
        assertThat(targets.file("/w/cafe\u00cc\u0081").decide(Predicate.MUTATES)).isEqualTo(Scope.NONE);
        assertThat(targets.file("/w/caf\u00e9").decide(Predicate.MUTATES)).isEqualTo(Scope.NONE);
    }

    @Test
    void the_table_stays_bounded_and_tells_what_it_drops() {
        Targets targets = targets(100);
        for (int i = 0; i < 10_000; i++) {
            targets.file("/read/" + i);
        }
        assertThat(targets.size()).isLessThanOrEqualTo(101);
        assertThat(retired).hasSizeGreaterThan(9_000).doesNotHaveDuplicates();
    }

    @Test
    @Tag("C34")
    void what_the_session_changed_is_never_forgotten() {
        Targets targets = targets(100);
        Target created = targets.file("/w/out/a");
        targets.created(created, false);
        Target imaged = targets.file("/w/out/b");
        targets.imaged(imaged, false);
        for (int i = 0; i < 1_000; i++) {
            targets.file("/read/" + i);
        }
        assertThat(targets.file("/w/out/a").isCreated()).isTrue();
        assertThat(targets.file("/w/out/b").isImaged()).isTrue();
    }

    @Test
    void state_given_to_a_dropped_target_reaches_the_one_in_the_table() {
        Targets targets = targets(10);
        Target dropped = targets.file("/w/out/a");
        for (int i = 0; i < 50; i++) {
            targets.file("/read/" + i);
        }
        Target kept = targets.file("/w/out/a");
        assertThat(kept).isNotSameAs(dropped);
        targets.created(dropped, false);
        targets.imaged(dropped, false);
        assertThat(kept.isCreated()).isTrue();
        assertThat(kept.isImaged()).isTrue();
        targets.gone(dropped, false, false);
        assertThat(kept.isCreated()).isFalse();
        assertThat(kept.isGone()).isTrue();
        assertThat(kept.isImaged()).isTrue();
    }

    @Test
    @Tag("C34")
    @Tag("K1-4")
    void creating_widens_what_is_allowed_and_removing_narrows_it() {
        Targets targets = targets(10);
        Target t = targets.file("/w/out/a");
        assertThat(t.allowed() & Predicate.DELETES.bit()).isZero();
        targets.created(t, false);
        assertThat(t.allowed() & Predicate.DELETES.bit()).isNotZero();
        assertThat(t.decide(Predicate.DELETES)).isZero();
        targets.gone(t, false, false);
        assertThat(t.allowed() & Predicate.DELETES.bit()).isZero();
    }

    @Test
    void klocks_own_files_allow_nothing_or_only_reading() {
        Targets targets = targets(10);
        assertThat(targets.file("/w/.klock").allowed()).isZero();
        assertThat(targets.file("/w/.klock/log/x").decide(Predicate.CONSUMES)).isEqualTo(Target.PROTECTED);
        assertThat(targets.file("/w/.klocks").decide(Predicate.CONSUMES)).isEqualTo(Scope.NONE);
        assertThat(targets.file("/w/klock.yaml").decide(Predicate.MUTATES)).isEqualTo(Target.PROTECTED);
        assertThat(targets.file("/w/klock.yaml").decide(Predicate.CONSUMES)).isEqualTo(Scope.NONE);
        assertThat(targets.own().within("/w")).isEqualTo("/w/.klock");
        assertThat(targets.own().within("/w/out")).isNull();
    }
}
