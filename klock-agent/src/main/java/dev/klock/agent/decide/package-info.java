/**
 * What is allowed on a resolved object: the manifest's answer, what the JVM itself reads, and what is klock's own. Enter through
 * {@link dev.klock.agent.decide.Targets}, which has one {@link dev.klock.agent.decide.Target} per object;
 * {@link dev.klock.agent.decide.DecisionCache} remembers which name led to which.
 */
package dev.klock.agent.decide;
