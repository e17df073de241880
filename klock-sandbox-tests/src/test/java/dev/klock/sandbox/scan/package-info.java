/**
 * A second opinion on the hook table: natives and their callers as found in the run-time image by code that shares nothing with klock's
 * weaver. {@link dev.klock.sandbox.scan.ImageScanner} runs on the JDK under test, {@link dev.klock.sandbox.scan.HookTableScanTest} compares.
 */
package dev.klock.sandbox.scan;
