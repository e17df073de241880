/**
 * One kernel for all JVMs of a machine that share a home, without a process of its own: every JVM appends its commands to one log and carries
 * out all of them, in the log's order. The state machine is pure, so all come to the same state.
 */
package dev.klock.shared;
