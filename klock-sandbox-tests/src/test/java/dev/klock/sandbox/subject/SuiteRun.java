package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs JUnit tests that others wrote, one after the other: {@code OUTCOMES CLASSES LEFT-OUT}. The second names a file with a class a line, the
 * third one with tests that do not run, by name; into the first goes a line for each test, {@code status TAB error TAB test}, as soon as
 * it is over.
 */
public final class SuiteRun implements TestExecutionListener {
    private final PrintStream outcomes;

    private SuiteRun(PrintStream outcomes) {
        this.outcomes = outcomes;
    }

    public static void main(String[] arguments) throws IOException {
        List<DiscoverySelector> classes = Files.readAllLines(Path.of(arguments[1])).stream()
                .map(name -> (DiscoverySelector) DiscoverySelectors.selectClass(name)).toList();
        Set<String> leftOut = Set.copyOf(Files.readAllLines(Path.of(arguments[2])));
        PostDiscoveryFilter others = test -> FilterResult.includedIf(!leftOut.contains(name(test.getUniqueId())));
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(classes).filters(others)
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false").build();
        // what lies on the class path of the tests must not take part
        Launcher launcher = LauncherFactory.create(LauncherConfig.builder().enableLauncherSessionListenerAutoRegistration(false)
                .enableTestExecutionListenerAutoRegistration(false).build());
        try (PrintStream outcomes = new PrintStream(Files.newOutputStream(Path.of(arguments[0])), true, StandardCharsets.UTF_8)) {
            launcher.execute(request, new SuiteRun(outcomes));
            if (outcomes.checkError()) {
                throw new UncheckedIOException(new IOException("the outcomes could not be written"));
            }
        }
        // a suite may leave threads behind
        System.exit(0);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        write("SKIPPED", "-", test);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
            write(result.getStatus().name(), result.getThrowable().map(error -> error.getClass().getName()).orElse("-"), test);
            result.getThrowable().ifPresent(Throwable::printStackTrace);
        }
    }

    private void write(String status, String error, TestIdentifier test) {
        outcomes.println(status + "\t" + error + "\t" + name(test.getUniqueIdObject()));
    }

    private static String name(UniqueId test) {
        return test.getSegments().stream().skip(1).map(UniqueId.Segment::getValue).collect(Collectors.joining("/"));
    }
}
