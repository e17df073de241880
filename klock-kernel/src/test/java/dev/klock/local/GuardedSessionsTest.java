package dev.klock.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.klock.Answer;
import dev.klock.KlockException;
import dev.klock.KlockSession;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What goes to the agent, and what is made of its answers. */
class GuardedSessionsTest {
    private static final Object[] GRANTED = {"GRANTED", new String[] {"lease_1 MUTATES FILE:/w"}, new String[0], new String[0], 0L, null, 9L, 2L, 3L};

    private final List<String> asked = new ArrayList<>();
    private final AtomicReference<Function<Object[], Object>> agent = new AtomicReference<>(request -> request[0].equals("open") ? new Object[] {7L, "a", "s", 5L} : null);
    private final GuardedSessions sessions = new GuardedSessions(request -> {
        asked.add(Arrays.deepToString(request));
        return agent.get().apply(request);
    });

    private KlockSession opened() throws Exception {
        return sessions.open(Path.of("/w/klock.yaml"), "a", Duration.ofSeconds(1));
    }

    @Test
    void open_asksForTheFileAsItIsCalledEverywhere() throws Exception {
        KlockSession session = opened();

        assertThat(asked).containsExactly("[open, /w/klock.yaml, a, 1000]");
        assertThat(session.agentId() + session.sessionId() + session.priorityTimestampMs() + session.isEnforced()).isEqualTo("as5true");
    }

    @Test
    void open_ofWhatTheProcessDoesNotDeclare_isNone() throws Exception {
        agent.set(request -> null);

        assertThat(opened()).isNull();
    }

    @Test
    void open_ofABadManifest_tellsWhatTheAgentSays() {
        agent.set(request -> {
            throw new IllegalArgumentException("klock.yaml:3:1: bad");
        });

        assertThatExceptionOfType(KlockException.class).isThrownBy(this::opened).withMessage("klock.yaml:3:1: bad");
    }

    @Test
    void answers_areWhatTheAgentTells() throws Exception {
        KlockSession session = opened();
        agent.set(request -> request[0].equals("release") ? request[2].equals(9L) : GRANTED);

        Answer answer = session.acquire(Duration.ofMillis(3), "MUTATES FILE:/w");

        assertThat(answer).isEqualTo(new Answer(Answer.Verdict.GRANTED, List.of("lease_1 MUTATES FILE:/w"), List.of(), List.of(), 0, null, 2, 3, answer.handle()));
        assertThat(session.release(answer)).isTrue();
        assertThat(session.answer().isGranted()).isTrue();
        assertThat(session.retry(Duration.ofDays(1_000_000_000_000L)).isGranted()).isTrue();
        assertThat(asked.subList(1, asked.size())).containsExactly("[acquire, 7, 3, [MUTATES FILE:/w]]", "[release, 7, 9]", "[answer, 7]",
                "[retry, 7, " + Long.MAX_VALUE + "]");
    }

    @Test
    void run_isBetweenEnterAndLeave_alsoWhereItThrows() throws Exception {
        KlockSession session = opened();
        agent.set(request -> request[0].equals("enter") ? 3 : null);

        session.run(() -> asked.add("work"));
        assertThatIllegalStateException().isThrownBy(() -> session.wrap((Runnable) () -> {
            throw new IllegalStateException("mine");
        }).run()).withMessage("mine");

        assertThat(asked.subList(1, asked.size())).containsExactly("[enter, 7]", "work", "[leave, 3]", "[enter, 7]", "[leave, 3]");
    }

    @Test
    void work_ofASubject_isBetweenSetAndLeave_orSetBackByAnAgentThatAnswersNothing() {
        agent.set(request -> request[0].equals("current") ? (Object) 5L : request.length > 2 ? 3 : null);
        sessions.run(7L, () -> asked.add("work"));
        agent.set(request -> request[0].equals("current") ? 5L : null);
        assertThatIllegalStateException().isThrownBy(() -> sessions.run(null, () -> {
            throw new IllegalStateException("mine");
        })).withMessage("mine");

        assertThat(asked).containsExactly("[current]", "[set, 7, true]", "work", "[leave, 3]", "[current]", "[set, null, true]", "[set, 5]");
    }

    /** Each session of the agent's counts its grants from one, so that another's would be taken for its own. */
    @Test
    void release_ofWhatAnotherGave_asksForNothing() throws Exception {
        KlockSession one = opened();
        KlockSession two = opened();
        agent.set(request -> request[0].equals("release") ? true : GRANTED);
        Answer ofTwo = two.answer();
        int before = asked.size();

        assertThat(one.release(ofTwo)).isFalse();
        assertThat(one.release(new Answer(Answer.Verdict.GRANTED, List.of(), List.of(), List.of(), 0, null, 0, 0, 9L))).as("of another kind").isFalse();
        assertThat(one.release(new Answer(Answer.Verdict.DIE, List.of(), List.of(), List.of(), 0, "x", 0, 0, null))).isFalse();
        assertThat(asked).hasSize(before);
        assertThat(two.release(ofTwo)).isTrue();
    }

    @Test
    void open_whateverTheAgentThrows_isOneMessageOrAnInterruption() {
        agent.set(request -> {
            throw new UnsupportedOperationException("not in this version");
        });
        assertThatExceptionOfType(KlockException.class).isThrownBy(this::opened).withMessage("not in this version");

        agent.set(request -> {
            throw GuardedSessionsTest.<RuntimeException>sneak(new InterruptedException());
        });
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(this::opened);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable e) throws T {
        throw (T) e;
    }

    @Test
    void enter_thatIsRefused_runsAndLeavesNothing() throws Exception {
        KlockSession session = opened();
        agent.set(request -> {
            throw new IllegalStateException("session a/s may not work: it died");
        });

        assertThatIllegalStateException().isThrownBy(() -> session.run(() -> asked.add("work"))).withMessageEndingWith("it died");
        assertThat(asked.subList(1, asked.size())).containsExactly("[enter, 7]");
    }

    @Test
    void entered_isLeftOnce_andOnItsOwnThread() throws Exception {
        KlockSession session = opened();
        agent.set(request -> request[0].equals("enter") ? 3 : null);
        KlockSession.Entered entered = session.enter();
        Throwable[] other = new Throwable[1];
        Thread thread = new Thread(() -> {
            try {
                entered.close();
            } catch (IllegalStateException e) {
                other[0] = e;
            }
        });
        thread.start();
        thread.join();
        assertThat(other[0]).isInstanceOf(IllegalStateException.class);
        entered.close();
        entered.close();
        assertThat(asked.subList(1, asked.size())).containsExactly("[enter, 7]", "[leave, 3]");
    }

    @Test
    void violations_areWhatTheAgentTells_andWhatItToldAtTheEnd() throws Exception {
        KlockSession session = opened();
        agent.set(request -> request[0].equals("violations") ? new String[] {"one"} : request[0].equals("close") ? new String[] {"one", "two"} : null);

        assertThat(session.violations()).containsExactly("one");
        session.close();
        agent.set(request -> null);
        session.close();
        assertThat(session.violations()).containsExactly("one", "two");
        assertThat(asked.subList(1, asked.size())).containsExactly("[violations, 7]", "[close, 7]", "[close, 7]");
    }

    @Test
    void everythingElse_goesByItsName() throws Exception {
        KlockSession session = opened();
        agent.set(request -> request[0].equals("valid") ? (Object) true : request[0].equals("state") ? "EXECUTING" : null);

        assertThat(session.isValid()).isTrue();
        assertThat(session.state()).isEqualTo(KlockSession.State.EXECUTING);
        session.onLeaseLost(null);
        session.onObservationUpdate(null);
        session.abort("enough");
        session.close();
        assertThat(asked.subList(1, asked.size())).containsExactly("[valid, 7]", "[state, 7]", "[lost, 7, null]", "[updates, 7, null]", "[abort, 7, enough]",
                "[close, 7]");
        agent.set(request -> null);
        assertThat(session.state()).isNull();
    }

    @Test
    void current_isTheSessionThatWasOpened() throws Exception {
        KlockSession session = opened();
        agent.set(request -> 7L);

        assertThat(sessions.current()).isSameAs(session);

        agent.set(request -> null);
        assertThat(sessions.current()).isNull();
        session.close();
        agent.set(request -> 7L);
        assertThat(sessions.current()).isNull();
    }
}
