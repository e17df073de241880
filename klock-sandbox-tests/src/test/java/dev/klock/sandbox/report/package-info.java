/** The report of real sessions, as a browser shows it. */
package dev.klock.sandbox.report;
