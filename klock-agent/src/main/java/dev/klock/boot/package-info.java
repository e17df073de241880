/**
 * The only classes of klock.jar that are on the program's class path: the entry points, which hand over to the isolated loader and hold
 * nothing a program could reach.
 */
package dev.klock.boot;
