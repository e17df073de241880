package sun.nio.fs;

import dev.klock.bridge.Tasks;

/** Where klock's loader leaves what {@link KlockTasks} needs before that class initialises and makes it final; empty again afterwards. */
public final class KlockTasksPort {
    static Tasks tasks;

    private KlockTasksPort() {
    }

    public static void leave(Tasks newTasks) {
        tasks = newTasks;
    }
}
