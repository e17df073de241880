/**
 * Child JVMs with the finished klock.jar. Enter through {@link dev.klock.sandbox.jvm.Child}; {@link dev.klock.sandbox.jvm.Jdks} says
 * on which JDKs, {@link dev.klock.sandbox.jvm.Tree} and {@link dev.klock.sandbox.jvm.VerificationLog} say what a run left behind.
 */
package dev.klock.sandbox.jvm;
