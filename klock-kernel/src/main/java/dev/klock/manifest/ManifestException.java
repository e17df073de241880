package dev.klock.manifest;

/**
 * A manifest that cannot be used (K1-12 to K1-18). The message is one line: file, line, column, what is wrong, what would be right.
 */
public final class ManifestException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String file;
    private final int line;
    private final int column;
    private final String problem;
    private final String remedy;

    ManifestException(String file, int line, int column, String problem, String remedy) {
        super(message(file, line, column, problem, remedy), null, false, true);
        this.file = file;
        this.line = line;
        this.column = column;
        this.problem = problem;
        this.remedy = remedy;
    }

    /** {@code file:line:column: problem; remedy}; the form of compilers, which editors make clickable. */
    static String message(String file, int line, int column, String problem, String remedy) {
        StringBuilder s = new StringBuilder(128);
        s.append(file);
        if (line > 0) {
            s.append(':').append(line).append(':').append(column);
        }
        s.append(": ").append(problem);
        if (remedy != null) {
            s.append("; ").append(remedy);
        }
        return s.toString();
    }

    public String file() {
        return file;
    }

    /** 1-based; 0 when the whole file is meant. */
    public int line() {
        return line;
    }

    /** 1-based; 0 when the whole file is meant. */
    public int column() {
        return column;
    }

    /** What is wrong. */
    public String problem() {
        return problem;
    }

    /** What would be right; null when nothing more can be said. */
    public String remedy() {
        return remedy;
    }
}
