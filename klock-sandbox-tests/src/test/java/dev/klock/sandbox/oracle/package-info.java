/**
 * Another witness: what the operating system saw of a program ({@code strace}) against what klock saw of it.
 * {@link dev.klock.sandbox.oracle.Trace} reads the one, the verification log is the other.
 */
package dev.klock.sandbox.oracle;
