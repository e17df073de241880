package dev.klock.sandbox.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Agents;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** Real sessions and what their report says of them, on paper, on a telephone and in the dark. */
class ReportTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int ABORTED = 108;
    /** Where pictures are left to be looked at. */
    private static final Path PICTURES = Path.of("target", "report-pictures");
    private static final int TELEPHONE = 390;
    private static final int DESK = 1100;
    /** As names of files: what would run, if a page took it for more than text. The blanks of HTML, and no slash. */
    private static final String[] STRIKES = {"<img\fsrc=x\fonerror=struck=1>", "\"><svg\fonload=struck=1>", "'\fonmouseover='struck=1", "&lt;script>struck=1"};
    private static final String STRIKE = "<img src=x onerror=struck=1></pre></style><script>struck=1</script>";

    @TempDir
    Path directory;

    private static Outcome report(Jdk jdk, Workspace w, String... words) {
        List<String> all = new ArrayList<>(List.of("report"));
        all.addAll(List.of(words));
        return Child.on(jdk).in(w.root()).verb(all.toArray(new String[0])).run();
    }

    /** The path of the page, which the verb prints. */
    private static Path page(Jdk jdk, Workspace w, String... words) {
        Outcome done = report(jdk, w, words);
        assertThat(done.exit()).as(done.toString()).isZero();
        return Path.of(done.out().strip());
    }

    private static JsonNode json(Jdk jdk, Workspace w) throws IOException {
        Outcome done = report(jdk, w, "--json");
        assertThat(done.exit()).as(done.toString()).isZero();
        return new ObjectMapper().readTree(done.out());
    }

    private static void stray(Workspace w, Jdk jdk) {
        Outcome done = w.watched(jdk, "mode=strict", "read w/in/a", "write w/out/a second", "write w/out/new made", "delete w/out/b", "write w/x astray").run();
        assertThat(done.exit()).as(done.toString()).isEqualTo(ABORTED);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void report_ofASessionThatStrayed_hasTheStackTheFixAndWhatWasUndone(Jdk jdk) throws IOException {
        Workspace w = Workspace.in(directory);
        stray(w, jdk);

        JsonNode session = json(jdk, w).get("sessions").get(0);

        assertThat(session.path("verdict").path("title").asText()).isEqualTo("Aborted and rolled back");
        JsonNode violation = session.get("violations").get(0);
        assertThat(violation.get("resource").asText()).isEqualTo("FILE:" + w.root() + "/w/x");
        assertThat(violation.get("fix").asText()).isEqualTo("MUTATES FILE:${workspace}/w/x");
        assertThat(violation.get("stack").toString()).as("klock's own frames are nobody's business").contains("java.base", Script.class.getName()).doesNotContain("klock.agent", "Klock");
        assertThat(violation.get("caller").asText()).startsWith(Script.class.getName());
        assertThat(session.get("declared").get(0).get("line").asInt()).isEqualTo(5);
        assertThat(session.get("settings").toString()).contains("\"key\":\"mode\",\"value\":\"strict\",\"origin\":\"agent argument\"", "\"key\":\"denials.limit\",\"value\":\"20\",\"origin\":\"default\"");
        assertThat(session.get("leases").get(0).get("state").asText()).isEqualTo("granted");
        assertThat(session.get("files")).hasSize(3).allSatisfy(file -> assertThat(file.get("state").asText()).isEqualTo("rolled back"));
        assertThat(session.get("files").toString()).contains("+second", "+made");
        assertThat(session.get("files").findValuesAsText("path")).as("what each was, in the order of the names").containsExactly(w.root() + "/w/out/a", w.root() + "/w/out/b", w.root() + "/w/out/new");
        assertThat(session.get("files").findValuesAsText("change")).containsExactly("changed", "deleted", "created");
        assertThat(session.get("log").get("whole").asBoolean()).isTrue();

        assertThat(report(jdk, w, "--sarif", "--fail-on", "violations").exit()).isEqualTo(3);
        Outcome junit = report(jdk, w, "--junit", "--fail-on", "warnings");
        assertThat(junit.exit()).isEqualTo(3);
        assertThat(junit.out()).contains("failures=\"1\"", "to allow it, add to scope: - MUTATES FILE:${workspace}/w/x");
        assertThat(Files.readString(page(jdk, w))).contains("Content-Security-Policy");
    }

    private static String agents(Workspace w) {
        return """
                ver: "1.0"
                agent_id: app
                scope:
                  - PROVIDES FILE:%1$s/w/out/**
                  - MUTATES FILE:%1$s/w/out/**
                agents:
                  - agent_id: builder
                    scope: ["MUTATES FILE:%1$s/w/both/**", "PROVIDES FILE:%1$s/w/both/**"]
                  - agent_id: tester
                    scope: ["MUTATES FILE:%1$s/w/both/**", "PROVIDES FILE:%1$s/w/both/**"]
                  - agent_id: writer
                    scope: ["MUTATES FILE:%1$s/w/both/notes", "PROVIDES FILE:%1$s/w/both/notes"]
                """.formatted(w.root());
    }

    /** Three that want the same: one works while another waits in vain, the last one strays. */
    private static void conflict(Workspace w, Jdk jdk) throws IOException {
        Files.createDirectories(w.root().resolve("w/both"));
        Outcome done = Child.on(jdk).in(w.root()).main(Agents.class, "open builder 0", "as builder write w/both/a 1", "open tester 0", "plain write w/out/p 1", "plain sleep 150",
                "as builder write w/both/notes 2", "close builder", "retry tester 5000", "as tester write w/both/b 2", "open writer 0", "plain sleep 100", "close tester", "retry writer 5000",
                "as writer write w/both/notes 3", "as writer write w/x 3", "plain sleep 300", "plain write w/out/q 1").with(Klock.class, JsonFactory.class, Yaml.class).manifest(agents(w)).klock("").run();
        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.out()).contains("builder GRANTED", "tester DIE", "tester GRANTED", "writer DIE", "writer GRANTED", "writer caught dev.klock.ScopeViolationError");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void report_ofAProcess_hasItsAgents_whatTheyWaitedFor_andOnlyWhatIsTheirOwn(Jdk jdk) throws IOException {
        Workspace w = Workspace.in(directory);
        conflict(w, jdk);

        JsonNode sessions = json(jdk, w).get("sessions");

        assertThat(sessions).hasSize(4);
        assertThat(sessions.findValuesAsText("agent_id")).contains("app", "builder", "tester", "writer");
        JsonNode app = sessions.get(0);
        assertThat(app.get("agent_id").asText()).isEqualTo("app");
        assertThat(app.get("leases").toString()).contains("\"state\":\"agent refused\"", "tester: ", "writer: ");
        JsonNode tester = sessions.get(2);
        assertThat(tester.get("process")).isEqualTo(app.get("session_id"));
        assertThat(tester.get("leases").get(0).get("waited_ms").asLong()).isPositive();
        assertThat(tester.get("leases").get(0).get("detail").asText()).contains("in vain 1 time before: ", "builder");
        assertThat(tester.path("verdict").path("level").asText()).isEqualTo("good");
        JsonNode writer = sessions.get(3);
        assertThat(writer.get("end").asText()).isEqualTo("aborted");
        assertThat(writer.get("violations")).hasSize(1);
        assertThat(sessions.get(1).get("violations")).isEmpty();
    }

    // ---- in a browser

    private Browser browser() throws Exception {
        Path program = Browser.find();
        assumeTrue(program != null || System.getenv("CI") != null, "there is no Chromium on this machine: .ci/run installs one");
        assertThat(program).as("a Chromium, which .ci/run installs").isNotNull();
        Files.createDirectories(PICTURES);
        return new Browser(program, Files.createDirectories(directory.resolve("browser")));
    }

    /** Shows a page in every way that people look at it, and leaves pictures. */
    private static void look(Browser browser, Path page, String name) throws Exception {
        for (int width : new int[] {DESK, TELEPHONE}) {
            for (boolean dark : new boolean[] {false, true}) {
                browser.open(page, width, dark);
                browser.screenshot(PICTURES.resolve(name + "-" + width + (dark ? "-dark" : "") + ".png"));
                assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt()).as("%s at %s", name, width).isLessThanOrEqualTo(width);
                assertThat(browser.evaluate("[...document.querySelectorAll('main *')].filter(e => !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 200)).join('\\n')").asText())
                        .as("what is wider than %s", width).isEmpty();
                String back = browser.evaluate("getComputedStyle(document.body).backgroundColor").asText();
                assertThat(dark ? back.matches("rgb\\(\\d{1,2}, \\d{1,2}, \\d{1,2}\\)") : back.matches("rgb\\(2\\d\\d, 2\\d\\d, 2\\d\\d\\)")).as("%s is %s", back, dark ? "dark" : "light").isTrue();
            }
        }
        browser.open(page, DESK, false);
        browser.media("print", false);
        browser.screenshot(PICTURES.resolve(name + "-print.png"));
        assertThat(browser.evaluate("getComputedStyle(document.body).backgroundColor").asText()).isEqualTo("rgb(255, 255, 255)");
        assertStruckByNothing(browser);
    }

    private static void assertStruckByNothing(Browser browser) throws Exception {
        assertThat(browser.evaluate("document.scripts.length + document.images.length + document.querySelectorAll('link, iframe, object, embed, base, form').length").asInt()).isZero();
        assertThat(browser.evaluate("String(window.struck)").asText()).isEqualTo("undefined");
        assertThat(browser.misdeeds()).isEmpty();
    }

    /** Each violation's path and fix line can be read on the page. */
    private static void assertShows(Browser browser, JsonNode report) throws Exception {
        String text = browser.evaluate("document.body.textContent").asText();
        int shown = 0;
        for (JsonNode session : report.get("sessions")) {
            for (JsonNode violation : session.get("violations")) {
                assertThat(text).contains(visible(violation.get("resource").asText()), "- " + violation.get("fix").asText());
                shown++;
            }
        }
        assertThat(browser.evaluate("document.querySelectorAll('article.card').length").asInt()).isEqualTo(shown).isPositive();
    }

    private static String visible(String name) {
        return name.replace("\f", "\\u000c");
    }

    @Test
    void page_ofAViolation_fitsEveryScreen_andRunsNothing() throws Exception {
        Workspace w = Workspace.in(directory);
        stray(w, Jdks.newest());
        Path page = page(Jdks.newest(), w);
        try (Browser browser = browser()) {
            look(browser, page, "violation");
            assertShows(browser, json(Jdks.newest(), w));
            assertThat(browser.evaluate("document.querySelector('.band strong').textContent").asText()).isEqualTo("Aborted and rolled back");
            assertThat(browser.evaluate("document.querySelectorAll('path.denied').length").asInt()).isEqualTo(1);
        }
    }

    @Test
    void page_ofThreeAgentsInConflict_hasTheirLanes() throws Exception {
        Workspace w = Workspace.in(directory);
        conflict(w, Jdks.newest());
        Path page = page(Jdks.newest(), w);
        try (Browser browser = browser()) {
            look(browser, page, "agents");
            assertShows(browser, json(Jdks.newest(), w));
            assertThat(browser.evaluate("[...document.querySelectorAll('.lane.agent .label')].map(e => e.textContent).join()").asText()).isEqualTo("app,builder,tester,writer");
            assertThat(browser.evaluate("document.querySelectorAll('rect.held').length").asInt()).isGreaterThanOrEqualTo(3);
            assertThat(browser.evaluate("document.querySelectorAll('rect.wait').length").asInt()).as("whom others were in the way of, at least").isGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void page_ofHostileNamesAndContents_showsThem_evenWithoutItsPolicy() throws Exception {
        Workspace w = Workspace.in(directory);
        List<String> steps = new ArrayList<>();
        for (String strike : STRIKES) {
            steps.add("write w/out/" + strike + " " + STRIKE);
            steps.add("try write w/" + strike + " x");
        }
        steps.add("try write w/" + "long".repeat(60) + " x");
        Outcome done = w.watched(Jdks.newest(), "mode=block", steps.toArray(new String[0])).run();
        assertThat(done.exit()).as(done.toString()).isZero();
        Path page = page(Jdks.newest(), w);
        String html = Files.readString(page);
        String open = html.replaceFirst("<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "");
        assertThat(open).hasSizeLessThan(html.length());
        Path unguarded = Files.writeString(directory.resolve("unguarded.html"), open);
        // the browser would run it
        Path struck = Files.writeString(directory.resolve("struck.html"), "<!DOCTYPE html><body>" + STRIKES[0] + STRIKE);
        try (Browser browser = browser()) {
            look(browser, page, "hostile");
            browser.open(unguarded, DESK, false);
            assertStruckByNothing(browser);
            assertShows(browser, json(Jdks.newest(), w));
            assertThat(browser.evaluate("document.querySelector('pre.diff .add').textContent").asText()).isEqualTo("+" + STRIKE);
            assertThat(browser.misdeeds()).isEmpty();
            browser.open(struck, DESK, false);
            assertThat(browser.evaluate("String(window.struck)").asText()).isEqualTo("1");
            assertThat(browser.misdeeds()).isNotEmpty();
        }
    }
}
