package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.klock.agent.backup.PastSession;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.log.Escapes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** The page and the other forms of a report, whatever is in the log. */
class ReportTest {
    private static final Set<String> ELEMENTS = Set.of("html", "head", "meta", "title", "style", "body", "main", "header", "section", "article", "nav", "footer", "h1", "h2", "h3", "p", "a", "b",
            "i", "bdi", "small", "strong", "span", "div", "code", "pre", "ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "svg", "path", "rect");
    private static final Set<String> ATTRIBUTES = Set.of("lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "data-label", "aria-label", "title", "open", "viewBox",
            "preserveAspectRatio", "role", "d", "x", "y", "width", "height");
    /** Each of them would do something on a page that took it as it is. */
    private static final String[] HOSTILE = {"<script>alert(1)</script>", "</code></style><img src=x onerror=alert(1)>", "\"' onmouseover='alert(1)", "]]>&lt;b>&#60;i>", "a\u202egpj.exe\u2066\u200b",
        "\u001b[2J\u0000\r\n\tx", "\ud800half\udc00", "\u0627\u0644\u0639\ufe0f\u0301", "\ufffe\uffff", "javascript:alert(1)", "<!--", "\u2028<svg onload=alert(1)>"};

    @TempDir
    Path temp;
    private Path work;
    private Path home;
    private String out;
    private String err;
    private final List<String> records = new ArrayList<>();

    @BeforeEach
    void makeWork() throws Exception {
        work = temp.toRealPath();
        home = Home.open(work.resolve(".klock").toFile()).directory().toPath();
        Files.createDirectories(home.resolve("log"));
    }

    private int run(String... arguments) {
        StringWriter stdout = new StringWriter();
        StringWriter stderr = new StringWriter();
        LaunchEnvironment environment = new LaunchEnvironment(Map.of("java.runtime.version", "17.0.1+1", "user.home", "/home/u", "java.home", "/jdk", "java.io.tmpdir", "/tmp"),
                Map.of("PATH", "/bin"), work.toString());
        int status = Main.run(arguments, null, environment, new PrintWriter(stdout), new PrintWriter(stderr), false);
        out = stdout.toString();
        err = stderr.toString();
        return status;
    }

    // ---- logs

    /** A record of these names and values; a value is text, or JSON if it begins with a blank. */
    private ReportTest record(String... fields) {
        StringBuilder line = new StringBuilder("{");
        for (int i = 0; i < fields.length; i += 2) {
            line.append(i == 0 ? "\"" : ",\"").append(fields[i]).append("\":");
            if (fields[i + 1].startsWith(" ")) {
                line.append(fields[i + 1].substring(1));
            } else {
                Escapes.json(line, fields[i + 1]);
            }
        }
        records.add(line.append('}').toString());
        return this;
    }

    private ReportTest header(String id, String agent, String... more) {
        List<String> fields = new ArrayList<>(List.of("schema", "klock.event/1", "session_id", id, "agent_id", agent, "mode", "strict", "manifest", "klock.yaml", "java", "17.0.1", "pid", " 1",
                "started", "2026-01-01T10:00:00.000Z", "part", " 1"));
        fields.addAll(List.of(more));
        return record(fields.toArray(new String[0]));
    }

    private ReportTest event(String ts, String thread, String predicate, String resource, String decision, String by, String... more) {
        List<String> fields = new ArrayList<>(List.of("ts", ts, "seq", " " + records.size(), "agent_id", "a", "thread", thread, "op", "open", "predicate", predicate, "resource", resource,
                "decision", decision, "decided_by", by));
        fields.addAll(List.of(more));
        return record(fields.toArray(new String[0]));
    }

    private ReportTest summary(String end, String... lists) {
        StringBuilder json = new StringBuilder(" {\"end\":\"").append(end).append("\",\"exit_code\":").append(end.equals("completed") ? 0 : 108).append(",\"allow\":0,\"deny\":0,\"warn\":0,\"learn\":0");
        Map<String, List<String>> byName = new LinkedHashMap<>();
        for (int i = 0; i < lists.length; i += 2) {
            byName.computeIfAbsent(lists[i], name -> new ArrayList<>()).add(lists[i + 1]);
        }
        byName.forEach((name, items) -> {
            json.append(",\"").append(name).append("\":[");
            for (int i = 0; i < items.size(); i++) {
                json.append(i == 0 ? "" : ",");
                Escapes.json(json, items.get(i));
            }
            json.append(']');
        });
        return record("ts", "2026-01-01T10:00:09.000Z", "seq", " 99", "summary", json.append('}').toString());
    }

    private void log(String id) throws IOException {
        Files.write(home.resolve("log").resolve(id + ".jsonl"), records);
        records.clear();
    }

    // ---- pages

    private static Document parse(String text) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder().parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** The page of the last session, which is well formed even as XML, needs nothing, and holds nothing that could act. */
    private Document page(String... words) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("report", "-o", "-"));
        arguments.addAll(List.of(words));
        assertThat(run(arguments.toArray(new String[0]))).as(err).isZero();
        assertThat(out.chars().allMatch(c -> c < 0x7f && (c >= ' ' || c == '\n'))).as("all ASCII").isTrue();
        Document page = parse(out);
        Set<String> elements = new TreeSet<>();
        Set<String> attributes = new TreeSet<>();
        NodeList all = page.getElementsByTagName("*");
        for (int i = 0; i < all.getLength(); i++) {
            elements.add(all.item(i).getNodeName());
            NamedNodeMap own = all.item(i).getAttributes();
            for (int j = 0; j < own.getLength(); j++) {
                attributes.add(own.item(j).getNodeName());
                assertThat(own.item(j).getNodeName().equals("href") && !own.item(j).getNodeValue().matches("#[a-z0-9-]+")).as(own.item(j).getNodeValue()).isFalse();
            }
        }
        assertThat(ELEMENTS).containsAll(elements);
        assertThat(ATTRIBUTES).containsAll(attributes);
        return page;
    }

    private static String text(Node node) {
        return node.getTextContent();
    }

    private static List<Element> ofClass(Document page, String element, String kind) {
        List<Element> found = new ArrayList<>();
        NodeList all = page.getElementsByTagName(element);
        for (int i = 0; i < all.getLength(); i++) {
            if (List.of(((Element) all.item(i)).getAttribute("class").split(" ")).contains(kind)) {
                found.add((Element) all.item(i));
            }
        }
        return found;
    }

    private static Element byId(Document page, String id) {
        NodeList all = page.getElementsByTagName("*");
        for (int i = 0; i < all.getLength(); i++) {
            if (id.equals(((Element) all.item(i)).getAttribute("id"))) {
                return (Element) all.item(i);
            }
        }
        throw new AssertionError("no element " + id);
    }

    private void strayed() throws IOException {
        Files.writeString(work.resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: a\nscope:\n  - CONSUMES FILE:/w/**\n  - MUTATES FILE:/w/src/**\n");
        header("s", "a", "settings", " [{\"key\":\"mode\",\"value\":\"strict\",\"origin\":\"agent argument\"}]",
                "scope", " [{\"line\":4,\"triple\":\"CONSUMES FILE:/w/**\"},{\"line\":5,\"triple\":\"MUTATES FILE:/w/src/**\"}]");
        event("2026-01-01T10:00:01.000Z", "main", "CONSUMES", "FILE:/w/in", "allow", "klock.yaml:4", "count", " 7");
        event("2026-01-01T10:00:02.000Z", "main", "CONSUMES", "FILE:/jdk/modules", "allow", "baseline");
        event("2026-01-01T10:00:03.000Z", "worker", "MUTATES", "FILE:/w/out", "deny", "mode", "requested", "out", "caller", "com.acme.Tools.write(Tools.java:41)",
                "stack", " [\"java.base/java.io.FileOutputStream.open0(Native Method)\",\"com.acme.Tools.write(Tools.java:41)\",\"com.acme.Main.main(Main.java:7)\"]");
        event("2026-01-01T10:00:04.000Z", "worker", "MUTATES", "FILE:/w/out", "deny", "mode", "count", " 3");
        summary("aborted", "declared", "CONSUMES FILE:/w/**", "declared", "MUTATES FILE:/w/src/**", "used", "CONSUMES FILE:/w/**", "unused", "MUTATES FILE:/w/src/**", "violated", "MUTATES FILE:/w/out",
                "rolled_back", "FILE:/w/src/a", "conflicts", "FILE:/w/src/b (changed by somebody else since)");
        log("s");
    }

    @Test
    void page_ofASessionThatStrayed_saysWhatWhyAndWhatWouldAllowIt() throws Exception {
        strayed();
        Document page = page();
        assertThat(text(ofClass(page, "div", "band").get(0))).contains("Aborted, not all rolled back", "1 path was put back", "1 path is NOT as before");
        Element card = ofClass(page, "article", "card").get(0);
        assertThat(text(card)).contains("denied", "MUTATES", "FILE:/w/out", "4 times", "only declared CONSUMES", "worker", "Asked for as", "com.acme.Tools.write(Tools.java:41)",
                "CONSUMES FILE:/w/** (klock.yaml:4)").doesNotContain("found changed");
        assertThat(text(ofClass(page, "div", "fix").get(0))).isEqualTo("to allow it, add to scope- MUTATES FILE:/w/out");
        assertThat(text(ofClass(page, "details", "stack").get(0))).as("the program's frames first").containsSubsequence("com.acme.Tools.write", "com.acme.Main.main", "through the JDK", "java.base/");
        assertThat(text(byId(page, "conflicts"))).contains("FILE:/w/src/b (changed by somebody else since)");
        assertThat(text(byId(page, "settings"))).contains("mode", "strict", "agent argument");
        assertThat(ofClass(page, "table", "declared").get(0).getElementsByTagName("tr").getLength()).isEqualTo(3);
        assertThat(text(byId(page, "manifest"))).containsSubsequence("4", "CONSUMES FILE:/w/**", "7", "FILE:/w/in", "5", "MUTATES FILE:/w/src/**", "unused", "1", "that the JVM reads for itself");
        assertThat(ofClass(page, "path", "denied")).hasSize(1);
        assertThat(text(byId(page, "timeline"))).contains("main 8", "worker 4", "9.0 s");
    }

    @Test
    void page_holdsNoScript_andItsPolicyLetsInItsOwnStyleAlone() throws Exception {
        strayed();
        Document page = page();
        String style = text(page.getElementsByTagName("style").item(0));
        String hash = Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8)));
        assertThat(out).contains("content=\"default-src &#39;none&#39;; style-src &#39;sha256-" + hash + "&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;\"").doesNotContain("<script", "http:", "https:", "url(");
        assertThat(style).contains("prefers-color-scheme: dark", "@media print", "max-width: 640px");
    }

    @Test
    void page_ofHostileNames_showsThemAsText_inEveryPlace() throws Exception {
        header("s", HOSTILE[0], "settings", " [{\"key\":\"<b>\",\"value\":\"<script>\",\"origin\":\"'\\\"\"}]", "manifest", HOSTILE[2]);
        for (String hostile : HOSTILE) {
            event("2026-01-01T10:00:01.000Z", hostile, "MUTATES", "FILE:/w/" + hostile, "deny", "mode", "requested", hostile, "caller", hostile, "note", hostile, "op", hostile,
                    "stack", stack(hostile));
            event("2026-01-01T10:00:01.000Z", "main", "PROVIDES", "PROCESS:/" + hostile, "allow", hostile, "note", hostile);
            event("2026-01-01T10:00:01.000Z", "main", "CONSUMES", "NATIVE:/" + hostile, "allow", hostile + ":7");
            event("2026-01-01T10:00:01.000Z", "main", "MUTATES", "FILE:/" + hostile, "warn", "child", "note", hostile);
            record("ts", hostile, "lease", " {\"state\":\"granted\",\"triples\":" + stack(hostile).strip() + ",\"detail\":" + stack(hostile).strip().replaceAll("^\\[|\\]$", "") + "}");
            record("ts", hostile, "recovered", " {\"session_id\":" + stack(hostile).strip().replaceAll("^\\[|\\]$", "") + ",\"result\":\"<i>\"}");
        }
        summary("<b>", "conflicts", HOSTILE[1], "notes", HOSTILE[4], "unmonitored", HOSTILE[5], "unused_hooks", HOSTILE[6], "declared", HOSTILE[0], "used", HOSTILE[0]);
        log("s");
        Document page = page();
        assertThat(ofClass(page, "article", "card")).hasSize(2 * HOSTILE.length);
        String shown = text(page.getDocumentElement());
        assertThat(shown).contains("/w/<script>alert(1)</script>", "/w/</code></style><img src=x onerror=alert(1)>", "\"' onmouseover='alert(1)", "a\\u202egpj.exe\\u2066\\u200b",
                "\\u001b[2J\\u0000\\r\\n\\tx", "\\ud800half\\udc00", "\\ufffe\\uffff", "\\u2028<svg onload=alert(1)>");
        assertThat(shown.chars().filter(c -> Character.getType(c) == Character.FORMAT || Character.getType(c) == Character.SURROGATE || c < ' ' && c != '\n')).isEmpty();
        for (String form : new String[] {"--json", "--sarif", "--junit"}) {
            assertThat(run("report", form)).as(err).isZero();
            assertThat(out.chars().allMatch(c -> c < 0x7f && (c >= ' ' || c == '\n'))).as(form).isTrue();
            if (form.equals("--junit")) {
                parse(out);
            } else {
                json(out);
            }
        }
    }

    private static String stack(String frame) {
        StringBuilder json = new StringBuilder(" [");
        Escapes.json(json, frame);
        return json.append(']').toString();
    }

    @Test
    void page_ofHugeNamesAndMany_isCutAndSaysSo() throws Exception {
        String huge = "x".repeat(300_000);
        header("s", "a");
        for (int i = 0; i < 1_200; i++) {
            event("2026-01-01T10:00:01.000Z", "t" + i, "MUTATES", "FILE:/w/" + i, "deny", "mode");
            event("2026-01-01T10:00:01.000Z", i % 200 == 0 ? huge + i : "u" + i, "CONSUMES", "FILE:/w/in" + i, "allow", "klock.yaml:" + (i + 1), "count", " 2");
        }
        event("2026-01-01T10:00:01.000Z", huge, "MUTATES", "FILE:/" + huge, "deny", "mode", "caller", huge);
        summary("completed");
        log("s");
        Document page = page();
        assertThat(ofClass(page, "article", "card")).hasSize(500);
        assertThat(text(byId(page, "violations"))).contains("And 701 violations of other resources");
        assertThat(text(byId(page, "manifest"))).contains("And 500 lines", "And 400 accesses by other lines");
        assertThat(text(byId(page, "timeline"))).contains("other threads");
        assertThat(out.length()).isLessThan(1_500_000);
    }

    @Test
    void page_ofALogThatIsNotWhole_saysWhatIsMissing() throws Exception {
        header("s", "a");
        record("ts", "2026-01-01T10:00:00.000Z", "lost", " 7");
        records.add("{\"ts\":\"20");
        log("s");
        header("s", "a", "part", " 4");
        Files.write(home.resolve("log").resolve("s.jsonl.3"), records);
        Document page = page();
        assertThat(text(ofClass(page, "div", "band").get(0))).contains("Crashed", "The log is not whole", "7 records were lost", "1 line cannot be read: the program was killed", "2 files of its middle");
        assertThat(text(byId(page, "unseen"))).contains("There is no summary", "The log is not whole").doesNotContain("None known");
        assertThat(run("report", "--fail-on", "violations")).as(err).isZero();
        assertThat(run("report", "--fail-on", "warnings")).isEqualTo(3);
    }

    @Test
    void logThatIsDamaged_isReportedAsFarAsItGoes() throws Exception {
        header("s", "a", "started", "+1000000000-12-31T23:59:59.999999999Z");
        record("decision", "deny", "predicate", " null", "resource", "FILE:/x");
        record("decision", "deny", "predicate", "CONSUMES");
        for (String ts : new String[] {"-999999999-01-01T00:00:00Z", "2026-01-01T10:00:01.000Z", "+1000000000-12-31T23:59:59Z"}) {
            event(ts, "main", "CONSUMES", "FILE:/x", "deny", "mode", "count", " " + Long.MAX_VALUE);
            event(ts, "main", "CONSUMES", "FILE:/y", "allow", "mode", "count", " " + Long.MAX_VALUE);
            record("ts", ts, "lease", " {\"state\":\"granted\",\"waited_ms\":" + Long.MAX_VALUE + ",\"triples\":[]}");
            record("ts", ts, "lost", " " + Long.MAX_VALUE);
        }
        record("ts", "2026-01-01T10:00:09.000Z", "summary", " {\"end\":\"completed\",\"deny\":" + Long.MAX_VALUE + ",\"allow\":" + Long.MIN_VALUE + "}");
        log("s");
        assertThat(text(ofClass(page(), "div", "band").get(0))).contains("The log is not whole", "2 lines cannot be read");
        for (String form : new String[] {"--json", "--sarif", "--junit"}) {
            assertThat(run("report", form)).as(err).isZero();
            assertThat(out).as(form).contains("FILE:/x").doesNotContain("-9223372036854775808");
        }
        assertThat(run("sessions")).as(err).isZero();
    }

    @Test
    void page_ofASummaryThatNamesVeryMuch_countsAllOfIt() throws Exception {
        header("s", "a");
        String[] lists = new String[2 * 30_000];
        for (int i = 0; i < lists.length; i += 2) {
            lists[i] = i % 4 == 0 ? "rolled_back" : "conflicts";
            lists[i + 1] = "FILE:/w/" + i;
        }
        summary("aborted", lists);
        log("s");
        Document page = page();
        assertThat(text(ofClass(page, "div", "band").get(0))).contains("15000 paths were put back", "15000 paths are NOT as before");
        assertThat(text(byId(page, "conflicts"))).contains("And 14500 more");
        assertThat(run("sessions")).isZero();
        assertThat(out).contains("rolled back 15000, NOT rolled back 15000");
    }

    @Test
    void page_namesWhatKlockCannotSee() throws Exception {
        header("s", "a", "mode", "permissive");
        event("2026-01-01T10:00:01.000Z", "main", "PROVIDES", "PROCESS:/bin/sh", "allow", "klock.yaml:4", "count", " 2");
        event("2026-01-01T10:00:01.000Z", "main", "PROVIDES", "PROCESS:/bin/sh", "allow", "klock.yaml:4", "note", "PROCESS:/bin/sh is open-ended");
        event("2026-01-01T10:00:02.000Z", "main", "MUTATES", "FILE:/w/o", "allow", "child", "note", "while PROCESS:/bin/sh ran");
        event("2026-01-01T10:00:03.000Z", "main", "CONSUMES", "NATIVE:/lib/x.so", "allow", "klock.yaml:5");
        summary("completed", "unmonitored", "PROCESS:/jdk/bin/java", "notes", "FILE:/w/a (its times)", "unused_hooks", "hook x matched nothing");
        log("s");
        assertThat(text(byId(page(), "unseen"))).contains("A child ran: PROCESS:/bin/sh, 2 times", "is open-ended", "Changes found while it ran: 1.", "Native code: NATIVE:/lib/x.so",
                "A JVM ran without klock", "PROCESS:/jdk/bin/java", "FILE:/w/a (its times)", "hook x matched nothing", "Nothing was stopped");
        assertThat(run("report", "--fail-on", "violations")).isZero();
        assertThat(run("report", "--fail-on", "warnings")).isEqualTo(3);
    }

    /** A program that klock holds may write where somebody has the report put. */
    @Test
    void output_goesWhereItIsNamed_andNowhereElse() throws Exception {
        header("s", "a");
        summary("completed");
        log("s");
        Path victim = Files.writeString(work.resolve("victim"), "kept");
        for (String trap : new String[] {"r.html.part", "r.html", "dangling.html"}) {
            Files.createSymbolicLink(work.resolve(trap), trap.startsWith("dangling") ? work.resolve("nowhere") : victim);
        }
        assertThat(run("report", "-o", "r.html")).as(err).isZero();
        assertThat(run("report", "-o", "dangling.html")).as(err).isZero();
        assertThat(victim).hasContent("kept");
        assertThat(work.resolve("nowhere")).doesNotExist();
        assertThat(work.resolve("r.html")).isRegularFile().content().startsWith("<!DOCTYPE html>");
        assertThat(work.toFile().list((dir, name) -> name.endsWith(".part"))).containsExactly("r.html.part");
        Files.writeString(work.resolve("klock.yaml"), "agent_id: a\nscope: []\n");
        for (String no : new String[] {"klock.yaml", ".klock/version", ".klock/log/new.html", ".", "nowhere/r.html"}) {
            assertThat(run("report", "-o", no)).as(no).isEqualTo(2);
            assertThat(err).startsWith("klock: -o " + no).hasLineCount(1);
        }
        assertThat(work.resolve("klock.yaml")).content().startsWith("agent_id");
        Files.createDirectory(home.resolve("report"));
        assertThat(run("report", "-o", ".klock/report/mine.html")).as(err).isZero();
    }

    @Test
    void page_ofACleanSession_saysSo_andNoGateCloses() throws Exception {
        header("s", "a");
        event("2026-01-01T10:00:01.000Z", "main", "CONSUMES", "FILE:/w/in", "allow", "klock.yaml:4");
        summary("completed");
        log("s");
        Document page = page();
        assertThat(text(ofClass(page, "div", "good").get(0))).startsWith("Clean");
        assertThat(text(byId(page, "unseen"))).contains("None known");
        assertThat(run("report", "--fail-on", "warnings", "-o", "x.html")).as(err).isZero();
        assertThat(out).isEqualTo(work.resolve("x.html") + "\n");
    }

    @Test
    void page_ofSeveralAgents_hasALaneForEachThread_andTheirLeases() throws Exception {
        header("p", "app", "started", "2026-01-01T10:00:00.000Z");
        event("2026-01-01T10:00:01.000Z", "main", "CONSUMES", "FILE:/w/in", "allow", "klock.yaml:4");
        summary("completed");
        log("p");
        header("b1", "builder", "process", "p", "started", "2026-01-01T10:00:02.000Z");
        record("ts", "2026-01-01T10:00:02.000Z", "lease", " {\"state\":\"granted\",\"waited_ms\":1500,\"triples\":[\"MUTATES FILE:/w/both/**\"]}");
        event("2026-01-01T10:00:03.000Z", "pool-1", "MUTATES", "FILE:/w/both/a", "allow", "klock.yaml:9");
        record("ts", "2026-01-01T10:00:08.000Z", "lease", " {\"state\":\"released\",\"triples\":[\"MUTATES FILE:/w/both/**\"]}");
        summary("completed");
        log("b1");
        header("t1", "tester", "process", "p", "started", "2026-01-01T10:00:04.000Z");
        record("ts", "2026-01-01T10:00:05.000Z", "lease", " {\"state\":\"died\",\"detail\":\"builder has it\"}");
        event("2026-01-01T10:00:04.000Z", "pool-2", "MUTATES", "FILE:/w/x", "deny", "mode");
        summary("died");
        log("t1");
        header("other", "elsewhere", "started", "2026-01-01T09:00:00.000Z");
        log("other");
        Document page = page();
        assertThat(text(page.getElementsByTagName("h1").item(0))).isEqualTo("3 sessions");
        assertThat(text(byId(page, "timeline"))).contains("app", "main 1", "builder", "pool-1 1", "tester", "pool-2 1", "leases held").doesNotContain("elsewhere");
        assertThat(ofClass(page, "rect", "held")).singleElement().satisfies(bar -> assertThat(text(bar)).contains("MUTATES FILE:/w/both/**"));
        assertThat(ofClass(page, "rect", "wait")).hasSize(1);
        assertThat(ofClass(page, "path", "died")).hasSize(1);
        assertThat(text(byId(page, "s3-leases"))).contains("died", "builder has it");
        assertThat(text(page("t1").getDocumentElement())).doesNotContain("builder session");
        assertThat(run("report")).isZero();
        assertThat(out).isEqualTo(home.resolve("report/p.html") + "\n");
        assertThat(home.resolve("report/p.html")).isRegularFile();
    }

    @Test
    void page_showsWhatFilesWere_asDiffs_alsoOfWhatWasRolledBack() throws Exception {
        Path kept = Files.writeString(work.resolve("kept"), "one\n");
        header("s", "a");
        event("2026-01-01T10:00:01.000Z", "main", "MUTATES", "FILE:" + kept, "allow", "klock.yaml:4");
        summary("completed");
        log("s");
        PastSession.wrote(home, "s", kept, "<b>two</b>\n");
        Document page = page();
        assertThat(text(ofClass(page, "pre", "diff").get(0))).contains("-one\n", "+<b>two</b>\n");
        assertThat(text(ofClass(page, "span", "add").get(0))).isEqualTo("+<b>two</b>");

        header("r", "a", "started", "2026-01-01T11:00:00.000Z");
        summary("aborted", "rolled_back", "FILE:" + kept);
        log("r");
        PastSession.rolledBack(home, "r", work -> work.write(kept, "three\n"));
        page = page();
        assertThat(kept).hasContent("<b>two</b>\n");
        assertThat(text(byId(page, "changes"))).contains(kept.toString(), "rolled back", "+three");
    }

    @Test
    void page_withoutImages_tellsOfFilesByTheLog() throws Exception {
        header("s", "a");
        event("2026-01-01T10:00:01.000Z", "main", "DELETES", "FILE:/w/gone", "allow", "klock.yaml:4");
        summary("aborted", "rolled_back", "FILE:/w/gone");
        log("s");
        assertThat(text(byId(page(), "changes"))).contains("By the log alone", "DELETES", "/w/gone, rolled back");
    }

    // ---- the other forms

    /** Reads one JSON value into lists and maps. */
    private static Object json(String text) throws IOException {
        try (JsonParser parser = new JsonFactory().createParser(text)) {
            parser.nextToken();
            Object value = value(parser);
            assertThat(parser.nextToken()).isNull();
            return value;
        }
    }

    private static Object value(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            Map<String, Object> object = new LinkedHashMap<>();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                assertThat(object.put(name, value(parser))).as(name).isNull();
            }
            return object;
        }
        if (parser.currentToken() == JsonToken.START_ARRAY) {
            List<Object> array = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                array.add(value(parser));
            }
            return array;
        }
        return parser.currentToken().isNumeric() ? (Object) parser.getLongValue() : parser.currentToken().isBoolean() ? (Object) parser.getBooleanValue()
                : parser.currentToken() == JsonToken.VALUE_NULL ? null : parser.getText();
    }

    @SuppressWarnings("unchecked")
    private static <T> T at(Object json, Object... path) {
        Object now = json;
        for (Object step : path) {
            now = step instanceof Integer ? ((List<Object>) now).get((Integer) step) : ((Map<String, Object>) now).get(step);
        }
        return (T) now;
    }

    @Test
    void json_hasEachViolationWithItsFix_andEndsWithTheGatesCode() throws Exception {
        strayed();
        assertThat(run("report", "--json", "--fail-on", "violations")).as(err).isEqualTo(3);
        Object json = json(out);
        assertThat(ReportTest.<String>at(json, "schema")).isEqualTo("klock.report/1");
        Object session = at(json, "sessions", 0);
        assertThat(ReportTest.<String>at(session, "verdict", "level")).isEqualTo("bad");
        assertThat(ReportTest.<List<Object>>at(session, "violations")).hasSize(1);
        assertThat(ReportTest.<String>at(session, "violations", 0, "resource")).isEqualTo("FILE:/w/out");
        assertThat(ReportTest.<String>at(session, "violations", 0, "fix")).isEqualTo("MUTATES FILE:/w/out");
        assertThat(ReportTest.<Long>at(session, "violations", 0, "count")).isEqualTo(4);
        assertThat(ReportTest.<List<Object>>at(session, "violations", 0, "stack")).hasSize(3);
        assertThat(ReportTest.<List<Object>>at(session, "declared")).hasSize(2);
        assertThat(ReportTest.<List<Object>>at(session, "conflicts")).hasSize(1);
        assertThat(ReportTest.<Boolean>at(session, "log", "whole")).isTrue();
    }

    @Test
    void sarif_isOfTheShapeOf210() throws Exception {
        strayed();
        assertThat(run("report", "--sarif")).as(err).isZero();
        Object sarif = json(out);
        assertThat(ReportTest.<String>at(sarif, "version")).isEqualTo("2.1.0");
        Object run = at(sarif, "runs", 0);
        assertThat(ReportTest.<String>at(run, "tool", "driver", "name")).isEqualTo("klock");
        List<Object> rules = at(run, "tool", "driver", "rules");
        List<Object> results = at(run, "results");
        assertThat(results).hasSize(2).allSatisfy(result -> {
            int rule = Math.toIntExact(ReportTest.<Long>at(result, "ruleIndex"));
            assertThat(ReportTest.<String>at(rules.get(rule), "id")).isEqualTo(at(result, "ruleId"));
            assertThat(Set.of("none", "note", "warning", "error")).contains(ReportTest.<String>at(result, "level"));
            assertThat(ReportTest.<String>at(result, "message", "text")).isNotEmpty();
            assertThat(ReportTest.<String>at(result, "locations", 0, "physicalLocation", "artifactLocation", "uri")).endsWith("/klock.yaml");
            assertThat(ReportTest.<Long>at(result, "locations", 0, "physicalLocation", "region", "startLine")).isPositive();
        });
        assertThat(ReportTest.<String>at(results, 0, "message", "text")).contains("Denied: MUTATES FILE:/w/out.", "add to scope: - MUTATES FILE:/w/out");
        assertThat(ReportTest.<String>at(results, 0, "locations", 0, "logicalLocations", 0, "fullyQualifiedName")).isEqualTo("com.acme.Tools.write");
        assertThat(ReportTest.<List<Object>>at(results, 0, "stacks", 0, "frames")).hasSize(3);
        assertThat(ReportTest.<Long>at(results, 0, "occurrenceCount")).isEqualTo(4);
        assertThat(ReportTest.<String>at(results, 0, "partialFingerprints", "klockTriple/v1")).hasSize(32);
        assertThat(ReportTest.<Boolean>at(run, "invocations", 0, "executionSuccessful")).isTrue();
    }

    @Test
    void junit_hasASuiteForEachSession_andAFailureForEachViolation() throws Exception {
        strayed();
        assertThat(run("report", "--junit", "-o", "r.xml")).as(err).isZero();
        Document xml = parse(Files.readString(work.resolve("r.xml")));
        Element suite = (Element) xml.getElementsByTagName("testsuite").item(0);
        assertThat(suite.getAttribute("name")).isEqualTo("klock.a");
        assertThat(xml.getElementsByTagName("testcase").getLength()).isEqualTo(Integer.parseInt(suite.getAttribute("tests"))).isEqualTo(4);
        assertThat(xml.getElementsByTagName("failure").getLength()).isEqualTo(Integer.parseInt(suite.getAttribute("failures"))).isEqualTo(2);
        assertThat(xml.getElementsByTagName("error").getLength()).isEqualTo(Integer.parseInt(suite.getAttribute("errors"))).isEqualTo(1);
        assertThat(text(suite)).contains("to allow it, add to scope: - MUTATES FILE:/w/out", "at com.acme.Tools.write(Tools.java:41)");
    }

    @Test
    void report_ofWhatIsNotThere_isOneLine() throws Exception {
        for (String[] words : new String[][] {{"report"}, {"report", "nobody"}, {"report", "--fail-on", "anything"}, {"report", "--json", "--sarif"}, {"report", "-m", "none.yaml"}}) {
            if (words.length == 3 && words[1].equals("-m")) {
                strayed();
            }
            assertThat(run(words)).as(String.join(" ", words)).isEqualTo(2);
            assertThat(err).as(String.join(" ", words)).startsWith("klock: ").hasLineCount(1);
        }
    }

    @Test
    void violation_ofASessionWhoseManifestIsGone_hasTheLineAllTheSame() throws Exception {
        strayed();
        Files.delete(work.resolve("klock.yaml"));
        Document page = page();
        assertThat(text(ofClass(page, "div", "fix").get(0))).isEqualTo("to allow it, add to scope- MUTATES FILE:/w/out");
        assertThat(text(ofClass(page, "p", "why").get(0))).contains("The manifest is not there");
    }

    @Test
    void violation_thatTheManifestAllowsByNow_saysSo() throws Exception {
        strayed();
        Files.writeString(work.resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: a\nscope:\n  - MUTATES FILE:/w/**\n");
        Document page = page();
        assertThat(ofClass(page, "div", "fix")).isEmpty();
        assertThat(text(ofClass(page, "p", "why").get(0))).contains("The manifest allows it now: ", "MUTATES FILE:/w/**");
    }
}
