package dev.klock.agent.log;

import dev.klock.resource.Resource;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes paths as a manifest should have them: with the variable of the deepest directory that has one. Immutable. */
public final class PlaceNames {
    /** None: paths stay as they are. */
    public static final PlaceNames NONE = new PlaceNames(new LinkedHashMap<>());

    /** Of two that are one directory, the first. */
    private static final String[] NAMES = {"workspace", "maven.repo", "tmp", "java.home", "user.home"};

    private final Map<String, String> values;

    /** @param values the directories, absolute and canonical, by the names of the variables that stand for them; the root counts for none */
    public PlaceNames(Map<String, String> values) {
        this.values = new LinkedHashMap<>(values);
    }

    /** The directory; null if it has none. */
    public String value(String name) {
        String value = values.get(name);
        return value == null || !value.startsWith("/") || value.length() == 1 ? null : value;
    }

    /** The variable of the deepest directory that {@code path} is or lies in; null if none of them has one. */
    public String variable(String path) {
        String name = null;
        for (String each : NAMES) {
            if (isIn(each, path) && (name == null || value(each).length() > value(name).length())) {
                name = each;
            }
        }
        return name;
    }

    /** Whether {@code path} is the directory of {@code name}, or lies in it. */
    public boolean isIn(String name, String path) {
        String value = value(name);
        return value != null && path.startsWith(value) && (path.length() == value.length() || path.charAt(value.length()) == '/');
    }

    /** {@code resource} in a manifest's form. */
    public String text(Resource resource) {
        boolean path = resource.scheme().equals("FILE") || resource.scheme().equals("PROCESS");
        return text(resource, path ? variable(resource.path()) : null);
    }

    /** As above with the variable {@code name}, in whose directory it lies; with none if that is null. */
    public String text(Resource resource, String name) {
        String text = resource.toString();
        if (name == null) {
            return text;
        }
        String scheme = resource.scheme().concat(":");
        return scheme.concat("${").concat(name).concat("}").concat(text.substring(scheme.length() + Resource.escape(value(name)).length()));
    }
}
