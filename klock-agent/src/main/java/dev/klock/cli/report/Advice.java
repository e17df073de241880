package dev.klock.cli.report;

import java.util.List;

/**
 * What the manifest says of a violation.
 *
 * @param allowed whether it allows it now
 * @param why     by what it does, or why it does not; one line
 * @param line    the line that would allow it; null if it is allowed, denied, or klock's own
 * @param more    what else is to be known before that line is added; may be empty
 * @param nearest the nearest lines of the scope, each with its place; may be empty
 */
public record Advice(boolean allowed, String why, String line, List<String> more, List<String> nearest) {
}
