/**
 * Example 02: three LangChain4j agents in one JVM change the same files. {@link dev.klock.examples.onejvm.InSession} is all that knows
 * klock. Start reading at {@link dev.klock.examples.onejvm.ReviewRun}.
 */
package dev.klock.examples.onejvm;
