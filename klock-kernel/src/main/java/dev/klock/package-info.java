/**
 * What a program that knows about klock calls: {@link dev.klock.Klock#open} gives a {@link dev.klock.KlockSession} with a manifest's leases.
 *
 * <p>This package refers to nothing but the JDK and itself; what stands behind it is loaded with the first session.
 */
package dev.klock;
