/**
 * A test-only agent, for JVMs without klock: it notes which rows of the hook table a piece of code enters, so that a probe can be shown
 * to reach the method it claims. It shares nothing with klock's weaver but the table.
 */
package dev.klock.sandbox.trace;
