package dev.klock.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.Klock;
import dev.klock.KlockListener;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is made of what the agent tells. */
class ListeningTest {
    private final List<String> asked = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final KlockListener listener = new KlockListener() {
        @Override
        public void violated(Violation violation) {
            heard.add(violation.toString());
        }

        @Override
        public void leases(Leases leases) {
            heard.add(leases.toString());
            throw new IllegalStateException("mine");
        }

        @Override
        public void rolledBack(Rollback rollback) {
            heard.add(rollback.toString());
        }

        @Override
        public void dropped(long notices) {
            heard.add("dropped " + notices);
        }
    };

    private Listening told(Object[]... notices) {
        Iterator<Object[]> next = Arrays.asList(notices).iterator();
        return new Listening(listener, request -> {
            asked.add(Arrays.toString(request));
            return request[0].equals("listen") ? (Object) 7L : next.hasNext() ? next.next() : null;
        });
    }

    @Test
    void notices_areTold_whateverTheListenerThrows_untilItIsClosed() {
        Listening one = told(new Object[] {"lease", "a", "s", "lost", 3L, null}, new Object[0],
                new Object[] {"violation", "a", "s", "deny", "MUTATES", "FILE:/w", "open_flags", "mode", "C.m(C.java:1)", "main", "text"}, new Object[] {"of a newer agent", 1},
                new Object[] {"rollback", "a", "s", "aborted", 2, 1}, new Object[] {"dropped", 9L});

        one.run();

        assertThat(heard).containsExactly("Leases[agentId=a, sessionId=s, state=lost, waitedMs=3, detail=null]",
                "Violation[agentId=a, sessionId=s, decision=deny, predicate=MUTATES, resource=FILE:/w, operation=open_flags, decidedBy=mode, caller=C.m(C.java:1), thread=main, message=text]",
                "Rollback[agentId=a, sessionId=s, reason=aborted, restored=2, notRestored=1]", "dropped 9");
        assertThat(asked.get(0)).isEqualTo("[listen]");
        assertThat(asked.subList(1, asked.size())).hasSize(7).containsOnly("[next, 7, 60000]");
    }

    @Test
    void close_isToldTheAgent() {
        told().close();

        assertThat(asked).containsExactly("[listen]", "[close, 7]");
    }

    @Test
    void listener_withoutAnAgent_isNotTold() throws Exception {
        try (Klock.Listening none = Klock.listen(listener)) {
            assertThat(none.isTold()).isFalse();
        }
        assertThat(heard).isEmpty();
    }
}
