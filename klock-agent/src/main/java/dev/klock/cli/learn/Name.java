package dev.klock.cli.learn;

/**
 * A FILE resource of a log: any file has a name there, also one that no manifest can write.
 *
 * @param path         the file's, absolute
 * @param withAllBelow it stands for all that is below, too
 * @param isUnwritable it has control characters
 */
record Name(String path, boolean withAllBelow, boolean isUnwritable) {
    private static final String ALL = "/**";

    /** {@code resource} is {@code FILE:} and a path with a manifest's escapes. */
    static Name of(String resource) {
        String text = resource.substring(resource.indexOf(':') + 1);
        boolean all = text.endsWith(ALL);
        if (all) {
            text = text.length() == ALL.length() ? "/" : text.substring(0, text.length() - ALL.length());
        }
        StringBuilder path = new StringBuilder(text.length());
        boolean control = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 1 < text.length()) {
                c = text.charAt(++i);
            }
            control |= Character.isISOControl(c);
            path.append(c);
        }
        return new Name(path.toString(), all, control);
    }
}
