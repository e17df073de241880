package dev.klock.manifest;

/** A manifest's text, token by token. JSON's and YAML's are apart, so that reading the one loads nothing of the other's library. */
interface Tokens {
    /** Goes to the next token, and gives it; null at the end. */
    Token next() throws Problem;

    /** The key or scalar at hand, without its quotes; a number as it is written. */
    String text() throws Problem;

    /** Where the token at hand starts, 1-based; after the last one, where the text ends. */
    int line();

    int column();

    /** The line on which the token at hand ends. */
    int endLine();

    /** What is wrong with a text, and what would be right. */
    final class Problem extends Exception {
        private static final long serialVersionUID = 1L;
        /** 1-based; 0 when nothing is known but the token before. */
        final int line;
        final int column;
        final String remedy;

        Problem(int line, int column, String problem, String remedy) {
            super(problem, null, false, false);
            this.line = line;
            this.column = column;
            this.remedy = remedy;
        }
    }
}
