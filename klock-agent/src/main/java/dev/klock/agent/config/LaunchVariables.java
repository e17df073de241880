package dev.klock.agent.config;

import dev.klock.manifest.Programs;
import dev.klock.manifest.Variables;
import java.io.File;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The values of a manifest's variables, and its programs, as this launch sees them. */
public final class LaunchVariables implements Variables, Programs {
    /** Where the system looks for programs when there is no {@code PATH}. */
    private static final String DEFAULT_PATH = "/bin:/usr/bin";

    /** The variables that stand for a directory which the launch has and not the manifest, each with the system property that says so. */
    private static final String[][] DIRECTORIES = {
        {"tmp", "java.io.tmpdir"}, {"java.home", "java.home"}, {"user.home", "user.home"}, {"maven.repo", "maven.repo.local"},
    };

    private final LaunchEnvironment environment;
    private final File workspace;

    /** @param workspace the manifest's directory, what {@code ${workspace}} stands for; null where nothing asks for it */
    public LaunchVariables(LaunchEnvironment environment, File workspace) {
        this.environment = environment;
        this.workspace = workspace;
    }

    /** The values of the variables that stand for directories, by name; without those that have none here. */
    public Map<String, String> directories() {
        Map<String, String> values = new LinkedHashMap<>();
        if (workspace != null) {
            values.put("workspace", canonical(workspace));
        }
        for (String[] directory : DIRECTORIES) {
            String value = value(directory[0]);
            if (value != null) {
                values.put(directory[0], value);
            }
        }
        return values;
    }

    /**
     * {@code here}, but with the directories that {@link #directories} told of another launch, so that variables have the values that they had there;
     * {@code here} itself if nothing was told. What the workspace was does not count: it is the manifest's directory, wherever that is.
     */
    public static LaunchEnvironment asThere(LaunchEnvironment here, Map<String, String> told) {
        if (told.isEmpty()) {
            return here;
        }
        Map<String, String> properties = new LinkedHashMap<>();
        for (String[] directory : DIRECTORIES) {
            properties.put(directory[1], directory(told.get(directory[0])));
        }
        return here.with(properties);
    }

    @Override
    public String value(String name) {
        if (name.equals("workspace")) {
            return canonical(workspace);
        }
        if (name.equals("tmp")) {
            return directory(environment.property("java.io.tmpdir"));
        }
        if (name.equals("java.home") || name.equals("user.home")) {
            return directory(environment.property(name));
        }
        if (name.equals("maven.repo")) {
            String named = environment.property("maven.repo.local");
            String home = directory(environment.property("user.home"));
            return named != null ? directory(named) : home == null ? null : home.concat("/.m2/repository");
        }
        if (name.startsWith("env:")) {
            return environment.variable(name.substring("env:".length()));
        }
        return name.startsWith("sys:") ? environment.property(name.substring("sys:".length())) : null;
    }

    /** {@code path} without what would make it non-canonical; null where there is none or it is not absolute ({@code ?} is the home of a user without one). */
    private static String directory(String path) {
        return path == null || !path.startsWith("/") ? null : canonical(new File(path));
    }

    private static String canonical(File file) {
        try {
            return file.getCanonicalPath();
        } catch (IOException e) {
            return file.getAbsolutePath();
        }
    }

    /** Relative entries of PATH are passed over: what they mean changes with the working directory (C48). */
    @Override
    public String find(String name) {
        String path = environment.variable("PATH");
        path = path == null ? DEFAULT_PATH : path;
        int from = 0;
        while (from <= path.length()) {
            int colon = path.indexOf(':', from);
            int to = colon < 0 ? path.length() : colon;
            if (to > from && path.charAt(from) == '/') {
                File file = new File(path.substring(from, to), name);
                if (file.isFile() && file.canExecute()) {
                    return canonical(file);
                }
            }
            from = to + 1;
        }
        return null;
    }
}
