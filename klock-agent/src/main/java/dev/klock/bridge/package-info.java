/**
 * The types that java.base and klock's own loader share. They are defined into the boot loader's unnamed module, refer to nothing but
 * the JDK and each other, and hold no state that a program could reach.
 */
package dev.klock.bridge;
