/**
 * What the SQL parser's calls of {@code java.util.logging} are relocated to when klock.jar is made: nothing. The first use of the JDK's
 * loggers reads the program's configuration and settles which log manager it has, which is the program's to do.
 */
package dev.klock.agent.library.silent;
