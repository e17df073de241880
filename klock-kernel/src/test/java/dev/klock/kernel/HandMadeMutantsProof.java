package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mistakes that somebody could make in the kernel, made one at a time in a copy of its sources: each must fail a test. Profile
 * {@code proof} runs it; each mutant gets a JVM of its own, so that one that loops can be ended.
 */
class HandMadeMutantsProof {
    private static final Path SOURCES = Path.of("src/main/java/dev/klock/kernel");
    /** Many times what all tests take. */
    private static final long TIMEOUT_S = Integer.getInteger("klock.mutants.timeout.s", 600);

    /** Only mutants of this file; all by default. */
    private static final String ONLY = System.getProperty("klock.mutants.file", "");

    /** {@code from} occurs exactly once in {@code file} and becomes {@code to}. */
    private record Mutant(String mistake, String file, String from, String to) {}

    private static final List<Mutant> MUTANTS = List.of(
            new Mutant("matrix: reading beside a change is fine", "ConflictMatrix", "{OK, OK, SR, EF, OK, EF}, // CONSUMES", "{OK, OK, OK, EF, OK, EF}, // CONSUMES"),
            new Mutant("matrix: two may create the same", "ConflictMatrix", "{CC, OK, DI,", "{OK, OK, DI,"),
            new Mutant("matrix: relying on what is deleted is fine", "ConflictMatrix", "{EF, EF, EF, EF, EF, EF}, // DELETES", "{EF, EF, EF, EF, OK, EF}, // DELETES"),
            new Mutant("severity: reading beats changing", "ConflictMatrix", "{2, 1, 3, 5, 0, 4}", "{2, 3, 1, 5, 0, 4}"),
            new Mutant("index: ancestors' subtrees not looked at", "LeaseIndex", "            if (add(node, SUBTREE, mask, mine, place, what, found)) {", "            if (node != node) {"),
            new Mutant("index: /d/* also meets /d/x/*", "LeaseIndex", "k == depth - 1 && form != CHILDREN && add(", "k == depth - 1 && add("),
            new Mutant("index: /d/* misses /d/x/**", "LeaseIndex", " || add(child, SUBTREE, mask, mine, place, what, found)) {", ") {"),
            new Mutant("index: a hash is taken for a directory", "LeaseIndex", "if (parent == NONE || !isNamed(at, path, k)) {", "if (parent == NONE) {"),
            new Mutant("index: a directory found by its hash has no subtrees above it", "LeaseIndex", "above |= field(parent, OWN) >> SUBTREE;", "above |= 0;"),
            new Mutant("index: a directory that grows is looked for where it was", "LeaseIndex", "directories.change(n[at + PATH_HASH], node, newRecord, newBits);", ""),
            new Mutant("a namespace that is over keeps its trees", "Kernel", "index.free(s.space);", ""),
            new Mutant("an empty name is canonical", "LeaseIndex", "if (i == from || odd < 0 || path.charAt(from) == '.') {", "if (i != from && (odd < 0 || path.charAt(from) == '.')) {"),
            new Mutant("a name that begins with a dot is canonical", "LeaseIndex", "if (i == from || odd < 0 || path.charAt(from) == '.') {", "if (i == from || odd < 0) {"),
            new Mutant("a control character in a directory that is known is canonical", "LeaseIndex", "if (i == from || odd < 0 || path.charAt(from) == '.') {", "if (i == from || path.charAt(from) == '.') {"),
            new Mutant("each spelling of a thing is a key (C16)", "Canonical", "return right.equals(resource) ? null :", "return right != null ? null :"),
            new Mutant("index: own leases are in the way", "LeaseIndex", "if (c.session == mine || (", "if ((" ),
            new Mutant("lease valid one millisecond too long", "Kernel", "s.add(claim, roll);\n            timers.schedule(claim, claim.expiresAtMs);", "s.add(claim, roll);\n            timers.schedule(claim, claim.expiresAtMs + 1);"),
            new Mutant("grace one millisecond too long", "Kernel", "claim.state != LeaseState.GRACE && nowMs < graceEndMs", "claim.state != LeaseState.GRACE && nowMs <= graceEndMs"),
            new Mutant("heartbeat revives an expired lease", "Kernel", "if (isOver(claim)) {\n                    // past", "if (s != s) {\n                    // past"),
            new Mutant("what is to be rolled back is still valid (K7-5)", "Kernel", "} else if (isRollingBack(claim)) {\n                // its", "} else if (s != s) {\n                // its"),
            new Mutant("anybody may release anybody's lease", "Kernel", "if (claim.session != s) {", "if (s != s) {"),
            new Mutant("time to live without a cap", "Kernel", "Math.min(c.ttlMs(), Limits.MAX_TTL_MS)", "c.ttlMs()"),
            new Mutant("released lease still counted", "Kernel", "leases.remove(claim);\n        index.remove(claim);", "leases.remove(claim);"),
            new Mutant("nobody is told what becomes free", "Kernel", "if (waiters > 0) {\n            free(claim);", "if (waiters < 0) {\n            free(claim);"),
            new Mutant("who was looked at and still waits is forgotten", "Kernel", "            watch(r, inTheWay);", ""),
            new Mutant("only one of those with the same witness is looked at", "Kernel", "r = watched.remove(claim.id); r != null; r = next) {", "r = watched.remove(claim.id); r != null; r = null) {"),
            new Mutant("a lost lease still stands for what is waited for", "Kernel", "            s.request.poorer = true;\n            mark(s.request);", ""),
            new Mutant("waiters judged once (C42)", "Kernel", "if (dies && rejudges) {", "if (dies && !rejudges) {"),
            new Mutant("an older newcomer spares younger waiters", "Kernel", "if (waiters > 0 && (s.leases > claims.length || olderOvertake)) {", "if (waiters < 0) {"),
            new Mutant("only the first holder judged", "Kernel", "for (int j = 0; j < found.size(); j++) {\n                Claim c = found.get(j);\n                if (!blocks", "for (int j = 0; j < 1; j++) {\n                Claim c = found.get(j);\n                if (!blocks"),
            new Mutant("only the first triple judged", "Kernel", "t = asked.next(index.looked - before)) {\n            boolean allNamed", "t = null) {\n            boolean allNamed"),
            new Mutant("newcomers overtake the queue (C24)", "Kernel", "s, Long.MAX_VALUE, LeaseIndex.ALL, found);", "s, Long.MAX_VALUE, LeaseIndex.HELD_ONLY, found);"),
            new Mutant("younger waits, older dies", "Kernel", "verdict.worst(s.compareTo(c.session) < 0 ?", "verdict.worst(s.compareTo(c.session) > 0 ?"),
            new Mutant("equal timestamps are not told apart by agent", "Session", "c = key.agentId().compareTo(other.key.agentId());", "c = 0;"),
            new Mutant("DIE keeps the leases (C43)", "Kernel", "dropAll(s, out);\n        if (s.retries) {", "if (s.retries) {"),
            new Mutant("rollback does not block (C50)", "Kernel", "if (s.rollsBack && state == LeaseState.ACTIVE &&", "if (!s.rollsBack && state == LeaseState.ACTIVE &&"),
            new Mutant("an older timestamp needs nobody's word", "Kernel", "if (c.priorityMs() < nowMs && !c.vouched()) {", "if (c.priorityMs() < 0) {"),
            new Mutant("registering again may make older", "Kernel", "if (c.priorityMs() < s.priorityMs) {", "if (c.priorityMs() < 0) {"),
            new Mutant("sessions that are over keep new ones out", "Kernel", "return sessions.size() - completed.size() - aborted.size();", "return sessions.size();"),
            new Mutant("a session is forgotten before its lost lease is dealt with", "Kernel", "silent.add((Session) due);", "forget((Session) due);"),
            new Mutant("a path of any length is taken apart", "Kernel", "resource.path().length() <= Limits.MAX_PATH_BYTES && index", "index"),
            new Mutant("a session that rolls back may be forgotten", "Kernel", "if (to.isTerminal() && s.leases == 0) {", "if (to.isTerminal()) {"),
            new Mutant("those that ended well drive out those that did not", "Kernel", "s.state() == LifeCycle.ABORTED ? aborted : completed;", "completed;"),
            new Mutant("a process from before the restart may speak", "Kernel", "if (c.epoch() < s.epoch) {", "if (c.epoch() < 0) {"),
            new Mutant("waits for the cap, whatever was asked", "Kernel", "nowMs + Math.min(c.waitMs(), Limits.MAX_WAIT_MS)", "nowMs + Limits.MAX_WAIT_MS"),
            new Mutant("last come, first served", "Kernel", "            return Long.compare(a.number, b.number);", "            return Long.compare(b.number, a.number);"),
            new Mutant("a fencing token is given twice", "Kernel", "claim.number = nextToken++;", "claim.number = nextToken;"),
            new Mutant("no lock-delay (C46)", "Kernel", "if (nowMs >= endMs || was", "if (nowMs >= claim.expiresAtMs || was"),
            new Mutant("what only blocks still stands for a triple", "Held", "return c.state != LeaseState.LOCK_DELAY;", "return c.state != LeaseState.RELEASED;"),
            new Mutant("quota one manifest too large", "Kernel", "return s.quotaUsed >= options", "return s.quotaUsed > options"),
            new Mutant("PAUSED goes straight on to EXECUTING (C9)", "LifeCycle", "bits(ACQUIRING, ABORTED), // PAUSED", "bits(ACQUIRING, EXECUTING, ABORTED), // PAUSED"),
            new Mutant("writing on the root is fine (K1-18)", "GlobalScopePolicy", "if (path.equals(\"/\")) {", "if (path.isEmpty()) {"),
            new Mutant("a path may go up", "Canonical", "return length == 1 || length == 2 && path.charAt(from + 1) == '.';", "return length == 1;"),
            new Mutant("backoff without a cap", "Backoff", "baseMs > capMs >> doublings ? capMs : baseMs << doublings", "baseMs << doublings"),
            new Mutant("a pause leaves the manifest in the queue (C4)", "Kernel", "if (s.request != null) {\n                // it must not", "if (s != s) {\n                // it must not"),
            new Mutant("who still creates is told in the order of memory", "Kernel", "found.sort(FIXED_ORDER);\n                for (int j = 0; j < found.size(); j++) {\n                    Claim c = found.get(j);\n                    if (told", "for (int j = 0; j < found.size(); j++) {\n                    Claim c = found.get(j);\n                    if (told"),
            new Mutant("a clock may be set beyond all time", "Kernel", "if (nowMs > Limits.MAX_CLOCK_MS) {", "if (nowMs < 0) {"),
            new Mutant("fencing tokens may begin below one", "KernelOptions", "if (firstFencingToken < 1 ||", "if (firstFencingToken < 0 ||"),
            new Mutant("half a character is an id", "Canonical", "if (Character.charCount(id.codePointAt(i)) == 1) {", "if (Character.charCount(id.codePointAt(i)) == 0) {"),
            new Mutant("nobody is told what changed meanwhile", "Changes", "if (spaces[at] == s.space && !", "if (spaces[at] != s.space && !"));

    @TempDir
    Path dir;

    @Test
    void mutants_eachOfThem_failsATest() throws Exception {
        assertThat(MUTANTS).hasSizeGreaterThanOrEqualTo(20);
        assertThat(run(compile("none", null))).as("what the tests say of the kernel as it is").isEqualTo("survived");
        List<String> survivors = new ArrayList<>();
        StringBuilder table = new StringBuilder("hand-made mutants:\n");
        for (Mutant m : MUTANTS) {
            if (!m.file.startsWith(ONLY)) {
                continue;
            }
            long start = System.nanoTime();
            String how = run(compile(Integer.toString(MUTANTS.indexOf(m)), m));
            table.append(String.format("  %-50s %-20s %s (%d ms)%n", m.mistake, m.file, how, (System.nanoTime() - start) / 1_000_000));
            if (how.equals("survived")) {
                survivors.add(m.mistake);
            }
        }
        System.out.println(table.append("  survived: ").append(survivors.size()));
        assertThat(survivors).as("mistakes that no test notices").isEmpty();
    }

    /** The kernel with one mistake, compiled. */
    private Path compile(String name, Mutant mutant) throws IOException {
        Path sources = Files.createDirectories(dir.resolve(name + "/src"));
        Path classes = Files.createDirectories(dir.resolve(name + "/classes"));
        List<File> files = new ArrayList<>();
        try (Stream<Path> all = Files.list(SOURCES)) {
            for (Path source : all.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
                String text = Files.readString(source);
                if (mutant != null && source.getFileName().toString().equals(mutant.file + ".java")) {
                    int at = text.indexOf(mutant.from);
                    assertThat(at).as("%s: not in %s: %s", mutant.mistake, mutant.file, mutant.from).isNotNegative();
                    assertThat(text.lastIndexOf(mutant.from)).as("%s: more than once in %s: %s", mutant.mistake, mutant.file, mutant.from).isEqualTo(at);
                    text = text.substring(0, at) + mutant.to + text.substring(at + mutant.from.length());
                }
                Path copy = sources.resolve(source.getFileName().toString());
                Files.writeString(copy, text);
                files.add(copy.toFile());
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            boolean ok = compiler.getTask(
                            null,
                            manager,
                            null,
                            List.of("-d", classes.toString(), "-cp", classPath(), "-nowarn", "-proc:none"),
                            null,
                            manager.getJavaFileObjectsFromFiles(files))
                    .call();
            assertThat(ok).as("%s does not compile", name).isTrue();
        }
        return classes;
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** {@code survived}, or what killed it. */
    private static String run(Path classes) throws IOException, InterruptedException {
        Path log = classes.resolveSibling("log");
        Process tests = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx1g",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classes + File.pathSeparator + classPath(),
                        MutantRun.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            if (!tests.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                return "killed by its time running out";
            }
        } finally {
            tests.destroyForcibly().waitFor();
        }
        if (tests.exitValue() == 0) {
            return "survived";
        }
        return Files.readAllLines(log, StandardCharsets.UTF_8).stream()
                .filter(line -> line.startsWith(MutantRun.KILLED_BY))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the tests could not be run: " + read(log)));
    }

    private static String read(Path log) {
        try {
            String text = Files.readString(log);
            return text.substring(Math.max(0, text.length() - 2000));
        } catch (IOException e) {
            return e.toString();
        }
    }
}
