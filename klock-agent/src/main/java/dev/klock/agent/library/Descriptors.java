package dev.klock.agent.library;

/** Types as class files write them. */
final class Descriptors {
    private static final String[] PRIMITIVES = {"boolean", "Z", "byte", "B", "char", "C", "short", "S", "int", "I", "long", "J", "float", "F",
        "double", "D"};

    private Descriptors() {
    }

    /** Appends the descriptor of a type as Java source has it: {@code int}, {@code java.lang.String}, {@code byte[]}. */
    static void append(StringBuilder to, String type) {
        String element = type;
        while (element.endsWith("[]")) {
            to.append('[');
            element = element.substring(0, element.length() - 2);
        }
        for (int i = 0; i < PRIMITIVES.length; i += 2) {
            if (PRIMITIVES[i].equals(element)) {
                to.append(PRIMITIVES[i + 1]);
                return;
            }
        }
        to.append('L').append(element.replace('.', '/')).append(';');
    }
}
