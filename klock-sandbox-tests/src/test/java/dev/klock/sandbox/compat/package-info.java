/** Programs with agents, recorders, threads and libraries of their own, which must not notice klock. */
package dev.klock.sandbox.compat;
