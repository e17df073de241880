package dev.klock.manifest;

/** What a manifest's text is made of. */
enum Token {
    MAPPING, MAPPING_END, LIST, LIST_END, KEY, TEXT, INTEGER, FRACTION, TRUE, FALSE, NULL;

    boolean isScalar() {
        return ordinal() >= TEXT.ordinal();
    }

    boolean isNumber() {
        return this == INTEGER || this == FRACTION;
    }
}
