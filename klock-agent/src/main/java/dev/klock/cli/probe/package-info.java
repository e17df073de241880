/**
 * The program that {@code doctor} runs in a child JVM under klock: {@link dev.klock.cli.probe.Probes}. It uses nothing but the JDK, because
 * there it is the program that is watched.
 */
package dev.klock.cli.probe;
