/** What SQL means as triples: {@link dev.klock.agent.library.sql.SqlReader} is given a text and answers {@link dev.klock.agent.library.sql.SqlTriple}s. */
package dev.klock.agent.library.sql;
