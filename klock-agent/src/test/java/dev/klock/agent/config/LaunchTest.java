package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchTest {
    private static final String MANIFEST = "ver: \"1.0\"\nagent_id: a\nscope: [\"CONSUMES FILE:${workspace}/**\"]\n";

    @TempDir
    File temp;
    private File work;

    @BeforeEach
    void makeWork() throws IOException {
        work = Place.directory(temp.getCanonicalFile(), "work", "rwxr-xr-x");
    }

    private Launch read(String argument) throws UsageException {
        return Launch.read(argument, Place.environment(work, Map.of()));
    }

    @Test
    void launch_withoutArguments_takesTheManifestAroundAndItsHome() throws Exception {
        Place.file(work, "klock.yaml", MANIFEST);
        Launch launch = read(null);
        assertThat(launch.manifestFile()).isEqualTo(new File(work, "klock.yaml"));
        assertThat(launch.manifest().file()).isEqualTo("klock.yaml");
        assertThat(launch.manifest().agentId()).isEqualTo("a");
        assertThat(launch.manifest().scope().get(0).resource()).hasToString("FILE:" + work + "/**");
        assertThat(launch.home()).isEqualTo(new File(work, ".klock"));
        assertThat(launch.home()).doesNotExist();
        assertThat(read("agent=b").manifest().agentId()).isEqualTo("b");
    }

    @Test
    void launch_manifestElsewhere_isNamedByItsPathAndIsTheWorkspace() throws Exception {
        File other = Place.directory(work.getParentFile(), "other", "rwxr-xr-x");
        Place.file(other, "m.yaml", MANIFEST);
        Launch launch = read("manifest=" + other + "/m.yaml");
        assertThat(launch.manifest().file()).isEqualTo(other + "/m.yaml");
        assertThat(launch.manifest().scope().get(0).resource()).hasToString("FILE:" + other + "/**");
        assertThat(launch.home()).isEqualTo(new File(other, ".klock"));
    }

    @Test
    @Tag("K1-1")
    void launch_withoutManifest_isRefusedUnlessNothingIsGuarded() throws Exception {
        for (String argument : new String[] {null, "mode=block", "mode=permissive"}) {
            assertThatThrownBy(() -> read(argument)).isInstanceOf(UsageException.class).hasMessage("no manifest: there is no klock.yaml, klock.yml or "
                    + "klock.json in " + work + ", and nothing above it was looked at, since it is in no repository; write one, give manifest=PATH, or run with mode=learn to see "
                    + "what it needs");
        }
        File above = Place.file(work.getParentFile(), "klock.yaml", MANIFEST);
        assertThatThrownBy(() -> read(null)).hasMessageContaining("it is in no repository (" + above + " is there, and may be named); write one");
        Place.directory(work.getParentFile(), ".git", "rwxr-xr-x");
        assertThat(read(null).manifest().file()).isEqualTo(above.toString());
        assertThat(above.delete()).isTrue();
        assertThatThrownBy(() -> read(null)).hasMessageContaining(work + " or above it up to the repository root " + work.getParentFile() + "; write one");
        assertThat(read("mode=learn").manifest()).isNull();
        assertThat(read("mode=learn").home()).isEqualTo(new File(work, ".klock"));
        assertThat(read("mode=off").manifest()).isNull();
    }

    @Test
    void manifest_settings_fillWhatNothingStrongerGives() throws Exception {
        Place.file(work, "klock.yaml", MANIFEST + "klock: {mode: strict, wait-timeout: 5s, denials.limit: 3, log: {level: info}}\n");
        LaunchOptions options = read("wait-timeout=1s,mode=block").options();
        assertThat(options.mode()).isEqualTo(Mode.BLOCK);
        assertThat(options.waitTimeoutMs()).isEqualTo(1_000);
        assertThat(options.denialsLimit()).isEqualTo(3);
        assertThat(options.origin(Option.DENIALS_LIMIT)).isEqualTo(Origin.MANIFEST);
        assertThat(options.text(Option.LOG_LEVEL)).isEqualTo("info");
        assertThat(options.loosened()).containsExactly("mode is block instead of strict, by agent argument");
    }

    @ParameterizedTest
    @Tag("J02")
    @CsvSource(delimiter = '|', value = {
        "mode: permissive|klock.mode: permissive is looser than the default strict and a manifest may only tighten",
        "mode: off|klock.mode: off is looser than the default strict",
        "amend: true|klock.amend: true is looser than the default false",
        "denials.limit: 21|klock.denials.limit: 21 is looser than the default 20",
        "home: /tmp/x|klock.home cannot be set in a manifest; give home=... as agent argument, or -Dklock.home or KLOCK_HOME",
        "manifest: other.yaml|klock.manifest cannot be set in a manifest",
        "agent: b|klock.agent cannot be set in a manifest; write agent_id",
        "mode: soft|klock.mode must be strict, block, permissive, learn or off, not 'soft'",
        "wait-timeout: 30|klock.wait-timeout must be a duration",
        "wait-timout: 30s|wait-timeout",
    })
    void manifest_settingThatWeakens_isRefusedWhateverElseIsGiven(String setting, String line) throws Exception {
        Place.file(work, "klock.yaml", MANIFEST + "klock:\n  " + setting + "\n");
        for (String argument : new String[] {null, "mode=permissive"}) {
            assertThatThrownBy(() -> read(argument)).isInstanceOf(UsageException.class).hasMessageStartingWith("klock.yaml:5:").hasMessageContaining(line)
                    .message().hasLineCount(1);
        }
    }

    @Test
    void manifest_hostile_isRefusedWithOneLineInTime() throws Exception {
        File manifest = Place.file(work, "klock.yaml", "");
        String[] hostile = {"", " \n", "\u0000", "a: &a [1]\nb: &b [*a,*a]\nc: [*b,*b]\n", MANIFEST + "agent_id: b\n", MANIFEST + "scoop: []\n",
            "ver: \"1.0\"\nagent_id: a\nscope: [\"CONSUMES FILE:/a\\0b\"]\n", "x".repeat(5 << 20), "[".repeat(100_000)};
        for (String text : hostile) {
            Files.writeString(manifest.toPath(), text);
            assertThatThrownBy(() -> read(null)).isInstanceOf(UsageException.class).hasMessageStartingWith("klock.yaml").message().hasLineCount(1);
        }
        assertThat(work.list()).containsExactly("klock.yaml");
    }
}
