/** What is published: that the jar's bytes depend on the sources alone, that it says what it carries, and that it runs where images put it. */
package dev.klock.sandbox.distribution;
