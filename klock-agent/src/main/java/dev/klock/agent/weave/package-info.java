/**
 * Puts the hooks into the JDK: the hook table (data, one row a hooked method), the weaver that inserts the calls, the installer of the
 * bridge class inside java.base, and the check that every row took. Entered through {@link dev.klock.agent.weave.Installation}.
 */
package dev.klock.agent.weave;
