package dev.klock.agent.observe;

import dev.klock.bridge.Tasks;

/**
 * {@link Tasks} by a {@link Carried}: what a thread's subject is, and how another takes its place, is left to who extends it. The same must hold of
 * that: no lock, no park, no call of the program's.
 *
 * <p>Of tasks that are known by themselves only those are noted that somebody has submitted. Those that wait in pools are counted for nobody too:
 * else one of somebody's that waits beside them would be taken for theirs.
 *
 * @param <V> who tasks are run for
 */
public abstract class CarriedTasks<V> implements Tasks {
    private static final Object NOBODY = new Object();

    private final Carried<Object> carried = new Carried<>();

    /** Whom the calling thread works for; null for nobody. */
    protected abstract V subject();

    /** From here on the calling thread works for {@code subject}, which may be null. If it throws, nothing has changed. */
    protected abstract void begin(V subject);

    /** Undoes one {@link #begin}. */
    protected abstract void end();

    /** Whom {@code thread} works for when it begins, by who has started it; null for nobody. Asked once, after its start. */
    public final V begun(Thread thread) {
        Object subject = carried.get(thread);
        if (subject == null) {
            return null;
        }
        carried.forget(thread);
        return known(subject);
    }

    @Override
    public final void submitted(Object task) {
        V subject = subject();
        if (subject != null) {
            carried.putFirst(task, subject);
        }
    }

    @Override
    public final void enter(Object task) {
        begin(known(carried.get(task)));
    }

    @Override
    public final void leave() {
        end();
    }

    @Override
    public final void over(Object task) {
        carried.forget(task);
    }

    @Override
    public final void queued(Object task, Object executor) {
        carried.put(task, executor, counted());
    }

    @Override
    public final void enterQueued(Object task, Object executor) {
        Object subject = carried.take(task, executor);
        begin(known(subject));
    }

    @Override
    public final void unqueued(Object task, Object executor) {
        carried.take(task, executor);
    }

    @Override
    public final void refused(Object task, Object executor, boolean surely) {
        if (surely) {
            carried.remove(task, executor, counted());
        } else {
            carried.doubt(task, executor, counted());
        }
    }

    @Override
    public final void worker(Object thread) {
        carried.putFirst(thread, NOBODY);
    }

    private Object counted() {
        V subject = subject();
        return subject == null ? NOBODY : subject;
    }

    @SuppressWarnings("unchecked")
    private V known(Object subject) {
        return subject == NOBODY ? null : (V) subject;
    }
}
