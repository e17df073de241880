package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class MutationsTest {
    private final Mutations mutations = new Mutations();

    @Test
    void move_waitsForWhatIsUnderWay_andWhatComesThenWaitsForTheMove() throws InterruptedException {
        mutations.begin();
        AtomicBoolean moving = new AtomicBoolean();
        AtomicBoolean moved = new AtomicBoolean();
        AtomicBoolean began = new AtomicBoolean();
        Thread mover = new Thread(() -> {
            boolean alone = mutations.beginAlone(0);
            moving.set(true);
            while (!moved.get()) {
                Thread.onSpinWait();
            }
            mutations.end(alone);
        });
        mover.start();
        Awaitility.await().until(() -> mutations.count() == 2);
        assertThat(moving).as("while another operation is under way").isFalse();
        mutations.end(false);
        Awaitility.await().untilTrue(moving);
        Thread other = new Thread(() -> {
            mutations.begin();
            began.set(true);
            mutations.end(false);
        });
        other.start();
        Awaitility.await().during(Duration.ofMillis(50)).atMost(Duration.ofSeconds(20)).until(() -> !began.get());
        assertThat(mutations.moves()).isZero();
        moved.set(true);
        mover.join();
        other.join();
        assertThat(began).isTrue();
        assertThat(mutations.moves()).isOne();
        assertThat(mutations.count()).isZero();
    }

    @Test
    void move_ofAThreadWithOperationsUnderWay_doesNotWaitForThem() {
        mutations.begin();
        assertThat(mutations.beginAlone(1)).isTrue();
        mutations.end(true);
        mutations.end(false);
        assertThat(mutations.count()).isZero();
    }

    @Test
    void move_besideAnOperationThatNeverEnds_goesOnAllTheSame() {
        mutations.begin();
        boolean alone = mutations.beginAlone(0);
        mutations.end(alone);
        assertThat(mutations.count()).isOne();
        assertThat(mutations.moves()).isOne();
    }

    @Test
    void operation_besideAMoveThatNeverEnds_goesOnAllTheSame() {
        boolean alone = mutations.beginAlone(0);
        mutations.begin();
        mutations.end(false);
        mutations.end(alone);
        assertThat(mutations.count()).isZero();
    }
}
