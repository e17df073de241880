/**
 * The hook pairs: every row of the hook table allowed when declared and stopped when not, reached from public JDK API. The table is read
 * out of the finished jar ({@link dev.klock.sandbox.hooks.HookRow}); {@link dev.klock.sandbox.hooks.HookPairs} runs the probes of
 * {@link dev.klock.sandbox.subject.HookProbes} once bare and once under klock on each JDK.
 */
package dev.klock.sandbox.hooks;
