/** Hooks on libraries, as a manifest asks for them: hooks of one's own, the JDBC preset, and what they cost where there are none. */
package dev.klock.sandbox.library;
