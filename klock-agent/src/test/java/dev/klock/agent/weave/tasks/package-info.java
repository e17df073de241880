/** For whom tasks are run: {@code PropagationTest} starts JVMs with the agent of this package, in which {@code Program} checks itself. */
package dev.klock.agent.weave.tasks;
