/**
 * Example 05: an MCP server over stdio with tools for files, and a client that asks it for things. Neither knows klock. Start reading at
 * {@link dev.klock.examples.mcpserver.FileServer}.
 */
package dev.klock.examples.mcpserver;
