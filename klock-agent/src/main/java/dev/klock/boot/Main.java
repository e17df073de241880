package dev.klock.boot;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.util.jar.JarFile;

/** Entry of {@code java -jar klock.jar VERB}. */
public final class Main {
    /** Of the command line's own JVM; null if the launcher gave none. */
    static Instrumentation instrumentation;

    private Main() {
    }

    /** Runs the command line and exits with its code. */
    public static void main(String[] arguments) throws Throwable {
        IsolatedLoader loader = new IsolatedLoader(new JarFile(Premain.jar()));
        loader.standalone();
        if (instrumentation != null) {
            // names are bytes: what undoes a session needs the JDK's own file calls, and those types before any class that mentions them
            loader.loadClass("dev.klock.agent.weave.SharedTypes").getMethod("define", Instrumentation.class).invoke(null, instrumentation);
        }
        Thread.currentThread().setContextClassLoader(loader);
        int status;
        try {
            status = (int) loader.loadClass("dev.klock.cli.Main").getMethod("run", String[].class, Instrumentation.class)
                    .invoke(null, arguments, instrumentation);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        System.exit(status);
    }
}
