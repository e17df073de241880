package dev.klock.agent.library.sql;

import dev.klock.kernel.Predicate;

/**
 * One thing that a statement does.
 *
 * @param table the table, view, sequence or schema, its parts joined by dots, in lower case and without quotes; null: the whole database
 * @param makes the table is there afterwards only because of this statement: it fails if there was one before
 */
public record SqlTriple(Predicate predicate, String table, boolean makes) {
    static SqlTriple whole(Predicate predicate) {
        return new SqlTriple(predicate, null, false);
    }

    @Override
    public String toString() {
        return predicate + " " + (table == null ? "*" : table) + (makes ? " (new)" : "");
    }
}
