package dev.klock.sandbox.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.klock.Klock;
import dev.klock.junit.Klocked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that {@link JUnitRun} runs, with an agent {@code builder} that may change {@code w/a}, and another, {@code reader}, that may only read it. The
 * process may read {@code w/out}.
 */
final class KlockedTests {
    private KlockedTests() {
    }

    private static void write(String file, String text) {
        try {
            Files.writeString(Path.of(file), text);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void stray(String file) {
        try {
            write(file, "strayed");
        } catch (Throwable swallowed) {
            // as libraries do
        }
    }

    private static String worker() {
        return Klock.current() == null ? "the process" : Klock.current().agentId();
    }

    @Klocked(agent = "builder")
    static class Inside {
        Inside() {
            assertEquals("builder", worker());
        }

        @BeforeAll
        static void begins() {
            assertEquals("builder", worker());
        }

        @BeforeEach
        void before() {
            write("w/a/before", "1");
        }

        @Test
        void staysInside() {
            write("w/a/x", "1");
            assertEquals("builder", worker());
        }

        @Test
        @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
        void staysInside_onAThreadOfItsOwn() {
            write("w/a/y", "1");
            assertEquals("builder", worker());
        }

        @Test
        @Klocked(agent = "reader")
        void isAnother_byItsMethod() {
            // also before
            assertEquals("reader", worker());
        }

        @Test
        void fails_byItself() {
            assertEquals("1", "2");
        }

        @AfterEach
        void after() {
            assertTrue(worker().equals("builder") || worker().equals("reader"));
        }

        @Nested
        class Deeper {
            @Test
            void isNested() {
                write("w/a/nested", "1");
                stray("w/b/nested");
            }
        }

        @AfterAll
        static void ends() {
            assertEquals("builder", worker());
        }
    }

    @Klocked(agent = "builder")
    static class Outside {
        private static final AtomicInteger CLEANED = new AtomicInteger();

        @Test
        void strays() {
            write("w/b/strays", "1");
        }

        @Test
        void swallows() {
            write("w/a/undone", "1");
            stray("w/b/swallows");
        }

        @Test
        void fails_sinceItStrayed() {
            stray("w/b/fails");
            assertNull("what was not written");
        }

        @Test
        void strays_onAnotherThread() throws InterruptedException {
            Thread thread = new Thread(() -> stray("w/b/thread"));
            thread.start();
            thread.join();
        }

        @ParameterizedTest
        @ValueSource(strings = {"w/a/one", "w/b/two"})
        void parameter(String file) {
            stray(file);
        }

        @RepeatedTest(2)
        void repeated() {
            stray("w/a/repeated");
        }

        @TestFactory
        Stream<DynamicTest> factory() {
            return Stream.of("w/a/dynamic", "w/b/dynamic").map(file -> DynamicTest.dynamicTest(file, () -> stray(file)));
        }

        @AfterEach
        void cleansUp() {
            CLEANED.incrementAndGet();
        }

        @AfterAll
        static void all() {
            // a factory's tests have one session
            assertEquals(9, CLEANED.get());
        }
    }

    @Klocked(agent = "builder")
    static class StraysBefore {
        @BeforeEach
        void before() {
            stray("w/b/before");
        }

        @Test
        void isNotRun() {
            System.out.println("it is run");
        }
    }

    @Klocked(agent = "builder")
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class StraysAfter {
        StraysAfter() {
            write("w/a/constructed", "1");
        }

        @Test
        void isNotToBlame() {
            write("w/a/x", "1");
        }

        @AfterAll
        void all() {
            stray("w/b/after");
        }
    }

    /** Each holds what the others want. */
    @Klocked(agent = "builder")
    static class Together {
        private static final AtomicInteger AT_ONCE = new AtomicInteger();

        @RepeatedTest(4)
        void works() throws InterruptedException {
            assertEquals(1, AT_ONCE.incrementAndGet());
            write("w/a/together", "1");
            Thread.sleep(20);
            AT_ONCE.decrementAndGet();
        }
    }

    @Klocked(manifest = "less.yaml")
    static class Less {
        @Test
        void mayLess() {
            assertEquals("builder", worker());
            write("w/a/less/x", "1");
            stray("w/a/x");
        }
    }

    static class NotDeclared {
        @Test
        @Klocked(agent = "nobody")
        void isNotDeclared() {
        }

        @Test
        @Klocked(manifest = "w/out/missing.yaml", agent = "builder")
        void hasNoManifest() {
        }

        @Test
        void isTheProcess() throws Exception {
            assertEquals("the process", worker());
            try (var held = Klock.open(null, "builder", Duration.ZERO)) {
                assertTrue(held.isEnforced());
            }
        }
    }
}
