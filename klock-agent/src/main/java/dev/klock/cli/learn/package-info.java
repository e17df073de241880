/** Manifests out of logs: what was seen, what of it is taken together, and the text that declares it. */
package dev.klock.cli.learn;
