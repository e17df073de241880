package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.config.Option;
import dev.klock.agent.log.Release;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page on distribution, the image's recipe and the poms say the same. */
class DistributionPageTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern RELEASE = Pattern.compile("(?m)^## (\\d+\\.\\d+\\.\\d+), (.*)$");
    /** Public to klock's other packages only. */
    private static final List<String> NO_API = List.of("dev.klock.local", "dev.klock.manifest");

    private static String text(String name) throws IOException {
        return Files.readString(ROOT.resolve(name));
    }

    private static List<String> found(String pattern, String text) {
        List<String> found = new ArrayList<>();
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    @Test
    void api_ofThePom_isThatOfThePage_andEveryPackageIsInItOrNot() throws IOException {
        TreeSet<String> packages = new TreeSet<>();
        Path sources = ROOT.resolve("klock-kernel/src/main/java");
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(file -> file.endsWith("package-info.java")).forEach(file -> packages.add(sources.relativize(file.getParent()).toString().replace('/', '.')));
        }
        assertThat(packages).containsAll(NO_API);
        packages.removeAll(NO_API);
        assertThat(new TreeSet<>(found("<include>(dev\\.klock[^<]*)</include>", text("pom.xml")))).isEqualTo(packages);
        String row = found("(?m)^\\| the API: (.*)$", text("docs/distribution.md")).get(0);
        assertThat(new TreeSet<>(found("`(dev\\.klock[^`]*)`", row))).isEqualTo(packages);
    }

    @Test
    void modules_thatThePageNames_areThosePublished() throws IOException {
        TreeSet<String> published = new TreeSet<>();
        for (String module : found("<module>([^<]*)</module>", text("pom.xml"))) {
            if (text(module + "/pom.xml").contains("<klock.unpublished>false</klock.unpublished>")) {
                published.add(module);
            }
        }
        assertThat(new TreeSet<>(found("(?m)^\\| `(klock-[a-z]*)` \\|", text("docs/distribution.md")))).isEqualTo(published);
        assertThat(text("pom.xml")).contains("<version>" + Release.VERSION + "</version>");
    }

    /** Nobody has to remember to look at the API once there is something to compare it with. */
    @Test
    void lastRelease_ofTheChangelog_isWhatTheApiIsComparedWith() throws IOException {
        String released = null;
        Matcher release = RELEASE.matcher(text("docs/changelog.md"));
        while (released == null && release.find()) {
            released = release.group(2).equals("not released yet") ? null : release.group(1);
        }
        Path config = ROOT.resolve(".mvn/maven.config");
        List<String> compared = Files.exists(config) ? found("-Dklock\\.released=(\\S*)", Files.readString(config)) : List.of();
        assertThat(compared).as("-Dklock.released in .mvn/maven.config: see docs/distribution.md").isEqualTo(released == null ? List.of() : List.of(released));
    }

    @Test
    void dockerfile_namesOnlyWhatIsThere() throws IOException {
        String dockerfile = text("docs/container/Dockerfile");
        List<String> entryPoint = found("\"([^\"]*)\"", found("(?m)^ENTRYPOINT \\[(.*)]$", dockerfile).get(0));
        assertThat(entryPoint.get(0)).as("no shell: java is PID 1").isEqualTo("java");
        String agent = entryPoint.stream().filter(word -> word.startsWith("-javaagent:")).findFirst().orElseThrow();
        String jar = agent.substring("-javaagent:".length(), agent.indexOf('='));
        List<String> copied = new ArrayList<>();
        for (String copy : found("(?m)^COPY (.*)$", dockerfile)) {
            String[] words = copy.split(" ");
            for (int i = 0; i < words.length - 1; i++) {
                copied.add(words[words.length - 1] + words[i]);
            }
        }
        assertThat(copied).contains(jar, entryPoint.get(entryPoint.size() - 1));
        List<String> volumes = found("\"([^\"]*)\"", found("(?m)^VOLUME \\[(.*)]$", dockerfile).get(0));
        List<String> options = List.of(agent.substring(agent.indexOf('=') + 1).split(","));
        for (String option : options) {
            Option known = Option.of(option.substring(0, option.indexOf('=')));
            assertThat(known).as(option).isNotNull();
            String value = option.substring(option.indexOf('=') + 1);
            if (known == Option.MANIFEST) {
                assertThat(copied).contains(value);
            } else if (known == Option.HOME) {
                assertThat(volumes).as("the home lies below a volume, which it does not fill: a home is private").anyMatch(volume -> value.startsWith(volume + "/"));
            }
        }
        for (String variable : found("(?m)^ENV (KLOCK_[A-Z_]*)", dockerfile)) {
            assertThat(Stream.of(Option.values()).map(Option::variable)).contains(variable);
        }
        assertThat(Integer.parseInt(found("(?m)^USER (\\d+):\\d+$", dockerfile).get(0))).isPositive();
        assertThat(volumes).contains(found("(?m)^WORKDIR (.*)$", dockerfile).get(0));
        String run = found("(?m)^(docker run .*)$", text("docs/distribution.md")).get(0);
        assertThat(dockerfile).as("the recipe and the page").contains(run);
        assertThat(run).contains("--read-only");
        for (String volume : volumes) {
            assertThat(run).contains(":" + volume);
        }
        for (String path : found("FILE:(/[^/*]*)", text("docs/container/klock.yaml"))) {
            assertThat(volumes).as("the manifest's paths").contains(path);
        }
    }
}
