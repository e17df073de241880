/**
 * From the name a program gives to the object the kernel will touch. Enter through {@link dev.klock.agent.resolve.Resolver}; names are
 * bytes, carried as {@link dev.klock.agent.resolve.Names} says.
 */
package dev.klock.agent.resolve;
