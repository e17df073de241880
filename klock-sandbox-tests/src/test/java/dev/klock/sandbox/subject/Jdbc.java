package dev.klock.sandbox.subject;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Connects to the database of its first argument, and does what the others say:
 *
 * <pre>
 *  update SQL     execute SQL     query SQL (prints)     batch SQL     prepared SQL (with 1 for each ?)     call SQL
 *  prepare SQL, again (executes it)     tables (asks the metadata)     schema     write FILE     try STEP
 *  row insert|update|delete SQL (changes the first row of what it asks for)
 * </pre>
 */
public final class Jdbc {
    private final Connection connection;
    private PreparedStatement prepared;

    private Jdbc(Connection connection) {
        this.connection = connection;
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("main begins");
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            Jdbc jdbc = new Jdbc(connection);
            for (int i = 1; i < arguments.length; i++) {
                jdbc.run(arguments[i]);
            }
        }
        System.out.println("main ends");
    }

    private void run(String step) throws Exception {
        int blank = step.indexOf(' ');
        String word = blank < 0 ? step : step.substring(0, blank);
        String rest = blank < 0 ? "" : step.substring(blank + 1);
        try (Statement statement = connection.createStatement()) {
            switch (word) {
                case "update" -> System.out.println("updated " + statement.executeUpdate(rest));
                case "execute" -> System.out.println("executed " + statement.execute(rest));
                case "query" -> print(statement.executeQuery(rest));
                case "batch" -> {
                    statement.addBatch(rest);
                    System.out.println("batch of " + statement.executeBatch().length);
                }
                case "prepared" -> {
                    try (PreparedStatement one = connection.prepareStatement(rest)) {
                        System.out.println("executed " + execute(one));
                    }
                }
                case "prepare" -> prepared = connection.prepareStatement(rest);
                case "again" -> System.out.println("again " + execute(prepared));
                case "call" -> System.out.println("called " + connection.prepareCall(rest).execute());
                case "row" -> row(rest.substring(0, rest.indexOf(' ')), rest.substring(rest.indexOf(' ') + 1));
                case "tables" -> tables();
                case "schema" -> System.out.println("schema " + connection.getSchema());
                case "write" -> java.nio.file.Files.writeString(java.nio.file.Path.of(rest), "changed\n");
                case "try" -> {
                    try {
                        run(rest);
                    } catch (Throwable e) {
                        System.out.println("caught " + e.getClass().getName());
                    }
                }
                default -> throw new IllegalArgumentException(step);
            }
        }
    }

    private static boolean execute(PreparedStatement statement) throws SQLException {
        for (int i = 1; i <= statement.getParameterMetaData().getParameterCount(); i++) {
            statement.setInt(i, 1);
        }
        return statement.execute();
    }

    private static void print(ResultSet rows) throws SQLException {
        while (rows.next()) {
            System.out.println("row " + rows.getString(1));
        }
    }

    private void row(String change, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE); ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            switch (change) {
                case "delete" -> rows.deleteRow();
                case "update" -> {
                    rows.updateInt(1, 7);
                    rows.updateRow();
                }
                default -> {
                    rows.moveToInsertRow();
                    rows.updateInt(1, 8);
                    rows.insertRow();
                }
            }
        }
        System.out.println("row changed: " + change);
    }

    private void tables() throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        int tables = 0;
        try (ResultSet rows = data.getTables(null, null, "%", new String[] {"TABLE"})) {
            while (rows.next()) {
                tables++;
            }
        }
        System.out.println(data.getDatabaseProductName() + " has tables: " + (tables > 0));
    }
}
