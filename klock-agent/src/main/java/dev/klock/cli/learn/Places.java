package dev.klock.cli.learn;

import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Puts variables back into paths. Immutable. */
final class Places {
    /** What begins a path that is to stay as it is though a directory that it is in has a variable: no file has such a name. */
    static final String LITERAL = "/\0";

    private static final String[] NAMES = {"workspace", "maven.repo", "tmp", "java.home", "user.home"};
    private static final String[] KEPT = {"workspace", "tmp", "user.home"};

    private final Variables variables;

    Places(Variables variables) {
        this.variables = variables;
    }

    /** Null if it has none that is a directory. */
    String value(String name) {
        String value = variables.value(name);
        return value == null || !value.startsWith("/") || value.length() == 1 ? null : value;
    }

    /** The directories of which, as a whole, nobody should be given anything. */
    List<String> kept() {
        List<String> kept = new ArrayList<>();
        for (String name : KEPT) {
            if (value(name) != null) {
                kept.add(value(name));
            }
        }
        for (String directory : List.copyOf(kept)) {
            kept.add(LITERAL + directory);
        }
        return kept;
    }

    /** Whether every variable is the same directory to both. */
    boolean isAs(Places other) {
        for (String name : NAMES) {
            if (!Objects.equals(value(name), other.value(name))) {
                return false;
            }
        }
        return true;
    }

    /** {@code file} as seen from the workspace, if it is in it. */
    String below(String file) {
        String path = itself(file);
        return isIn("workspace", path) ? path.substring(value("workspace").length()) : path;
    }

    /** {@code path}, without what sets it apart. */
    static String itself(String path) {
        return isApart(path) ? path.substring(LITERAL.length()) : path;
    }

    static boolean isApart(String path) {
        return path.startsWith(LITERAL);
    }

    /** The variable of the deepest directory that {@code path} is or lies in; null if none of them has one. */
    String variable(String path) {
        String name = null;
        for (String each : NAMES) {
            if (isIn(each, path) && (name == null || value(each).length() > value(name).length())) {
                name = each;
            }
        }
        return name;
    }

    private boolean isIn(String name, String path) {
        String value = value(name);
        return value != null && path.startsWith(value) && (path.length() == value.length() || path.charAt(value.length()) == '/');
    }

    /** {@code resource} as a manifest should have it: with the variable of the deepest directory that has one. */
    String text(Resource resource) {
        if (!resource.scheme().equals("FILE") && !resource.scheme().equals("PROCESS")) {
            return resource.toString();
        }
        String path = itself(resource.path());
        String text = Resource.of(resource.scheme(), path, resource.form()).toString();
        // the manifest's directory is the same to all programs
        String name = !isApart(resource.path()) ? variable(path) : isIn("workspace", path) ? "workspace" : null;
        if (name == null) {
            return text;
        }
        String scheme = resource.scheme() + ":";
        return scheme + "${" + name + "}" + text.substring(scheme.length() + Resource.escape(value(name)).length());
    }
}
