/**
 * What others are told of decisions, after them and by a thread of its own: {@link dev.klock.agent.notice.Notices} takes it, Flight Recorder gets it as
 * events. Nobody who is told can change or delay a decision.
 */
package dev.klock.agent.notice;
