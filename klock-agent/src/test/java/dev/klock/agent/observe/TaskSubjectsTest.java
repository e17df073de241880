package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whom a thread works for while it runs what others have handed in. */
class TaskSubjectsTest {
    @TempDir
    Path dir;
    private Observer a;
    private Observer b;
    private Subjects subjects;
    private TaskSubjects tasks;
    private final Object task = new Object();

    @BeforeEach
    void start() throws Exception {
        Fixture f = new Fixture(dir).start();
        subjects = f.hooks;
        a = f.observer;
        b = new Fixture(dir).start().observer;
        tasks = new TaskSubjects(subjects);
        int token = subjects.enter(a);
        tasks.submitted(task);
        subjects.leave(token);
    }

    @Test
    void task_isRunForWhoSubmittedIt_andTheThreadGoesBack() {
        Object ofB = new Object();
        int token = subjects.enter(b);
        tasks.submitted(ofB);
        subjects.leave(token);

        tasks.enter(ofB);
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(a);
        tasks.leave();
        assertThat(subjects.current()).isSameAs(b);
        tasks.leave();
        assertThat(subjects.current()).isNull();
    }

    @Test
    void task_thatIsCalledByWhatHasEnteredASession_isRunForThat_andWhatItCalls() {
        int token = subjects.enter(b);
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(b);
        tasks.enterQueued(task, this);
        assertThat(subjects.current()).isSameAs(b);
        tasks.leave();
        tasks.leave();
        subjects.leave(token);
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(a);
        tasks.leave();
    }

    @Test
    void task_thatComesUncalled_isRunForWhoSubmittedIt_andWhatItCalls_thoughASessionIsEntered() {
        int token = subjects.enter(b);
        tasks.enterUncalled(new Object());
        assertThat(subjects.current()).isNull();
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(a);
        tasks.leave();
        tasks.leave();
        tasks.uncalled();
        assertThat(subjects.current()).isSameAs(b);
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(a);
        tasks.leave();
        tasks.leave();
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(b);
        tasks.leave();
        subjects.leave(token);
    }

    @Test
    void task_thatWasCalledAndEntersByItself_isRunForWhoCalledIt_andNoOther() {
        int token = subjects.enter(b);
        tasks.enterCalled(task);
        tasks.enterUncalled(task);
        assertThat(subjects.current()).isSameAs(b);
        tasks.enterUncalled(new Object());
        assertThat(subjects.current()).isNull();
        tasks.enterCalled(task);
        tasks.enterUncalled(task);
        assertThat(subjects.current()).isSameAs(a);
        for (int i = 0; i < 5; i++) {
            tasks.leave();
        }
        assertThat(subjects.current()).isSameAs(b);
        subjects.leave(token);
    }

    @Test
    void session_thatIsLeft_holdsNoMore() {
        tasks.enter(new Object());
        int token = subjects.enter(b);
        subjects.enter(null);
        tasks.enter(task);
        assertThat(subjects.current()).isNull();
        subjects.leave(token);
        tasks.enter(task);
        assertThat(subjects.current()).isSameAs(a);
    }

    @Test
    void task_thatEntersASessionAndDoesNotLeaveIt_doesNotLeakIntoTheThread() {
        tasks.enter(task);
        int left = subjects.enter(b);
        tasks.leave();
        assertThat(subjects.current()).isNull();

        int token = subjects.enter(a);
        assertThat(subjects.leave(left)).isFalse();
        assertThat(subjects.current()).isSameAs(a);
        assertThat(subjects.leave(token)).isTrue();
        assertThat(subjects.leave(token)).isFalse();
        assertThat(subjects.current()).isNull();
    }

    @Test
    void tasks_inTasks_endInTheirOrder() {
        for (int i = 0; i < 20; i++) {
            tasks.enter(i % 2 == 0 ? task : new Object());
            assertThat(subjects.current()).isSameAs(i % 2 == 0 ? a : null);
        }
        for (int i = 19; i >= 0; i--) {
            assertThat(subjects.current()).isSameAs(i % 2 == 0 ? a : null);
            tasks.leave();
        }
        assertThat(subjects.current()).isNull();
    }

    @Test
    void thread_beginsAsWhoStartedIt() throws Exception {
        Observer[] seen = {b};
        Thread thread = new Thread(() -> seen[0] = subjects.current());
        int token = subjects.enter(a);
        tasks.submitted(thread);
        subjects.leave(token);
        thread.start();
        thread.join();
        assertThat(seen[0]).isSameAs(a);
    }
}
