package dev.klock.cli.learn;

import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;

/**
 * A FILE resource of a log: any file has a name there, also one that no manifest can write.
 *
 * @param path         the file's, absolute
 * @param withAllBelow it stands for all that is below, too
 * @param isUnwritable it has control characters, or half of a surrogate pair, which stands for a byte that is not UTF-8
 */
public record Name(String path, boolean withAllBelow, boolean isUnwritable) {
    private static final String ALL = "/**";

    /** {@code resource} is {@code FILE:} and a path with a manifest's escapes. */
    static Name of(String resource) {
        String text = resource.substring(resource.indexOf(':') + 1);
        boolean all = text.endsWith(ALL);
        if (all) {
            text = text.length() == ALL.length() ? "/" : text.substring(0, text.length() - ALL.length());
        }
        StringBuilder path = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 1 < text.length()) {
                c = text.charAt(++i);
            }
            path.append(c);
        }
        return new Name(path.toString(), all, Resource.isUnwritable(path.toString(), 0));
    }

    /**
     * What a record names: of files also what no manifest can.
     *
     * @throws ResourceSyntaxException there is nothing of that name
     */
    public static Resource resource(String text) {
        try {
            return Resource.parse(text);
        } catch (ResourceSyntaxException e) {
            boolean file = text.startsWith("FILE:/") || text.startsWith("PROCESS:/");
            Name name = file ? of(text) : null;
            if (name == null || !name.isUnwritable) {
                throw e;
            }
            return Resource.of(text.substring(0, text.indexOf(':')), name.path, name.withAllBelow ? Resource.Form.SUBTREE : Resource.Form.EXACT);
        }
    }
}
