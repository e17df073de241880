/**
 * Pre-flight images and rollback (K6-5, K6-8): what a session is about to change is copied to {@code <home>/backups/<session>/} and made
 * durable before the change may happen, and put back when the session goes astray.
 *
 * <p>Enter through {@link dev.klock.agent.backup.Backups}; {@link dev.klock.agent.backup.RollbackReport} says what a rollback did.
 * The file format is in {@code Pack}, the order of a rollback in {@code Rollback}.
 */
package dev.klock.agent.backup;
