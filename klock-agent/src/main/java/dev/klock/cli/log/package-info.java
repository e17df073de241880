/** Verification logs, read record by record, so that one of any size can be. */
package dev.klock.cli.log;
