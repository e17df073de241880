/**
 * Pre-flight images and rollback (K6-5, K6-8): what a session is about to change is copied to {@code <home>/backups/<session>/} and made
 * durable before the change may happen, and put back when the session goes astray.
 *
 * <p>Enter through {@link dev.klock.agent.backup.Backups}; {@link dev.klock.agent.backup.RollbackReport} says what a rollback did.
 * <ul>
 *   <li>{@code Store}: the directories of a home's sessions; {@code Recovery}: those that crashed;
 *   <li>{@code Pack}: the file of checksummed records; {@code Replay}: what its records say;
 *   <li>{@code Entry}: what is known of a path; {@code Identities}: which file is at a path; {@code FileState}: how it is there;
 *   <li>{@code ChildWork}: what children change, out of sight;
 *   <li>{@code Rollback}: the order of one; {@code Decisions}: what is to be done for a path, a {@code Plan}; {@code Displaced}: what gives
 *       way; {@code Aside}: images of what stays somebody else's; {@code Metadata}: all but the content.
 * </ul>
 */
package dev.klock.agent.backup;
