package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.log.Begun;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Event;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.Summary;
import dev.klock.agent.log.VerificationLog;
import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From logs to a manifest, to one with less in it, and to why: {@code learn}, {@code tighten}, {@code explain}, {@code shadow}. */
class LearnTest {
    private static final String HEAD = "ver: \"1.0\"\nagent_id: a\nscope:\n";

    @TempDir
    Path temp;
    private Path work;
    private Path manifest;
    private String out;
    private String err;
    private int sessions;

    @BeforeEach
    void makeWork() throws Exception {
        work = temp.toRealPath();
        manifest = work.resolve("klock.yaml");
    }

    private int run(String... arguments) {
        StringWriter stdout = new StringWriter();
        StringWriter stderr = new StringWriter();
        LaunchEnvironment environment = new LaunchEnvironment(Map.of("java.runtime.version", "17.0.1+1", "user.home", "/home/u",
                "java.home", "/jdk", "java.io.tmpdir", "/tmp"), Map.of("PATH", "/bin"), work.toString());
        int status = Main.run(arguments, null, environment, new PrintWriter(stdout), new PrintWriter(stderr), false);
        out = stdout.toString();
        err = stderr.toString();
        return status;
    }

    /** The log of a session of {@code agent}; each access is {@code PREDICATE path decision}, by the working directory. */
    private String session(String agent, String mode, List<String> declared, List<String> used, String... accesses) throws Exception {
        SessionClaim claim = SessionClaim.claim(Home.open(work.resolve(".klock").toFile()), "s" + ++sessions);
        VerificationLog log = VerificationLog.open(claim.log(), claim.id(), agent, mode, true, null);
        for (String access : accesses) {
            String[] words = access.split(" ");
            // what is allowed has no operation
            log.record(new Event(1, agent, "main", words[2].equals("ALLOW") ? null : "open", Predicate.valueOf(words[0]), Resource.file(work + "/" + words[1]), words[1],
                    Decision.valueOf(words[2]), words[2].equals("ALLOW") ? "klock.yaml:4" : "mode", "Main.main(Main.java:7)"));
        }
        log.close(new Summary("completed", 0, declared, used, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of()));
        return claim.id();
    }

    private String session(String agent, String mode, String... accesses) throws Exception {
        return session(agent, mode, List.of(), List.of(), accesses);
    }

    private void manifest(String... lines) throws IOException {
        Files.writeString(manifest, HEAD + "  - " + String.join("\n  - ", lines) + "\n");
    }

    @Test
    void learn_takesTheLearnSessionsOfOneAgent_andWritesNothingOver() throws Exception {
        session("b", "learn", "CONSUMES of/b LEARN");
        session("a", "learn", "CONSUMES x LEARN");
        session("a", "strict", "CONSUMES strict ALLOW");
        session("a", "learn", "CONSUMES y LEARN", "CONSUMES x LEARN");
        assertThat(run("learn")).as(err).isZero();
        assertThat(out).contains("agent_id: \"a\"", "# Learnt by klock ", " from 2 sessions, 3 accesses.", "  # 2 events, 2 sessions, Main.main(Main.java:7)\n  - CONSUMES FILE:${workspace}/x\n",
                "  - CONSUMES FILE:${workspace}/y\n").doesNotContain("of/b", "strict");
        assertThat(run("learn", "--agent", "b", "-o", "klock.yaml")).as(err).isZero();
        assertThat(manifest).content().contains("CONSUMES FILE:${workspace}/of/b").startsWith("# yaml-language-server: $schema=.klock/manifest.schema.json\n# Learnt");
        assertThat(work.resolve(".klock/manifest.schema.json")).content().contains("draft-07");
        String before = Files.readString(manifest);
        assertThat(run("learn", "-o", "klock.yaml")).isEqualTo(2);
        assertThat(err).contains("klock.yaml exists, and is not written over").hasLineCount(1);
        assertThat(manifest).hasContent(before);
        assertThat(run("validate")).as(err).isZero();
    }

    @Test
    void learn_ofWhatIsNotThere_saysWhatIs() throws Exception {
        session("a", "strict", "CONSUMES x ALLOW");
        assertThat(run("learn")).isEqualTo(2);
        assertThat(err).contains("ran in mode=learn: run the program with -javaagent:klock.jar=mode=learn, or name sessions").hasLineCount(1);
        assertThat(run("learn", "nobody")).isEqualTo(2);
        assertThat(err).contains("no log of a session nobody").hasLineCount(1);
        assertThat(run("learn", "--log", "none.jsonl")).isEqualTo(2);
        assertThat(run("learn", "--several", "1")).isEqualTo(2);
        assertThat(run("learn", "--write")).isEqualTo(2);
        assertThat(run("learn", "--merge", "klock.yaml", "-o", "x")).isEqualTo(2);
        assertThat(run("learn", "s1", "--log", session("b", "learn", "CONSUMES y LEARN").equals("s2") ? ".klock/log/s2.jsonl" : "")).isEqualTo(2);
        assertThat(err).contains("several agents (a, b); say --agent ID").hasLineCount(1);
        assertThat(run("learn", "s1", "s2", "--agent", "b")).isZero();
        assertThat(out).contains("agent_id: \"b\"", "/y").doesNotContain("/x");
        assertThat(run("learn", "s1", "--agent", "b")).isEqualTo(2);
        assertThat(err).contains("none of these sessions is of agent b").hasLineCount(1);
    }

    @Test
    void learn_leavesOutWhatWasDenied_saysSo_andTakesItInIfAsked() throws Exception {
        String id = session("a", "block", "CONSUMES x DENY", "CONSUMES y ALLOW");
        assertThat(run("learn", id)).isZero();
        assertThat(out).contains("/y").doesNotContain("/x");
        assertThat(err).contains("1 access was denied and is not declared (--denied)");
        assertThat(run("learn", id, "--denied")).isZero();
        assertThat(out).contains("/y", "/x");
    }

    @Test
    void merge_ofWhatWasDenied_withoutASession_takesTheLastInWhichSomethingWas() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y");
        session("a", "learn", "CONSUMES y LEARN", "CONSUMES taken/out/since LEARN");
        session("a", "strict", "CONSUMES earlier DENY");
        session("a", "strict", "CONSUMES y ALLOW", "DELETES x DENY");
        session("b", "strict", "CONSUMES of/b DENY");
        session("a", "strict", "CONSUMES y ALLOW");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--agent", "c")).isEqualTo(2);
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--agent", "a", "--write")).as(err).isZero();
        assertThat(manifest).hasContent(HEAD + "  - CONSUMES FILE:${workspace}/y\n  # 1 event, Main.main(Main.java:7)\n  - DELETES FILE:${workspace}/x\n");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied")).as(err).isZero();
        assertThat(out).contains("/of/b");
    }

    @Test
    void merge_ofWhatWasDenied_whereNothingWas_saysSo() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y");
        session("a", "strict", "CONSUMES y ALLOW");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied")).isEqualTo(2);
        assertThat(err).contains("in no session in " + work.resolve(".klock") + " anything was denied").hasLineCount(1);
    }

    @Test
    void merge_ofWhatALineOfTheDenyListStops_namesThatLine_andAddsNone() throws Exception {
        String deny = HEAD + "  - CONSUMES FILE:${workspace}/y\ndeny:\n  - CONSUMES FILE:${workspace}/d/**\n";
        Files.writeString(manifest, deny);
        session("a", "block", "CONSUMES y ALLOW", "CONSUMES d/x DENY", "CONSUMES d/z DENY");
        for (int i = 0; i < 2; i++) {
            assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write")).as(err).isZero();
            assertThat(err).contains("klock.yaml:6: CONSUMES FILE:" + work + "/d/** denies CONSUMES FILE:" + work + "/d/x and 1 more: no line of the scope can allow that").hasLineCount(1);
            assertThat(out).doesNotContain("declares all");
            assertThat(manifest).hasContent(deny);
        }
        session("a", "permissive", "CONSUMES d/x WARN");
        assertThat(run("shadow", "klock.yaml")).isEqualTo(3);
        assertThat(out).contains("would deny 1 thing", "all of it by lines of its deny: list").doesNotContain("learn --merge");
        session("a", "permissive", "CONSUMES other WARN");
        assertThat(run("shadow", "klock.yaml")).isEqualTo(3);
        assertThat(out).contains("would deny 2 things", "learn --merge");
        manifest("CONSUMES FILE:${workspace}/y");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "s1")).as(err).isZero();
        assertThat(out).contains("+  - CONSUMES FILE:${workspace}/d/x", "+  - CONSUMES FILE:${workspace}/d/z");
    }

    @Test
    void merge_ofADeniedProgram_addsItsLineOnce_andNamesItUntilItSaysWhatTheProgramMayTouch() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y");
        runWith(Map.of(), "block", List.of(), List.of(), "PROVIDES PROCESS:" + Path.of("/bin/true").toRealPath() + " DENY");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write")).as(err).isZero();
        String once = Files.readString(manifest);
        assertThat(once).contains("it did not run: say in effects:").endsWith("  - PROVIDES PROCESS:" + Path.of("/bin/true").toRealPath() + "\n");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write")).as(err).isZero();
        assertThat(err).contains("does not say what the program may touch, so PROVIDES PROCESS:", "is not allowed where it runs: add effects: to that line").hasLineCount(1);
        assertThat(manifest).hasContent(once);
        SessionClaim claim = SessionClaim.claim(Home.open(work.resolve(".klock").toFile()), "again");
        VerificationLog log = VerificationLog.open(claim.log(), claim.id(), "a", "block", true, null);
        log.record(new Event(1, "a", "main", null, Predicate.PROVIDES, Resource.parse("PROCESS:" + Path.of("/bin/true").toRealPath()), "true", Decision.ALLOW, "klock.yaml:6", null));
        log.record(new Event(1, "a", "main", "start_process", Predicate.MUTATES, Resource.parse("FILE:" + work + "/**"), "true", Decision.DENY, "mode", "Main.main(Main.java:7)"));
        log.close(new Summary("completed", 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of()));
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write", "again")).as(err).isZero();
        assertThat(err).contains("klock.yaml:6: PROVIDES PROCESS:", "add effects: to that line").hasLineCount(1);
        assertThat(manifest).hasContent(once);
        Files.writeString(manifest, once.replaceFirst("- PROVIDES (PROCESS:.*)", "- {predicate: PROVIDES, resource: \"$1\", effects: []}"));
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "again")).as(err).isZero();
        assertThat(out).contains("declares all that was done");
    }

    @Test
    void merge_ofAnAgentThatHasItsOwnScope_isNotIntoThatOfTheProcess() throws Exception {
        Files.writeString(manifest, HEAD + "  - CONSUMES FILE:${workspace}/p\nagents:\n  - agent_id: b\n    scope:\n      - CONSUMES FILE:${workspace}/x\n");
        session("b", "block", "MUTATES z DENY");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write")).isEqualTo(2);
        assertThat(err).contains("klock.yaml has a scope of its own for b, whose the sessions are; say --agent b").hasLineCount(1);
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write", "--agent", "b")).as(err).isZero();
        assertThat(manifest).content().endsWith("      - MUTATES FILE:${workspace}/z\n");
    }

    @Test
    void merge_ofAnotherAgentsLines_changesThat() throws Exception {
        Files.writeString(manifest, HEAD + "  - CONSUMES FILE:${workspace}/p\nagents:\n  - agent_id: b\n    scope:\n      - CONSUMES FILE:${workspace}/x\n");
        session("b", "learn", "CONSUMES x LEARN", "MUTATES z LEARN");
        assertThat(run("learn", "--merge", "klock.yaml", "--agent", "b", "--write")).as(err).isZero();
        assertThat(manifest).content().endsWith("      - CONSUMES FILE:${workspace}/x\n      # 1 event, Main.main(Main.java:7)\n      - MUTATES FILE:${workspace}/z\n");
        assertThat(run("learn", "--merge", "klock.yaml", "--agent", "c")).isEqualTo(2);
        assertThat(err).contains("has no agent c; it has a, b");
    }

    @Test
    void merge_intoWhatCannotBeChangedByLines_printsThem() throws Exception {
        Files.writeString(manifest, HEAD.replace("scope:\n", "scope: [CONSUMES FILE:/p]\n"));
        session("a", "learn", "CONSUMES x LEARN");
        assertThat(run("learn", "--merge", "klock.yaml", "--write")).isEqualTo(2);
        assertThat(out).contains("- CONSUMES FILE:${workspace}/x");
        assertThat(err).contains("not written one item a line").hasLineCount(1);
        assertThat(manifest).content().doesNotContain("/x");
    }

    @Test
    void tighten_takesOutWhatNoRunUsed_butNotWhatIsNewOrNeededAllTheSame() throws Exception {
        manifest("CONSUMES FILE:${workspace}/used", "MUTATES FILE:${workspace}/unused", "CONSUMES FILE:${workspace}/dir/above/it", "MUTATES FILE:${workspace}/young");
        List<String> old = List.of("CONSUMES FILE:" + work + "/used", "MUTATES FILE:" + work + "/unused", "CONSUMES FILE:" + work + "/dir/above/it");
        for (int i = 0; i < 3; i++) {
            session("a", "strict", old, old.subList(0, 1), "CONSUMES used ALLOW", "DEPENDS_ON dir/above ALLOW");
        }
        assertThat(run("tighten")).as(err).isZero();
        assertThat(out.lines().filter(line -> line.matches("[-+][^-+].*"))).containsExactly("-  - MUTATES FILE:${workspace}/unused");
        assertThat(err).contains("1 line was not used, but there in fewer than 3 runs", "nothing is changed yet");
        assertThat(run("tighten", "--runs", "4")).isZero();
        assertThat(out).contains("no line of klock.yaml has been there unused in 4 runs; 3 runs were looked at");
        assertThat(run("tighten", "--json")).isZero();
        assertThat(out).contains("\"line\" : 5", "\"in_too_few_runs\" : 1");
        assertThat(run("tighten", "--write")).isZero();
        assertThat(manifest).content().isEqualTo(HEAD + "  - CONSUMES FILE:${workspace}/used\n  - CONSUMES FILE:${workspace}/dir/above/it\n  - MUTATES FILE:${workspace}/young\n");
    }

    @Test
    void shadow_tellsWhatAnotherManifestWouldHaveDenied_andNothingOfWhatTheSessionMade() throws Exception {
        manifest("MUTATES FILE:${workspace}/**", "PROVIDES FILE:${workspace}/**", "DELETES FILE:${workspace}/**");
        session("a", "strict", "CONSUMES in/x ALLOW", "CONSUMES in/x ALLOW", "PROVIDES out/y ALLOW", "MUTATES out/y ALLOW", "DELETES out/y ALLOW", "DELETES in/z ALLOW",
                "CONSUMES /stray DENY");
        Path next = work.resolve("next.yaml");
        Files.writeString(next, HEAD.replace("agent_id: a", "agent_id: renamed") + "  - CONSUMES FILE:${workspace}/in/**\n  - PROVIDES FILE:${workspace}/out/*\n");
        assertThat(run("shadow", "next.yaml")).as(err).isEqualTo(3);
        assertThat(out).contains("would be denied DELETES FILE:" + work + "/in/z, called by Main.main(Main.java:7), first in session s1",
                "only declared CONSUMES", "next.yaml would deny 1 thing of 6 accesses in 1 session").doesNotContain("/out/y", "in/x", "stray");
        assertThat(run("shadow", "next.yaml", "s1", "--json")).isEqualTo(3);
        assertThat(out).contains("\"accesses\" : 6", "\"resource\" : \"FILE:" + work + "/in/z\"", "\"denied_by\" : null");
        assertThat(run("shadow", "klock.yaml")).as(err).isZero();
        assertThat(out).endsWith("would deny nothing of 6 accesses in 1 session\n");
        Files.writeString(next, HEAD + "  - MUTATES FILE:${workspace}/**\n  - PROVIDES FILE:${workspace}/**\ndeny:\n  - CONSUMES FILE:${workspace}/in/x\n");
        assertThat(run("shadow", "next.yaml", "--json")).isEqualTo(3);
        assertThat(out).contains("\"denied_by\" : \"next.yaml:7\"", "\"count\" : 2");
        assertThat(run("shadow", "next.yaml", "s9")).isEqualTo(2);
        assertThat(err).contains("no log of a session s9");
        assertThat(run("shadow", "none.yaml")).isEqualTo(2);
        assertThat(run("shadow")).isEqualTo(2);
        Files.writeString(next, HEAD.replace("scope:", "scope: []\nagents:\n  - agent_id: b\n    scope:").replace("agent_id: a\n", "agent_id: c\n") + "    - CONSUMES FILE:/x\n");
        assertThat(run("shadow", "next.yaml")).as(out).isEqualTo(2);
        assertThat(err).contains("declares nothing for the agents of these sessions; it has c, b");
    }

    @Test
    void explain_tellsWhoAndWhy_andWhatTheManifestSaysNow() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y", "MUTATES FILE:${workspace}/near");
        session("a", "block", "CONSUMES y ALLOW", "CONSUMES x DENY", "MUTATES y DENY");
        session("a", "strict", "CONSUMES y ALLOW");
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("denied CONSUMES FILE:" + work + "/x: no line declares it\n  asked for as x\n", "in thread main, open, called by Main.main(Main.java:7), number 2",
                "now not allowed: Agent attempted MUTATES on FILE:" + work + "/y but only declared CONSUMES.", "to allow it, add to scope: - ").doesNotContain("allowed CONSUMES");
        manifest("PROVIDES FILE:${workspace}/out/*");
        session("a", "strict", "PROVIDES out/mine ALLOW", "MUTATES out/mine ALLOW");
        assertThat(run("explain", "s3", "--about", "mine")).isZero();
        assertThat(out).contains("now allowed where it has made it itself, by klock.yaml:4: PROVIDES FILE:").doesNotContain("not allowed");
        assertThat(run("explain", "s3", "--about", "mine", "--json")).isZero();
        assertThat(out).contains("\"now_by\" : \"klock.yaml:4\"").doesNotContain("not allowed");
        manifest("MUTATES FILE:${workspace}/y");
        assertThat(run("explain", "s1", "--about", "/y")).isZero();
        assertThat(out).contains("allowed CONSUMES FILE:" + work + "/y: by klock.yaml:4\n", "now allowed by klock.yaml:4: MUTATES FILE:" + work + "/y");
        assertThat(run("explain", "s1", "--seq", "2", "--json")).isZero();
        assertThat(out).contains("\"seq\" : 2", "\"decision\" : \"deny\"", "\"now\" : \"not allowed\"");
        assertThat(run("explain", "s2")).isEqualTo(2);
        assertThat(err).contains("has nothing denied or warned about; --about TEXT or --seq N asks about others").hasLineCount(1);
    }

    @Test
    void logThatCannotAllBeRead_isSaidToBe_andOneOfWhichNothingCanBe_isAnError() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y");
        String torn = session("a", "learn", "CONSUMES y LEARN", "CONSUMES x DENY");
        Path log = work.resolve(".klock/log/" + torn + ".jsonl");
        String whole = Files.readString(log);
        Files.writeString(log, whole + "{\"ts\":\"20\n");
        assertThat(run("learn")).as(err).isZero();
        assertThat(err).contains("1 record of these sessions cannot be read: the program was killed or the disk was full in the middle of writing", "not declared").doesNotContain("torn");
        assertThat(run("shadow", "klock.yaml")).as(err).isZero();
        assertThat(err).contains("1 record of these sessions cannot be read");
        assertThat(run("shadow", "klock.yaml", "--json")).isZero();
        assertThat(out).contains("\"records_unreadable\" : 1");
        assertThat(run("explain")).isZero();
        assertThat(err).contains("1 record of these sessions cannot be read").hasLineCount(1);
        assertThat(run("explain", "--json")).isZero();
        assertThat(out).contains("\"records_unreadable\" : 1");
        for (String nothing : new String[] {"", "\0garbage\nmore", "\0".repeat(4095) + "{\"ts\":1}\n", "{\0\0\0\"\n", whole.replace("klock.event/1", "klock.event/99"), whole.lines().findFirst().get() + "\n{\"ts\":",
            whole.replace("\"predicate\"", "\"damaged\"")}) {
            Files.writeString(log, nothing);
            for (String[] asked : new String[][] {{"learn", torn}, {"shadow", "klock.yaml"}, {"shadow", "klock.yaml", "--json"}}) {
                assertThat(run(asked)).as(nothing).isEqualTo(2);
                assertThat(err).contains("nothing can be read in the log " + log).hasLineCount(1);
                assertThat(out).isEmpty();
            }
            assertThat(run("explain", torn)).isEqualTo(2);
        }
    }

    @Test
    void whatAChildChangedOutsideOfItsEffects_isNotDeclaredByTheScopesOwnLines() throws Exception {
        String program = "\n  - predicate: PROVIDES\n    resource: PROCESS:/bin/x\n    effects: ";
        Files.writeString(manifest, HEAD + "  - MUTATES FILE:${workspace}/out/*" + program + "[]\n");
        SessionClaim claim = SessionClaim.claim(Home.open(work.resolve(".klock").toFile()), "child");
        VerificationLog log = VerificationLog.open(claim.log(), claim.id(), "a", "strict", true, null);
        log.record(new Event(1, "a", null, "start_process", Predicate.MUTATES, Resource.file(work + "/out/y"), null, Decision.WARN, "child", null, 1,
                Messages.whileRan(Set.of("/bin/x"))));
        log.close(new Summary("completed", 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of()));
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("warned about MUTATES", "now not allowed: the effects of what ran do not name it").doesNotContain("now allowed");
        assertThat(run("explain", "--json")).isZero();
        assertThat(out).contains("\"now\" : \"not allowed\"", "\"now_by\" : \"nothing\"");
        assertThat(run("learn", "--merge", "klock.yaml", "child")).as(err).isZero();
        assertThat(err).contains("changed while PROCESS:/bin/x ran, outside of its effects; if it may, add there: - MUTATES FILE:${workspace}/out/y");
        assertThat(out).doesNotContain("declares all");
        Files.writeString(manifest, HEAD + "  - MUTATES FILE:${workspace}/out/*" + program + "[MUTATES FILE:${workspace}/out/y]\n");
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("now allowed by the effects of what ran");
        assertThat(run("learn", "--merge", "klock.yaml", "child")).isZero();
        assertThat(out).contains("declares all that was done");
    }

    @Test
    void nameWithControlCharacters_isDecidedAsTheSessionDid() throws Exception {
        manifest("PROVIDES FILE:${workspace}/w/**");
        session("a", "strict", "PROVIDES w/esc\u001b[31m.txt ALLOW", "PROVIDES w/two\nlines ALLOW", "PROVIDES w/\udcff ALLOW", "PROVIDES w/\u2028 ALLOW");
        assertThat(run("shadow", "klock.yaml")).as(out).isZero();
        assertThat(run("explain", "--about", "/w/")).isZero();
        assertThat(out).contains("now allowed by klock.yaml:4").doesNotContain("not allowed", "\u001b");
        session("a", "strict", "PROVIDES w/esc\u001b[31m.txt DENY");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "s2")).as(err).isZero();
        assertThat(out).contains("declares all that was done").doesNotContain("/w/*");
        manifest("CONSUMES FILE:${workspace}/w/**");
        assertThat(run("shadow", "klock.yaml", "s1")).isEqualTo(3);
        assertThat(out).contains("would be denied PROVIDES FILE:" + work + "/w/esc\\u001b[31m.txt", "would deny 4 things").doesNotContain("\u001b");
    }

    @Test
    void nameThatIsNotUtf8_isAllowedByItsDirectory_inEveryMessage() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y");
        session("a", "block", "CONSUMES d/\udcff\udcfebad DENY");
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("to allow it, add to scope: - CONSUMES FILE:${workspace}/d/*\n").doesNotContain("scope: - \"CONSUMES");
        assertThat(run("report", "-o", "-")).as(err).isZero();
        assertThat(out).contains("<code>- CONSUMES FILE:" + work + "/d/*</code>");
        manifest("CONSUMES FILE:${workspace}/d/*");
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("now allowed by klock.yaml:4");
    }

    @Test
    void nameWithWhatNobodySees_isWrittenAsAnEscape_thatTheManifestTakes() throws Exception {
        manifest("CONSUMES FILE:${workspace}/y");
        session("a", "block", "CONSUMES zero\u200bwidth\udb40\udc41 DENY");
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("- \"CONSUMES FILE:${workspace}/zero\\u200bwidth\\udb40\\udc41\"").doesNotContain("\u200b");
        assertThat(run("learn", "--merge", "klock.yaml", "--denied", "--write")).as(err).isZero();
        assertThat(out + Files.readString(manifest)).doesNotContain("\u200b").contains("zero\\u200bwidth\\udb40\\udc41");
        assertThat(run("check", "CONSUMES", work + "/zero\u200bwidth\udb40\udc41")).as(out + err).isZero();
        assertThat(run("shadow", "klock.yaml")).as(out).isZero();
    }

    @Test
    void argumentsThatCannotBe_areSaidInOneLine() throws Exception {
        session("a", "learn", "CONSUMES x/y LEARN");
        for (String[] bad : new String[][] {{"learn", "-o", "/"}, {"learn", "-o", ""}, {"learn", "-o", "none/klock.yaml"}, {"explain", "--about", "x", "--seq", "1"}}) {
            assertThat(run(bad)).as(String.join(" ", bad)).isEqualTo(2);
            assertThat(err).as(String.join(" ", bad)).hasLineCount(1).doesNotContain("Exception");
        }
        assertThat(run("learn", "--whole", "none", "--whole", "x")).isZero();
        assertThat(err).contains("--whole " + work + "/none: nothing that needs a line was done there").hasLineCount(1);
        assertThat(out).contains("CONSUMES FILE:${workspace}/x/**");
    }

    @Test
    void completion_knowsVerbsAndOptions() {
        assertThat(run("completion")).isZero();
        assertThat(out).contains("complete ", "learn", "tighten", "--show-origin");
    }

    @Test
    void completion_offersTheWordsOfWhatTakesOneOfAFew() throws Exception {
        assertThat(run("completion")).isZero();
        assertThat(offered("report", "--fail-on", "")).containsExactlyInAnyOrder("violations", "warnings");
        assertThat(offered("report", "--fail-on", "w")).containsExactly("warnings");
        assertThat(offered("check", "")).contains("MUTATES", "DEPENDS_ON").hasSize(Predicate.values().length);
        assertThat(offered("backups", "")).containsExactlyInAnyOrder("prune", "estimate");
        assertThat(offered("run", "--with", "mode")).containsExactlyInAnyOrder("mode=strict", "mode=block", "mode=permissive", "mode=learn", "mode=off");
        assertThat(offered("run", "--with", "a")).containsExactlyInAnyOrder("agent=", "amend=true", "amend=false");
        assertThat(offered("config", "log.")).containsExactlyInAnyOrder("log.level=error", "log.level=warn", "log.level=info", "log.level=debug");
    }

    /** What bash offers for the last of these words, by the completion that was printed. */
    private List<String> offered(String... words) throws Exception {
        Path script = Files.writeString(work.resolve("offered.sh"), out + "COMP_WORDS=(klock \"$@\")\nCOMP_CWORD=$#\n_complete_klock klock \"${@: -1}\" \"\"\n"
                + "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
        List<String> command = new ArrayList<>(List.of("bash", script.toString()));
        command.addAll(List.of(words));
        Process bash = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String offered = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        bash.waitFor();
        return offered.lines().filter(line -> !line.isBlank()).map(String::trim).toList();
    }

    /** The log of a run of agent {@code a} with these directories; each access is {@code PREDICATE RESOURCE DECISION}. */
    private String runWith(Map<String, String> directories, String mode, List<String> declared, List<String> used, String... accesses) throws Exception {
        SessionClaim claim = SessionClaim.claim(Home.open(work.resolve(".klock").toFile()), "s" + ++sessions);
        VerificationLog log = VerificationLog.open(claim.log(), claim.id(), "a", mode, true, null, new Begun(null, List.of(), directories, List.of()));
        for (String access : accesses) {
            String[] words = access.split(" ");
            log.record(new Event(1, "a", "main", "open", Predicate.valueOf(words[0]), Resource.parse(words[1]), null, Decision.valueOf(words[2]), "mode", "Main.main(Main.java:7)"));
        }
        log.close(new Summary("completed", 0, declared, used, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of()));
        return claim.id();
    }

    private static Map<String, String> tmp(String directory) {
        return Map.of("workspace", "/elsewhere", "tmp", directory, "java.home", "/jdk" + directory, "user.home", "/home/u");
    }

    private List<String> lines() {
        return out.lines().filter(line -> line.startsWith("  - ") || line.startsWith("    resource")).map(String::trim).toList();
    }

    @Test
    void learn_putsVariablesBack_asTheProgramHadThem() throws Exception {
        runWith(tmp("/other"), "learn", List.of(), List.of(), "CONSUMES FILE:/other/x LEARN", "CONSUMES FILE:/tmp/y LEARN", "CONSUMES FILE:/jdk/z LEARN",
                "CONSUMES FILE:/jdk/other/conf/c LEARN", "PROVIDES PROCESS:/jdk/other/bin/java LEARN", "CONSUMES FILE:" + work + "/w LEARN", "CONSUMES FILE:/elsewhere/e LEARN");
        assertThat(run("learn")).as(err).isZero();
        assertThat(lines()).containsExactlyInAnyOrder("- CONSUMES FILE:${tmp}/x", "- CONSUMES FILE:/tmp/y", "- CONSUMES FILE:/jdk/z", "- CONSUMES FILE:${java.home}/conf/c",
                "- predicate: PROVIDES", "resource: \"PROCESS:${java.home}/bin/java\"", "- CONSUMES FILE:${workspace}/w", "- CONSUMES FILE:/elsewhere/e");
    }

    @Test
    void learn_ofProgramsWithSeveralDirectories_takesEachByItsOwnLog() throws Exception {
        runWith(tmp("/one"), "learn", List.of(), List.of(), "CONSUMES FILE:/one/x LEARN", "CONSUMES FILE:/two/literal LEARN");
        runWith(tmp("/two"), "learn", List.of(), List.of(), "CONSUMES FILE:/two/x LEARN", "CONSUMES FILE:/two/d/y LEARN", "CONSUMES FILE:/one/alike LEARN",
                "PROVIDES PROCESS:/jdk/two/bin/java LEARN", "PROVIDES PROCESS:/jdk/one/bin/java LEARN");
        session("a", "learn", "CONSUMES own LEARN");
        runWith(Map.of(), "learn", List.of(), List.of(), "CONSUMES FILE:/tmp/d/z LEARN", "CONSUMES FILE:/two/d/none LEARN");
        assertThat(run("learn")).as(err).isZero();
        assertThat(lines()).containsExactlyInAnyOrder("- CONSUMES FILE:${tmp}/x", "- CONSUMES FILE:${tmp}/d/y", "- CONSUMES FILE:${tmp}/d/z", "- CONSUMES FILE:/two/literal",
                "- CONSUMES FILE:/one/alike", "- CONSUMES FILE:/two/d/none", "- CONSUMES FILE:${workspace}/own", "- predicate: PROVIDES",
                "resource: \"PROCESS:${java.home}/bin/java\"", "- predicate: PROVIDES", "resource: \"PROCESS:/jdk/one/bin/java\"");
        assertThat(out).contains("# 2 events, 2 sessions, Main.main(Main.java:7)\n  - CONSUMES FILE:${tmp}/x\n");
        assertThat(run("learn", "-o", "klock.yaml")).as(err).isZero();
        assertThat(run("learn", "--merge", "klock.yaml")).as(err).isZero();
        assertThat(out).startsWith("klock.yaml declares all that was done in 4 sessions");
    }

    @Test
    void manifest_isReadAsTheProgramDid_byAllThatReadItsLog() throws Exception {
        manifest("CONSUMES FILE:${tmp}/x", "MUTATES FILE:${tmp}/unused");
        List<String> declared = List.of("CONSUMES FILE:/other/x", "MUTATES FILE:/other/unused");
        for (int i = 0; i < 3; i++) {
            runWith(tmp("/other"), "strict", declared, declared.subList(0, 1), "CONSUMES FILE:/other/x ALLOW");
        }
        assertThat(run("shadow", "klock.yaml")).as(out).isZero();
        assertThat(run("tighten")).as(err).isZero();
        assertThat(out).contains("-  - MUTATES FILE:${tmp}/unused").doesNotContain("-  - CONSUMES");
        runWith(tmp("/other"), "strict", declared, List.of(), "CONSUMES FILE:/other/x DENY", "CONSUMES FILE:/tmp/x DENY");
        assertThat(run("explain")).as(err).isZero();
        assertThat(out).contains("denied CONSUMES FILE:/other/x", "now allowed by klock.yaml:4: ", "now not allowed: Agent attempted CONSUMES on FILE:/tmp/x but");
        runWith(tmp("/other"), "permissive", declared, List.of(), "CONSUMES FILE:/other/x ALLOW", "CONSUMES FILE:/tmp/x WARN");
        assertThat(run("shadow", "klock.yaml")).isEqualTo(3);
        assertThat(out).contains("would be denied CONSUMES FILE:/tmp/x").doesNotContain("would be denied CONSUMES FILE:/other/x");
    }
}
