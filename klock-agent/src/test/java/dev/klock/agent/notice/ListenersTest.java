package dev.klock.agent.notice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class ListenersTest {
    private final Listeners listeners = new Listeners();

    private Object listen() {
        return listeners.apply(new Object[] {"listen"});
    }

    private Object[] next(Object number) {
        return (Object[]) listeners.apply(new Object[] {"next", number, 0L});
    }

    private static Notice lease(int number) {
        return new Notice.Lease("a", "s" + number, "granted", 0, null);
    }

    @Test
    void eachListener_isToldWhatComesFromThenOn() {
        listeners.tell(lease(1));
        Object one = listen();
        listeners.tell(lease(2));
        Object two = listen();
        listeners.tell(lease(3));

        assertThat(next(one)).containsExactly("lease", "a", "s2", "granted", 0L, null);
        assertThat(next(one)[2]).isEqualTo("s3");
        assertThat(next(one)).isEmpty();
        assertThat(next(two)[2]).isEqualTo("s3");
    }

    @Test
    void listener_thatDoesNotCome_isToldHowMuchWasDropped() {
        Object one = listen();
        for (int i = 0; i < Notices.MAX_WAITING + 5; i++) {
            listeners.tell(lease(i));
        }
        for (int i = 0; i < Notices.MAX_WAITING; i++) {
            assertThat(next(one)[2]).isEqualTo("s" + i);
        }
        assertThat(next(one)).containsExactly("dropped", 5L);
        assertThat(next(one)).isEmpty();
    }

    @Test
    void listener_thatIsClosed_isToldSo_evenWhileItWaits() throws InterruptedException {
        Object one = listen();
        boolean[] ended = new boolean[1];
        Thread waiting = new Thread(() -> ended[0] = listeners.apply(new Object[] {"next", one, 60_000L}) == null);
        waiting.start();
        listeners.apply(new Object[] {"close", one});
        waiting.join();

        assertThat(ended[0]).isTrue();
        assertThat(listeners.areThere()).isFalse();
        assertThat(next(one)).isNull();
        listeners.apply(new Object[] {"close", one});
    }

    @Test
    void listeners_areNotWithoutNumber() {
        for (int i = 0; i < Listeners.MAX_LISTENERS; i++) {
            listen();
        }
        assertThatIllegalStateException().isThrownBy(this::listen).withMessageContaining("100 listeners");
    }
}
