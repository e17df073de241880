/**
 * Between the woven JDK and the session: {@link dev.klock.agent.observe.Observer} turns each hooked call into resources and predicates,
 * has them decided before the effect, and tells the session through the small interfaces beside it.
 */
package dev.klock.agent.observe;
