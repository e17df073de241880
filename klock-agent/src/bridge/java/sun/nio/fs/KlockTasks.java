package sun.nio.fs;

import dev.klock.bridge.Tasks;
import java.util.List;
import java.util.Queue;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import jdk.internal.misc.InnocuousThread;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.ReservedStackAccess;

/**
 * The one class that the JDK's executors, futures, timers and threads call where klock carries on for whom they work ({@code propagation.tsv}).
 * It leaves out what is the JDK's own and hands the rest to klock's loader through {@link Tasks}. Defined only where that is needed; reflection
 * does not list its members.
 *
 * <p><b>Virtual threads.</b> Their scheduler is a fork-join pool like others, and whoever unparks one submits a task to it. Such tasks are left
 * out on both sides. Where they are run, the thread is a carrier, on which nothing of the program's ever runs: what a virtual thread does, it does
 * as itself. A carrier is also what {@code Thread.currentThread()} is wherever a virtual thread is in transition (between mount and unmount, or
 * while it parks with a timeout), so no code of klock's runs there. Where they are made by other threads, they are told by what they run.
 *
 * <p>Frames of what calls the program are hidden, so that its stack traces are what they were.
 */
public final class KlockTasks {
    private static final Tasks TASKS;
    /** The carriers of virtual threads; null before there were any. */
    private static final Class<?> CARRIER = find("jdk.internal.misc.CarrierThread");
    private static final Class<?> TIMER = find("java.util.TimerThread");
    /** The tasks that {@link #adapted} is called for. */
    private static final Class<?> ADAPTED = find("java.util.concurrent.ForkJoinTask$AdaptedRunnableAction");
    private static final Class<?> EXECUTED = find("java.util.concurrent.ForkJoinTask$RunnableExecuteAction");
    private static final String VIRTUAL = "java.lang.VirtualThread";
    /** What a virtual thread's scheduler is given to run; the same class for all, null until the first is met. Benign races. */
    private static Class<?> continuation;

    static {
        TASKS = KlockTasksPort.tasks;
        KlockTasksPort.tasks = null;
    }

    private KlockTasks() {
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException notThisRelease) {
            return null;
        }
    }

    private static boolean isCarrier() {
        return Thread.currentThread().getClass() == CARRIER;
    }

    /** Whether {@code task} is one of the JDK's own that is woven to enter and leave by itself whenever it is run. */
    private static boolean entersItself(Object task) {
        return (task instanceof FutureTask || task instanceof CompletableFuture.AsynchronousCompletionTask)
                && task.getClass().getClassLoader() == null;
    }

    // ---- tasks that are known by themselves

    /** A FutureTask is made, or a TimerTask scheduled. */
    public static void submitted(Object task) {
        if (task != null && !isCarrier()) {
            TASKS.submitted(task);
        }
    }

    /** A ForkJoinTask is made, of whatever class. */
    public static void forked(ForkJoinTask<?> task) {
        Class<?> type = task.getClass();
        if (type != ADAPTED && type != EXECUTED && !isCarrier()) {
            TASKS.submitted(task);
        }
    }

    /** A ForkJoinTask may be run anew. */
    public static void reinitialized(ForkJoinTask<?> task) {
        if (!isCarrier()) {
            TASKS.over(task);
            TASKS.submitted(task);
        }
    }

    /** A ForkJoinTask is made that runs {@code runnable}. */
    public static void adapted(ForkJoinTask<?> task, Runnable runnable) {
        if (!isContinuation(runnable.getClass()) && !isCarrier()) {
            TASKS.submitted(task);
        }
    }

    private static boolean isContinuation(Class<?> type) {
        if (continuation != null) {
            return type == continuation;
        }
        if (!type.isHidden() || type.getClassLoader() != null || !type.getName().startsWith(VIRTUAL)) {
            return false;
        }
        continuation = type;
        return true;
    }

    /** A thread is about to be started. */
    public static void started(Thread thread) {
        if (!(thread instanceof ForkJoinWorkerThread) && !(thread instanceof InnocuousThread) && thread.getClass() != TIMER && !isCarrier()) {
            TASKS.submitted(thread);
        }
    }

    /**
     * A virtual thread has done all that it was started for, and is still itself. One that has never met klock was never asked for, and there may be
     * millions: what is known of it would be left to the garbage collector.
     */
    public static void ended(Thread thread) {
        TASKS.over(thread);
    }

    /** A pool is about to start a worker. */
    public static void worker(Thread thread) {
        if (thread != null && !isCarrier()) {
            TASKS.worker(thread);
        }
    }

    public static void enter(Object task) {
        TASKS.enter(task);
    }

    /** A completion is tried, by who completes what it waits for or because it is run. */
    public static void enterFired(Object completion) {
        TASKS.enterUncalled(completion);
    }

    /** A completion is run, or a ForkJoinTask invoked: next it is tried, or executed. */
    public static void enterCalled(Object task) {
        TASKS.enterCalled(task);
    }

    /**
     * {@code state}: 0 if the task may be run again. Must not fail where the stack ends, or the thread would go on as who it is not: it needs no
     * more of it than {@link #enter} had, and what is reserved where the JVM has compiled the method meanwhile, or gone back from that.
     */
    @ReservedStackAccess
    public static void leave(Object task, int state) {
        TASKS.leave();
        if (state != 0) {
            TASKS.over(task);
        }
    }

    /** {@code live}: whether the completion may be tried again. */
    @ReservedStackAccess
    public static void leaveFired(Object completion, boolean live) {
        leave(completion, live ? 0 : 1);
    }

    /** A ForkJoinTask is executed: by a worker, by who helps the pool, or because it is invoked. */
    public static void enterFork(ForkJoinTask<?> task) {
        if (isCarrier()) {
            return;
        }
        if (entersItself(task)) {
            TASKS.uncalled();
        } else {
            TASKS.enterUncalled(task);
        }
    }

    /** {@code status}: below 0 if the task is done. */
    @ReservedStackAccess
    public static void leaveFork(ForkJoinTask<?> task, int status) {
        if (!isCarrier()) {
            leave(task, status < 0 && !entersItself(task) ? 1 : 0);
        }
    }

    /** In place of {@code task.run()}. */
    @Hidden
    public static void tick(TimerTask task) {
        TASKS.enter(task);
        try {
            task.run();
        } finally {
            leave(task, 0);
        }
    }

    // ---- tasks that wait in pools, where one may wait several times

    /** {@code executor} is given {@code task}. */
    public static void queued(Runnable task, ThreadPoolExecutor executor) {
        if (task != null && !entersItself(task) && !isCarrier()) {
            TASKS.queued(task, executor);
        }
    }

    /** In place of {@code task.run()}. */
    @Hidden
    public static void run(Runnable task, ThreadPoolExecutor executor) {
        if (entersItself(task)) {
            task.run();
            return;
        }
        TASKS.enterQueued(task, executor);
        try {
            task.run();
        } finally {
            leave(task, 0);
        }
    }

    /**
     * In place of {@code handler.rejectedExecution(task, executor)}. The JDK's own handlers are done with the task, but for what they tell by
     * themselves; one of the program's may have put it into the queue, from where it may be gone again. If it is run here, it is for whom the pool had
     * run it.
     */
    @Hidden
    public static void reject(RejectedExecutionHandler handler, Runnable task, ThreadPoolExecutor executor) {
        if (isCarrier()) {
            handler.rejectedExecution(task, executor);
            return;
        }
        TASKS.uncalled();
        try {
            rejected(handler, task, executor);
        } finally {
            left();
        }
    }

    /** Undoes {@link Tasks#uncalled}, as {@link #leave}. */
    @ReservedStackAccess
    private static void left() {
        TASKS.leave();
    }

    @Hidden
    private static void rejected(RejectedExecutionHandler handler, Runnable task, ThreadPoolExecutor executor) {
        if (task == null || entersItself(task)) {
            handler.rejectedExecution(task, executor);
            return;
        }
        if (handler.getClass().getClassLoader() == null) {
            TASKS.refused(task, executor, true);
            handler.rejectedExecution(task, executor);
            return;
        }
        boolean surely = true;
        try {
            handler.rejectedExecution(task, executor);
            surely = false;
        } finally {
            TASKS.refused(task, executor, surely);
        }
    }

    /** In place of {@code queue.remove(task)}. */
    @Hidden
    public static boolean remove(java.util.concurrent.BlockingQueue<?> queue, Object task, ThreadPoolExecutor executor) {
        boolean removed = queue.remove(task);
        if (removed) {
            unqueued(task, executor);
        }
        return removed;
    }

    /** In place of {@code executor.remove(task)} where the task is rejected next, and {@link #reject} will say so once more. */
    @Hidden
    public static boolean removeRefused(ThreadPoolExecutor executor, Runnable task) {
        boolean removed = executor.remove(task);
        if (removed) {
            queued(task, executor);
        }
        return removed;
    }

    /** In place of {@code queue.poll()}: the oldest task is dropped. */
    @Hidden
    public static Object poll(Queue<?> queue, ThreadPoolExecutor executor) {
        Object task = queue.poll();
        unqueued(task, executor);
        return task;
    }

    /** {@code tasks} have been taken out of the queue for good. */
    public static void drained(List<?> tasks, ThreadPoolExecutor executor) {
        for (int i = 0; i < tasks.size(); i++) {
            unqueued(tasks.get(i), executor);
        }
    }

    private static void unqueued(Object task, ThreadPoolExecutor executor) {
        if (task != null && !entersItself(task) && !isCarrier()) {
            TASKS.unqueued(task, executor);
        }
    }
}
