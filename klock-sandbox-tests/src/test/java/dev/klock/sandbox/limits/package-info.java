/** What klock does not stop, each pinned by a test, so that docs/security.md says what is true. */
package dev.klock.sandbox.limits;
