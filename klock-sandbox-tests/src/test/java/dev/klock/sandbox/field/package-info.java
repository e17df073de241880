/**
 * The field cases: how other tools of this kind have failed, each as accesses that klock must stop or must leave alone. A group of cases
 * is one class that says for each access what it does and what must come of it ({@link dev.klock.sandbox.field.Cases}); a
 * {@link dev.klock.sandbox.field.FieldProgram} makes the accesses in a child JVM, {@link dev.klock.sandbox.field.FieldRun} judges them,
 * and {@code docs/field-cases.md} is the table of the verdicts.
 */
package dev.klock.sandbox.field;
