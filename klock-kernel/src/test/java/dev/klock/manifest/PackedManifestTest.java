package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PackedManifestTest {
    private final Map<String, String> variables = new HashMap<>(Map.of("workspace", "/w"));
    private final Map<String, String> programs = new HashMap<>(Map.of("git", "/usr/bin/git"));
    private final byte[] source = ManifestReaderTest.FULL.replace("PROCESS:/usr/bin/git", "PROCESS:git").replace("deny:", "  - CONSUMES FILE:/**\ndeny:")
            .concat("hooks: [{preset: jdbc}, {type: a.B, method: 'c(int, byte[])', predicate: MUTATES, resource: 'SYMBOL:x${arg:1}y${type}'},"
                    + " {name: n, type: a.B, method: c, predicate: CONSUMES, resource: 'CONFIG_KEY:k'}]\n")
            .getBytes(StandardCharsets.UTF_8);

    private ReadOptions options() {
        return new ReadOptions().settingKeys("wait-timeout").programs(programs::get);
    }

    private ManifestReader reader() {
        return new ManifestReader(variables::get, options());
    }

    private byte[] packed() throws ManifestException {
        return reader().pack(reader().read("k.yaml", source), source);
    }

    private static String all(Manifest m) {
        StringBuilder b = new StringBuilder();
        b.append(m.file()).append(m.sessionId()).append(m.agentId()).append(m.priorityTimestamp()).append(m.scope()).append(m.deny())
                .append(m.testAllows()).append(m.testDenies()).append(m.warnings()).append(m.leases());
        for (Line l : m.scope()) {
            b.append(l.line()).append(' ').append(l.column()).append(l.text()).append(l.confidence()).append(l.effects());
        }
        for (Setting s : m.settings()) {
            b.append(s.key()).append(s.value()).append(s.line()).append(s.column());
        }
        for (LibraryHook h : m.hooks()) {
            b.append(HookReaderTest.text(h));
        }
        return b.toString();
    }

    @Test
    void unpack_sameWorld_givesTheSameManifest() throws ManifestException {
        Manifest read = reader().read("k.yaml", source);
        Manifest unpacked = reader().unpack("k.yaml", source, packed());
        assertThat(read.warnings()).hasSize(1);
        assertThat(all(unpacked)).isEqualTo(all(read));
        assertThat(all(reader().unpack("k.yaml", source, reader().pack(unpacked, source)))).isEqualTo(all(read));
    }

    @Test
    void unpack_anythingDiffers_isNull() throws ManifestException {
        byte[] packed = packed();
        byte[] other = source.clone();
        other[other.length - 1] = ' ';
        assertThat(reader().unpack("k.yaml", other, packed)).isNull();
        assertThat(reader().unpack("k.yml", source, packed)).isNull();
        assertThat(new ManifestReader(variables::get, options().core5(true)).unpack("k.yaml", source, packed)).isNull();
        assertThat(new ManifestReader(variables::get, options().agentId("x")).unpack("k.yaml", source, packed)).isNull();
        assertThat(new ManifestReader(variables::get, options().homes("/w")).unpack("k.yaml", source, packed)).isNull();
        programs.put("git", "/opt/git");
        assertThat(reader().unpack("k.yaml", source, packed)).isNull();
        programs.put("git", "/usr/bin/git");
        variables.put("workspace", "/v");
        assertThat(reader().unpack("k.yaml", source, packed)).isNull();
        variables.remove("workspace");
        assertThat(reader().unpack("k.yaml", source, packed)).isNull();
        variables.put("workspace", "/w");
        assertThat(reader().unpack("k.yaml", source, packed)).isNotNull();
    }

    @Test
    void unpack_damagedAnywhere_isNull() throws ManifestException {
        byte[] packed = packed();
        for (int i = 0; i < packed.length; i++) {
            byte[] damaged = packed.clone();
            damaged[i] ^= 0x41;
            assertThat(reader().unpack("k.yaml", source, damaged)).isNull();
            assertThat(reader().unpack("k.yaml", source, Arrays.copyOf(packed, i))).isNull();
        }
    }
}
