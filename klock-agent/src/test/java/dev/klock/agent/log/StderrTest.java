package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.io.OutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class StderrTest {
    @Test
    void lines_ofALevel_areSaidFromThatLevelOn() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            Stderr.error("e");
            Stderr.warn("w");
            Stderr.info("no");
            Stderr.level(Level.ERROR);
            Stderr.warn("no");
            Stderr.announce("a");
            Stderr.level(Level.DEBUG);
            Stderr.info("i");
            Stderr.debug("d");
            assertThat(stderr.text()).isEqualTo("klock: e\nklock: warning: w\nklock: a\nklock: info: i\nklock: debug: d\n");
        }
    }

    @Test
    @Tag("D25")
    void line_withControlCharacters_cannotMoveTheCursor() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            Stderr.error("one\n\ntwo\u001b[1A\r\n");
            assertThat(stderr.text()).isEqualTo("klock: one\nklock: two\\u001b[1A\\r\n");
        }
    }

    @Test
    void stderr_thatCannotBeWritten_doesNotHurt() {
        OutputStream before = Stderr.redirect(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("closed");
            }
        });
        try {
            assertThatCode(() -> Stderr.error("x")).doesNotThrowAnyException();
        } finally {
            Stderr.redirect(before);
        }
    }

    @Test
    void slf4j_insideKlock_isSaidOnStderrOnly() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            org.slf4j.Logger logger = LoggerFactory.getLogger("lib");
            logger.info("no");
            logger.warn("{} of {}", 1, 2);
            logger.error("bad", new IllegalStateException("x"));
            assertThat(stderr.text()).isEqualTo("klock: warning: lib: 1 of 2\nklock: lib: bad: java.lang.IllegalStateException: x\n");
        }
    }

    @Test
    void violation_repeated_isSaidOnceAndCounted() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            Denials denials = new Denials();
            Resource hosts = Resource.file("/etc/hosts");
            for (int i = 1; i <= 1000; i++) {
                assertThat(denials.count(null, Predicate.MUTATES, hosts, "no hosts", false)).isEqualTo(i);
            }
            denials.count(null, Predicate.CONSUMES, hosts, "no reading", true);
            denials.sayRepeats(false);
            assertThat(stderr.text()).isEqualTo(
                    "klock: no hosts\nklock: warning: no reading\nklock: MUTATES FILE:/etc/hosts was attempted 1000 times\n");
        }
    }

    @Test
    void change_thatWasFound_isSaidBesideTheSameOneThatWasStopped() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            Denials denials = new Denials();
            Resource odd = Resource.file("/a\nb");
            for (int i = 1; i <= 2; i++) {
                assertThat(denials.countFound("a", Predicate.MUTATES, odd, "found")).isEqualTo(i);
                assertThat(denials.count("a", Predicate.MUTATES, odd, "stopped", false)).isEqualTo(i);
            }
            denials.sayRepeats(false);
            assertThat(stderr.text()).isEqualTo("""
                    klock: warning: found
                    klock: stopped
                    klock: MUTATES FILE:/a\\nb was found changed 2 times
                    klock: MUTATES FILE:/a\\nb was attempted 2 times
                    """);
        }
    }

    @Test
    void violations_ofCountlessResources_areBounded() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            Denials denials = new Denials();
            for (int i = 0; i < Denials.MAX_DISTINCT + 7; i++) {
                denials.count("a", Predicate.MUTATES, Resource.file("/f" + i), "no", false);
            }
            denials.sayRepeats(false);
            assertThat(stderr.text().lines()).hasSize(Denials.MAX_DISTINCT + 1).last()
                    .isEqualTo("klock: 7 violations of other resources are in the log only");
        }
    }

    /** A verb run where the program was started would find another home, or none. */
    @Test
    void advice_namesTheHomeWhereItWasNamed() {
        try (CapturedStderr stderr = new CapturedStderr()) {
            Stderr.advise("/w/a home");
            Stderr.error("kept; finish with: java -jar klock.jar recover --session s");
            Stderr.error("it ended well");
            assertThat(stderr.text()).isEqualTo("klock: kept; finish with: java -jar klock.jar recover --home '/w/a home' --session s\nklock: it ended well\n");
        } finally {
            Stderr.advise(null);
        }
    }
}
