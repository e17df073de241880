/**
 * KLIS-1 manifests: what an agent declares it will do, and whether an access is inside that.
 *
 * <p>Enter through {@link dev.klock.manifest.ManifestReader}, which turns a file's bytes into a {@link dev.klock.manifest.Manifest} or
 * refuses it with one line; hand its lines, their paths resolved, to a {@link dev.klock.manifest.Scope}, which decides. Nothing here
 * opens a file.
 */
package dev.klock.manifest;
