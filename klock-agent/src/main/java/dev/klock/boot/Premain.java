package dev.klock.boot;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.jar.JarFile;

/**
 * Entry of {@code -javaagent:klock.jar}.
 *
 * <p>This class is on the program's class path, so it holds nothing: it opens the jar, makes the isolated loader, hands over, and forgets
 * both. What must not be done here: print to stdout, touch java.util.logging, JMX or java.nio.file, let an exception out (the JVM would
 * abort with its own noise); if klock cannot start, the program does not either.
 */
public final class Premain {
    private Premain() {
    }

    /** Called by the JVM before {@code main}; {@code arguments} is what stands behind {@code =}, or null. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        start(arguments, instrumentation);
    }

    /**
     * Called by the launcher before {@link Main#main} when the jar itself is run ({@code Launcher-Agent-Class}): the command line's
     * {@code doctor} needs an Instrumentation of its own JVM. Nothing is woven here.
     */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        Main.instrumentation = instrumentation;
    }

    private static void start(String arguments, Instrumentation instrumentation) {
        try {
            if (isThere()) {
                say("klock is in this JVM already: -javaagent:klock.jar stands twice (look into JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS)");
                Runtime.getRuntime().halt(2);
            }
            File jar = jar();
            JarFile file = new JarFile(jar);
            Throwable failure = new IsolatedLoader(file).entrance("dev.klock.agent.weave.Walls")
                    .apply(new Object[] {arguments, jar, instrumentation, file});
            if (failure != null) {
                fail(failure);
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    static File jar() throws Exception {
        return new File(Premain.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** Whether an earlier entry has defined klock's shared types. */
    private static boolean isThere() {
        try {
            Class.forName("dev.klock.bridge.Hooks", false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static void fail(Throwable cause) {
        StringBuilder line = new StringBuilder("cannot start, so the program is not started: ").append(cause);
        for (StackTraceElement frame : cause.getStackTrace()) {
            line.append("\n    at ").append(frame);
        }
        say(line.toString());
        if (cause instanceof SecurityException) {
            say("a security manager (-Djava.security.manager) stops klock itself: start without it, since the manifest takes its place");
        }
        Runtime.getRuntime().halt(1);
    }

    private static void say(String text) {
        try {
            new FileOutputStream(FileDescriptor.err).write("klock: ".concat(text).concat("\n").getBytes(StandardCharsets.UTF_8));
        } catch (Throwable refused) {
            // a security manager needs no permission for this
            System.err.print("klock: ".concat(text).concat("\n"));
        }
    }
}
