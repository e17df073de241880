package dev.klock.kernel;

import java.util.List;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The kernel's tests in a JVM of their own, the quick ones first. Ends at the first failure with code 1, and prints which test it was. */
final class MutantRun {
    static final String KILLED_BY = "killed by ";

    private static final List<Class<?>> TESTS = List.of(
            ConflictMatrixTest.class,
            ManifestRulesTest.class,
            LeaseRulesTest.class,
            WaitDieTest.class,
            LifeCycleTest.class,
            LockDelayTest.class,
            OverviewTest.class,
            BadInputTest.class,
            OneKeyTest.class,
            ValuesTest.class,
            HashSeedTest.class,
            EdgesTest.class,
            LeaseIndexTest.class,
            DirectoriesTest.class,
            SlabTest.class,
            TimerWheelTest.class,
            FairnessTest.class,
            KernelModelTest.class,
            SmallWorldTest.class);

    private MutantRun() {}

    public static void main(String[] args) {
        Launcher launcher = LauncherFactory.create();
        launcher.registerTestExecutionListeners(new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                    String where = test.getSource()
                            .filter(source -> source instanceof MethodSource)
                            .map(source -> ((MethodSource) source).getJavaClass().getSimpleName() + "." + ((MethodSource) source).getMethodName())
                            .orElse(test.getDisplayName());
                    System.out.println(KILLED_BY + where);
                    System.out.flush();
                    Runtime.getRuntime().halt(1);
                }
            }
        });
        for (Class<?> test : TESTS) {
            launcher.execute(LauncherDiscoveryRequestBuilder.request().selectors(DiscoverySelectors.selectClass(test)).build());
        }
        Runtime.getRuntime().halt(0);
    }
}
