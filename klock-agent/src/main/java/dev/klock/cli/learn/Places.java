package dev.klock.cli.learn;

import dev.klock.agent.log.PlaceNames;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Reach;
import dev.klock.manifest.ReadOptions;
import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Puts variables back into paths. Immutable. */
final class Places {
    /** What begins a path that is to stay as it is though a directory that it is in has a variable: no file has such a name. */
    static final String LITERAL = "/\0";

    private static final String[] NAMES = {"workspace", "maven.repo", "tmp", "java.home", "user.home"};
    private static final String[] KEPT = {"workspace", "tmp", "user.home"};

    private final PlaceNames names;

    Places(Variables variables) {
        Map<String, String> values = new HashMap<>();
        for (String name : NAMES) {
            String value = variables.value(name);
            if (value != null) {
                values.put(name, value);
            }
        }
        names = new PlaceNames(values);
    }

    /** Null if it has none that is a directory. */
    String value(String name) {
        return names.value(name);
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

    /** Whether a manifest is refused for a line that lets all names be written that lie beside {@code file}, as a launch judges it. */
    boolean isTooBroad(Resource file) {
        String path = itself(file.path());
        return isBroad(path.substring(0, Math.max(1, path.lastIndexOf('/'))));
    }

    /** The same of all names in {@code directory}. */
    boolean isBroad(String directory) {
        return Reach.refusal(Predicate.MUTATES, Resource.of("FILE", itself(directory), Resource.Form.CHILDREN), new ReadOptions().homes(value("user.home"))) != null;
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
        return names.isIn("workspace", path) ? path.substring(value("workspace").length()) : path;
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
        return names.variable(path);
    }

    /** {@code resource} as a manifest should have it. */
    String text(Resource resource) {
        if (!isApart(resource.path())) {
            return names.text(resource);
        }
        String path = itself(resource.path());
        // the manifest's directory is the same to all programs
        return names.text(Resource.of(resource.scheme(), path, resource.form()), names.isIn("workspace", path) ? "workspace" : null);
    }
}
