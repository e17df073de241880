package dev.klock.agent.decide;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The jars of the agents that the JVM was started with; it appends them to the class path without saying so in {@code java.class.path}. */
final class Agents {
    private static final String OPTION = "-javaagent:";
    private static final String[] VARIABLES = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"};

    private Agents() {
    }

    /** Their names as they were given; none where the command line cannot be read. Files of arguments ({@code @file}) are not looked into. */
    static List<String> jars() {
        List<String> jars = new ArrayList<>();
        try {
            String line = new String(Files.readAllBytes(Path.of("/proc/self/cmdline")), Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8")));
            add(jars, line.split("\0"));
        } catch (IOException | RuntimeException unknown) {
            jars.clear();
        }
        for (String variable : VARIABLES) {
            String options = System.getenv(variable);
            if (options != null) {
                add(jars, options.trim().split("\\s+"));
            }
        }
        return jars;
    }

    private static void add(List<String> jars, String[] arguments) {
        for (String argument : arguments) {
            if (argument.startsWith(OPTION)) {
                int equals = argument.indexOf('=');
                String jar = argument.substring(OPTION.length(), equals < 0 ? argument.length() : equals);
                if (!jar.isEmpty()) {
                    jars.add(jar);
                }
            }
        }
    }
}
