package dev.klock.agent.config;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Tells a tool of the JDK ({@code keytool}, {@code javac}, {@code jps}) that met klock only because {@code JAVA_TOOL_OPTIONS} is set for
 * the programs started beside it (C12). Such a tool is nobody's agent: no session is opened for it.
 *
 * <p>By the launcher's own file, which no argument changes, and not by the main class: {@code java Program.java} has one of the JDK's,
 * too. {@code jshell} runs what it is given and is no such tool. Whoever names klock on the tool's own command line
 * ({@code -J-javaagent:}), or says in the agent's argument, a property or a variable what klock is to do, wants it guarded.
 */
public final class JdkTool {
    private static final String PICKED_UP = "JAVA_TOOL_OPTIONS";
    private static final String AGENT = "-javaagent:";
    private static final String INSTRUMENT = "-agentlib:instrument=";
    private static final String[] NO_TOOLS = {"java", "javaw", "jshell", "jrunscript", "jwebserver"};

    private JdkTool() {
    }

    /** Whether this JVM is such a tool; {@code argument} is what stands behind {@code klock.jar=}. */
    public static boolean isThisJvm(String argument, LaunchEnvironment environment) {
        return isOne(argument, environment, canonical(new File("/proc/self/exe")), commandLine());
    }

    /** @param executable the real file of this JVM's launcher, null if not known; @param commandLine its arguments, NUL-terminated */
    static boolean isOne(String argument, LaunchEnvironment environment, File executable, String commandLine) {
        String options = environment.variable(PICKED_UP);
        if (options == null || !loads(options) || loads(commandLine) || argument != null && !argument.isEmpty() || isAsked(environment)
                || executable == null) {
            return false;
        }
        for (int i = 0; i < NO_TOOLS.length; i++) {
            if (executable.getName().equals(NO_TOOLS[i])) {
                return false;
            }
        }
        File home = canonical(new File(environment.property("java.home"), "bin"));
        return home != null && home.equals(executable.getParentFile());
    }

    private static boolean loads(String text) {
        return text.contains(AGENT) || text.contains(INSTRUMENT);
    }

    private static boolean isAsked(LaunchEnvironment environment) {
        for (Option option : new Option[] {Option.MANIFEST, Option.MODE, Option.HOME, Option.AGENT}) {
            if (environment.property(option.property()) != null || environment.variable(option.variable()) != null) {
                return true;
            }
        }
        return false;
    }

    private static File canonical(File file) {
        try {
            return file.getCanonicalFile();
        } catch (IOException e) {
            return null;
        }
    }

    private static String commandLine() {
        try (InputStream in = new FileInputStream("/proc/self/cmdline")) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            // then it is not known that nobody asked for klock
            return AGENT;
        }
    }
}
