/**
 * Proves that no call of a native that matters goes unhooked on the running JDK: {@link dev.klock.agent.audit.Audit} reads every class of
 * the run-time image as woven and holds it against the hook table and the {@link dev.klock.agent.audit.Ledger} of natives.
 */
package dev.klock.agent.audit;
