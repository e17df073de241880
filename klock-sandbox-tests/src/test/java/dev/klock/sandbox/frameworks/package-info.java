/** Frameworks that nobody here wrote, each with a small program of its own: run bare, learned, and in strict under what was learned. */
package dev.klock.sandbox.frameworks;
