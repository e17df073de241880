package dev.klock.agent.config;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

/**
 * System properties, environment variables and working directory as they were when this was made, before {@code main}: what the program
 * sets later counts for nothing. Immutable.
 */
public final class LaunchEnvironment {
    private final Map<String, String> properties;
    private final Map<String, String> variables;
    private final String workingDirectory;

    /** An environment of these values; the maps are copied. {@code workingDirectory} is absolute. */
    public LaunchEnvironment(Map<String, String> properties, Map<String, String> variables, String workingDirectory) {
        this.properties = new HashMap<>(properties);
        this.variables = new HashMap<>(variables);
        this.workingDirectory = workingDirectory;
    }

    /** This, but with these system properties; without those of them that are null. */
    LaunchEnvironment with(Map<String, String> changed) {
        LaunchEnvironment other = new LaunchEnvironment(properties, variables, workingDirectory);
        for (Map.Entry<String, String> property : changed.entrySet()) {
            if (property.getValue() == null) {
                other.properties.remove(property.getKey());
            } else {
                other.properties.put(property.getKey(), property.getValue());
            }
        }
        return other;
    }

    /** That of this process. */
    public static LaunchEnvironment ofProcess() {
        Map<String, String> properties = new HashMap<>();
        Properties all = System.getProperties();
        for (String name : all.stringPropertyNames()) {
            String value = all.getProperty(name);
            if (value != null) {
                properties.put(name, value);
            }
        }
        return new LaunchEnvironment(properties, System.getenv(), currentDirectory());
    }

    /** The process's true working directory: {@code user.dir} may have been set to another by {@code -D}. */
    private static String currentDirectory() {
        try {
            return Files.readSymbolicLink(new File("/proc/self/cwd").toPath()).toString();
        } catch (IOException | RuntimeException e) {
            return new File(System.getProperty("user.dir", "/")).getAbsolutePath();
        }
    }

    /** The value of the system property {@code name}, null if there is none. */
    public String property(String name) {
        return properties.get(name);
    }

    /** The value of the environment variable {@code name}, null if there is none. */
    public String variable(String name) {
        return variables.get(name);
    }

    /** The absolute working directory. */
    public String workingDirectory() {
        return workingDirectory;
    }

    /** The file a user means by {@code name}: relative ones are relative to the working directory. */
    public File file(String name) {
        File file = new File(name);
        return file.isAbsolute() ? file : new File(workingDirectory, name);
    }

    Iterable<String> propertyNames() {
        return properties.keySet();
    }

    Iterable<String> variableNames() {
        return variables.keySet();
    }
}
