package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * Something that may have changed while a session was paused (K5-11): another session held a writing lease there. The kernel sees no
 * contents (K7-13), so it says where to look. Immutable.
 *
 * @param by who may have changed it; {@code null} when the kernel's memory did not reach back far enough and anything may have changed
 * @param predicate what the lease allowed
 * @param resource where
 * @param atMs when that lease ended, or the time of this report if it is still held; kernel clock, milliseconds
 */
public record Change(SessionKey by, Predicate predicate, Resource resource, long atMs) {}
