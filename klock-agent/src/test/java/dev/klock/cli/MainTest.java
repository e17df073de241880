package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Event;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.Release;
import dev.klock.agent.log.Summary;
import dev.klock.agent.log.VerificationLog;
import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
    private static final String MANIFEST = """
            ver: "1.0"
            session_id: refactor-42
            agent_id: refactorer
            scope:
              - MUTATES FILE:${workspace}/src/**
              - predicate: CONSUMES
                resource: FILE:${workspace}/**
              - predicate: PROVIDES
                resource: PROCESS:sh
                effects: []
            deny:
              - CONSUMES FILE:${workspace}/.env
            tests:
              allows: ["MUTATES FILE:${workspace}/src/a"]
              denies: ["CONSUMES FILE:${workspace}/.env"]
            klock: {wait-timeout: 10s}
            """;

    @TempDir
    Path temp;
    private Path work;
    private final Map<String, String> variables = new HashMap<>();
    private String out;
    private String err;

    @BeforeEach
    void makeWork() throws IOException {
        work = Files.createDirectory(temp.toRealPath().resolve("work"));
        variables.put("PATH", "/bin:/usr/bin");
        write(MANIFEST);
    }

    private void write(String manifest) throws IOException {
        Files.writeString(work.resolve("klock.yaml"), manifest);
    }

    private int run(String... arguments) {
        return run(false, arguments);
    }

    private int run(boolean colours, String... arguments) {
        StringWriter stdout = new StringWriter();
        StringWriter stderr = new StringWriter();
        LaunchEnvironment environment = new LaunchEnvironment(Map.of("java.runtime.version", "17.0.1+1", "user.home", "/home/u",
                "java.home", "/jdk", "java.io.tmpdir", "/tmp"), variables, work.toString());
        int status = Main.run(arguments, null, environment, new PrintWriter(stdout), new PrintWriter(stderr), colours);
        out = stdout.toString();
        err = stderr.toString();
        return status;
    }

    private void assertBadUsage(int status) {
        assertThat(status).isEqualTo(2);
        assertThat(err).startsWith("klock: ").hasLineCount(1);
        assertThat(out).isEmpty();
    }

    private void assertJson() throws IOException {
        try (JsonParser parser = new JsonFactory().createParser(out)) {
            while (parser.nextToken() != null) {
                // every token is read
            }
        }
    }

    @Test
    void validate_goodManifest_saysWhatItMeans() {
        assertThat(run("validate")).isZero();
        assertThat(out.lines()).contains("klock.yaml: agent refactorer, session refactor-42",
                "  MUTATES FILE:" + work + "/src/**  <- FILE:${workspace}/src/**  (line 5)", "    effects: none", "  wait-timeout: 10s",
                "valid, 2 tests hold");
        assertThat(out).contains("PROVIDES PROCESS:/", "  <- PROCESS:sh  (line 8)\n");
        assertThat(err).isEmpty();
    }

    @Test
    void agents_ofAManifest_areShown_andAskedAbout() throws IOException {
        write(MANIFEST.replace("MUTATES FILE:${workspace}/src/**\n", "MUTATES FILE:${workspace}/log\n").replace("tests:\n  allows: [\"MUTATES FILE:${workspace}/src/a\"]\n", "tests:\n")
                + "agents: [{agent_id: builder, scope: [\"MUTATES FILE:${workspace}/src/**\"]}]\n");
        assertThat(run("validate")).isZero();
        assertThat(out.lines()).containsSubsequence("agent builder, a session of its own:", "scope:", "leases:").endsWith("valid, 1 test holds");
        assertThat(run("check", "MUTATES", "src/A.java")).isEqualTo(3);
        assertThat(out).contains("agent builder declares it: MUTATES FILE:" + work + "/src/** (klock.yaml:").doesNotContain(Messages.TO_ALLOW);
        assertThat(run("check", "--json", "MUTATES", "src/A.java")).isEqualTo(3);
        assertThat(out).contains("\"declared_by\" : [ \"builder\" ]");
        assertThat(run("check", "RENAMES", "src/A.java")).as("declared for another change, which the process cannot be given beside it").isEqualTo(3);
        assertThat(out).contains("agent builder declares it: MUTATES FILE:" + work + "/src/** (klock.yaml:").doesNotContain(Messages.TO_ALLOW);
        assertThat(run("check", "MUTATES", "elsewhere")).isEqualTo(3);
        assertThat(out).doesNotContain("builder").contains(Messages.TO_ALLOW);
        assertThat(run("check", "--agent", "builder", "MUTATES", "src/A.java")).isZero();
        assertThat(run("check", "--agent", "builder", "MUTATES", "log")).isEqualTo(3);
        assertBadUsage(run("check", "--agent", "bilder", "MUTATES", "log"));
        assertThat(err).contains("has no agent bilder; it has refactorer, builder");
        assertThat(run("validate", "--json")).isZero();
        assertJson();
        assertThat(out).contains("\"agents\"").contains("\"builder\"");
    }

    @Test
    void validate_inJson_isOneObject() throws IOException {
        assertThat(run("validate", "--json", "--agent", "other")).isZero();
        assertJson();
        assertThat(out).contains("\"valid\" : true", "\"agent_id\" : \"other\"", "\"effects\" : [ ]", "\"failed_tests\" : [ ]");
    }

    @Test
    void validate_testThatDoesNotHold_isRefused() throws IOException {
        write(MANIFEST.replace("allows: [", "allows: [\"MUTATES FILE:${workspace}/b\", ").replace("denies: [", "denies: [\"CONSUMES FILE:${workspace}/c\", "));
        assertThat(run("validate")).isEqualTo(2);
        assertThat(err.lines()).hasSize(2);
        assertThat(err).contains("klock.yaml:14:", ": test fails: MUTATES FILE:" + work + "/b is not allowed",
                "klock.yaml:15:", ": test fails: CONSUMES FILE:" + work + "/c is allowed");
        assertThat(out).endsWith("invalid, 2 of 4 tests not met\n");
        assertThat(run("validate", "--json")).isEqualTo(2);
        assertThat(out).contains("\"valid\" : false");
    }

    @ParameterizedTest
    @Tag("K1-12")
    @ValueSource(strings = {"", "\u0000", "{", "[]", "ver: \"1.0\"\n", "scope: [X FILE:/a]\n", "a: &a [*a]\n", "klock: {home: x}\n"})
    void validate_badManifest_isOneLine(String text) throws IOException {
        write(text);
        assertBadUsage(run("validate"));
        assertThat(err).contains("klock.yaml");
    }

    @Test
    void validate_settingThatLoosens_isRefused() throws IOException {
        write(MANIFEST.replace("wait-timeout: 10s", "mode: permissive"));
        assertBadUsage(run("validate"));
        assertThat(err).isEqualTo("klock: klock.yaml:16:15: klock.mode: permissive is looser than the default strict and a manifest may only tighten; "
                + "give mode=permissive as agent argument, or -Dklock.mode or KLOCK_MODE\n");
    }

    @Test
    void validate_missingManifest_isOneLine() throws IOException {
        Files.delete(work.resolve("klock.yaml"));
        assertBadUsage(run("validate"));
        assertThat(err).startsWith("klock: no manifest: there is no klock.yaml, klock.yml or klock.json in " + work);
        assertBadUsage(run("validate", "none,such\\.yaml"));
        assertThat(err).isEqualTo("klock: manifest " + work + "/none,such\\.yaml does not exist; name one that this user can read\n");
        assertBadUsage(run("validate", "."));
    }

    @Test
    @Tag("K6-2")
    void check_allowedTriple_namesTheLine() {
        assertThat(run("check", "MUTATES", "FILE:src/../src/A.java")).isZero();
        assertThat(out).isEqualTo("allowed by klock.yaml:5: MUTATES FILE:" + work + "/src/**\n");
        assertThat(run("check", "MUTATES", "src/A.java")).isZero();
        assertThat(run("check", "depends_on", "file:" + temp)).isZero();
        assertThat(out).isEqualTo("allowed by being above something declared\n");
    }

    @Test
    @Tag("K6-2")
    void check_otherTriple_saysWhatWouldAllowIt() {
        assertThat(run("check", "MUTATES", "FILE:/etc/hosts")).isEqualTo(3);
        assertThat(out).startsWith("not allowed\nAgent attempted MUTATES on FILE:/etc/hosts but declared nothing.\n"
                + "  to allow it, add to scope: - MUTATES FILE:/etc/hosts\n  nearest declared: ");
        assertThat(run("check", "CONSUMES", "FILE:.env")).isEqualTo(3);
        assertThat(out).contains("but the manifest denies it.\n  denied by CONSUMES FILE:" + work + "/.env (klock.yaml:12)");
        assertThat(run("check", "DELETES", "FILE:src/A.java")).isEqualTo(3);
        assertThat(out).contains("but only declared CONSUMES, MUTATES.");
    }

    @Test
    void check_throughALink_isAboutWhatItLeadsTo() throws IOException {
        Files.createDirectories(work.resolve("src"));
        Path outside = Files.createDirectory(temp.toRealPath().resolve("outside"));
        Files.createSymbolicLink(work.resolve("src/out"), outside);
        Files.createSymbolicLink(work.resolve("src/circle"), Path.of("circle"));

        assertThat(run("check", "MUTATES", "FILE:src/out/hosts")).isEqualTo(3);
        assertThat(out).contains("MUTATES on FILE:" + outside + "/hosts");
        assertThat(run("check", "DELETES", "FILE:src/out")).isEqualTo(3);
        assertThat(out).contains("DELETES on FILE:" + work + "/src/out but only declared CONSUMES, MUTATES.");
        assertBadUsage(run("check", "MUTATES", "FILE:src/circle/x"));
    }

    @Test
    void check_baselineAndOwnFiles_areDecidedAsInASession() {
        assertThat(run("check", "CONSUMES", "FILE:/dev/urandom")).isZero();
        assertThat(out).isEqualTo("allowed by baseline: the JVM reads it for itself\n");
        assertThat(run("check", "MUTATES", "FILE:/dev/urandom")).isEqualTo(3);
        assertThat(run("check", "CONSUMES", "FILE:.klock/version")).isEqualTo(3);
        assertThat(out).contains("but it is klock's own, which no manifest gives away.");
        assertThat(run("check", "MUTATES", "FILE:klock.yaml", "--json")).isEqualTo(3);
        assertThat(out).contains("\"decided_by\" : \"protected\"");
        assertThat(run("check", "DELETES", "FILE:./**")).isEqualTo(3);
        assertThat(out).contains("klock's own");
        assertThat(run("check", "PROVIDES", "PROCESS:/bin/sh")).isZero();
        assertThat(run("check", "CONSUMES", "ENV:HOME")).isZero();
        assertThat(run("check", "CONSUMES", "ENV:MY_TOKEN")).isEqualTo(3);
        assertThat(run("check", "PROVIDES", "PROCESS:sh")).isZero();
        assertBadUsage(run("check", "PROVIDES", "PROCESS:no-such-program"));
    }

    @Test
    void check_localhost_isItsAddressesToo() throws IOException {
        Files.writeString(work.resolve("klock.yaml"), "ver: '1.0'\nagent_id: t\nscope:\n  - CONSUMES URL:tcp://localhost:80\n  - CONSUMES URL:tcp://[::1]:82\n"
                + "  - CONSUMES URL:tcp://localhost:83\ndeny:\n  - CONSUMES URL:tcp://127.0.0.1:83\n");
        assertThat(run("check", "CONSUMES", "URL:tcp://127.0.0.1:80")).isZero();
        assertThat(out).isEqualTo("allowed by klock.yaml:4: CONSUMES URL:tcp://localhost:80\n");
        assertThat(run("check", "CONSUMES", "URL:tcp://[::1]:80")).isZero();
        assertThat(run("check", "CONSUMES", "URL:tcp://localhost:82")).isZero();
        assertThat(run("check", "CONSUMES", "URL:tcp://127.0.0.2:80")).isEqualTo(3);
        assertThat(run("check", "CONSUMES", "URL:tcp://localhost.example:80")).isEqualTo(3);
        assertThat(run("check", "CONSUMES", "URL:tcp://localhost:83")).isEqualTo(3);
        assertThat(out).contains("but the manifest denies it.");
    }

    @Test
    @Tag("K6-7")
    void check_programWithoutEffects_needsItsWorkingDirectory_andValidateWarns() throws IOException {
        String untold = MANIFEST.substring(0, MANIFEST.indexOf("    effects: []"));
        Files.writeString(work.resolve("klock.yaml"), untold);
        assertThat(run("check", "PROVIDES", "PROCESS:sh")).isEqualTo(3);
        assertThat(out).startsWith("not allowed\nAgent attempted MUTATES on FILE:" + work + "/** but only declared CONSUMES.\n")
                .endsWith("  or say in its PROVIDES line what the program may touch: effects: [], for nothing\n");
        assertThat(run("validate")).isZero();
        assertThat(err).contains("warning: klock.yaml:8:5: PROVIDES PROCESS:/", "needed, which no line allows; effects: [] says that it changes nothing");
        Files.writeString(work.resolve("klock.yaml"), untold.replace("/src/**", "/**"));
        assertThat(run("check", "PROVIDES", "PROCESS:sh")).isZero();
        assertThat(run("validate")).isZero();
        assertThat(err).isEmpty();
    }

    @Test
    void check_variables_areThoseOfTheManifest() {
        assertThat(run("check", "MUTATES", "FILE:${workspace}/src/A.java")).isZero();
        assertThat(run("check", "MUTATES", "FILE:${work}/src/A.java")).isEqualTo(2);
        assertThat(err).startsWith("klock: ").contains("${workspace}");
    }

    @Test
    void check_inJson_isOneObject() throws IOException {
        assertThat(run("check", "CONSUMES", "FILE:/etc/h\u202eosts", "--json")).isEqualTo(3);
        assertJson();
        assertThat(out).contains("\"allowed\" : false", "\"resource\" : \"FILE:/etc/h\\u202Eosts\"", "\"decided_by\" : null");
        assertThat(run("check", "CONSUMES", "FILE:x", "--json")).isZero();
        assertThat(out).contains("\"allowed\" : true", "\"decided_by\" : \"klock.yaml:6\"");
    }

    @Test
    void check_badInput_isOneLine() {
        assertBadUsage(run("check", "WRITES", "FILE:/a"));
        assertThat(err).isEqualTo("klock: unknown predicate 'WRITES'; known are PROVIDES, CONSUMES, MUTATES, DELETES, DEPENDS_ON, RENAMES\n");
        assertBadUsage(run("check", "MUTATES", "FTP:/a"));
        assertBadUsage(run("check", "MUTATES", "FILE:/a*b"));
        assertBadUsage(run("check", "MUTATES", "FILE:/a\nb"));
        assertBadUsage(run("check", "MUTATES", "FILE:/a/*"));
        assertBadUsage(run("check", "MUTATES"));
        assertBadUsage(run("check", "MUTATES", "FILE:/a", "FILE:/b"));
        assertBadUsage(run("check", "MUTATES", "FILE:/a", "-m", ""));
        assertBadUsage(run("check", "MUTATES", "FILE:/" + "x".repeat(5000)));
    }

    @Test
    void prune_ofNoNumberOfDays_removesNothing() {
        for (String days : new String[] {"-1", "-0.5", "NaN", "Infinity", "1e400", "x"}) {
            assertBadUsage(run("backups", "prune", "--older-than", days));
        }
        assertThat(err).contains("--older-than is x; it must be a number of days from 0 to 36500");
    }

    @Test
    void verb_unknownOrNone_isOneLineWithTheNearest() {
        assertBadUsage(run());
        assertThat(err).startsWith("klock: which verb? one of run, validate, check, ");
        assertBadUsage(run("valdate"));
        assertThat(err).contains("did you mean validate?");
        assertBadUsage(run("nosuch"));
        assertThat(err).contains("there is no verb 'nosuch'; there are run, validate, check, ");
        assertBadUsage(run("validate", "--jsno"));
        assertThat(err).contains("did you mean --json?", "see klock validate --help");
        assertBadUsage(run("@/etc/passwd"));
        assertBadUsage(run("val\u001b[2J\nidate"));
        assertThat(err).doesNotContain("\u001b");
    }

    @Test
    void help_ofEachVerb_isComplete() {
        assertThat(run("--help")).isZero();
        for (Verbs.Row row : Verbs.all(null, null, null)) {
            assertThat(run("--help")).isZero();
            assertThat(out).contains("  " + row.name);
            assertThat(run(row.name, "--help")).isZero();
            assertThat(out).startsWith("Usage: klock " + row.name).contains("--help").doesNotContain("null");
            assertThat(err).isEmpty();
        }
    }

    @Test
    void config_withOrigins_saysWhereEachValueIsFrom() throws IOException {
        variables.put("KLOCK_LOG_LEVEL", "info");
        assertThat(run("config", "--show-origin", "mode=block")).isZero();
        assertThat(out.lines()).contains("manifest=" + work + "/klock.yaml  (found)", "mode=block  (agent argument)",
                "home=" + work + "/.klock  (beside the manifest)", "wait-timeout=10s  (manifest)",
                "log.level=info  (environment variable KLOCK_LOG_LEVEL)", "amend=false  (default)");
        assertThat(run("config", "--json")).isZero();
        assertJson();
        assertThat(out).contains("\"origin\" : \"environment\"");
        assertThat(run("config")).isZero();
        assertThat(out.lines()).contains("mode=strict");
        assertBadUsage(run("config", "mode=none"));
    }

    @Test
    void schema_isJson() throws IOException {
        assertThat(run("schema")).isZero();
        assertJson();
        assertThat(out).startsWith("{").contains("\"agent_id\"");
    }

    @Test
    void baseline_rows_haveReasons() throws IOException {
        assertThat(run("baseline")).isZero();
        assertThat(out.lines()).contains("CONSUMES FILE:/dev/urandom  # SecureRandom")
                .allSatisfy(line -> assertThat(line).matches("(CONSUMES|DEPENDS_ON) (FILE:/|ENV:)\\S+  # .+"));
        assertThat(run("baseline", "--json")).isZero();
        assertJson();
    }

    @Test
    void version_isThatOfTheBuild() throws IOException {
        assertThat(run("version")).isZero();
        assertThat(out).isEqualTo("klock " + Release.VERSION + " (manifest 1.0, log klock.event/1, home format 1, java 17.0.1+1)\n");
        assertThat(run("--version")).isZero();
        assertThat(out).isEqualTo("klock " + Release.VERSION + "\n");
        assertThat(run("version", "--json")).isZero();
        assertJson();
        assertThat(Files.readString(Path.of("pom.xml"))).contains("<version>" + Release.VERSION + "</version>");
    }

    @Test
    @Tag("K6-6")
    void sessions_ofAHome_areListedWithTheirEnd() throws Exception {
        Home home = Home.open(work.resolve(".klock").toFile());
        session(home, true);
        session(home, false);
        File crashed = SessionClaim.claim(home, "crashed").log();
        Files.writeString(crashed.toPath(), "{\"schema\":\"klock.event/1\",\"session_id\":\"crashed\",\"agent_id\":\"a\",\"mode\":\"block\",\"pid\":1,"
                + "\"started\":\"1971-01-01T00:00:00.000Z\",\"part\":1}\n{\"seq\":1,\"decision\":\"deny\",\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\",\"count\":41}\n{\"ts\":\"19");
        Files.writeString(Path.of(crashed.getPath() + ".1"), "{\"schema\":\"klock.event/1\",\"part\":2}\n{\"decision\":\"deny\",\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\"}\n");

        SessionClaim.claim(home, "begun");

        assertThat(run("sessions")).isZero();
        assertThat(out.lines()).hasSize(4);
        assertThat(out.lines().toList().get(0)).isEqualTo("?  begun  ?  ?  crashed: 0 allow 0 deny");
        assertThat(out.lines().toList().get(1)).isEqualTo("1971-01-01T00:00:00.000Z  crashed  a  block  crashed: 0 allow 42 deny, records lost 1");
        assertThat(out).contains("  s  agent  strict  aborted (exit 108): 1 allow 2 deny, rolled back 1\n", "  s-2  agent  strict  running: 1 allow 2 deny\n");

        assertThat(run("sessions", "--json", "--home", work.resolve(".klock").toString())).isZero();
        assertJson();
        assertThat(out).contains("\"state\" : \"aborted\"", "\"exit_code\" : 108", "\"deny\" : 42");
    }

    private static void session(Home home, boolean ended) throws Exception {
        SessionClaim claim = SessionClaim.claim(home, "s");
        VerificationLog log = VerificationLog.open(claim.log(), claim.id(), "agent", "strict", true, null);
        log.record(new Event(1, null, "main", "open", Predicate.CONSUMES, Resource.file("/a"), null, Decision.ALLOW, "k:1", null));
        log.record(new Event(1, null, "main", "open", Predicate.MUTATES, Resource.file("/a"), null, Decision.DENY, null, null, 2));
        log.flush();
        if (ended) {
            log.close(new Summary("aborted", 108, List.of(), List.of(), List.of(), List.of("MUTATES FILE:/a"), List.of("FILE:/b"), List.of(), List.of(), List.of(), List.of()));
        }
    }

    @Test
    void sessions_withoutAHome_isOneLine() throws IOException {
        assertBadUsage(run("sessions"));
        Files.createSymbolicLink(work.resolve(".klock"), temp);
        assertBadUsage(run("sessions"));
        assertThat(err).contains("is a symbolic link");
        assertBadUsage(run("sessions", "--home", temp.toString()));
        assertThat(err).contains("and no version file");
        assertThat(work.toFile().list()).containsExactlyInAnyOrder("klock.yaml", ".klock");
    }

    @Test
    void colours_areThereOnlyWhenWanted() {
        run("check", "CONSUMES", "FILE:x");
        assertThat(out).doesNotContain("\u001b");
        run(true, "check", "CONSUMES", "FILE:x");
        assertThat(out).startsWith("\u001b[32mallowed\u001b[0m by ");
        assertThat(Terminal.wantsColours(new LaunchEnvironment(Map.of(), Map.of("TERM", "xterm", "NO_COLOR", "1"), "/"))).isFalse();
        assertThat(Terminal.wantsColours(new LaunchEnvironment(Map.of(), Map.of("TERM", "dumb"), "/"))).isFalse();
    }
}
