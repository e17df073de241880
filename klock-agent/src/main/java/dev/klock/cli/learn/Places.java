package dev.klock.cli.learn;

import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;

/** Puts variables back into paths. Immutable. */
final class Places {
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
        return kept;
    }

    /** {@code file} as seen from the workspace, if it is in it. */
    String below(String file) {
        String workspace = value("workspace");
        return workspace != null && file.startsWith(workspace + "/") ? file.substring(workspace.length()) : file;
    }

    /** {@code resource} as a manifest should have it: with the variable of the deepest directory that has one. */
    String text(Resource resource) {
        String text = resource.toString();
        String name = null;
        if (!resource.scheme().equals("FILE") && !resource.scheme().equals("PROCESS")) {
            return text;
        }
        for (String each : NAMES) {
            String value = value(each);
            boolean below = value != null && (resource.path().equals(value) || resource.path().startsWith(value + "/"));
            if (below && (name == null || value.length() > value(name).length())) {
                name = each;
            }
        }
        if (name == null) {
            return text;
        }
        String scheme = resource.scheme() + ":";
        return scheme + "${" + name + "}" + text.substring(scheme.length() + Resource.escape(value(name)).length());
    }
}
