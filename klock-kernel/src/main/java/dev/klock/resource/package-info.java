/** What a triple is about. Enter through {@link dev.klock.resource.Resource#parse}. */
package dev.klock.resource;
