package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * A resource that manifests were refused or made to wait for (K7-7). Immutable.
 *
 * @param resource as asked for, which may be a pattern
 * @param conflicts manifests that met somebody there, since {@code firstMs}
 * @param deaths how many of those died of it
 * @param heat conflicts, of which each counts half as much for every minute since; what the list is sorted by
 * @param firstMs the first conflict that is counted, kernel clock, milliseconds
 * @param lastMs the last one
 */
public record HotSpot(String namespace, Resource resource, long conflicts, long deaths, double heat, long firstMs, long lastMs) {}
