/**
 * Example 04: a Spring AI application with two agents, each of which works in a session of its own. {@link dev.klock.examples.springteam.InSession}
 * is all that knows klock. Start reading at {@link dev.klock.examples.springteam.TeamRun}.
 */
package dev.klock.examples.springteam;
