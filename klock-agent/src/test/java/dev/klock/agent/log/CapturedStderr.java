package dev.klock.agent.log;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** What klock says while this is open. */
final class CapturedStderr implements AutoCloseable {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final OutputStream before = Stderr.redirect(said);

    String text() {
        return said.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        Stderr.level(Level.WARN);
        Stderr.redirect(before);
    }
}
