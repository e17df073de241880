/** Runs each example as its README says and compares what it prints with the output pasted there. */
package dev.klock.examples;
