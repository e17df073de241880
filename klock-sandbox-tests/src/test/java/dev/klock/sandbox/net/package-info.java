/** Network, environment and the native ways round the JDK, in child JVMs: the field cases F01 to F14, B01 to B08 and C20. */
package dev.klock.sandbox.net;
