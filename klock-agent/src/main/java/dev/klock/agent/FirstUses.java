package dev.klock.agent;

import dev.klock.agent.backup.Backups;

/**
 * Initialises what the program's threads would be the first to use, inside of a hook. A stack that ends in an initialiser makes its class
 * unusable for the whole process, so that one recursion gone wrong would fail every later change.
 */
final class FirstUses {
    private static final String[] AT_START = {"dev.klock.agent.Images$1", "dev.klock.agent.Surroundings$1",
        "dev.klock.agent.backup.Entry", "dev.klock.agent.decide.Agents", "dev.klock.agent.observe.Causes", "dev.klock.agent.observe.Unseen", "dev.klock.agent.observe.Walks",
        "dev.klock.resource.Resource$1"};

    /** Many times what the JDK's providers take. */
    private static final long ROOM_BYTES = 8L << 20;

    private FirstUses() {
    }

    static void atStart() {
        initialise(AT_START);
    }

    /**
     * What takes as long as a fifth of a start; by another thread than the program's, since most programs change nothing at once.
     *
     * @return whether it is done. It is not tried where memory is short: a class of the JDK's whose initialiser fails for want of it is of no use to the
     *     program either from then on
     */
    static boolean soon() {
        Runtime jvm = Runtime.getRuntime();
        if (jvm.maxMemory() - jvm.totalMemory() + jvm.freeMemory() < ROOM_BYTES) {
            return false;
        }
        Backups.prepareHashing();
        return true;
    }

    private static void initialise(String[] names) {
        for (int i = 0; i < names.length; i++) {
            try {
                Class.forName(names[i], true, FirstUses.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                // one that another compiler did not make: its name ends in a number
                continue;
            }
        }
    }
}
