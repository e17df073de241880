package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("K6-2")
class MessagesTest {
    private static final Resource HOSTS = Resource.file("/etc/hosts");

    private static Line line(Predicate predicate, Resource resource, int number) {
        return new Line(predicate, resource, 1, number, 5, resource.toString(), null);
    }

    @Test
    void violation_ofWhatIsDeclaredForLess_namesBoth() {
        Line etc = line(Predicate.CONSUMES, Resource.of("FILE", "/etc", Resource.Form.SUBTREE), 7);
        Line work = line(Predicate.MUTATES, Resource.of("FILE", "/w", Resource.Form.SUBTREE), 9);
        assertThat(violation(null, Predicate.MUTATES, HOSTS, null, Predicate.CONSUMES.bit(), null, List.of(etc, work), "klock.yaml")).isEqualTo(
                "Agent attempted MUTATES on FILE:/etc/hosts but only declared CONSUMES.\n"
                        + "  to allow it, add to scope: - MUTATES FILE:/etc/hosts\n"
                        + "  nearest declared: CONSUMES FILE:/etc/** (klock.yaml:7), MUTATES FILE:/w/** (klock.yaml:9)");
    }

    @Test
    void tail_isOneLineOfJson_withWhatMayBeDoneInstead() throws Exception {
        Line etc = line(Predicate.CONSUMES, Resource.of("FILE", "/etc", Resource.Form.SUBTREE), 7);
        String tail = Messages.tail(Predicate.MUTATES, HOSTS, Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit(), etc, List.of(etc), Set.of(), true);
        assertThat(tail).isEqualTo("\n  {\"klock\":\"denied\",\"attempted\":\"MUTATES\",\"resource\":\"FILE:/etc/hosts\",\"declared\":[\"CONSUMES\",\"DEPENDS_ON\"],"
                + "\"denied_by\":\"CONSUMES FILE:/etc/**\",\"nearest\":[\"CONSUMES FILE:/etc/**\"],\"retry\":false,\"session\":\"over\"}");
        String hostile = Messages.tail(Predicate.DELETES, Resource.file("/a\n\"\u202e\ud800"), 0, null, List.of(), Set.of(), false);
        assertThat(hostile.strip()).doesNotContain("\n", "\u202e", "denied_by").endsWith("\"nearest\":[],\"retry\":false,\"session\":\"goes on\"}");
        try (JsonParser json = new JsonFactory().createParser(hostile)) {
            while (json.nextToken() != null) {
                assertThat(json.currentToken()).isNotNull();
            }
        }
    }

    @Test
    void violation_ofWhatAnAgentOfTheProcessDeclares_namesItAndProposesNothingThatIsRefused() throws Exception {
        Map<String, Line> agents = new LinkedHashMap<>();
        agents.put("a", line(Predicate.MUTATES, Resource.of("FILE", "/etc", Resource.Form.SUBTREE), 8));
        assertThat(Messages.violation(null, Predicate.MUTATES, HOSTS, null, 0, null, List.of(), agents, "klock.yaml", PlaceNames.NONE)).isEqualTo(
                "Agent attempted MUTATES on FILE:/etc/hosts but declared nothing.\n"
                        + "  agent a declares it: MUTATES FILE:/etc/** (klock.yaml:8)\n"
                        + "  what is done when its session is closed, or by work that was handed on unseen (Klock.wrap), is the process's, which cannot declare it as well");
        agents.put("c", line(Predicate.CONSUMES, HOSTS, 9));
        assertThat(Messages.violation(null, Predicate.CONSUMES, HOSTS, null, 0, null, List.of(), agents, "klock.yaml", PlaceNames.NONE)).isEqualTo(
                "Agent attempted CONSUMES on FILE:/etc/hosts but declared nothing.\n"
                        + "  agent a declares it: MUTATES FILE:/etc/** (klock.yaml:8)\n"
                        + "  agent c declares it: CONSUMES FILE:/etc/hosts (klock.yaml:9)\n"
                        + "  what is done when its session is closed, or by work that was handed on unseen (Klock.wrap), is the process's\n"
                        + "  to allow it, add to scope: - CONSUMES FILE:/etc/hosts");
        assertThat(Messages.tail(Predicate.MUTATES, HOSTS, 0, null, List.of(), agents.keySet(), true)).contains("\"declared\":[],\"declared_by\":[\"a\",\"c\"],\"nearest\":[]");
    }

    @Test
    void violation_ofWhatIsNotDeclared_saysNothing() {
        assertThat(violation(null, Predicate.DELETES, HOSTS, null, 0, null, List.of(), null)).isEqualTo(
                "Agent attempted DELETES on FILE:/etc/hosts but declared nothing.\n  to allow it, add to scope: - DELETES FILE:/etc/hosts");
    }

    @Test
    void violation_ofThisProcesssOwnEntry_proposesANameForEachProcess() {
        Resource own = Resource.file("/proc/" + ProcessHandle.current().pid() + "/comm");
        assertThat(violation(null, Predicate.CONSUMES, own, null, 0, null, List.of(), null)).contains("add to scope: - CONSUMES FILE:/proc/self/comm");
        Resource other = Resource.file("/proc/" + ProcessHandle.current().pid() + "1/comm");
        assertThat(violation(null, Predicate.CONSUMES, other, null, 0, null, List.of(), null)).contains("add to scope: - CONSUMES " + other);
    }

    @Test
    void violation_ofANameThatIsRandom_proposesItsDirectory() {
        Resource random = Resource.file("/tmp/imageio4711471147114711.tmp");
        assertThat(violation(null, Predicate.PROVIDES, random, null, 0, null, List.of(), null)).isEqualTo(
                "Agent attempted PROVIDES on FILE:/tmp/imageio4711471147114711.tmp but declared nothing.\n"
                        + "  to allow it, add to scope: - PROVIDES FILE:/tmp/*\n"
                        + "  (the name looks random: /* stands for every name in that directory)");
        Resource dated = Resource.file("/tmp/dump-20261128-235959.log");
        assertThat(violation(null, Predicate.PROVIDES, dated, null, 0, null, List.of(), null)).contains("- PROVIDES FILE:/tmp/dump-20261128-235959.log");
    }

    @Test
    void violation_ofSeveralDeclared_namesAll() {
        assertThat(violation(null, Predicate.DELETES, HOSTS, null, Predicate.CONSUMES.bit() | Predicate.MUTATES.bit(), null, List.of(), null))
                .startsWith("Agent attempted DELETES on FILE:/etc/hosts but only declared CONSUMES, MUTATES.\n");
    }

    @Test
    void violation_ofADenyLine_namesIt() {
        assertThat(violation(null, Predicate.CONSUMES, HOSTS, "/w/link", Predicate.CONSUMES.bit(), line(Predicate.CONSUMES, HOSTS, 12), List.of(), "k.yaml"))
                .isEqualTo("Agent attempted CONSUMES on FILE:/etc/hosts but the manifest denies it.\n  asked for as /w/link\n  denied by CONSUMES FILE:/etc/hosts (k.yaml:12)");
    }

    @Test
    @Tag("K6-6")
    void end_ofASession_isOneLineWithItsCounts(@TempDir File temp) throws IOException {
        File file = new File(temp, "s.jsonl");
        VerificationLog log = VerificationLog.open(file, "s", "a", "strict", true, null);
        log.record(new Event(1, null, "main", "open", Predicate.MUTATES, HOSTS, null, Decision.DENY, null, null, 2));
        Summary clean = new Summary("completed", 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
        assertThat(Messages.end("a", "s\n", "strict", clean, log, 0)).isEqualTo(
                "a session s\\n (strict) completed: 2 denied; exit 0; log " + file);
        assertThat(Messages.end("a", "s", "strict", clean, log, 1)).contains("; 1 session of its agents completed with nothing denied; exit 0");
        Summary aborted = new Summary("aborted", 108, List.of("x", "y"), List.of("x"), List.of("y"), List.of("z"), List.of("p", "q"),
                List.of("r"), List.of("n"), List.of("PROCESS:/j/bin/java"), List.of());
        log.record(new Event(1, null, "main", "open", Predicate.MUTATES, HOSTS, null, Decision.WARN, null, null));
        assertThat(Messages.end("a", "s", "strict", aborted, log, 0)).isEqualTo("a session s (strict) aborted: 2 denied, 1 warned; "
                + "1 of 2 declared lines used; rolled back 2; NOT rolled back 1; 1 child JVM unmonitored; exit 108; log " + file);
    }

    @Test
    @Tag("J02")
    void violation_ofKlocksOwn_saysThatNoManifestHelps() {
        assertThat(Messages.ownFile(null, Predicate.MUTATES, Resource.file("/w/.klock/version")))
                .isEqualTo("Agent attempted MUTATES on FILE:/w/.klock/version but it is klock's own, which no manifest gives away.");
    }

    @Test
    @Tag("D25")
    void violation_ofAHostileName_staysInItsLineAndCanBePasted() {
        String message = violation(null, Predicate.MUTATES, Resource.file("/w/a\nb: *\u001b"), null, 0, null, List.of(), null);
        assertThat(message.lines()).containsExactly("Agent attempted MUTATES on FILE:/w/a\\nb: \\*\\u001b but declared nothing.",
                "  to allow it, add to scope: - MUTATES FILE:/w/*",
                "  (a manifest takes no control characters, nor what is not UTF-8: /* stands for every name in that directory)");
        message = violation(null, Predicate.MUTATES, Resource.file("/w/a\u2028b"), null, 0, null, List.of(), null);
        assertThat(message).contains("  to allow it, add to scope: - MUTATES FILE:/w/*\n");
        message = violation(null, Predicate.MUTATES, Resource.file("/w/\udcff\udcfebad"), null, 0, null, List.of(), null);
        assertThat(message).contains("  to allow it, add to scope: - MUTATES FILE:/w/*\n", ", nor what is not UTF-8: /* stands for");
        message = violation(null, Predicate.MUTATES, Resource.file("/w/\ud83d\ude00"), null, 0, null, List.of(), null);
        assertThat(message).contains("MUTATES FILE:/w/\ud83d\ude00").doesNotContain("/*");
        message = violation(null, Predicate.MUTATES, Resource.file("/w/b: *"), null, 0, null, List.of(), null);
        assertThat(message.lines()).containsExactly("Agent attempted MUTATES on FILE:/w/b: \\* but declared nothing.",
                "  to allow it, add to scope: - \"MUTATES FILE:/w/b: \\\\*\"");
    }

    @Test
    void violation_ofARandomNameInAHome_doesNotAskForWhatAManifestIsRefusedFor() {
        PlaceNames home = new PlaceNames(Map.of("user.home", "/h/u", "tmp", "/h/u"));
        String message = Messages.violation(null, Predicate.PROVIDES, Resource.file("/h/u/x16749053536594378566.tmp"), null, 0, null, List.of(), Map.of(), null, home);
        assertThat(message.lines()).containsExactly("Agent attempted PROVIDES on FILE:/h/u/x16749053536594378566.tmp but declared nothing.",
                "  (no line can allow it: the name looks random, and a line for all names there would reach a whole home directory; have the file made elsewhere)");
        message = Messages.violation(null, Predicate.CONSUMES, Resource.file("/h/u/x16749053536594378566.tmp"), null, 0, null, List.of(), Map.of(), null, home);
        assertThat(message).contains("CONSUMES FILE:${tmp}/*");
    }

    private static String violation(String agent, Predicate attempted, Resource resource, String requested, int declared, Line denying, List<Line> nearest, String manifest) {
        return Messages.violation(agent, attempted, resource, requested, declared, denying, nearest, Map.of(), manifest, PlaceNames.NONE);
    }

    @Test
    void lineThatWouldAllowIt_hasTheVariableOfTheDeepestDirectory_andTheTailAndTheFirstLineHaveNone() {
        PlaceNames names = new PlaceNames(Map.of("workspace", "/home/u/w*", "user.home", "/home/u", "tmp", "/tmp", "java.home", "/"));
        Resource inside = Resource.file("/home/u/w*/a b");
        assertThat(Messages.violation(null, Predicate.MUTATES, inside, null, 0, null, List.of(), Map.of(), null, names)).isEqualTo(
                "Agent attempted MUTATES on FILE:/home/u/w\\*/a b but declared nothing.\n  to allow it, add to scope: - MUTATES FILE:${workspace}/a b");
        assertThat(Messages.tail(Predicate.MUTATES, inside, 0, null, List.of(), Set.of(), false)).contains("/home/u/w");
        assertThat(Messages.violation(null, Predicate.MUTATES, Resource.file("/home/u/w*2/a"), null, 0, null, List.of(), Map.of(), null, names)).contains("- MUTATES FILE:${user.home}/w\\*2/a");
        assertThat(Messages.violation(null, Predicate.PROVIDES, Resource.file("/tmp/x16749053536594378566.tmp"), null, 0, null, List.of(), Map.of(), null, names))
                .contains("- PROVIDES FILE:${tmp}/*\n");
        assertThat(Messages.violation(null, Predicate.CONSUMES, Resource.file("/etc/x"), null, 0, null, List.of(), Map.of(), null, names)).contains("- CONSUMES FILE:/etc/x");
        assertThat(Messages.violation(null, Predicate.CONSUMES, Resource.parse("ENV:workspace"), null, 0, null, List.of(), Map.of(), null, names)).contains("- CONSUMES ENV:workspace");
        assertThat(Messages.effects(Resource.parse("PROCESS:/tmp/tool"), names)).contains("resource: \"PROCESS:${tmp}/tool\", effects: []");
    }
}
