package dev.klock.agent.observe;

import dev.klock.bridge.Tasks;
import java.util.Queue;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * {@link Tasks} by a {@link Carried}: what a thread's subject is, and how another takes its place, is left to who extends it. The same must hold of
 * that: no lock, no park, no call of the program's.
 *
 * <p>Of tasks that are known by themselves only those are noted that somebody has submitted. Those that wait in pools are counted for nobody too:
 * else one of somebody's that waits beside them would be taken for theirs.
 *
 * <p>The program may take tasks out of a pool's queue, and a pool may drop one that it has taken (a {@code beforeExecute} or a thread factory that
 * throws): nobody tells. So where one task is known for several, those that are known and wait in the queue no longer are told by counting: each run of
 * a task is as good as the other, so it is enough to know which of them are left.
 *
 * @param <V> who tasks are run for
 */
public abstract class CarriedTasks<V> implements Tasks {
    private static final Object NOBODY = new Object();
    /** In a longer queue a task that several have submitted is first in, first out, whatever the program has taken out. */
    private static final int MAX_COUNTED = 1024;
    /** As long as another thread may take, as a rule, from the queue to the run, or from here to the queue. */
    private static final long PATIENCE_NS = 50_000;
    /** Spreads numbers in a row evenly, whatever comes every second or third time. */
    private static final int GOLDEN = 0x9E3779B9;
    private static final int ONE_IN_1024 = Integer.SIZE - 10;

    private final Carried<Object> carried = new Carried<>();
    /** Calls of {@link #queued}, more or less: threads do not wait for each other to count them. */
    private int puts;

    /** Whom the calling thread works for; null for nobody. */
    protected abstract V subject();

    /**
     * From here on the calling thread works for {@code submitter}, which may be null; unless it was said for whom it does what it does, and {@code task} is
     * {@code called} by that, or {@linkplain #beginCalled was called} by it just before: then it goes on for that one. If it throws, nothing has changed.
     */
    protected abstract void begin(V submitter, Object task, boolean called);

    /** {@code task} is called, and will {@link #begin} next. For whom the calling thread works stays. If it throws, nothing has changed. */
    protected abstract void beginCalled(Object task);

    /** Whatever begins next is not called by what it was said of for whom it is. For whom the calling thread works stays. If it throws, nothing has changed. */
    protected abstract void beginUncalled();

    /** Undoes one {@link #begin}, {@link #beginCalled} or {@link #beginUncalled}. */
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
        begin(known(carried.get(task)), task, true);
    }

    @Override
    public final void enterCalled(Object task) {
        beginCalled(task);
    }

    @Override
    public final void enterUncalled(Object task) {
        begin(known(carried.get(task)), task, false);
    }

    @Override
    public final void uncalled() {
        beginUncalled();
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
        if (++puts * GOLDEN >>> ONE_IN_1024 == 0 && executor instanceof ThreadPoolExecutor) {
            // what the program takes out of the queue, and nobody runs, would be kept for ever
            forgetGone(task, (ThreadPoolExecutor) executor, carried.mixed(task, executor));
        }
    }

    private void forgetGone(Object task, ThreadPoolExecutor pool, int known) {
        int left;
        try {
            left = pool.getQueue().size() + MAX_COUNTED / 2;
        } catch (RuntimeException | Error programs) {
            // a queue of the program's own
            return;
        }
        for (int gone = known - left; gone > 0; gone--) {
            carried.doubtFirst(task, pool);
        }
    }

    @Override
    public final void enterQueued(Object task, Object executor) {
        if (carried.mixed(task, executor) > 0 && executor instanceof ThreadPoolExecutor) {
            doubtGone(task, (ThreadPoolExecutor) executor);
        }
        begin(known(carried.take(task, executor)), task, true);
    }

    /** Of what is known of {@code task} but for one that is about to run, and those that wait: the program may have taken these out of the queue. */
    private void doubtGone(Object task, ThreadPoolExecutor pool) {
        long begun = System.nanoTime();
        while (true) {
            int gone = carried.mixed(task, pool) - 1 - waiting(task, pool);
            if (gone <= 0) {
                return;
            }
            if (System.nanoTime() - begun > PATIENCE_NS) {
                carried.doubtFirst(task, pool);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /** How often {@code task} waits in the pool's queue; many if that is not known. The queue's lock is taken, as the pool has just done. */
    private static int waiting(Object task, ThreadPoolExecutor pool) {
        try {
            Queue<Runnable> queue = pool.getQueue();
            if (queue.size() > MAX_COUNTED) {
                return Integer.MAX_VALUE;
            }
            int waiting = 0;
            for (Object each : queue) {
                waiting += each == task ? 1 : 0;
            }
            return waiting;
        } catch (RuntimeException | Error programs) {
            // a queue of the program's own
            return Integer.MAX_VALUE;
        }
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
