/**
 * Test suites that nobody here wrote, run under klock: {@link dev.klock.sandbox.suites.SuitesTest} compares, {@link
 * dev.klock.sandbox.suites.Suite} is one of them. Which classes are in each build, what is left out and why, and what they need is
 * data: {@code suites/*.tsv} and {@code suites/*.yaml}.
 */
package dev.klock.sandbox.suites;
