package dev.klock.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The test works as an agent's session, and fails if anything is done or tried in it that the agent's manifest does not declare, whatever the test made of the
 * error, and also in modes that only warn:
 *
 * <pre>{@code
 * @Klocked(agent = "builder")
 * class BuilderTest {
 * }</pre>
 *
 * <p>The JVM must run with {@code -javaagent:klock.jar}, and the manifest that holds the whole process must declare the agent under {@code agents:}. A test
 * that nothing would hold to its manifest fails, unless JUnit's configuration parameter {@value #UNGUARDED} says {@code skip} or {@code run}.
 *
 * <p>On a class it is about each of its tests, also those of nested classes; on a method about that one, in place of what the class says, which still
 * counts for the constructor. From the first {@code @BeforeEach} to the last {@code @AfterEach} a test has one session; a constructor, a {@code @BeforeAll}
 * and an {@code @AfterAll} method have one each. What other extensions do is the process's. May stand on other annotations.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(KlockedExtension.class)
public @interface Klocked {
    /** JUnit's configuration parameter, also a system property: {@code fail} (if not said), {@code skip}, or {@code run}. */
    String UNGUARDED = "dev.klock.junit.unguarded";

    /** The agent's manifest, which declares what the process's declares for it, or less; empty for the process's. Relative to the working directory. */
    String manifest() default "";

    /** Its {@code agent_id}; empty for the manifest's own. */
    String agent() default "";

    /** How long a test may wait for its leases, in seconds: tests that run at once and may change the same have them one after the other. */
    int waitSeconds() default 60;
}
