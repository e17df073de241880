/**
 * Example 03: four LangChain4j agents, each in a JVM of its own, change the same files. Nothing here knows klock. Tools and model are those of
 * example 02. Start reading at {@link dev.klock.examples.fourjvms.ReviewerRun}.
 */
package dev.klock.examples.fourjvms;
