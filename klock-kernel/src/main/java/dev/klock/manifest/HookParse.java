package dev.klock.manifest;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The texts of a {@code hooks:} entry: names of types and methods, and templates of resources. Knows nothing of where they stand. */
final class HookParse {
    /** Stands for a variable while the rest of a template is read as a resource: of private use, so that no name has a need of it. */
    private static final char HOLE = '\uE000';
    private static final String ARGUMENT = "arg:";
    /** Types that source code names without their package, and nobody's own. */
    private static final Set<String> OF_JAVA_LANG = Set.of("Boolean", "Byte", "CharSequence", "Character", "Class", "Comparable", "Double", "Enum", "Exception", "Float",
            "Integer", "Iterable", "Long", "Number", "Object", "Runnable", "Short", "String", "StringBuilder", "Thread", "Throwable");
    /** The JVM's limit on a method's parameters. */
    private static final int MAX_ARGUMENT = 254;
    private static final int MAX_NAME = 80;
    private static final String REMEDY = "write ${arg:0} for the first argument, ${type} or ${method}";

    private HookParse() {
    }

    /** What is wrong with a text, and what would be right. */
    static final class Problem extends Exception {
        private static final long serialVersionUID = 1L;
        final String remedy;

        Problem(String problem, String remedy) {
            super(problem, null, false, false);
            this.remedy = remedy;
        }
    }

    /** A template, taken apart. */
    static final class Template {
        String text;
        final List<Integer> parts = new ArrayList<>();

        /** Reads {@code resource}, which {@link #text} means, into literals. */
        static List<String> literals(Resource resource) {
            List<String> literals = new ArrayList<>();
            String path = resource.path();
            int from = 0;
            for (int hole = path.indexOf(HOLE); hole >= 0; hole = path.indexOf(HOLE, from)) {
                literals.add(path.substring(from, hole));
                from = hole + 1;
            }
            literals.add(path.substring(from));
            return literals;
        }
    }

    /** {@code text} with a hole for each variable that only a call gives a value; the others are left as they are. */
    static Template template(String text) throws Problem {
        if (text.indexOf(HOLE) >= 0) {
            throw new Problem("the template holds the character U+E000, which klock needs itself", "take it out");
        }
        Template template = new Template();
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 1 < text.length()) {
                b.append(c).append(text.charAt(++i));
                continue;
            }
            int end = c == '$' && text.startsWith("${", i) ? text.indexOf('}', i) : -1;
            int part = end < 0 ? Integer.MIN_VALUE : part(text.substring(i + 2, end));
            if (part == Integer.MIN_VALUE) {
                b.append(c);
                continue;
            }
            if (text.indexOf(':') > i) {
                throw new Problem("the template's scheme depends on the call", "write the scheme itself: CONFIG_KEY:" + text.substring(i, end + 1));
            }
            template.parts.add(part);
            b.append(HOLE);
            i = end;
        }
        template.text = b.toString();
        return template;
    }

    private static int part(String name) throws Problem {
        if (name.equals("type")) {
            return LibraryHook.TYPE;
        }
        if (name.equals("method")) {
            return LibraryHook.METHOD;
        }
        if (!name.startsWith("arg")) {
            return Integer.MIN_VALUE;
        }
        String digits = name.startsWith(ARGUMENT) ? name.substring(ARGUMENT.length()) : "";
        int index = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            if (c < '0' || c > '9' || digits.length() > 3) {
                throw new Problem("${" + name + "} has no index of an argument", REMEDY);
            }
            index = index * 10 + (c - '0');
        }
        if (digits.isEmpty() || index > MAX_ARGUMENT) {
            throw new Problem("${" + name + "} has no index of an argument", REMEDY);
        }
        return index;
    }

    /** The types between a method's parentheses; null if it has none. */
    static List<String> parameters(String method) throws Problem {
        int open = method.indexOf('(');
        if (open < 0) {
            return null;
        }
        if (!method.endsWith(")") || method.indexOf(')') != method.length() - 1) {
            throw new Problem("'" + ManifestParse.shorten(method) + "' is not a method", "write NAME or NAME(TYPE, TYPE)");
        }
        List<String> types = new ArrayList<>();
        String inner = method.substring(open + 1, method.length() - 1).trim();
        if (inner.isEmpty()) {
            return types;
        }
        for (int from = 0; from <= inner.length();) {
            int comma = inner.indexOf(',', from);
            int to = comma < 0 ? inner.length() : comma;
            String type = inner.substring(from, to).trim();
            String element = type;
            while (element.endsWith("[]")) {
                element = element.substring(0, element.length() - 2).trim();
            }
            if (!isTypeName(element) || element.equals("void") || OF_JAVA_LANG.contains(element)) {
                throw new Problem("'" + ManifestParse.shorten(type) + "' is not the type of a parameter",
                        OF_JAVA_LANG.contains(element) ? "write java.lang." + type :
                        "write int, java.lang.String, byte[] or another type with its package");
            }
            types.add(element + type.substring(element.length()).replace(" ", ""));
            from = to + 1;
        }
        return types;
    }

    /** The method's name, without parameters. */
    static String method(String method) throws Problem {
        int open = method.indexOf('(');
        String name = (open < 0 ? method : method.substring(0, open)).trim();
        if (name.equals("<init>") || name.equals("new")) {
            throw new Problem("constructors cannot be hooked", "name a method");
        }
        if (!isIdentifier(name, 0, name.length())) {
            throw new Problem("'" + ManifestParse.shorten(method) + "' is not a method", "write NAME or NAME(TYPE, TYPE)");
        }
        return name;
    }

    static void requireType(String type) throws Problem {
        if (!isTypeName(type) || type.indexOf('.') < 0) {
            throw new Problem("'" + ManifestParse.shorten(type) + "' is not the name of a type", "write it with its package: com.acme.Flags, or com.acme.Outer$Inner");
        }
    }

    static void requireName(String name) throws Problem {
        boolean fine = !name.isEmpty() && name.length() <= MAX_NAME;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            fine &= c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '$';
        }
        if (!fine) {
            throw new Problem("the hook's name is '" + ManifestParse.shorten(name) + "'", "write 1 to " + MAX_NAME + " letters, digits, -, _, . and $");
        }
    }

    /** Names joined by dots, of which none is empty. */
    private static boolean isTypeName(String name) {
        int from = 0;
        for (int i = 0; i <= name.length(); i++) {
            if (i == name.length() || name.charAt(i) == '.') {
                if (!isIdentifier(name, from, i)) {
                    return false;
                }
                from = i + 1;
            }
        }
        return true;
    }

    private static boolean isIdentifier(String text, int from, int to) {
        if (from == to || !Character.isJavaIdentifierStart(text.charAt(from))) {
            return false;
        }
        for (int i = from + 1; i < to; i++) {
            if (!Character.isJavaIdentifierPart(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }
}
