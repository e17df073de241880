/**
 * What a launch was asked to do and where klock keeps its things. Enter by {@link dev.klock.agent.config.Launch#read}, then
 * {@link dev.klock.agent.config.Home#open} and
 * {@link dev.klock.agent.config.SessionClaim#claim}. Everything is read once, before {@code main}.
 *
 * <p>All of it runs on the start-up path: no lambdas, streams, regular expressions or {@code String.format}.
 */
package dev.klock.agent.config;
