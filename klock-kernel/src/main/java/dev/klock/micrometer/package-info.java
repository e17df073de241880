/**
 * Glue to Micrometer's context propagation, which must be on the class path (optional): {@link dev.klock.micrometer.SubjectAccessor} is found by itself.
 * Nothing else of klock refers to this package.
 */
package dev.klock.micrometer;
