/**
 * The command line, {@code java -jar klock.jar VERB}. Enter by {@link dev.klock.cli.Main#run}; each verb is one class, and
 * {@link dev.klock.cli.Verbs} is the table of them.
 *
 * <p>Nothing here runs beside a program: stdout is ours. What was asked for goes to stdout, everything else to stderr as one line.
 */
package dev.klock.cli;
