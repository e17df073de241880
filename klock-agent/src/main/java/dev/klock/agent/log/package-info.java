/**
 * What klock says: the verification log of a session ({@link dev.klock.agent.log.VerificationLog}), its own lines on stderr
 * ({@link dev.klock.agent.log.Stderr}, {@link dev.klock.agent.log.Denials}) and the texts of both ({@link dev.klock.agent.log.Messages}).
 *
 * <p>Nothing here may hurt the program: a log that cannot be written costs one line on stderr, stdout is never touched, and names that
 * a program chose can forge neither a record nor what a terminal shows.
 */
package dev.klock.agent.log;
