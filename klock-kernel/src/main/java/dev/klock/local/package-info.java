/**
 * Sessions of {@link dev.klock.Klock} without an agent: leases from a kernel of this JVM, and nothing enforced. Programs come here through
 * {@link dev.klock.Klock#open}, which loads {@link dev.klock.local.LocalSessions} by name.
 */
package dev.klock.local;
