/** Which test proves which rule of the protocol: the table in {@code docs/conformance.md}, generated from the tests' tags. */
package dev.klock.sandbox.conformance;
