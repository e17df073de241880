package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.List;

/**
 * Refuses writing leases on all of a machine (K1-18, C18): on the root directory in any form, on patterns above a depth, and on patterns
 * over or directly on given directories such as homes. Reading there is not refused.
 */
public final class GlobalScopePolicy implements Policy {
    private final int minDepth;
    private final List<String> guarded;

    /**
     * @param minDepth how many names a directory needs to be the base of a writing pattern; 1 refuses only the root
     * @param guarded canonical directories, such as homes, that no writing pattern may name or contain
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
        if (resource.form() == Resource.Form.EXACT) {
            return null;
        }
        if (minDepth > 1 && depth(path) < minDepth) {
            return "a pattern to write to needs a directory at least " + minDepth + " names deep";
        }
        for (String dir : guarded) {
            if (resource.covers(Resource.file(dir)) || path.equals(dir)) {
                return dir + " is guarded; name directories below it";
            }
        }
        return null;
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
