package dev.klock.agent.weave;

import dev.klock.bridge.Tasks;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Weaves the JDK's executors, futures, timers and threads, so that {@link Tasks} hears for whom each task is run. Only where one JVM serves several
 * agents; elsewhere nothing of this is loaded. {@link #gaps()} lists the rows of {@code propagation.tsv} that are not in force;
 * a release that the table does not list is one, too.
 *
 * <p>Its transformer comes after the {@link Weaver} and, like that one, stays: whoever has one of these classes made anew gets its calls again, and
 * a class that both have rows for (Thread on 17) gets both. Neither takes out what the other has put in. Of another agent that comes later
 * {@link #lostIn} tells.
 */
public final class Propagation {
    private static final String TASKS = "dev.klock.bridge.Tasks";
    private static final String PORT = "sun.nio.fs.KlockTasksPort";

    private final List<String> gaps = new ArrayList<>();
    private final Map<String, List<TaskRow>> byClass = new LinkedHashMap<>();
    private final Map<String, String> bridgeMethods;
    /** Rows that were inserted; guarded by this. */
    private final Set<TaskRow> woven = new HashSet<>();
    /** What was made of each class, null once all has been looked at. */
    private volatile Map<String, byte[]> outputs = new ConcurrentHashMap<>();
    /** Null until {@link #tell}. */
    private volatile Losses losses;

    private Propagation(List<TaskRow> rows, Map<String, String> bridgeMethods) {
        this.bridgeMethods = bridgeMethods;
        for (TaskRow row : rows) {
            List<TaskRow> ofClass = byClass.get(row.owner);
            if (ofClass == null) {
                ofClass = new ArrayList<>();
                byClass.put(row.owner, ofClass);
            }
            ofClass.add(row);
        }
    }

    /**
     * Defines {@link Tasks}: from here on classes that mention it can be loaded. Called once, on the premain thread, by a class that does not, and
     * behind {@link SharedTypes#define}.
     */
    public static void define() throws IOException {
        SharedTypes.javaBase.define(TASKS, SharedTypes.bytesOf(TASKS));
    }

    /**
     * Weaves the rows of the running release. Called once, on the premain thread, before the program begins and after the {@link Installation};
     * {@code tasks} is called from then on, by threads of the JVM's too.
     */
    public static Propagation install(Instrumentation instrumentation, Tasks tasks) throws ReflectiveOperationException, IOException {
        Class<?> port = SharedTypes.javaBase.define(PORT, SharedTypes.bytesOf(PORT));
        SharedTypes.javaBase.handTasks(tasks);
        String name = TaskInserter.BRIDGE.replace('/', '.');
        Class<?> bridge = SharedTypes.javaBase.define(name, SharedTypes.bytesOf(name));
        Class.forName(name, true, null);
        SharedTypes.javaBase.hide(port);
        SharedTypes.javaBase.hide(bridge);
        warmUp(tasks);
        int feature = Runtime.version().feature();
        Propagation result = new Propagation(TaskRow.forRelease(feature), TaskInserter.bridgeMethods());
        if (!TaskRow.isListed(feature)) {
            // a way to hand work on that the table misses would do it for the wrong one, and nothing would tell
            result.gaps.add("by what ways work is handed on between agents is not known for this release");
        }
        result.weave(instrumentation);
        return result;
    }

    /** Whatever classes {@code tasks} needs are loaded here, where that cannot meet a task. */
    private static void warmUp(Tasks tasks) {
        Object task = new Object();
        Object executor = new Object();
        tasks.submitted(task);
        tasks.enter(task);
        tasks.leave();
        tasks.over(task);
        tasks.worker(task);
        tasks.over(task);
        for (int i = 0; i < 3; i++) {
            tasks.queued(task, executor);
        }
        tasks.enterQueued(task, executor);
        tasks.leave();
        tasks.refused(task, executor, true);
        tasks.refused(task, executor, false);
        tasks.unqueued(task, executor);
    }

    private void weave(Instrumentation instrumentation) {
        List<Class<?>> targets = new ArrayList<>();
        for (String name : byClass.keySet()) {
            try {
                targets.add(Class.forName(name.replace('/', '.'), false, null));
            } catch (ClassNotFoundException | LinkageError e) {
                // its rows are gaps, and say so
                continue;
            }
        }
        Reader reader = new Reader();
        instrumentation.addTransformer(new Inserting(), true);
        // registered last, so it is shown what the JVM will use; it changes nothing
        instrumentation.addTransformer(reader, true);
        try {
            instrumentation.retransformClasses(targets.toArray(new Class<?>[0]));
        } catch (UnmodifiableClassException | LinkageError | InternalError e) {
            gaps.add("the JVM refused the woven classes: " + e);
        } finally {
            instrumentation.removeTransformer(reader);
            outputs = null;
        }
        synchronized (this) {
            for (List<TaskRow> rows : byClass.values()) {
                for (TaskRow row : rows) {
                    if (!woven.contains(row)) {
                        gaps.add("no method matches " + row);
                    } else if (!reader.seen.contains(row)) {
                        gaps.add("the call was lost in " + row);
                    }
                }
            }
        }
    }

    /** One line for every row that is not in force; empty when all are. */
    public List<String> gaps() {
        return gaps;
    }

    /** From here on {@code told} hears of a class that is made anew and cannot be given its calls again. */
    public void tell(Losses told) {
        losses = told;
    }

    /** How many classes have rows. */
    public int classes() {
        return byClass.size();
    }

    /**
     * One line on a call that a class had {@code before} another agent's transformers were shown it and has not {@code after}; null if there is
     * none.
     *
     * @param name internal, null if the class was defined without one
     */
    public String lostIn(ClassLoader loader, String name, byte[] before, byte[] after) {
        List<TaskRow> rows = loader == null && name != null ? byClass.get(name) : null;
        if (rows == null) {
            return null;
        }
        Set<TaskRow> left = new HashSet<>();
        TaskInserter.find(after, rows, left);
        if (left.size() == rows.size()) {
            return null;
        }
        Set<TaskRow> had = new HashSet<>();
        TaskInserter.find(before, rows, had);
        for (TaskRow row : rows) {
            if (had.contains(row) && !left.contains(row)) {
                return "another agent took it out of ".concat(row.toString());
            }
        }
        return null;
    }

    private final class Inserting implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            List<TaskRow> rows = loader == null && name != null ? byClass.get(name) : null;
            if (rows == null) {
                return null;
            }
            try {
                Set<TaskRow> done = new HashSet<>();
                byte[] output = TaskInserter.weave(bytes, rows, done, bridgeMethods);
                synchronized (Propagation.this) {
                    woven.addAll(done);
                }
                Map<String, byte[]> remembered = outputs;
                if (remembered != null) {
                    remembered.put(name, output);
                }
                if (done.size() < rows.size()) {
                    lost(name, "not all of its rows match");
                }
                return output;
            } catch (Throwable e) {
                lost(name, e.toString());
                return null;
            }
        }

        /** Not while all is woven for the first time: then its rows are gaps. */
        private void lost(String name, String why) {
            Losses told = losses;
            if (told != null) {
                told.lost(name.replace('/', '.').concat(": ").concat(why));
            }
        }
    }

    /** Sees the final bytes and remembers which rows' calls stand in them. Those that nobody has touched since need no second parse. */
    private final class Reader implements ClassFileTransformer {
        /** Guarded by the propagation. */
        private final Set<TaskRow> seen = new HashSet<>();

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            List<TaskRow> rows = loader == null && name != null ? byClass.get(name) : null;
            if (rows == null) {
                return null;
            }
            Map<String, byte[]> remembered = outputs;
            synchronized (Propagation.this) {
                if (remembered != null && Arrays.equals(remembered.get(name), bytes)) {
                    seen.addAll(rows);
                } else {
                    TaskInserter.find(bytes, rows, seen);
                }
            }
            return null;
        }
    }
}
