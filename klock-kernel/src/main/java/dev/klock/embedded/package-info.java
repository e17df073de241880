/**
 * The kernel inside one JVM: {@link dev.klock.embedded.EmbeddedKernel} gives the pure state machine of {@code dev.klock.kernel} a clock,
 * a lock and one daemon thread, so that threads can ask, wait and be handed what they wait for.
 *
 * <p>Enter through {@link dev.klock.embedded.EmbeddedKernel#open}; the {@link dev.klock.embedded.EmbeddedSession} it returns is the whole
 * of what a program needs.
 */
package dev.klock.embedded;
