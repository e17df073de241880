/**
 * Hooks on libraries that a manifest asks for: calls of their methods become triples and are judged as any other access. Entered through
 * {@link dev.klock.agent.library.LibraryHooks}, which nothing loads unless a manifest has {@code hooks:}; Byte Buddy and the SQL parser are
 * used here only.
 */
package dev.klock.agent.library;
