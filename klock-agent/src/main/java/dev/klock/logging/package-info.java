/**
 * Where what the libraries in klock.jar log goes: to klock's own lines on stderr. A package of its own since SLF4J finds providers in unnamed
 * modules only, where those libraries are, too ({@code weave.Walls}).
 */
package dev.klock.logging;
