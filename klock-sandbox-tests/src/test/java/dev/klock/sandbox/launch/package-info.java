/** What a user meets when starting a program under klock: modes, exit codes, messages, and every kind of bad input. */
package dev.klock.sandbox.launch;
