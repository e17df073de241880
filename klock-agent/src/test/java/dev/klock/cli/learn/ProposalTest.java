package dev.klock.cli.learn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Messages;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogHeader;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.ManifestException;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import dev.klock.manifest.Scope;
import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** A manifest that was learnt allows what was seen, and next to nothing else. */
class ProposalTest {
    private static final Map<String, String> PLACES = Map.of("workspace", "/home/u/proj", "tmp", "/tmp", "user.home", "/home/u", "maven.repo",
            "/home/u/.m2/repository", "java.home", "/usr/lib/jvm/x");
    private static final Variables VARIABLES = PLACES::get;

    private final List<LogEvent> log = new ArrayList<>();
    private boolean takesDenied;
    private int several = 3;
    private Set<String> whole = Set.of();

    private static LogEvent event(String predicate, String resource, String op, Decision decision, String by, String note) {
        return new LogEvent(0, "2026-01-01T00:00:00Z", 1, "s", "a", "main", op, predicate, resource, null, decision, by, "Main.main(Main.java:1)", 1, note, List.of());
    }

    private ProposalTest saw(String... triples) {
        for (String triple : triples) {
            String[] parts = triple.split(" ", 2);
            log.add(event(parts[0], parts[1], "x", Decision.LEARN, "mode", null));
        }
        return this;
    }

    private Proposal proposal() {
        Observations seen = new Observations(takesDenied, null);
        seen.header(new LogHeader("klock.event/1", "s", "a", "learn", null, "17", "2026-01-01T00:00:00Z", 1, 1, null, List.of(), Map.of(), List.of()));
        log.forEach(seen::event);
        seen.end();
        return Proposal.of(seen, several, whole, VARIABLES);
    }

    private List<String> scope() {
        return ManifestWriter.items(proposal()).stream().filter(line -> !line.startsWith("#")).map(line -> line.startsWith("- ") ? line.substring(2) : line).toList();
    }

    private static Manifest read(String text) throws ManifestException {
        return new ManifestReader(VARIABLES, new ReadOptions().homes("/home/u")).read("klock.yaml", text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void fewNames_stayWhatTheyAre_andSeveralBecomeTheirDirectorysChildren() {
        assertThat(saw("CONSUMES FILE:/home/u/proj/in/a", "CONSUMES FILE:/home/u/proj/in/b").scope())
                .containsExactly("CONSUMES FILE:${workspace}/in/a", "CONSUMES FILE:${workspace}/in/b");
        assertThat(saw("CONSUMES FILE:/home/u/proj/in/c").scope()).containsExactly("CONSUMES FILE:${workspace}/in/*");
    }

    @Test
    void directoryThatWasThere_needsNoLineToBeMade() {
        log.add(event("PROVIDES", "FILE:/home/u/proj/out", "make_directory", Decision.LEARN, "mode", Messages.WITHOUT_EFFECT));
        assertThat(scope()).containsExactly("DEPENDS_ON FILE:${workspace}/out");
        assertThat(saw("CONSUMES FILE:/home/u/proj/out/x").scope()).containsExactly("CONSUMES FILE:${workspace}/out/x");
        log.add(event("PROVIDES", "FILE:/home/u/proj/lock", "create", Decision.LEARN, "mode", Messages.WITHOUT_EFFECT));
        assertThat(scope()).contains("PROVIDES FILE:${workspace}/lock");
    }

    @Test
    void severalDirectories_becomeTheSubtree() {
        assertThat(saw("MUTATES FILE:/home/u/proj/src/a/x", "MUTATES FILE:/home/u/proj/src/b/x", "MUTATES FILE:/home/u/proj/src/c/d/x").scope())
                .containsExactly("MUTATES FILE:${workspace}/src/**");
    }

    @Test
    void placesOfTheUser_areNeverGivenAsAWhole() {
        for (String place : List.of("/home/u/proj", "/home/u", "/tmp", "/home", "/etc")) {
            for (int i = 0; i < 20; i++) {
                saw("MUTATES FILE:" + place + "/d" + i + "/x", "CONSUMES FILE:" + place + "/f" + i);
            }
        }
        assertThat(scope()).hasSize(200).noneMatch(line -> line.endsWith("*"));
    }

    @Test
    void directoryThatIsNamedAsAWhole_isTakenAtOneName() {
        whole = Set.of("/home/u/proj");
        assertThat(saw("CONSUMES FILE:/home/u/proj/a/b", "MUTATES FILE:/home/u/other").scope())
                .containsExactly("MUTATES FILE:${user.home}/other", "CONSUMES FILE:${workspace}/**");
    }

    @Test
    void toolsDirectories_areTakenAsAWhole() {
        assertThat(saw("CONSUMES FILE:/home/u/proj/pom.xml", "PROVIDES FILE:/home/u/proj/target/x", "PROVIDES FILE:/home/u/proj/target/classes/y",
                "CONSUMES FILE:/home/u/.m2/repository/a/a/1/a.jar", "CONSUMES FILE:/home/u/.m2/repository/b/b/1/b.jar", "CONSUMES FILE:/home/u/proj/.git/HEAD",
                "CONSUMES FILE:/home/u/proj/.git/refs/x").scope())
                .contains("CONSUMES FILE:${maven.repo}/**", "CONSUMES FILE:${workspace}/.git/**", "PROVIDES FILE:${workspace}/target/**");
    }

    @Test
    void randomNames_becomeAnyName_inTheDirectoryOfTemporaryFilesToo() {
        assertThat(saw("PROVIDES FILE:/tmp/x16749053536594378566.tmp", "PROVIDES FILE:/tmp/junit-8305749385749385/f", "CONSUMES FILE:/tmp/plain").scope())
                .containsExactly("PROVIDES FILE:${tmp}/**", "CONSUMES FILE:${tmp}/plain");
    }

    @Test
    void workspaceWithARandomName_isNotTakenForATemporaryDirectory() {
        Map<String, String> places = Map.of("workspace", "/tmp/junit-8305749385749385123/w", "tmp", "/tmp");
        saw("MUTATES FILE:/tmp/junit-8305749385749385123/w/a/b", "CONSUMES FILE:/tmp/junit-8305749385749385123/beside");
        Observations seen = new Observations(false, null);
        log.forEach(seen::event);
        assertThat(ManifestWriter.items(Proposal.of(seen, 3, Set.of(), places::get))).noneMatch(line -> line.contains("*"));
    }

    @Test
    void directoryOfTemporaryFiles_inWhichTheWorkspaceLies_isNotGivenAsAWhole() {
        Map<String, String> places = Map.of("workspace", "/tmp/proj/w", "tmp", "/tmp");
        saw("PROVIDES FILE:/tmp/junit-8305749385749385/f", "PROVIDES FILE:/tmp/x16749053536594378566.tmp");
        Observations seen = new Observations(false, null);
        log.forEach(seen::event);
        assertThat(ManifestWriter.items(Proposal.of(seen, 3, Set.of(), places::get))).contains("- PROVIDES FILE:${tmp}/*", "- PROVIDES FILE:${tmp}/junit-8305749385749385/f")
                .filteredOn(line -> line.contains("a name that the next run may not have")).hasSize(1);
        assertThat(ManifestWriter.items(Proposal.of(seen, 3, Set.of(), places::get)))
                .noneMatch(line -> line.endsWith("/**"));
    }

    private List<String> scopeWith(Map<String, String> places) {
        Observations seen = new Observations(false, null);
        log.forEach(seen::event);
        return ManifestWriter.items(Proposal.of(seen, 3, Set.of(), places::get));
    }

    @Test
    void randomNames_inAHome_stayWhatTheyAre_sinceAManifestIsRefusedForAllOfIt() throws Exception {
        saw("PROVIDES FILE:/h/u/x16749053536594378566.tmp", "PROVIDES FILE:/h/x26749053536594378566.tmp");
        for (String tmp : List.of("/h/u", "/h")) {
            List<String> scope = scopeWith(Map.of("workspace", "/opt/w", "tmp", tmp, "user.home", "/h/u"));
            assertThat(scope).filteredOn(line -> line.startsWith("- ")).as(tmp).hasSize(2).noneMatch(line -> line.endsWith("*"));
            assertThat(scope).filteredOn(line -> line.endsWith("a name that the next run may not have: then have it made elsewhere")).hasSize(2);
        }
    }

    @Test
    void nameThatNoManifestCanWrite_inAHome_isNamedAndNotDeclared() throws Exception {
        saw("MUTATES FILE:/home/u/a\nb", "MUTATES FILE:/home/u/c", "CONSUMES FILE:/home/u/a\nb", "MUTATES FILE:/home/u/proj/a\nb");
        assertThat(scope()).containsExactlyInAnyOrder("CONSUMES FILE:${user.home}/*", "MUTATES FILE:${user.home}/c", "MUTATES FILE:${workspace}/*");
        assertThat(proposal().beyond()).containsExactly("MUTATES FILE:/home/u/a\nb");
        read(ManifestWriter.manifest(proposal(), "a", null, List.of()));
    }

    @Test
    void randomNames_besideTheDirectoryOfTemporaryFiles_orInTheWorkspace_becomeAnyName() {
        saw("PROVIDES FILE:/opt/w/x16749053536594378566.tmp", "PROVIDES FILE:/opt/w/data/x26749053536594378566.tmp", "DEPENDS_ON FILE:/opt/w/data");
        assertThat(scopeWith(Map.of("workspace", "/opt/w", "tmp", "/opt/w/data/t", "user.home", "/h/u")))
                .contains("- PROVIDES FILE:${workspace}/*", "- PROVIDES FILE:${workspace}/data/*").noneMatch(line -> line.contains("**"));
        assertThat(scopeWith(Map.of("workspace", "/opt/w/data/proj", "tmp", "/tmp", "user.home", "/h/u")))
                .contains("- PROVIDES FILE:/opt/w/*", "- PROVIDES FILE:/opt/w/data/*").noneMatch(line -> line.contains("**"));
        log.clear();
        assertThat(saw("PROVIDES FILE:/app/x16749053536594378566.tmp").scopeWith(Map.of("workspace", "/app", "tmp", "/tmp", "user.home", "/root"))).contains("- PROVIDES FILE:${workspace}/*");
        log.clear();
        assertThat(saw("DEPENDS_ON FILE:/opt/x16749053536594378566").scopeWith(Map.of("workspace", "/opt/x16749053536594378566/w", "tmp", "/opt", "user.home", "/h/u")))
                .contains("- DEPENDS_ON FILE:/opt/x16749053536594378566".replace("/opt", "${tmp}"));
    }

    @Test
    void whatTheSessionMade_isItsOwn_andWhatItLeftItWillFindTheNextTime() {
        log.add(event("PROVIDES", "FILE:/w/made/dir", "make_directory", Decision.LEARN, "mode", null));
        assertThat(saw("PROVIDES FILE:/w/made/left", "MUTATES FILE:/w/made/left", "PROVIDES FILE:/w/made/gone", "DELETES FILE:/w/made/gone",
                "DELETES FILE:/w/made/others").scope())
                .containsExactly("PROVIDES FILE:/w/made/*", "MUTATES FILE:/w/made/left", "DELETES FILE:/w/made/others");
    }

    @Test
    void looking_needsNoLineAboveOrAtWhatIsDeclared() {
        assertThat(saw("DEPENDS_ON FILE:/w/a", "DEPENDS_ON FILE:/w/a/b", "CONSUMES FILE:/w/a/b", "MUTATES FILE:/w/a/c", "CONSUMES FILE:/w/a/c",
                "DEPENDS_ON FILE:/w/a/none").scope()).containsExactly("CONSUMES FILE:/w/a/b", "MUTATES FILE:/w/a/c", "DEPENDS_ON FILE:/w/a/none");
    }

    @Test
    void whatTheJvmReads_klocksOwn_andWhatIsPassedToChildren_needNoLine() {
        log.add(event("CONSUMES", "FILE:/jdk/x", "x", Decision.ALLOW, "baseline", null));
        log.add(event("CONSUMES", "FILE:/w/.klock/x", "x", Decision.WARN, "klock", null));
        log.add(event("DEPENDS_ON", "ENV:X", "x", Decision.ALLOW, "child", null));
        log.add(event("CONSUMES", "ENV:HOME", "x", Decision.LEARN, "mode", null));
        assertThat(scope()).containsExactly("CONSUMES ENV:HOME");
    }

    @Test
    void denied_isDeclaredOnlyIfAskedFor() {
        log.add(event("CONSUMES", "FILE:/etc/shadow", "x", Decision.DENY, "mode", null));
        assertThat(scope()).isEmpty();
        takesDenied = true;
        assertThat(scope()).containsExactly("CONSUMES FILE:/etc/shadow");
    }

    @Test
    void programs_sayWhatChangedWhileTheyRan_eachItsOwn() {
        saw("PROVIDES PROCESS:/usr/bin/git", "PROVIDES PROCESS:/bin/true");
        log.add(event("MUTATES", "FILE:/w/repo/.git/HEAD", "start_process", Decision.LEARN, "child", Messages.whileRan(Set.of("/usr/bin/git"))));
        assertThat(scope()).containsExactly("predicate: PROVIDES", "  resource: \"PROCESS:/bin/true\"", "  effects: [] # nothing was seen to change while it ran",
                "predicate: PROVIDES", "  resource: \"PROCESS:/usr/bin/git\"", "  effects: # what it may touch: klock looks at what has changed, not at what it does",
                "    # 1 event, Main.main(Main.java:1)", "    - MUTATES FILE:/w/repo/.git/HEAD");
    }

    @Test
    void programThatWasDenied_neverRan_soItsLineDoesNotSayWhatItChanged() throws Exception {
        takesDenied = true;
        log.add(event("PROVIDES", "PROCESS:/bin/touch", "start_process", Decision.DENY, "mode", null));
        assertThat(ManifestWriter.items(proposal())).containsExactly("# 1 event, Main.main(Main.java:1), it did not run: say in effects: what it may touch, [] for nothing;"
                + " without, it is taken to change all of its working directory", "- PROVIDES PROCESS:/bin/touch");
        assertThat(read(ManifestWriter.manifest(proposal(), "a", null, List.of())).scope().get(0).effects()).isNull();
        assertThat(saw("PROVIDES PROCESS:/bin/touch").scope()).contains("  effects: [] # nothing was seen to change while it ran");
    }

    @Test
    void urlsOfOneServer_becomeAll_fromSeveralOn() {
        assertThat(saw("CONSUMES URL:https://a.example/x", "CONSUMES URL:https://b.example/1", "CONSUMES URL:https://b.example/2",
                "CONSUMES URL:https://b.example/3").scope()).containsExactly("CONSUMES URL:https://a.example/x", "CONSUMES URL:https://b.example/**");
    }

    @Test
    void connect_needsNoLine_whereARequestToThatPortBringsIt() {
        assertThat(saw("CONSUMES URL:tcp://a.example:443", "CONSUMES URL:https://a.example/x", "CONSUMES URL:tcp://127.0.0.1:8080", "MUTATES URL:http://localhost:8080/y",
                "CONSUMES URL:tcp://b.example:80", "CONSUMES URL:ws://b.example/chat").scope())
                .containsExactly("CONSUMES URL:https://a.example/x", "CONSUMES URL:ws://b.example/chat", "MUTATES URL:http://localhost:8080/y");
        log.clear();
        assertThat(saw("CONSUMES URL:tcp://a.example:8443", "CONSUMES URL:tcp://b.example:443", "CONSUMES URL:https://a.example/x", "PROVIDES URL:tcp://a.example:443",
                "CONSUMES URL:tcp://a.example:443").scope())
                .containsExactly("CONSUMES URL:https://a.example/x", "CONSUMES URL:tcp://a.example:8443", "CONSUMES URL:tcp://b.example:443", "PROVIDES URL:tcp://a.example:443");
    }

    @Test
    void nameThatNoManifestCanWrite_isItsDirectorysChildren() {
        assertThat(saw("CONSUMES FILE:/w/d/a\nb").scope()).containsExactly("CONSUMES FILE:/w/d/*");
    }

    @Provide
    Arbitrary<List<String>> triples() {
        Arbitrary<String> name = Arbitraries.of("a", "b", "c", "d", "e", "x y", "#1", "ü", "-", "$x", "${tmp}", "back\\slash", "star*", "qu\"ote", ": ", "12345678901234567890", ".git",
                "target", "pom.xml");
        Arbitrary<String> root = Arbitraries.of("/home/u/proj", "/home/u/proj", "/tmp", "/opt/some/place", "/home/u/.m2/repository");
        Arbitrary<String> path = Combinators.combine(root, name.list().ofMinSize(1).ofMaxSize(4)).as((r, names) -> r + "/" + String.join("/", names));
        return Combinators.combine(Arbitraries.of(Predicate.class), path).as((p, at) -> p + " FILE:" + Resource.escape(at)).list().ofMaxSize(60);
    }

    @Property(tries = 300)
    void manifest_isValidAndAllowsAllThatWasSeen(@ForAll("triples") List<String> triples, @ForAll @IntRange(min = 2, max = 6) int names) throws Exception {
        log.clear();
        several = names;
        saw(triples.toArray(new String[0]));
        String text = ManifestWriter.manifest(proposal(), "a", "schema.json", List.of("head"));

        Manifest manifest = read(text);
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < manifest.scope().size(); i++) {
            Line line = manifest.scope().get(i);
            builder.allow(line.predicate(), line.resource(), i);
        }
        Scope scope = builder.build();
        List<String> made = new ArrayList<>();
        for (String triple : triples) {
            Predicate predicate = Predicate.valueOf(triple.substring(0, triple.indexOf(' ')));
            Resource resource = Resource.parse(triple.substring(triple.indexOf(' ') + 1));
            assertThat(Scope.isAllowed(scope.decide(predicate, "FILE", resource.path(), made.contains(resource.path())))).as("%s%n%s", triple, text).isTrue();
            if (predicate == Predicate.PROVIDES) {
                made.add(resource.path());
            }
        }
        for (String stray : Arrays.asList("/home/u/.ssh/id", "/etc/passwd", "/home/u/proj2/a", "/opt/some/place2", "/home/u/.bashrc")) {
            assertThat(scope.decide(Predicate.CONSUMES, "FILE", stray, false)).as("%s%n%s", stray, text).isEqualTo(Scope.NONE);
        }
    }
}
