/**
 * The StateDigest (KLIS-8): what an agent takes along when it dies of a conflict or is suspended, so that it comes back as old as it was.
 *
 * <p>{@link dev.klock.digest.StateDigest#of} makes one from a session, {@link dev.klock.digest.DigestFormat} writes it, and
 * {@link dev.klock.digest.DigestReader} reads one back, or says in one line why it may not be used. {@link dev.klock.digest.ObservationUpdate} is what
 * its program is told when it is back. Nothing here touches a file or a
 * clock: where digests are kept is the caller's business.
 */
package dev.klock.digest;
