/**
 * The KLIS protocol as a pure state machine: who may do what to which resource, and who waits for whom.
 *
 * <p>Enter through {@link dev.klock.kernel.Kernel}: it takes a {@link dev.klock.kernel.Command} and the time, and answers with an
 * {@link dev.klock.kernel.Outcome}. Nothing here reads a clock, a file or a random number, starts a thread or takes a lock: the same
 * commands at the same times give the same answers, on every machine. Whoever needs clock, threads and blocking uses
 * {@code dev.klock.embedded}.
 *
 * <p>Rule ids such as {@code K3-12} and {@code C18} are those of the KLIS rule list; {@code docs/conformance.md} says which test proves
 * which.
 */
package dev.klock.kernel;
