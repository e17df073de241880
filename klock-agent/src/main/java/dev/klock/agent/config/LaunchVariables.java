package dev.klock.agent.config;

import dev.klock.manifest.Programs;
import dev.klock.manifest.Variables;
import java.io.File;
import java.io.IOException;

/** The values of a manifest's variables, and its programs, as this launch sees them. */
public final class LaunchVariables implements Variables, Programs {
    /** Where the system looks for programs when there is no {@code PATH}. */
    private static final String DEFAULT_PATH = "/bin:/usr/bin";

    private final LaunchEnvironment environment;
    private final File workspace;

    /** @param workspace the manifest's directory, what {@code ${workspace}} stands for; null where nothing asks for it */
    public LaunchVariables(LaunchEnvironment environment, File workspace) {
        this.environment = environment;
        this.workspace = workspace;
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
