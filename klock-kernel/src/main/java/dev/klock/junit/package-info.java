/**
 * Glue to JUnit Jupiter, which must be on the class path (optional): {@link dev.klock.junit.Klocked} on a test. Nothing else of klock refers to this
 * package.
 */
package dev.klock.junit;
