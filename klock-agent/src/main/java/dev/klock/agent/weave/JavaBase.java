package dev.klock.agent.weave;

import java.util.Set;

/**
 * What klock has java.base do. Its one implementation is linked to java.base's internals and compiled apart ({@code src/inside}); why not
 * reflection: since release 18 each reflected call spins method handles, on 25 about 60 ms CPU before {@code main} for the few made here.
 *
 * <p>Here too the types that are shared with java.base are not mentioned: it is this that defines them.
 */
interface JavaBase {
    /** Defines a class into the boot loader: into java.base if {@code name} is in one of its packages, else into the unnamed module. */
    Class<?> define(String name, byte[] bytes);

    /**
     * Makes a module of {@code packages}, in which {@code loader} (null: the boot loader) has not defined a class yet. It exports and opens
     * nothing.
     */
    Module module(ClassLoader loader, String name, Set<String> packages);

    /** Lets {@code module} read {@code other}. */
    void read(Module module, Module other);

    /** Lets {@code module} read every module of the JDK and all unnamed ones. */
    void readAll(Module module);

    /** Exports a package of {@code module} to {@code other}. */
    void export(Module module, String packageName, Module other);

    /** Hides all members of {@code type} from reflection. */
    void hide(Class<?> type);

    /** The {@code HostFiles}: a new {@code sun.nio.fs.KlockFiles}, which must have been defined. */
    Object files();

    /** Leaves the {@code Hooks} and the {@code Fence} in {@code sun.nio.fs.KlockPort}, which must have been defined, for the bridge class to take. */
    void hand(Object hooks, Object fence);

    /** Leaves the {@code Tasks} in {@code sun.nio.fs.KlockTasksPort}, which must have been defined. */
    void handTasks(Object tasks);
}
