package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;

/**
 * Judges how far a line reaches: who may write everywhere has declared nothing (K1-18, C18). The reader asks for lines as they are
 * written; whoever follows links asks again for what they turned out to be, since {@code /w/link/**} may be {@code /**}.
 */
public final class Reach {
    private Reach() {
    }

    /** What is too broad about a line, for a message ("a whole home directory"); null when nothing is, or it does not write. */
    public static String refusal(Predicate predicate, Resource resource, ReadOptions options) {
        if (predicate == Predicate.CONSUMES || predicate == Predicate.DEPENDS_ON) {
            return null;
        }
        return options.allowBroadWrites && !isRoot(resource) ? null : breadth(resource, options);
    }

    /** The same of a line that reads: allowed, but probably not meant; null when there is nothing to say. */
    static String warning(Predicate predicate, Resource resource, ReadOptions options) {
        boolean broad = predicate == Predicate.CONSUMES && (isRoot(resource) || resource.form() != Resource.Form.EXACT);
        return broad ? breadth(resource, options) : null;
    }

    private static boolean isRoot(Resource resource) {
        return resource.scheme().equals("FILE") && resource.path().equals("/");
    }

    private static String breadth(Resource resource, ReadOptions options) {
        if (!resource.scheme().equals("FILE")) {
            return null;
        }
        if (isRoot(resource)) {
            return resource.form() == Resource.Form.SUBTREE ? "everything" : "the root directory";
        }
        String path = resource.path();
        for (String home : options.homes) {
            if (home != null && isAtOrAbove(path, home)) {
                return "a whole home directory";
            }
        }
        return depth(path) < options.minWriteDepth ? "a directory fewer than " + options.minWriteDepth + " levels deep" : null;
    }

    private static boolean isAtOrAbove(String path, String home) {
        return home.equals(path) || (home.length() > path.length() && home.startsWith(path) && home.charAt(path.length()) == '/');
    }

    private static int depth(String path) {
        int depth = 0;
        for (int i = 0; i < path.length(); i++) {
            if (path.charAt(i) == '/') {
                depth++;
            }
        }
        return depth;
    }
}
