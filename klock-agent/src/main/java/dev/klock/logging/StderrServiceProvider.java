package dev.klock.logging;

import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/** What libraries inside klock log goes to klock's own lines on stderr. Found by SLF4J when the first of them logs, not before. */
public final class StderrServiceProvider implements SLF4JServiceProvider, ILoggerFactory {
    /** The version of SLF4J this was written for; any 2.0 will do. */
    private static final String API_VERSION = "2.0.99";

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new NOPMDCAdapter();

    @Override
    public void initialize() {
        // nothing to prepare
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return this;
    }

    @Override
    public Logger getLogger(String name) {
        return new StderrLogger(name);
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public String getRequestedApiVersion() {
        return API_VERSION;
    }
}
