package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.List;

/**
 * Refuses writing leases on all of a machine (K1-18, C18): on the root directory, on patterns above a depth, and on given directories such
 * as homes and what they lie in, each in any form, since who removes or renames a directory does so with all that is in it. Reading there is
 * not refused.
 */
public final class GlobalScopePolicy implements Policy {
    private final int minDepth;
    private final List<String> guarded;

    /**
     * @param minDepth how many names a directory needs to be the base of a writing pattern; 1 refuses only the root
     * @param guarded canonical directories, such as homes, that no writing triple may name, nor what they lie in
     */
    public GlobalScopePolicy(int minDepth, List<String> guarded) {
        this.minDepth = minDepth;
        this.guarded = List.copyOf(guarded);
    }

    @Override
    public String refuse(SessionKey session, Predicate predicate, Resource resource) {
        if (!ConflictMatrix.writes(predicate) || !resource.scheme().equals("FILE")) {
            return null;
        }
        String path = resource.path();
        if (path.equals("/")) {
            return "the whole file system is too wide a scope to write to; name the directories";
        }
        for (String dir : guarded) {
            if (isAtOrAbove(path, dir)) {
                return dir + " is guarded; name directories below it";
            }
        }
        if (minDepth > 1 && resource.form() != Resource.Form.EXACT && depth(path) < minDepth) {
            return "a pattern to write to needs a directory at least " + minDepth + " names deep";
        }
        return null;
    }

    private static boolean isAtOrAbove(String path, String dir) {
        return dir.startsWith(path) && (dir.length() == path.length() || dir.charAt(path.length()) == '/');
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
