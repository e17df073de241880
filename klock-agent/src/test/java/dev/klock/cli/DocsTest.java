package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.Mode;
import dev.klock.agent.config.Option;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the pages for people name is there, and what is there they name. {@code -Dcommands.write=true} writes the page of commands. */
class DocsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path COMMANDS = ROOT.resolve("docs/commands.md");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:]*)(#[^)]*)?\\)");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|(.*)\\|$");
    private static final Pattern VERB = Pattern.compile("-jar [^ ]*klock\\.jar ([a-z]+)");

    private static String help(String... words) {
        StringWriter out = new StringWriter();
        LaunchEnvironment environment = new LaunchEnvironment(Map.of("user.home", "/home/u", "java.io.tmpdir", "/tmp"), Map.of(), "/");
        assertThat(Main.run(words, null, environment, new PrintWriter(out), new PrintWriter(out), false)).as(out.toString()).isZero();
        return out.toString().stripTrailing();
    }

    private static List<String> verbs() {
        List<String> verbs = new ArrayList<>();
        for (Verbs.Row row : Verbs.all(null, null, null)) {
            verbs.add(row.name);
        }
        return verbs;
    }

    private static String page(String name) throws IOException {
        return Files.readString(ROOT.resolve(name));
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs")); Stream<Path> examples = Files.walk(ROOT.resolve("examples"), 2)) {
            List<Path> pages = new ArrayList<>(docs.filter(page -> page.toString().endsWith(".md")).toList());
            pages.addAll(examples.filter(page -> page.endsWith("README.md")).toList());
            pages.add(ROOT.resolve("README.md"));
            return pages;
        }
    }

    @Test
    void commandsPage_isWhatHelpSays() throws IOException {
        StringBuilder page = new StringBuilder("<!-- written by DocsTest: mvn -B -pl klock-agent -am verify -Dtest=DocsTest -Dcommands.write=true -Dsurefire.failIfNoSpecifiedTests=false -->\n# Commands\n\n`java -jar klock.jar VERB`\n\n```\n").append(help("--help")).append("\n```\n");
        for (String verb : verbs()) {
            page.append("\n## ").append(verb).append("\n\n```\n").append(help(verb, "--help")).append("\n```\n");
        }
        // the verbs below a verb have pages of their own
        page.append("\n## backups prune\n\n```\n").append(help("backups", "prune", "--help")).append("\n```\n");
        assertThat(page.toString()).as("what picocli does not put in").doesNotContain("DEFAULT-VALUE", "$$");
        if (Boolean.getBoolean("commands.write")) {
            Files.writeString(COMMANDS, page);
        }
        assertThat(COMMANDS).content().as("write it anew: -Dcommands.write=true").isEqualTo(page.toString());
    }

    @Test
    void readme_namesEachVerb_andNoPageNamesOneThatIsNotThere() throws IOException {
        String readme = page("README.md");
        for (String verb : verbs()) {
            assertThat(readme).as(verb).containsPattern("`" + verb + "[ `]");
        }
        for (Path page : pages()) {
            Matcher named = VERB.matcher(Files.readString(page));
            while (named.find()) {
                assertThat(verbs()).as("%s names %s", page, named.group()).contains(named.group(1));
            }
        }
    }

    @Test
    void configurationPage_hasEachKeyWithItsDefault_andNoOther() throws IOException {
        Map<String, Option> keys = new java.util.TreeMap<>();
        for (Option option : Option.values()) {
            keys.put(option.key(), option);
        }
        String page = page("docs/configuration.md");
        Matcher row = ROW.matcher(page.substring(0, page.indexOf("## Modes")));
        TreeSet<String> told = new TreeSet<>();
        while (row.find()) {
            told.add(row.group(1));
            Option option = keys.get(row.group(1));
            assertThat(option).as(row.group(1)).isNotNull();
            String byDefault = option.byDefault();
            assertThat(byDefault == null || row.group(2).strip().startsWith("`" + byDefault + "` |")).as(row.group()).isTrue();
        }
        assertThat(told).isEqualTo(new TreeSet<>(keys.keySet()));
        Matcher mode = Pattern.compile("(?m)^\\| `([a-z]+)`").matcher(page.substring(page.indexOf("## Modes"), page.indexOf("## Exit codes")));
        TreeSet<String> modes = new TreeSet<>();
        while (mode.find()) {
            modes.add(mode.group(1));
        }
        assertThat(modes).hasSameElementsAs(Stream.of(Mode.values()).map(Mode::word).toList());
    }

    @Test
    void links_leadSomewhere() throws IOException {
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                Path to = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1)).normalize();
                assertThat(to).as("%s in %s", link.group(), page).exists();
                if (link.group(2) != null && to.toString().endsWith(".md")) {
                    assertThat(anchors(to)).as("%s in %s", link.group(), page).contains(link.group(2));
                }
            }
        }
    }

    private static List<String> anchors(Path page) throws IOException {
        return Files.readAllLines(page).stream().filter(line -> line.startsWith("#"))
                .map(line -> "#" + line.replaceFirst("^#+ ", "").toLowerCase(java.util.Locale.ROOT).replaceAll("[^a-z0-9 _-]", "").replace(' ', '-')).toList();
    }
}
