package dev.klock.junit;

import dev.klock.Answer;
import dev.klock.Klock;
import dev.klock.KlockException;
import dev.klock.KlockSession;
import dev.klock.Subject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * What {@link Klocked} does. Stateless: what a test has open is in the store of its context, where dynamic tests find their factory's, too.
 *
 * <p>Each piece of the test's own code is invoked as the session, and then the agent is asked what it has seen: an error that was caught, or was thrown in
 * another thread, or was none since the mode only warns, is told of all the same. A session that strict has aborted stays in place, so that what comes after,
 * {@code @AfterEach} above all, can change nothing either.
 */
final class KlockedExtension implements InvocationInterceptor, BeforeEachCallback, AfterEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(KlockedExtension.class);
    private static final String FAIL = "fail";
    private static final String SKIP = "skip";
    private static final String RUN = "run";
    /** In the store of a class: why nothing held the constructor of an instance of it. */
    private static final String UNHELD = "unheld";
    private static final int MAX_WAIT_SECONDS = 3_600;
    /** The agent defines it in the boot loader. */
    private static final String MARK = "dev.klock.ScopeViolationError";

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        String unheld = context.getStore(NAMESPACE).get(UNHELD, String.class);
        Guarded guarded = unheld == null ? open(context, false) : unguarded(context, unheld, false);
        if (guarded != null) {
            context.getStore(NAMESPACE).put(Guarded.class, guarded);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Guarded guarded = context.getStore(NAMESPACE).remove(Guarded.class, Guarded.class);
        if (guarded != null) {
            guarded.close();
        }
    }

    @Override
    public <T> T interceptTestClassConstructor(Invocation<T> invocation, ReflectiveInvocationContext<Constructor<T>> invoked, ExtensionContext context)
            throws Throwable {
        // JUnit makes the instance before it looks whether the test is disabled, so that is for beforeEach to say
        return alone(invocation, open(context, true));
    }

    @Override
    public void interceptBeforeAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context) throws Throwable {
        alone(invocation, open(context, false));
    }

    @Override
    public void interceptAfterAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context) throws Throwable {
        alone(invocation, open(context, false));
    }

    @Override
    public void interceptBeforeEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context) throws Throwable {
        ofTest(invocation, context);
    }

    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context) throws Throwable {
        ofTest(invocation, context);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context)
            throws Throwable {
        ofTest(invocation, context);
    }

    @Override
    public <T> T interceptTestFactoryMethod(Invocation<T> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context) throws Throwable {
        return ofTest(invocation, context);
    }

    @Override
    public void interceptDynamicTest(Invocation<Void> invocation, DynamicTestInvocationContext invoked, ExtensionContext context) throws Throwable {
        ofTest(invocation, context);
    }

    @Override
    public void interceptAfterEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> invoked, ExtensionContext context) throws Throwable {
        ofTest(invocation, context);
    }

    /** As the session that {@link #beforeEach} has opened. */
    private static <T> T ofTest(Invocation<T> invocation, ExtensionContext context) throws Throwable {
        Guarded guarded = context.getStore(NAMESPACE).get(Guarded.class, Guarded.class);
        return guarded == null ? invocation.proceed() : guarded.invoke(invocation);
    }

    /** As a session of its own. */
    private static <T> T alone(Invocation<T> invocation, Guarded guarded) throws Throwable {
        if (guarded == null) {
            return invocation.proceed();
        }
        T result;
        try {
            result = guarded.invoke(invocation);
        } catch (Throwable e) {
            try {
                guarded.close();
            } catch (AssertionFailedError later) {
                e.addSuppressed(later);
            }
            throw e;
        }
        guarded.close();
        return result;
    }

    // ---- opening

    /**
     * Null if the test runs unguarded, as it was told to, or this is the constructor of a class of which only methods are annotated.
     *
     * @param later what is to become of a test that nothing guards, {@link #beforeEach} does
     */
    private static Guarded open(ExtensionContext context, boolean later) throws InterruptedException {
        Klocked klocked = annotation(context);
        if (klocked == null) {
            return null;
        }
        if (klocked.waitSeconds() < 0 || klocked.waitSeconds() > MAX_WAIT_SECONDS) {
            throw new ExtensionConfigurationException("@Klocked(waitSeconds = " + klocked.waitSeconds() + "): 0 to " + MAX_WAIT_SECONDS + " would be right");
        }
        if (!isAgentLoaded()) {
            return unguarded(context, "klock is not in this JVM; start it with -javaagent:klock.jar (of Surefire: argLine)", later);
        }
        long deadline = System.nanoTime() + Duration.ofSeconds(klocked.waitSeconds()).toNanos();
        String agent = klocked.agent().isEmpty() ? null : klocked.agent();
        KlockSession session;
        try {
            session = Klock.open(klocked.manifest().isEmpty() ? null : Path.of(klocked.manifest()), agent, Duration.ofSeconds(klocked.waitSeconds()));
        } catch (KlockException e) {
            if (klocked.manifest().isEmpty()) {
                return unguarded(context, e.getMessage(), later);
            }
            throw new ExtensionConfigurationException(e.getMessage(), e);
        }
        if (!session.isEnforced()) {
            session.close();
            return unguarded(context, "the manifest that klock holds this process to declares no agent " + session.agentId() + " under agents:, or its mode is learn", later);
        }
        try {
            Answer answer = session.answer();
            if (!answer.isGranted()) {
                answer = session.retry(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            }
            if (!answer.isGranted()) {
                throw new ExtensionConfigurationException("agent " + session.agentId() + " was not granted its leases within " + klocked.waitSeconds() + " s: "
                        + answer.verdict() + ", " + answer.reason());
            }
            return new Guarded(session);
        } catch (RuntimeException | InterruptedException e) {
            session.close();
            throw e;
        }
    }

    /** What stands nearest: on the method, its class, or the class around that; null if nothing. */
    private static Klocked annotation(ExtensionContext context) {
        for (Optional<ExtensionContext> at = Optional.of(context); at.isPresent(); at = at.get().getParent()) {
            Optional<Klocked> found = AnnotationSupport.findAnnotation(at.get().getElement(), Klocked.class);
            if (found.isPresent()) {
                return found.get();
            }
        }
        return null;
    }

    private static boolean isAgentLoaded() {
        try {
            Class.forName(MARK, false, null);
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    private static Guarded unguarded(ExtensionContext context, String why, boolean later) {
        if (later) {
            context.getStore(NAMESPACE).put(UNHELD, why);
            return null;
        }
        String what = context.getConfigurationParameter(Klocked.UNGUARDED).orElse(FAIL);
        String text = "nothing would hold this test to its manifest: " + why;
        switch (what) {
            case RUN:
                return null;
            case SKIP:
                throw new TestAbortedException(text);
            case FAIL:
                throw new ExtensionConfigurationException(text + "; or choose what is to become of such tests: " + Klocked.UNGUARDED + "=skip, or =run");
            default:
                throw new ExtensionConfigurationException(Klocked.UNGUARDED + "=" + what + ": fail, skip or run would be right");
        }
    }

    // ---- the session

    /** A session, and what of its violations was not told yet. Safe for all threads: dynamic tests may run at once. */
    private static final class Guarded {
        private final KlockSession session;
        private final Subject subject;
        private int told;
        private boolean isOverTold;

        /** @throws IllegalStateException it may not work, though it was granted just now */
        Guarded(KlockSession session) {
            this.session = session;
            try (KlockSession.Entered entered = session.enter()) {
                this.subject = Klock.subject();
            }
        }

        <T> T invoke(Invocation<T> invocation) throws Throwable {
            Subject before = Klock.subject();
            T result;
            try {
                subject.set();
                result = invocation.proceed();
            } catch (Throwable e) {
                fail(e);
                throw e;
            } finally {
                before.set();
            }
            fail(null);
            return result;
        }

        /** Fails with what was not told yet. */
        private void fail(Throwable cause) {
            String over = session.isValid() ? null : session.answer().reason();
            String message = untold(over);
            if (message != null) {
                throw new AssertionFailedError(message, cause);
            }
        }

        /** Null if there is nothing. {@code over}: why the session may not work any more, null if it may. */
        private synchronized String untold(String over) {
            List<String> all = session.violations();
            if (all.size() > told) {
                String message = String.join("\n", all.subList(told, all.size()));
                told = all.size();
                isOverTold = true;
                return message;
            }
            if (over == null || isOverTold) {
                return null;
            }
            isOverTold = true;
            return "the session of agent " + session.agentId() + " ended before its test: " + over;
        }

        /** Waits until all that it did is undone, if it was aborted. */
        void close() {
            String over = session.isValid() ? null : session.answer().reason();
            session.close();
            String message = untold(over);
            if (message != null) {
                throw new AssertionFailedError(message);
            }
        }
    }
}
