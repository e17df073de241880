/**
 * Example 01: a LangChain4j agent with file and shell tools of others, which stays inside its manifest or strays. Nothing here
 * knows klock. Start reading at {@link dev.klock.examples.stayinside.AgentRun}.
 */
package dev.klock.examples.stayinside;
