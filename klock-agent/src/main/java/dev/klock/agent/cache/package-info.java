/**
 * What one start leaves for the next in the user's cache directory, so that it need not be worked out again. Enter by
 * {@link dev.klock.agent.cache.UserCache}. Nothing here is needed: without a place to keep it, every start is a first one.
 */
package dev.klock.agent.cache;
