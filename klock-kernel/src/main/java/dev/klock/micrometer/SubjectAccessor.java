package dev.klock.micrometer;

import dev.klock.Klock;
import dev.klock.Subject;
import io.micrometer.context.ThreadLocalAccessor;

/**
 * Whom a thread works for, as one of the values that Micrometer's context propagation carries on: Reactor with
 * {@code Hooks.enableAutomaticContextPropagation()}, and with it Spring's WebFlux and Spring AI; {@code ContextExecutorService}; Spring's
 * {@code ContextPropagatingTaskDecorator}. Micrometer's registry finds it as a service.
 *
 * <p>There always is a value, the process's, too: what a snapshot has no value for is left as it is by most who restore one, and work of the
 * process's would be done for a session then.
 */
public final class SubjectAccessor implements ThreadLocalAccessor<Subject> {
    /** Under which contexts and snapshots have it. */
    public static final String KEY = "dev.klock.subject";

    @Override
    public Object key() {
        return KEY;
    }

    @Override
    public Subject getValue() {
        return Klock.subject();
    }

    @Override
    public void setValue(Subject subject) {
        subject.set();
    }

    @Override
    public void setValue() {
        Klock.process().set();
    }
}
