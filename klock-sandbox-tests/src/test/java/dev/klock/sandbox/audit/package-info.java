/**
 * The audit and the doctor as a user runs them, on the finished jar and on jars with a fault in their tables; the ledger of natives; the
 * page of supported JDKs.
 */
package dev.klock.sandbox.audit;
