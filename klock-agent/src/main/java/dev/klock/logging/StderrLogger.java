package dev.klock.logging;

import dev.klock.agent.log.Stderr;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** An SLF4J logger over {@link Stderr}: its errors and warnings count as ours, the rest is seen at level {@code debug} only. */
final class StderrLogger extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    StderrLogger(String name) {
        this.name = name;
    }

    @Override
    public boolean isTraceEnabled() {
        return false;
    }

    @Override
    public boolean isDebugEnabled() {
        return Stderr.says(dev.klock.agent.log.Level.DEBUG);
    }

    @Override
    public boolean isInfoEnabled() {
        return Stderr.says(dev.klock.agent.log.Level.DEBUG);
    }

    @Override
    public boolean isWarnEnabled() {
        return Stderr.says(dev.klock.agent.log.Level.WARN);
    }

    @Override
    public boolean isErrorEnabled() {
        return Stderr.says(dev.klock.agent.log.Level.ERROR);
    }

    @Override
    protected String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(Level level, Marker marker, String pattern, Object[] arguments, Throwable thrown) {
        StringBuilder text = new StringBuilder(name).append(": ").append(MessageFormatter.basicArrayFormat(pattern, arguments));
        if (thrown != null) {
            text.append(": ").append(thrown);
        }
        if (level == Level.ERROR) {
            Stderr.error(text.toString());
        } else if (level == Level.WARN) {
            Stderr.warn(text.toString());
        } else {
            Stderr.debug(text.toString());
        }
    }
}
