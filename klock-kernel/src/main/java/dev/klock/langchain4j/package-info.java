/**
 * Glue to LangChain4j's agentic module, which must be on the class path (optional): {@link dev.klock.langchain4j.SessionListener}. Nothing else of
 * klock refers to this package.
 */
package dev.klock.langchain4j;
