/**
 * What sessions did, as a page for people and as files for other programs: {@link dev.klock.cli.report.SessionStory} folds a log of any size into
 * what is told of it, {@link dev.klock.cli.report.SessionReport} adds what the manifest and the images say, and {@link dev.klock.cli.report.HtmlReport},
 * {@link dev.klock.cli.report.JsonReport}, {@link dev.klock.cli.report.SarifReport} and {@link dev.klock.cli.report.JUnitReport} write it.
 *
 * <p>Everything that a program can choose (paths, contents, names of threads and classes) goes through {@link dev.klock.cli.report.Visible}.
 */
package dev.klock.cli.report;
