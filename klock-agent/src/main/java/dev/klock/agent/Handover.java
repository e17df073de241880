package dev.klock.agent;

import dev.klock.agent.observe.Subjects;
import dev.klock.agent.observe.TaskSubjects;
import dev.klock.agent.weave.Propagation;
import java.io.IOException;
import java.lang.instrument.Instrumentation;

/** Apart from who calls it, which must be loaded before the types that this mentions are there. */
final class Handover {
    private Handover() {
    }

    /** Work that is handed from thread to thread is whose it was from here on. */
    static Propagation install(Instrumentation instrumentation, Subjects subjects) throws ReflectiveOperationException, IOException {
        return Propagation.install(instrumentation, new TaskSubjects(subjects));
    }
}
