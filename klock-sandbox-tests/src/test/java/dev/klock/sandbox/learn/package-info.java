/** From a run to the manifest that holds the next one. */
package dev.klock.sandbox.learn;
