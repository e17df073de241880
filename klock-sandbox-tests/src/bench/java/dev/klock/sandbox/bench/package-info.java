/**
 * What klock costs: benchmarks of allowed accesses, start-up and a compiler run, each with klock and without in one run, on every JDK
 * found. Enter by {@link dev.klock.sandbox.bench.Measure}; {@code docs/performance.md} tells how to run it and what it gave.
 */
package dev.klock.sandbox.bench;
