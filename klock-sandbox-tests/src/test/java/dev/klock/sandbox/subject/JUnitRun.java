package dev.klock.sandbox.subject;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the tests of nested classes of {@link KlockedTests}, {@code PARALLEL NAME…}, and prints a line for each, in alphabetical order:
 * {@code NAME STATUS}, and what was thrown, its lines put into one.
 */
public final class JUnitRun implements TestExecutionListener {
    private final List<String> outcomes = Collections.synchronizedList(new ArrayList<>());

    private JUnitRun() {
    }

    public static void main(String[] arguments) {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                .configurationParameter("junit.jupiter.execution.parallel.enabled", arguments[0])
                .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", "4");
        for (int i = 1; i < arguments.length; i++) {
            request.selectors(DiscoverySelectors.selectClass(KlockedTests.class.getName() + '$' + arguments[i]));
        }
        run(request.build());
    }

    private static void run(LauncherDiscoveryRequest request) {
        JUnitRun listener = new JUnitRun();
        LauncherFactory.create(LauncherConfig.builder().enableLauncherSessionListenerAutoRegistration(false)
                .enableTestExecutionListenerAutoRegistration(false).build()).execute(request, listener);
        listener.outcomes.stream().sorted().forEach(System.out::println);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
            outcomes.add(test.getDisplayName() + ' ' + result.getStatus() + result.getThrowable().map(JUnitRun::text).orElse(""));
        }
    }

    private static String text(Throwable thrown) {
        return " " + thrown.getClass().getSimpleName() + ": " + String.valueOf(thrown.getMessage()).replace("\n", " | ")
                + (thrown.getCause() == null ? "" : " <- " + thrown.getCause().getClass().getSimpleName());
    }
}
