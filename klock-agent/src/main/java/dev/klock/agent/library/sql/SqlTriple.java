package dev.klock.agent.library.sql;

import dev.klock.kernel.Predicate;

/**
 * One thing that a statement does.
 *
 * @param table the table, view, sequence or schema, its parts joined by dots, in lower case and without quotes; null: the whole database
 * @param makes the table is there afterwards only because of this statement: it fails if there was one before
 * @param ifThere the name is given by the statement itself, but means a table of that name if there is one
 */
public record SqlTriple(Predicate predicate, String table, boolean makes, boolean ifThere) {
    static SqlTriple whole(Predicate predicate) {
        return of(predicate, null);
    }

    static SqlTriple of(Predicate predicate, String table) {
        return new SqlTriple(predicate, table, false, false);
    }

    @Override
    public String toString() {
        return predicate + " " + (table == null ? "*" : table) + (makes ? " (new)" : "") + (ifThere ? " (if there)" : "");
    }
}
