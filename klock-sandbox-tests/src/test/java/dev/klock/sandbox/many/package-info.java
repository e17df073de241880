/** Several agents on one tree: JVMs that share a home, and with it their leases (FIELD I). */
package dev.klock.sandbox.many;
