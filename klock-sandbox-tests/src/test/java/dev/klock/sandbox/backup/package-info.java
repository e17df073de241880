/** Images, rollback, recovery and undo, as a user of klock.jar meets them. */
package dev.klock.sandbox.backup;
