package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.agent.log.Level;
import java.util.HashMap;
import java.util.Map;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LaunchOptionsTest {
    private final Map<String, String> properties = new HashMap<>();
    private final Map<String, String> variables = new HashMap<>();

    private LaunchOptions read(String argument) throws UsageException {
        return LaunchOptions.read(argument, new LaunchEnvironment(properties, variables, "/w"));
    }

    @Test
    void options_nothingGiven_areTheDefaults() throws UsageException {
        LaunchOptions options = read(null);

        assertThat(options.mode()).isEqualTo(Mode.STRICT);
        assertThat(options.waitTimeoutMs()).isEqualTo(30_000);
        assertThat(options.amend()).isFalse();
        assertThat(options.logLevel()).isEqualTo(Level.WARN);
        assertThat(options.denialsLimit()).isEqualTo(20);
        assertThat(options.agent()).isNull();
        assertThat(options.text(Option.MANIFEST)).isNull();
        assertThat(options.loosened()).isEmpty();
        for (Option option : Option.values()) {
            assertThat(options.origin(option)).isEqualTo(Origin.DEFAULT);
        }
    }

    @Test
    void option_givenEverywhere_argumentBeatsPropertyBeatsVariable() throws UsageException {
        properties.put("klock.mode", "block");
        properties.put("klock.wait-timeout", "2m");
        variables.put("KLOCK_MODE", "learn");
        variables.put("KLOCK_WAIT_TIMEOUT", "1h");
        variables.put("KLOCK_LOG_LEVEL", "debug");

        LaunchOptions options = read("mode=permissive");

        assertThat(options.mode()).isEqualTo(Mode.PERMISSIVE);
        assertThat(options.origin(Option.MODE)).isEqualTo(Origin.ARGUMENT);
        assertThat(options.waitTimeoutMs()).isEqualTo(120_000);
        assertThat(options.origin(Option.WAIT_TIMEOUT)).isEqualTo(Origin.PROPERTY);
        assertThat(options.logLevel()).isEqualTo(Level.DEBUG);
        assertThat(options.origin(Option.LOG_LEVEL)).isEqualTo(Origin.ENVIRONMENT);
    }

    @Test
    void argument_escapes_giveCommasAndBackslashes() throws UsageException {
        assertThat(read("manifest=/a\\,b/k=1.yaml,home=x\\\\,agent=d").text(Option.MANIFEST)).isEqualTo("/a,b/k=1.yaml");
        assertThat(read("home=x\\\\,manifest=C\\d").text(Option.HOME)).isEqualTo("x\\");
        assertThat(read("home=x\\\\,manifest=C\\d").text(Option.MANIFEST)).isEqualTo("C\\d");
        assertThat(read(",agent=a,,").agent()).isEqualTo("a");
    }

    @Property
    void argument_anyValues_areReadBack(@ForAll @StringLength(min = 1) String a, @ForAll @Chars({',', '\\', '=', 'x'}) @StringLength(min = 1, max = 9) String b)
            throws UsageException {
        Assume.that(a.indexOf('\0') < 0);
        LaunchOptions options = read(LaunchOptions.argument(Option.MANIFEST, a) + "," + LaunchOptions.argument(Option.HOME, b) + ",mode=block");
        assertThat(options.text(Option.MANIFEST)).isEqualTo(a);
        assertThat(options.text(Option.HOME)).isEqualTo(b);
        assertThat(options.mode()).isEqualTo(Mode.BLOCK);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "moed=strict|unknown agent argument 'moed'; did you mean mode?",
        "colour=red|unknown agent argument 'colour'; known are manifest, mode, home, agent, wait-timeout, lease-ttl, require-signed, amend, log.level, "
            + "denials.limit, backup.max-bytes, backup.max-files",
        "klock.yaml|agent argument 'klock.yaml' is not of the form key=value; did you mean manifest=klock.yaml?",
        "mode=lenient|agent argument mode must be strict, block, permissive, learn or off, not 'lenient'",
        "mode=permisive|agent argument mode must be strict, block, permissive, learn or off, not 'permisive' (did you mean permissive?)",
        "mode=STRICT|agent argument mode must be strict, block, permissive, learn or off, not 'STRICT' (did you mean strict?)",
        "mode=|agent argument mode needs a value: mode=strict",
        "mode|agent argument mode needs a value: mode=strict",
        "permissive|agent argument 'permissive' is not of the form key=value; did you mean mode=permissive?",
        "mode=block,mode=off|agent argument mode is given twice",
        "wait-timeout=30|agent argument wait-timeout must be a duration of at most 24h such as 30s, 500ms, 2m or 1h, not '30'",
        "wait-timeout=25h|agent argument wait-timeout must be a duration of at most 24h such as 30s, 500ms, 2m or 1h, not '25h'",
        "amend=yes|agent argument amend must be true or false, not 'yes'",
        "log.level=trace|agent argument log.level must be error, warn, info or debug, not 'trace'",
        "denials.limit=0|agent argument denials.limit must be a whole number from 1 on, not '0'",
        "backup.max-bytes=-1|agent argument backup.max-bytes must be a size such as 512m, 4g or a number of bytes, not '-1'",
    })
    void argument_wrong_isRefusedWithOneLine(String argument, String line) {
        assertThatThrownBy(() -> read(argument)).isInstanceOf(UsageException.class).hasMessage(line);
    }

    @Test
    void property_unknownOrWrong_isRefused() {
        properties.put("klock.mod", "off");
        assertThatThrownBy(() -> read(null)).hasMessage("unknown system property 'klock.mod'; did you mean mode?");

        properties.clear();
        properties.put("klock.mode", "of");
        assertThatThrownBy(() -> read(null)).hasMessageStartingWith("-Dklock.mode must be strict");
    }

    @Test
    void variable_mistyped_isRefusedButStrangersAreNot() throws UsageException {
        variables.put("KLOCK_SERVICE_HOST", "10.0.0.1");
        variables.put("KLOCK_PORT_80_TCP", "tcp://10.0.0.1:80");
        variables.put("KLOCK_TEST_JDKS", "/jdk");
        assertThat(read(null).mode()).isEqualTo(Mode.STRICT);

        variables.put("KLOCK_MOED", "off");
        assertThatThrownBy(() -> read(null)).hasMessage("unknown environment variable 'KLOCK_MOED'; did you mean KLOCK_MODE?");
    }

    @Test
    void variable_wrongOrEmpty_isRefusedOrUnset() throws UsageException {
        variables.put("KLOCK_MODE", "");
        assertThat(read(null).origin(Option.MODE)).isEqualTo(Origin.DEFAULT);

        variables.put("KLOCK_MODE", "none");
        assertThatThrownBy(() -> read(null)).hasMessageStartingWith("KLOCK_MODE must be strict");
    }

    @Test
    void loosening_fromOutside_isAnnounced() throws UsageException {
        variables.put("KLOCK_DENIALS_LIMIT", "21");
        properties.put("klock.amend", "true");

        assertThat(read("mode=permissive").loosened()).containsExactly(
                "mode is permissive instead of strict, by agent argument",
                "amend is true instead of false, by system property klock.amend",
                "denials.limit is 21 instead of 20, by environment variable KLOCK_DENIALS_LIMIT");
    }

    @Test
    void amend_inAnotherModeThanPermissive_isSaidToDoNothing() throws UsageException {
        assertThat(read("amend=true").loosened()).containsExactly(
                "amend is true, by agent argument, but does something in permissive mode only");
    }

    @Test
    void agent_thatIsNoId_isRefused() {
        assertThatThrownBy(() -> read("agent=a/b")).hasMessage(
                "agent argument agent holds the character U+002F; write an id without slashes and control characters");
        assertThatThrownBy(() -> read("agent=..")).hasMessageContaining("is '..'");
        assertThatThrownBy(() -> read("agent=" + "x".repeat(300))).hasMessageContaining("has 300 bytes");
    }

    @ParameterizedTest
    @CsvSource({"0,0", "0s,0", "1ms,1", "30s,30000", "2m,120000", "24h,86400000", "86401s,-1", "1d,-1", "s,-1", "1.5s,-1", "-1s,-1",
        "999999999999999h,-1", "99999999999999999999s,-1"})
    void duration_text_isMilliseconds(String text, long ms) {
        assertThat(Option.durationMs(text)).isEqualTo(ms);
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "2k,2048", "3m,3145728", "4g,4294967296", "4G,-1", "g,-1", "999999999999999g,-1"})
    void size_text_isBytes(String text, long bytes) {
        assertThat(Option.bytes(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "learn", "permissive", "block", "strict"})
    void mode_word_isRead(String word) throws UsageException {
        assertThat(read("mode=" + word).mode().word()).isEqualTo(word);
    }

    @Test
    void modes_inOrder_growTighter() {
        assertThat(Mode.values()).containsExactly(Mode.OFF, Mode.LEARN, Mode.PERMISSIVE, Mode.BLOCK, Mode.STRICT);
        assertThat(Mode.BLOCK.denies()).isTrue();
        assertThat(Mode.PERMISSIVE.denies()).isFalse();
    }
}
