package dev.klock.sandbox.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** klock.jar as it is published: nothing in it tells when, where or by whom it was built, and its SBOM tells all that is in it. */
class PublishedJarTest {
    private static final Path ROOT = KlockJar.module().getParent();

    private static List<JarEntry> entries() throws IOException {
        List<JarEntry> entries = new ArrayList<>();
        try (JarFile jar = new JarFile(KlockJar.path().toFile())) {
            for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements();) {
                entries.add(all.nextElement());
            }
        }
        return entries;
    }

    private static byte[] bytes(String entry) throws IOException {
        try (JarFile jar = new JarFile(KlockJar.path().toFile())) {
            return jar.getInputStream(jar.getEntry(entry)).readAllBytes();
        }
    }

    private static Attributes manifest() throws IOException {
        try (JarFile jar = new JarFile(KlockJar.path().toFile())) {
            return jar.getManifest().getMainAttributes();
        }
    }

    private static JsonNode sbom() throws IOException {
        return new ObjectMapper().readTree(bytes(manifest().getValue("Sbom-Location")));
    }

    private static List<String> inPom(String pom, String pattern) throws IOException {
        List<String> found = new ArrayList<>();
        Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(ROOT.resolve(pom)));
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    private static List<String> properties(JsonNode component, String name) {
        List<String> values = new ArrayList<>();
        for (JsonNode property : component.path("properties")) {
            if (property.path("name").asText().equals(name)) {
                values.add(property.path("value").asText());
            }
        }
        return values;
    }

    @Test
    void entries_areAllOfTheDayThatThePomNames_inOneOrder() throws IOException {
        LocalDateTime day = OffsetDateTime.parse(inPom("pom.xml", "<project\\.build\\.outputTimestamp>([^<]*)<").get(0)).toLocalDate().atStartOfDay();
        List<String> launcher = new ArrayList<>();
        List<String> carried = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (JarEntry entry : entries()) {
            assertThat(entry.getTimeLocal()).as(entry.getName()).isEqualTo(day);
            assertThat(entry.getExtra()).as("extra field of %s", entry.getName()).isNull();
            assertThat(entry.getComment()).as("comment of %s", entry.getName()).isNull();
            assertThat(entry.isDirectory()).as(entry.getName()).isFalse();
            (entry.getName().startsWith("dev/klock/boot/") ? launcher : entry.getName().startsWith("META-INF/klock/") ? carried : others).add(entry.getName());
        }
        assertThat(launcher).isNotEmpty().isSorted();
        assertThat(carried).isNotEmpty().isSorted();
        assertThat(others).containsExactly("META-INF/MANIFEST.MF", "META-INF/sbom/klock.cdx.json", "META-INF/LICENSE");
    }

    @Test
    void bytes_nameNeitherThePlaceNorTheJdkOfTheBuild() throws IOException {
        for (JarEntry entry : entries()) {
            String text = new String(bytes(entry.getName()), StandardCharsets.ISO_8859_1);
            assertThat(text.contains(ROOT.toString())).as("%s names %s", entry.getName(), ROOT).isFalse();
        }
        TreeSet<String> told = new TreeSet<>();
        manifest().keySet().forEach(name -> told.add(name.toString()));
        assertThat(told).doesNotContain("Built-By", "Build-Jdk", "Build-Time", "Bnd-LastModified");
        assertThat(manifest().getValue("Created-By")).doesNotContain(System.getProperty("java.vm.version"), System.getProperty("java.vendor"));
    }

    @Test
    void agentsArtifact_isKlockJar() throws IOException {
        assertThat(KlockJar.path().resolveSibling("klock-agent-" + manifest().getValue("Implementation-Version") + ".jar")).hasSameBinaryContentAs(KlockJar.path());
    }

    @Test
    void sbom_isTheAttachedOne_withoutATime() throws IOException {
        String version = manifest().getValue("Implementation-Version");
        assertThat(manifest().getValue("Sbom-Format")).isEqualTo("CycloneDX");
        assertThat(KlockJar.path().resolveSibling("klock-agent-" + version + "-cyclonedx.json")).hasBinaryContent(bytes(manifest().getValue("Sbom-Location")));
        assertThat(sbom().path("bomFormat").asText()).isEqualTo("CycloneDX");
        assertThat(sbom().path("metadata").has("timestamp")).isFalse();
        assertThat(sbom().path("metadata").path("component").path("purl").asText()).isEqualTo("pkg:maven/dev.klock/klock-agent@" + version + "?type=jar");
    }

    @Test
    void sbom_tellsWhatEachLibraryBecame() throws IOException {
        TreeSet<String> told = new TreeSet<>();
        for (JsonNode component : sbom().path("components")) {
            String name = component.path("name").asText();
            assertThat(properties(component, "klock:classes")).as(name).hasSize(1);
            assertThat(component.path("licenses").size()).as("licences of %s", name).isPositive();
            List<String> relocated = properties(component, "klock:relocated");
            boolean own = component.path("group").asText().equals("dev.klock");
            assertThat(relocated.isEmpty()).as(name).isEqualTo(own);
            assertThat(component.path("hashes").size() == 0).as(name).isEqualTo(own);
            told.addAll(relocated);
            for (JsonNode inside : component.path("components")) {
                assertThat(properties(inside, "klock:relocated")).as("%s in %s", inside.path("name").asText(), name).hasSize(1);
            }
        }
        List<String> patterns = inPom("klock-agent/pom.xml", "<pattern>([^<]*)<");
        List<String> shaded = inPom("klock-agent/pom.xml", "<shadedPattern>([^<]*)<");
        TreeSet<String> expected = new TreeSet<>();
        for (int i = 0; i < patterns.size(); i++) {
            if (!patterns.get(i).startsWith("java.")) {
                expected.add(patterns.get(i) + " to " + shaded.get(i));
            }
        }
        assertThat(told).isEqualTo(expected);
    }
}
