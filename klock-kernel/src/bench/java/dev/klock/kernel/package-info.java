/**
 * What the kernel's decisions cost. {@link dev.klock.kernel.Benchmarks} runs all and prints the table; {@code
 * dev.klock.kernel.LiveWorld} is the kernel they run on, full of other sessions' leases.
 */
package dev.klock.kernel;
