package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Script;
import dev.klock.sandbox.subject.Told;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** JVMs with the same home never have in hand what conflicts, however they end, and come back as old as they were. */
class SharedHomeTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int DIED = 107;
    private static final int ABORTED = 108;
    private static final int VIOLATION = 108;
    private static final int LOST = 109;
    /** What a stopped holder's lease lasts at most: its time to live, and the delay after it. */
    private static final Duration ALL_OVER = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private Workspace workspace() {
        return Workspace.in(directory);
    }

    /** An agent that may change all below {@code w/out}, and nothing else but the file that says it is ready. */
    private static Child agent(Workspace w, Jdk jdk, String id, String options, String... steps) {
        return agentWith("", w, jdk, id, options, steps);
    }

    private static Child agentWith(String more, Workspace w, Jdk jdk, String id, String options, String... steps) {
        return agentWith(more, Script.class, w, jdk, id, options, steps);
    }

    private static Child agentWith(String more, Class<?> program, Workspace w, Jdk jdk, String id, String options, String... steps) {
        String manifest = """
                ver: "1.0"
                agent_id: %2$s
                scope:
                  - CONSUMES FILE:%1$s/w/in/**
                  - MUTATES FILE:%1$s/w/out/**
                  - PROVIDES FILE:%1$s/w/out/**
                  - DELETES FILE:%1$s/w/out/**
                  - RENAMES FILE:%1$s/w/out/**
                  - PROVIDES FILE:%1$s/%2$s-ready
                """.formatted(w.root(), id) + more;
        return Child.on(jdk).in(w.root()).main(program, steps).file(id + ".yaml", manifest)
                .klock("manifest=" + id + ".yaml" + (options.isEmpty() ? "" : "," + options));
    }

    /** One that holds what it has declared until {@code w/in/go} is there. */
    private static Child.Running holder(Workspace w, Jdk jdk, String id, String options) {
        return agent(w, jdk, id, options, "write " + id + "-ready now", "await w/in/go").begin().until(w.root().resolve(id + "-ready"));
    }

    private static void go(Workspace w) throws IOException {
        Files.createFile(w.root().resolve("w/in/go"));
    }

    private static List<Path> digests(Workspace w) throws IOException {
        Path place = w.root().resolve(".klock/state-digest");
        if (!Files.exists(place)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(place)) {
            return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
        }
    }

    private static void completed(Child.Running one) {
        Outcome outcome = one.await();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K4-4")
    @Tag("K5-4")
    @Tag("K5-5")
    @Tag("K8-3")
    @Tag("K8-4")
    @Tag("K7-9")
    @Tag("K4-6")
    @Tag("K4-9")
    @Tag("K8-1")
    @Tag("K8-8")
    void younger_whoseFilesAnOlderHolds_endsWith107BeforeItsMain_andLeavesItsDigest(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running older = holder(w, jdk, "older", "");
        Tree before = w.tree();

        Outcome died = agent(w, jdk, "younger", "", "write w/out/a mine").run();

        assertThat(died.exit()).as(died.toString()).isEqualTo(DIED);
        assertThat(died.out()).isEmpty();
        assertThat(died.err()).contains("no lease: ").contains("of older/").contains("(process " + older.process().pid() + ")").contains("java -jar klock.jar run");
        assertThat(w.tree()).isEqualTo(before);
        assertThat(digests(w)).hasSize(1);
        assertThat(Files.readString(digests(w).get(0))).contains("\"agent_id\":\"younger\"").contains("\"epoch\":0").contains("w/out/**").contains("\"signature\"");
        go(w);
        completed(older);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K8-2")
    @Tag("K8-5")
    @Tag("K5-7")
    @Tag("FIELD-I09")
    @Tag("K4-3")
    @Tag("K4-7")
    @Tag("K4-9")
    @Tag("K4-10")
    @Tag("K5-6")
    @Tag("K5-9")
    void agent_thatDied_comesBackAsOldAsItWas_andWaitsForAYoungerOne(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running first = holder(w, jdk, "first", "");
        Outcome died = agent(w, jdk, "victim", "", "write w/out/a mine").run();
        go(w);
        completed(first);
        Files.delete(w.root().resolve("w/in/go"));
        Child.Running younger = holder(w, jdk, "latest", "");

        Child.Running back = agent(w, jdk, "victim", "", "write w/out/a mine").begin().untilSays("waits for a lease, at most 30 s: ");
        go(w);
        completed(younger);
        Outcome done = back.await();

        assertThat(died.exit()).as(died.toString()).isEqualTo(DIED);
        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.err()).contains("of latest/");
        assertThat(w.root().resolve("w/out/a")).hasContent("mine");
        assertThat(digests(w)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K4-7")
    @Tag("K5-10")
    @Tag("K5-11")
    void run_ofOneThatDies_startsItAgainUntilItIsGranted_andItIsToldWhatChangedMeanwhile(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running older = holder(w, jdk, "older", "");
        Path updates = Files.createDirectory(w.root().resolve(".klock/observation-update"));
        Files.writeString(updates.resolve("other.json"), "another program's");
        Child told = agentWith("", Told.class, w, jdk, "younger", "mode=block", "append w/out/a mine").with(Klock.class, JsonFactory.class, Yaml.class);
        Child.Running run = Child.on(jdk).in(w.root()).verb(run(told)).begin().untilSays("ended with 107; starts it again in ");
        go(w);
        completed(older);

        Outcome done = run.await();

        String changed = "DELETES FILE:" + w.root() + "/w/out/**";
        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.err()).contains("while this agent was away: older had " + changed).doesNotContain("while this agent waited");
        assertThat(done.out()).contains("told older/").containsPattern("told older/\\S+ " + Pattern.quote(changed))
                .containsPattern("file true \\{\"version\":\"1.0\",\"agent_id\":\"younger\",.*\"by\":\\{\"namespace\":\"default\",\"agent_id\":\"older\",\"session_id\":\"[^\"]+\"\\},"
                        + "\"predicate\":\"DELETES\",\"resource\":\"FILE:" + Pattern.quote(w.root() + "/w/out/**") + "\",\"at\":\\d{13}");
        // what else is in the home is not there for it, as ever
        assertThat(done.out().lines().filter(line -> line.contains(" caught "))).containsExactly("append caught dev.klock.ScopeViolationError",
                "delete caught dev.klock.ScopeViolationError", "list caught java.nio.file.NoSuchFileException", "read caught java.nio.file.NoSuchFileException",
                "read caught java.nio.file.NoSuchFileException");
        assertThat(w.root().resolve(".klock/key")).exists();
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a\nmine");
        try (Stream<Path> left = Files.list(updates)) {
            assertThat(left).as("the file is gone with the program").containsExactly(updates.resolve("other.json"));
        }
    }

    /** The arguments of klock.jar that run this child, which names its own. */
    private static String[] run(Child child) {
        List<String> words = new ArrayList<>(List.of("run", "--"));
        words.addAll(child.command());
        return words.toArray(new String[0]);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K5-10")
    @Tag("K5-11")
    void older_thatHasWaited_isToldWhoHadItsFilesMeanwhile_andWhoNeverWaitedIsToldNothing(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running younger = holder(w, jdk, "younger", "");
        Child.Running waits = agentWith("priority_timestamp: 1000\n", Told.class, w, jdk, "waits", "mode=block", "append w/out/a after")
                .with(Klock.class, JsonFactory.class, Yaml.class).begin().untilSays("waits for a lease");
        go(w);

        Outcome first = younger.await();
        Outcome done = waits.await();

        assertThat(first.err()).as(first.toString()).doesNotContain("while this agent");
        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.err()).contains("while this agent waited: younger had DELETES FILE:" + w.root() + "/w/out/**");
        assertThat(done.out()).contains("told younger/").contains("\"agent_id\":\"younger\"");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K5-11")
    void agent_thatStartsAtOnce_isToldNothing(Jdk jdk) {
        Workspace w = workspace();

        Outcome done = agentWith("", Told.class, w, jdk, "alone", "").with(Klock.class, JsonFactory.class, Yaml.class).run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.out()).contains("nothing to be told").doesNotContain("told a");
        assertThat(done.err()).doesNotContain("while this agent");
        assertThat(w.root().resolve(".klock/observation-update")).doesNotExist();
    }

    /** Without its digest it would be younger than who came meanwhile, and would die again. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K8-9")
    @Tag("K8-10")
    void digest_thatSomebodyHasChanged_isRefusedWithItsReason_andMakesNobodyOlder(Jdk jdk) throws IOException, InterruptedException {
        Workspace w = workspace();
        Child.Running older = holder(w, jdk, "older", "");
        agent(w, jdk, "younger", "", "write w/out/a mine").run();
        Path digest = digests(w).get(0);
        String text = Files.readString(digest);
        Files.writeString(digest, text.replaceFirst("\"priority_timestamp\":\\d+", "\"priority_timestamp\":1"));
        // whoever opens one waits for somebody who writes
        assertThat(new ProcessBuilder("mkfifo", digest.resolveSibling("pipe.json").toString()).start().waitFor()).isZero();

        Outcome again = agent(w, jdk, "younger", "", "write w/out/a mine").run();

        assertThat(again.exit()).as(again.toString()).isEqualTo(DIED);
        assertThat(again.err()).contains(digest.getFileName() + " is not used (FORGED: ", "pipe.json is not used: it is no file");
        assertThat(digest).doesNotExist();
        assertThat(digest.resolveSibling(digest.getFileName() + ".refused")).exists();
        go(w);
        completed(older);
    }

    /** By a new open, and through a stream that was open before. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C46")
    @Tag("FIELD-I01")
    @Tag("FIELD-I02")
    void holder_stoppedUntilItsLeaseIsAnothers_changesNothingMoreAndEndsWith109(Jdk jdk) throws IOException {
        for (String late : new String[] {"append w/out/a late", "put late", "delete w/out/a", "write w/out/c/new late"}) {
            Workspace w = Workspace.in(Files.createDirectory(directory.resolve(late.substring(0, 3) + late.length())));
            Child.Running stopped = agent(w, jdk, "stopped", "lease-ttl=2s", "hold w/out/a", "put mine", "write stopped-ready now", "await w/in/go", late,
                    "print it went on").begin().until(w.root().resolve("stopped-ready")).signal("STOP");

            Outcome other = untilGranted(() -> agent(w, jdk, "other", "", "write w/out/a theirs"));
            Tree theirs = w.tree();
            Files.createFile(w.root().resolve("w/in/go"));
            Outcome lost = stopped.signal("CONT").await();

            Files.delete(w.root().resolve("w/in/go"));
            assertThat(lost.exit()).as(late + ": " + lost).isEqualTo(LOST);
            assertThat(lost.out()).doesNotContain("it went on");
            assertThat(lost.err()).contains("changes made so far are kept", "what was being written may end in the middle: FILE:" + w.root().resolve("w/out/a"),
                    "undo --home " + w.root().resolve(".klock") + " --force --session");
            assertThat(w.tree().visible()).as(late + "\n" + other + "\n" + lost).isEqualTo(theirs.visible());
        }
    }

    /** So that whoever recovers it cannot tell what it left from what the other has made of it. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    @Tag("FIELD-I01")
    void holder_stoppedUntilItsLeaseIsAnothers_andKilledThen_takesNothingOfTheirsAway(Jdk jdk) throws IOException {
        for (String theirs : new String[] {"append w/out/a theirs", "write w/out/a theirs"}) {
            Workspace w = Workspace.in(Files.createDirectory(directory.resolve(theirs.substring(0, 3))));
            Child.Running stopped = agent(w, jdk, "stopped", "lease-ttl=2s", "hold w/out/a", "put mine", "write w/out/b mine", "write stopped-ready now", "await w/in/go")
                    .begin().until(w.root().resolve("stopped-ready")).signal("STOP");

            untilGranted(() -> agent(w, jdk, "other", "", theirs));
            Tree after = w.tree();
            stopped.kill();
            stopped.await();
            Outcome recovered = Child.on(jdk).in(w.root()).verb("recover").run();
            Outcome next = agent(w, jdk, "next", "", "print done").run();

            assertThat(recovered.exit()).as(recovered.toString()).isZero();
            assertThat(recovered.out()).contains("had lost its leases before it crashed, so its changes stay");
            assertThat(next.exit()).as(next.toString()).isZero();
            assertThat(w.tree().visible()).as(theirs + "\n" + recovered + next).isEqualTo(after.visible());
            Outcome undone = Child.on(jdk).in(w.root()).verb("undo", "--session", sessionOf(recovered)).run();
            assertThat(undone.exit()).as(undone.toString()).isEqualTo(4);
            assertThat(w.root().resolve("w/out/b")).hasContent("first of w/out/b");
            assertThat(w.root().resolve("w/out/a")).content().contains("theirs");
        }
    }

    private static String sessionOf(Outcome recovered) {
        String line = recovered.out().lines().filter(said -> said.startsWith("session ")).findFirst().orElseThrow();
        return line.split(" ")[1];
    }

    /** A violation that comes before anything has looked at the leases would have it all put back. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    void holder_stoppedUntilItsLeaseIsAnothers_thatViolatesThen_takesNothingOfTheirsAway(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running stopped = agent(w, jdk, "stopped", "lease-ttl=2s", "hold w/out/a", "put mine", "write stopped-ready now", "await w/in/go", "read w/secret")
                .begin().until(w.root().resolve("stopped-ready")).signal("STOP");

        untilGranted(() -> agent(w, jdk, "other", "", "append w/out/a theirs"));
        Tree theirs = w.tree();
        go(w);
        Outcome lost = stopped.signal("CONT").await();

        Files.delete(w.root().resolve("w/in/go"));
        assertThat(lost.exit()).as(lost.toString()).isIn(VIOLATION, LOST);
        assertThat(lost.err()).containsAnyOf("had lost its leases when it was stopped, so its changes stay", "changes made so far are kept");
        assertThat(w.tree().visible()).as(lost.toString()).isEqualTo(theirs.visible());
    }

    /** What a look before the close finds is what the other has made of it. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    void holder_stoppedUntilItsLeaseIsAnothers_thatClosesItsStreamThen_makesNothingOfTheirsItsOwn(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running stopped = agent(w, jdk, "stopped", "lease-ttl=2s", "hold w/out/a", "put mine", "write stopped-ready now", "await w/in/go", "let-go")
                .begin().until(w.root().resolve("stopped-ready")).signal("STOP");

        untilGranted(() -> agent(w, jdk, "other", "", "append w/out/a theirs"));
        go(w);
        Outcome lost = stopped.signal("CONT").await();

        assertThat(lost.exit()).as(lost.toString()).isEqualTo(LOST);
        Outcome undone = Child.on(jdk).in(w.root()).verb("undo", "--session", lost.err().replaceFirst("(?s).*stopped session (\\S+) .*", "$1")).run();
        assertThat(undone.exit()).as(undone + "\n" + lost).isEqualTo(4);
        assertThat(w.root().resolve("w/out/a")).content().contains("theirs");
    }

    private interface Attempt {
        Child child();
    }

    private static Outcome untilGranted(Attempt attempt) {
        long deadline = System.nanoTime() + ALL_OVER.toNanos();
        while (true) {
            Outcome outcome = attempt.child().run();
            if (outcome.exit() == 0) {
                return outcome;
            }
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(DIED);
            assertThat(System.nanoTime()).as("granted in time: " + outcome).isLessThan(deadline);
        }
    }

    /** One that was stopped for less than that goes on as if nothing had been. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C46")
    void holder_stoppedForLessThanItsLease_goesOn(Jdk jdk) throws IOException, InterruptedException {
        Workspace w = workspace();
        Child.Running stopped = agent(w, jdk, "stopped", "lease-ttl=20s", "hold w/out/a", "write stopped-ready now", "await w/in/go", "put late", "append w/out/b late")
                .begin().until(w.root().resolve("stopped-ready")).signal("STOP");
        TimeUnit.MILLISECONDS.sleep(500);
        go(w);
        completed(stopped.signal("CONT"));
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a\nlate");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    @Tag("K3-1")
    @Tag("FIELD-I05")
    void holder_thatIsKilled_isUndoneBeforeTheNextOneHasItsFiles(Jdk jdk) {
        Workspace w = workspace();
        Child.Running killed = agent(w, jdk, "killed", "", "write w/out/a half", "delete w/out/b", "write killed-ready now", "sleep 60000")
                .begin().until(w.root().resolve("killed-ready"));
        killed.kill();
        killed.await();

        Outcome next = agent(w, jdk, "next", "", "append w/out/a next").run();

        assertThat(next.exit()).as(next.toString()).isZero();
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a\nnext");
        assertThat(w.root().resolve("w/out/b")).hasContent("first of w/out/b");
        assertThat(next.err()).contains("crashed and was rolled back");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K4-4")
    @Tag("C45")
    @Tag("FIELD-I14")
    @Tag("K4-10")
    void older_thatWaitsForAYoungerOneWhichStrays_findsItsFilesAsTheyWereBefore(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running strays = agent(w, jdk, "strays", "", "write w/out/a astray", "write strays-ready now", "await w/in/go", "write w/x astray").begin()
                .until(w.root().resolve("strays-ready"));
        Child.Running waits = agentWith("priority_timestamp: 1000\n", w, jdk, "waits", "", "append w/out/a after").begin().untilSays("waits for a lease");
        go(w);

        Outcome strayed = strays.await();
        assertThat(strayed.exit()).as(strayed.toString()).isEqualTo(ABORTED);
        completed(waits);
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a\nafter");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K4-2")
    @Tag("K4-5")
    @Tag("K5-3")
    void older_whoseWaitRunsOut_endsWith107BeforeItsMain(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running younger = holder(w, jdk, "younger", "");

        Outcome died = agentWith("priority_timestamp: 1000\n", w, jdk, "older", "wait-timeout=1s", "write w/out/a mine").run();
        go(w);
        completed(younger);

        assertThat(died.exit()).as(died.toString()).isEqualTo(DIED);
        assertThat(died.out()).isEmpty();
        assertThat(died.err()).contains("waits for a lease, at most 1 s: ").contains("of younger/");
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K3-9")
    @Tag("K3-11")
    void holder_thatWorksForLongerThanItsLeaseLasts_keepsIt(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running works = agent(w, jdk, "works", "lease-ttl=2s", "write works-ready now", "sleep 5000", "append w/out/b late", "write w/out/after 1", "await w/in/go").begin()
                .until(w.root().resolve("w/out/after"));

        Outcome other = agent(w, jdk, "other", "", "write w/out/a mine").run();
        go(w);

        completed(works);
        assertThat(other.exit()).as(other.toString()).isEqualTo(DIED);
        assertThat(w.root().resolve("w/out/b")).hasContent("first of w/out/b\nlate");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I08")
    @Tag("K4-6")
    void directory_andWhatIsInIt_andWhatItIsIn_areTheSameThingToLeases(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running holder = holder(w, jdk, "holder", "");
        String[] lines = {"MUTATES FILE:%s/w/out/a", "MUTATES FILE:%s/w/out/new/deep/x", "RENAMES FILE:%s/w/**", "DELETES FILE:%s/w/out", "DELETES FILE:%s/w/**"};
        for (int i = 0; i < lines.length; i++) {
            String manifest = "ver: \"1.0\"\nagent_id: asks" + i + "\nscope: [\"" + lines[i].formatted(w.root()) + "\"]\n";
            Outcome died = Child.on(jdk).in(w.root()).main(Script.class, "print here").file("asks" + i + ".yaml", manifest).klock("manifest=asks" + i + ".yaml").run();

            assertThat(died.exit()).as(lines[i] + ": " + died).isEqualTo(DIED);
            assertThat(died.err()).contains("of holder/");
        }
        go(w);
        completed(holder);
        String nameOnly = "ver: \"1.0\"\nagent_id: mover\nscope: [\"RENAMES FILE:%1$s/w/out\", \"PROVIDES FILE:%1$s/v/**\"]\n".formatted(w.root());
        Outcome strayed = Child.on(jdk).in(w.root()).main(Script.class, "move w/out v").file("mover.yaml", nameOnly).klock("manifest=mover.yaml").run();
        assertThat(strayed.exit()).as("its name alone does not let a directory be moved: " + strayed).isEqualTo(ABORTED);
        assertThat(strayed.err()).contains("attempted RENAMES on FILE:" + w.root() + "/w/out/");
    }

    /** Each has its own home: what goes on in one is nobody's business in the other. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I19")
    @Tag("K3-2")
    void worktrees_ofOneRepository_areApart(Jdk jdk) throws IOException {
        Workspace one = Workspace.in(Files.createDirectory(directory.resolve("one")));
        Workspace two = Workspace.in(Files.createDirectory(directory.resolve("two")));
        Child.Running holder = holder(one, jdk, "same", "");

        Outcome other = agent(two, jdk, "same", "", "write w/out/a mine").run();
        Outcome ofOne = Child.on(jdk).in(one.root()).jar(KlockJar.path(), "status", "--all", "--json", "--home", one.root().resolve(".klock").toString()).run();
        Outcome ofTwo = Child.on(jdk).in(two.root()).jar(KlockJar.path(), "status", "--all", "--json", "--home", two.root().resolve(".klock").toString()).run();
        go(one);
        completed(holder);

        assertThat(other.exit()).as(other.toString()).isZero();
        assertThat(ofOne.out()).as(ofOne.toString()).contains("\"EXECUTING\"").contains("\"fencing_token\"").contains("\"expires_at_ms\"").contains(one.root() + "/w/out/**").doesNotContain(two.root().toString());
        assertThat(ofTwo.out()).as(ofTwo.toString()).contains("\"COMPLETED\"").doesNotContain("\"EXECUTING\"").doesNotContain(one.root().toString());
    }

    /** A build's tests in a JVM of their own, under the same manifest. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void child_underItsParentsManifest_worksUnderItsParentsLeases_andAStrangerDoesNot(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String effects = "  - {predicate: PROVIDES, resource: \"PROCESS:" + jdk.home().resolve("bin/java").toRealPath() + "\", effects: [\"MUTATES FILE:"
                + w.root() + "/w/out/**\"]}\n";
        List<String> child = agentWith(effects, w, jdk, "parent", "", "append w/out/a child", "write w/out/ready now", "await w/in/go").command();
        List<String> run = new ArrayList<>(List.of("run"));
        child.forEach(word -> run.add(word.replace(' ', Script.BLANK)));
        Child.Running parent = agentWith(effects, w, jdk, "parent", "", "append w/out/a parent", String.join(" ", run)).begin().until(w.root().resolve("w/out/ready"));

        Outcome stranger = agentWith(effects, w, jdk, "parent", "", "append w/out/a stranger").run();
        go(w);

        assertThat(stranger.exit()).as(stranger.toString()).isEqualTo(DIED);
        Outcome done = parent.await();
        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.out()).contains("ended with 0");
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a\nparent\nchild");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I16")
    void kernel_thatIsGarbledOrGone_letsNobodyChangeAnything(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running holds = agent(w, jdk, "holds", "", "write holds-ready now", "await w/in/go", "times 100 sleep 100", "append w/out/a late").begin()
                .until(w.root().resolve("holds-ready"));
        Path log;
        try (Stream<Path> files = Files.list(w.root().resolve(".klock/kernel"))) {
            log = files.filter(file -> file.toString().endsWith(".0")).findFirst().orElseThrow();
        }
        byte[] good = Files.readAllBytes(log);
        byte[] bad = good.clone();
        bad[20] ^= 1;
        Files.write(log, bad);
        Outcome next = agent(w, jdk, "next", "", "write w/out/a mine").run();
        Files.delete(log);
        go(w);
        Outcome lost = holds.await();

        assertThat(next.exit()).as(next.toString()).isEqualTo(2);
        assertThat(next.err()).contains("the leases that the sessions of ").contains(log.getFileName().toString());
        assertThat(lost.exit()).as(lost.toString()).isEqualTo(LOST);
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void permissive_whoseFilesAnotherHolds_saysSoAndRunsWithoutItsLeases(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running older = holder(w, jdk, "older", "");
        Outcome ran = agent(w, jdk, "younger", "mode=permissive", "append w/out/a mine").run();
        go(w);

        assertThat(ran.exit()).as(ran.toString()).isZero();
        assertThat(ran.err()).contains("runs without its leases: ").contains("of older/");
        completed(older);
    }
}
