package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("FIELD-C12")
class JdkToolTest {
    private static final String PICKED_UP = "JAVA_TOOL_OPTIONS";
    private static final String AGENT = "-javaagent:/k/klock.jar";

    @TempDir
    File temp;
    private File home;

    @BeforeEach
    void findHome() throws IOException {
        home = temp.getCanonicalFile();
    }

    private boolean isTool(String launcher, String argument, String commandLine, Map<String, String> variables, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("java.home", home.getPath());
        return JdkTool.isOne(argument, new LaunchEnvironment(all, variables, home.getPath()), launcher == null ? null : new File(home, launcher), commandLine);
    }

    private boolean isTool(String launcher) {
        return isTool(launcher, null, "keytool\0-help\0", Map.of(PICKED_UP, AGENT), Map.of());
    }

    @Test
    void toolOfTheJdk_thatPickedTheAgentUp_isOne() {
        assertThat(isTool("bin/keytool")).isTrue();
        assertThat(isTool("bin/javac")).isTrue();
        assertThat(isTool("bin/keytool", "", "keytool\0", Map.of(PICKED_UP, "-agentlib:instrument=/k/klock.jar"), Map.of())).isTrue();
    }

    @Test
    void launcherOfPrograms_isNone() {
        assertThat(isTool("bin/java")).isFalse();
        assertThat(isTool("bin/jshell")).isFalse();
        assertThat(isTool("lib/keytool")).isFalse();
        assertThat(isTool("other/bin/keytool")).isFalse();
        assertThat(isTool(null)).isFalse();
    }

    @Test
    void tool_forWhichSomebodyAskedForKlock_isNone() {
        Map<String, String> picked = Map.of(PICKED_UP, AGENT);
        assertThat(isTool("bin/javac", null, "javac\0-J" + AGENT + "\0", picked, Map.of())).isFalse();
        assertThat(isTool("bin/javac", null, "javac\0", Map.of(), Map.of())).isFalse();
        assertThat(isTool("bin/javac", null, "javac\0", Map.of(PICKED_UP, "-Xmx1g"), Map.of())).isFalse();
        assertThat(isTool("bin/javac", "mode=strict", "javac\0", picked, Map.of())).isFalse();
        for (String key : new String[] {"manifest", "mode", "home", "agent"}) {
            assertThat(isTool("bin/javac", null, "javac\0", picked, Map.of("klock." + key, "x"))).as(key).isFalse();
            assertThat(isTool("bin/javac", null, "javac\0", Map.of(PICKED_UP, AGENT, Option.of(key).variable(), "x"), Map.of())).as(key).isFalse();
        }
    }
}
