package dev.klock.cli.learn;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.List;

/**
 * A line of the scope, and what speaks for it.
 *
 * @param reason  why several names were taken together, for people; null if it is one name
 * @param effects what the program may touch; null where the line starts no program, or one that never ran
 */
record ProposedLine(Predicate predicate, Resource resource, Seen evidence, String reason, List<ProposedLine> effects) {
}
