package dev.klock.sandbox.audit;

import dev.klock.sandbox.jvm.Jdk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A run of {@code java -jar klock.jar VERB …}.
 *
 * @param exit its exit code
 * @param out the lines of its stdout
 * @param err all of its stderr
 */
record CommandLine(int exit, List<String> out, String err) {
    private static final int PATIENCE_S = 120;

    static CommandLine run(Jdk jdk, Path directory, Path jar, String... arguments) {
        List<String> command = new ArrayList<>(List.of(jdk.java().toString(), "-XX:TieredStopAtLevel=1", "-jar", jar.toString()));
        command.addAll(List.of(arguments));
        try {
            Path out = Files.createTempFile(directory, "out", null);
            Path err = Files.createTempFile(directory, "err", null);
            ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().remove("JAVA_TOOL_OPTIONS");
            builder.environment().keySet().removeIf(name -> name.startsWith("KLOCK_"));
            // what another jar of the same build has kept must not stand in for what this one weaves
            builder.environment().put("XDG_CACHE_HOME", directory.toString());
            Process process = builder.start();
            process.getOutputStream().close();
            if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(command + " did not end within " + PATIENCE_S + " s");
            }
            return new CommandLine(process.exitValue(), Files.readAllLines(out), Files.readString(err));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    String lastLine() {
        return out.isEmpty() ? "" : out.get(out.size() - 1);
    }
}
