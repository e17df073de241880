/** The programs that the tests watch. Ordinary classes that know nothing of klock: what they print is theirs, and is compared. */
package dev.klock.sandbox.subject;
