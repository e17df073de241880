/** Proofs that need tools which the tests do without; profile {@code proof} runs them. */
package dev.klock.proof;
