package dev.klock.manifest;

import dev.klock.resource.Resource;

/** Puts the values of variables into texts of a manifest. */
final class VariableText {
    static final String KNOWN = "${workspace}, ${tmp}, ${java.home}, ${user.home}, ${maven.repo}, ${env:NAME}, ${sys:name}";
    private static final String[] NAMES = {"workspace", "tmp", "java.home", "user.home", "maven.repo"};

    private VariableText() {
    }

    /** What is wrong with a variable. */
    static final class Problem extends Exception {
        private static final long serialVersionUID = 1L;
        final String remedy;

        Problem(String problem, String remedy) {
            super(problem, null, false, false);
            this.remedy = remedy;
        }
    }

    /**
     * {@code text} with its variables' values. {@code asResource}: a value stands for exactly its characters, so its {@code *} and
     * {@code \} are escaped, and a slash at its end is left out, since the text goes on with its own.
     */
    static String resolve(String text, Variables variables, boolean asResource) throws Problem {
        int at = text.indexOf("${");
        if (at < 0) {
            return text;
        }
        StringBuilder b = new StringBuilder(text.length() + 64);
        int from = 0;
        while (at >= 0) {
            int end = text.indexOf('}', at);
            if (end < 0) {
                throw new Problem("'" + text + "' has a ${ without }", "write ${name}; known: " + KNOWN);
            }
            String name = text.substring(at + 2, end);
            String value = value(name, variables);
            b.append(text, from, at);
            b.append(asResource ? Resource.escape(withoutEndSlash(value, end + 1 < text.length() && text.charAt(end + 1) == '/')) : value);
            from = end + 1;
            at = text.indexOf("${", from);
        }
        return b.append(text, from, text.length()).toString();
    }

    private static String value(String name, Variables variables) throws Problem {
        boolean path = false;
        for (int i = 0; i < NAMES.length; i++) {
            path |= NAMES[i].equals(name);
        }
        boolean prefixed = (name.startsWith("env:") || name.startsWith("sys:")) && name.length() > 4;
        if (!path && !prefixed) {
            throw new Problem("unknown variable ${" + name + "}", hint(name) + "known: " + KNOWN);
        }
        String value = variables.value(name);
        if (value == null || value.isEmpty()) {
            throw new Problem("variable ${" + name + "} has no value", name.startsWith("env:")
                    ? "set " + name.substring(4) + " in the environment, or write the value itself"
                    : name.startsWith("sys:") ? "start the JVM with -D" + name.substring(4) + "=..., or write the value itself"
                    : "write the path itself");
        }
        if (path && value.charAt(0) != '/') {
            throw new Problem("variable ${" + name + "} is '" + value + "', not an absolute path", "write the path itself");
        }
        return value;
    }

    private static String hint(String name) {
        boolean capitals = !name.isEmpty();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            capitals &= (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        }
        if (capitals) {
            return "write ${env:" + name + "} for an environment variable; ";
        }
        String nearest = Names.nearest(name, NAMES);
        return nearest == null ? "" : "did you mean ${" + nearest + "}? ";
    }

    private static String withoutEndSlash(String value, boolean slashFollows) {
        int end = value.length();
        while (end > 1 && value.charAt(end - 1) == '/') {
            end--;
        }
        return end == 1 && value.charAt(0) == '/' && slashFollows ? "" : value.substring(0, end);
    }
}
