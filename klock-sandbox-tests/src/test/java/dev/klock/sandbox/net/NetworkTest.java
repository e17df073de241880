package dev.klock.sandbox.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.audit.AlteredJar;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Doors of the network: declared as without klock, undeclared stopped before a packet leaves. Servers are on 127.0.0.1 only. */
@Tag("K6-1")
class NetworkTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";

    @TempDir
    Path directory;

    private static String denial(String predicate, String resource) {
        return "Agent attempted " + predicate + " on " + resource + " but ";
    }

    private static int freePort() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            return server.getLocalPort();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F01")
    @Tag("FIELD-F09")
    @Tag("FIELD-F11")
    void connect_undeclared_reachesNobody(Jdk jdk) throws IOException {
        try (LocalServer server = new LocalServer()) {
            int port = server.port();
            String[] steps = Stream.of("socket 127.0.0.1 %d", "socket-channel 127.0.0.1 %d", "made-up declared.example %d",
                    "non-blocking 127.0.0.1 %d", "async 127.0.0.1 %d", "adaptor 127.0.0.1 %d", "socket localhost %d",
                    "socket 127.1 %d", "socket 2130706433 %d", "socket ::ffff:127.0.0.1 %d", "url http://127.0.0.1:%d/a", "url http://127.0.0.1:%d/a POST",
                    "client http://127.0.0.1:%d/a", "client http://localhost:%d/a PUT", "websocket ws://127.0.0.1:%d/a",
                    "rmi 127.0.0.1 %d", "jndi ldap://127.0.0.1:%d").map(step -> step.formatted(port)).toArray(String[]::new);
            Map<String, String> results = new Steps(jdk, directory, NetSteps.class).declaring("CONSUMES URL:https://declared.example/**")
                    .watched("block", steps);
            assertThat(results.values()).as(results.toString()).allMatch(result -> result.contains("ScopeViolationError Agent attempted "));
            assertThat(server.seen()).isEmpty();
            Outcome strict = new Steps(jdk, directory, NetSteps.class).strict("url http://127.0.0.1:" + port + "/a");
            assertThat(strict.exit()).as(strict.toString()).isEqualTo(108);
            assertThat(strict.err()).contains("CONSUMES URL:tcp://127.0.0.1:" + port);
            assertThat(server.seen()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F06")
    void connect_declaredByOneSpelling_isAllowedByEverySpellingOfTheSameEndPoint(Jdk jdk) throws IOException {
        try (LocalServer server = new LocalServer()) {
            int port = server.port();
            String[] steps = Stream.of("socket 127.0.0.1 %d", "socket localhost %d", "socket 127.1 %d", "socket 2130706433 %d",
                    "socket ::ffff:127.0.0.1 %d", "made-up declared.example %d", "client http://localhost:%d/a",
                    "url http://127.1:%d/a").map(step -> step.formatted(port)).toArray(String[]::new);
            String other = "socket ::1 " + port;
            String[] all = Arrays.copyOf(steps, steps.length + 1);
            all[steps.length] = other;
            for (String host : new String[] {"127.0.0.1", "localhost"}) {
                Map<String, String> results = new Steps(jdk, directory, NetSteps.class)
                        .declaring("CONSUMES URL:http://" + host + ":" + port + "/**").watched("block", all);
                for (String step : steps) {
                    assertThat(results.get(step)).as("%s declared: %s", host, step).doesNotContain("ScopeViolationError");
                }
                // another address than 127.0.0.1, but localhost too
                assertThat(results.get(other).contains("ScopeViolationError")).as("%s: %s", host, results.get(other))
                        .isEqualTo(host.equals("127.0.0.1"));
            }
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F07")
    void request_declaredByMethodAndPath_allowsNoOther(Jdk jdk) throws IOException {
        try (LocalServer server = new LocalServer(); LocalServer elsewhere = new LocalServer()) {
            String base = "http://127.0.0.1:" + server.port();
            Map<String, String> results = new Steps(jdk, directory, NetSteps.class)
                    .declaring("CONSUMES URL:" + base + "/api/**", "CONSUMES URL:" + base + "/go", "MUTATES URL:" + base + "/form")
                    .watched("block", "url " + base + "/api/a", "client " + base + "/api/b", "url " + base + "/form POST",
                            "client " + base + "/form PUT", "client " + base + "/form", "url " + base + "/api/a POST",
                            "client " + base + "/api/a DELETE", "url " + base + "/other", "client " + base + "/other",
                            "client " + base + "/api/../other", "client " + base + "/api/%2e%2e/other", "client " + base + "/api/..%2Fother", "client " + base + "/api//../../other", "url " + base + "/api//../other",
                            "client " + base + "/api/;x/../other",
                            "url " + base + "/go?" + base + "/other", "client " + base + "/go?" + base + "/other",
                            "url " + base + "/go?http://127.0.0.1:" + elsewhere.port() + "/x",
                            "client " + base + "/go?http://127.0.0.1:" + elsewhere.port() + "/x", "client " + base + "/go?" + base + "/api/c");
            assertThat(results.values().stream().limit(5)).as(results.toString())
                    .containsExactly("200 GET /api/a", "200 GET /api/b", "200 POST /form", "200 PUT /form", "200 GET /form");
            assertThat(results.get("client " + base + "/go?" + base + "/api/c")).isEqualTo("200 GET /api/c");
            results.values().stream().skip(5).limit(14)
                    .forEach(result -> assertThat(result).as(results.toString()).contains("ScopeViolationError Agent attempted "));
            assertThat(results.get("url " + base + "/api/a POST")).contains(denial("MUTATES", "URL:" + base + "/api/a"));
            assertThat(results.get("client " + base + "/api/a DELETE")).contains(denial("DELETES", "URL:" + base + "/api/a"));
            assertThat(server.seen()).doesNotContain("POST /api/a", "DELETE /api/a", "GET /other", "GET /api/../other");
            assertThat(elsewhere.seen()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F10")
    void listening_declaredAndNot_isAllowedAndStopped(Jdk jdk) throws IOException {
        int declared = freePort();
        int other = freePort();
        String[] allowed = {"listen 127.0.0.1 " + declared, "listen-channel 127.0.0.1 " + declared, "listen-async 127.0.0.1 " + declared,
            "http-server 127.0.0.1 " + declared, "serve-oneself 127.0.0.1", "listen 127.0.0.1 0"};
        String[] denied = {"listen 127.0.0.1 " + other, "listen-channel 127.0.0.1 " + other, "listen-async 127.0.0.1 " + other,
            "http-server 127.0.0.1 " + other, "listen-everywhere " + declared, "listen-everywhere 0", "rmi-registry " + other,
            "udp-bind 127.0.0.1 " + other};
        Steps steps = new Steps(jdk, directory, NetSteps.class).declaring("PROVIDES URL:tcp://127.0.0.1:" + declared,
                "PROVIDES URL:tcp://127.0.0.1:0");
        assertThat(steps.watched("block", allowed)).isEqualTo(steps.bare(allowed));
        Map<String, String> results = steps.watched("block", denied);
        assertThat(results.values()).as(results.toString()).allMatch(result -> result.contains("ScopeViolationError Agent attempted PROVIDES"));
        assertThat(results.get("listen-everywhere " + declared)).contains("URL:tcp://0.0.0.0:" + declared);
    }

    /** Another service of this machine may listen on the same port of another address. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F10")
    void listening_onOneAddress_doesNotAllowToConnectToAnother(Jdk jdk) throws IOException {
        try (LocalServer server = new LocalServer()) {
            String other = "serve-and-ask 127.0.0.2 " + server.port() + " 127.0.0.1";
            Map<String, String> results = new Steps(jdk, directory, NetSteps.class).declaring("PROVIDES URL:tcp://127.0.0.2:" + server.port())
                    .watched("block", "serve-and-ask 127.0.0.2 " + server.port() + " 127.0.0.2", other);
            assertThat(results.values()).as(results.toString()).element(0).isEqualTo("connected true");
            assertThat(results.get(other)).contains(denial("CONSUMES", "URL:tcp://127.0.0.1:" + server.port()));
            other = "serve-and-ask ::1 " + server.port() + " 127.0.0.1";
            results = new Steps(jdk, directory, NetSteps.class).declaring("PROVIDES URL:tcp://localhost:" + server.port()).watched("block", other);
            assertThat(results.get(other)).contains("ScopeViolationError Agent attempted CONSUMES on URL:tcp://").contains(":" + server.port() + " but");
            results = new Steps(jdk, directory, NetSteps.class).declaring("PROVIDES URL:tcp://127.0.0.1:0").watched("block", "served-and-ask 127.0.0.1");
            assertThat(results.values()).as("its port may be anybody's by now").element(0).asString().contains("ScopeViolationError Agent attempted CONSUMES on URL:tcp://127");
        }
    }

    /** 127.0.0.1 and ::1, by whatever spelling, and nothing else. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F10")
    void listening_declaredForLocalhost_isAllowedOnBothOfItsAddresses(Jdk jdk) throws IOException {
        int port = freePort();
        String[] allowed = Stream.of("localhost", "127.0.0.1", "::1", "127.1").flatMap(host -> Stream.of("listen ", "listen-channel ", "listen-async ",
                "http-server ", "udp-bind ").map(door -> door + host + " " + port)).toArray(String[]::new);
        String[] chosen = {"listen localhost 0", "listen-channel ::1 0", "serve-oneself localhost", "serve-oneself 127.0.0.1"};
        String[] denied = {"listen-everywhere " + port, "listen 127.0.0.2 " + port, "listen-everywhere 0", "rmi-registry " + port};
        Steps steps = new Steps(jdk, directory, NetSteps.class).declaring("PROVIDES URL:tcp://localhost:" + port,
                "PROVIDES URL:udp://localhost:" + port, "PROVIDES URL:tcp://localhost:0");
        assertThat(steps.watched("block", allowed)).isEqualTo(steps.bare(allowed));
        assertThat(steps.watched("block", chosen)).isEqualTo(steps.bare(chosen));
        Map<String, String> results = steps.watched("block", denied);
        assertThat(results.values()).as(results.toString()).allMatch(result -> result.contains("ScopeViolationError Agent attempted PROVIDES"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F08")
    void datagrams_declaredAndNot_areSentAndStopped(Jdk jdk) throws IOException {
        int port = freePort();
        String[] sends = {"udp 127.0.0.1 " + port, "udp-channel 127.0.0.1 " + port, "udp-connected 127.0.0.1 " + port,
            "udp-bind 127.0.0.1 " + port, "udp-serve 127.0.0.1 " + port, "multicast 239.1.2.3 99"};
        Steps declared = new Steps(jdk, directory, NetSteps.class).declaring("CONSUMES URL:udp://127.0.0.1:" + port,
                "PROVIDES URL:udp://127.0.0.1:" + port, "CONSUMES URL:udp://239.1.2.3:0");
        assertThat(declared.watched("block", sends)).isEqualTo(declared.bare(sends));
        Map<String, String> results = new Steps(jdk, directory, NetSteps.class).declaring("CONSUMES URL:tcp://127.0.0.1:" + port)
                .watched("block", sends);
        assertThat(results.values()).as(results.toString()).allMatch(result -> result.startsWith("ScopeViolationError Agent attempted "));
        Steps quirks = new Steps(jdk, directory, NetSteps.class);
        assertThat(quirks.watched("block", "udp-unresolved h 1", "no-proxy")).isEqualTo(quirks.bare("udp-unresolved h 1", "no-proxy"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F02")
    @Tag("FIELD-F03")
    void unixSocket_isAFileThatIsChanged(Jdk jdk) throws IOException {
        Path in = Files.createDirectory(directory.resolve("in")).toRealPath();
        Map<String, String> results = new Steps(jdk, directory, NetSteps.class).declaring("PROVIDES FILE:" + in + "/*", "CONSUMES FILE:" + in + "/**")
                .watched("block", "unix-listen " + in + "/ok.sock", "unix /var/run/docker.sock", "unix " + in + "/other.sock",
                        "unix-listen " + directory.toRealPath() + "/no.sock");
        assertThat(results.values()).as(results.toString()).element(0).isEqualTo("bound ok.sock");
        assertThat(results.get("unix " + in + "/other.sock")).contains(denial("MUTATES", "FILE:" + in + "/other.sock"));
        assertThat(results.get("unix /var/run/docker.sock")).contains("ScopeViolationError").contains("MUTATES");
        assertThat(results.get("unix-listen " + directory.toRealPath() + "/no.sock")).contains("ScopeViolationError").contains("PROVIDES");
        assertThat(Files.exists(directory.resolve("no.sock"))).isFalse();
    }

    /** What a JVM is told there it does, whatever the program may do itself. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F03")
    void unixSocket_ofAJvm_isItsProcess(Jdk jdk) throws IOException {
        Path in = Files.createDirectory(directory.resolve("in")).toRealPath();
        String socket = in + "/.java_pid" + ProcessHandle.current().pid();
        String[] steps = {"unix-listen " + socket, "unix " + socket, "unix-hidden " + socket + " " + in + "/plain"};
        Steps asked = new Steps(jdk, directory, NetSteps.class);
        String[] lines = {"PROVIDES FILE:" + in + "/*", "MUTATES FILE:" + in + "/**", "RENAMES FILE:" + in + "/**"};
        Map<String, String> results = asked.declaring(lines).watched("block", steps);
        String denial = denial("MUTATES", "PROCESS:" + ProcessHandle.current().info().command().map(Path::of).map(NetworkTest::real).orElseThrow());
        assertThat(results.get(steps[1])).contains("ScopeViolationError").contains(denial);
        assertThat(results.get(steps[2])).contains("ScopeViolationError").contains(denial);
        assertThat(Path.of(socket)).as("not renamed").exists();
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Else a declared name would be any address. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F06")
    void name_resolvedByTheProgramItself_isNotTheAddress(Jdk jdk) throws Exception {
        Path hosts = Files.writeString(directory.toRealPath().resolve("hosts"), "127.0.0.1 good.example\n");
        try (LocalServer server = new LocalServer()) {
            String connect = "socket good.example " + server.port();
            String line = "CONSUMES URL:tcp://good.example:" + server.port();
            Map<String, String> results = new Steps(jdk, directory, NetSteps.class).declaring(line, "CONSUMES FILE:" + hosts)
                    .watched("block", "hosts-file " + hosts, connect);
            assertThat(results.get(connect)).contains("ScopeViolationError").contains(denial("CONSUMES", "URL:tcp://127.0.0.1:" + server.port()));
            Steps launched = new Steps(jdk, directory, NetSteps.class).declaring(line, "CONSUMES FILE:" + hosts).jvm("-Djdk.net.hosts.file=" + hosts);
            assertThat(launched.watched("strict", connect)).isEqualTo(launched.bare(connect));
            if (jdk.feature() >= 18) {
                Outcome outcome = Child.on(jdk).in(directory).classPath(List.of(resolver(jdk))).main(NetSteps.class, connect).klock("mode=block")
                        .manifest("ver: \"1.0\"\nagent_id: tester\nscope:\n  - " + line + "\n").run();
                assertThat(outcome.out()).as(outcome.toString()).contains("ScopeViolationError").contains("URL:tcp://localhost:" + server.port());
            }
            assertThat(server.seen()).isEmpty();
        }
    }

    /** A place on the class path with a resolver for which every name is 127.0.0.1, and which does what it likes besides. */
    private Path resolver(Jdk jdk) throws IOException, InterruptedException {
        Path place = Files.createDirectories(directory.resolve("resolver/META-INF/services")).getParent().getParent();
        Path source = Files.writeString(place.resolve("Own.java"), """
                import java.net.InetAddress;
                import java.net.spi.InetAddressResolver;
                import java.net.spi.InetAddressResolverProvider;
                import java.util.stream.Stream;

                public class Own extends InetAddressResolverProvider implements InetAddressResolver {
                    public InetAddressResolver get(Configuration configuration) {
                        return this;
                    }

                    public String name() {
                        return "own";
                    }

                    public Stream<InetAddress> lookupByName(String host, LookupPolicy policy) {
                        return Stream.of(InetAddress.getLoopbackAddress());
                    }

                    public String lookupByAddress(byte[] address) {
                        return "good.example";
                    }
                }
                """);
        Files.writeString(place.resolve("META-INF/services/java.net.spi.InetAddressResolverProvider"), "Own");
        assertThat(new ProcessBuilder(jdk.home().resolve("bin/javac").toString(), "-proc:none", source.toString()).inheritIO().start().waitFor()).isZero();
        return place;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F05")
    void lookUp_ofAnUndeclaredName_isStopped_andOfWhatTheJdkNeedsIsNot(Jdk jdk) {
        String[] own = {"lookup localhost", "lookup 127.0.0.1", "local-host", "reverse 127.0.0.1", "interfaces", "pipes"};
        Steps steps = new Steps(jdk, directory, NetSteps.class).declaring("CONSUMES URL:https://declared.invalid/**");
        assertThat(steps.watched("block", own)).isEqualTo(steps.bare(own));
        Map<String, String> results = steps.watched("block", "lookup s3cret.invalid", "lookup S3CRET.invalid.", "url-hash http://s3cret.invalid/",
                "reverse 192.0.2.1", "ping 192.0.2.1");
        assertThat(results.values()).as(results.toString()).allMatch(result -> result.startsWith("ScopeViolationError Agent attempted CONSUMES"));
        assertThat(results.get("lookup S3CRET.invalid.")).contains("URL:dns://s3cret.invalid ");
        // looked up, and found not to exist
        assertThat(steps.watched("block", "lookup declared.invalid").values()).allMatch(result -> result.startsWith("UnknownHostException"));
    }

    /** The JDK notes in its cache that a look-up is under way, and takes that back for an exception of its own only: the note would stay for ever. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F05")
    void lookUp_thatIsStopped_leavesNothingInTheJdksCache(Jdk jdk) {
        Steps steps = new Steps(jdk, directory, NetSteps.class).jvm("--add-opens", "java.base/java.net=ALL-UNNAMED")
                .declaring("CONSUMES URL:https://declared.invalid/**");
        String[] names = {"cached s3cret.invalid", "cached declared.invalid"};
        assertThat(steps.watched("block", names)).containsEntry(names[0], "ScopeViolationError nothing");
        assertThat(steps.watched("block", names[1])).isEqualTo(steps.bare(names[1]));
        assertThat(steps.watched("permissive", names)).isEqualTo(steps.bare(names));
    }

    static Stream<Jdk> withOldSockets() {
        return Jdks.each().filter(jdk -> jdk.feature() < 18);
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("withOldSockets")
    void oldSocketImplementation_of17_isHookedToo(Jdk jdk) throws IOException {
        int port = freePort();
        try (LocalServer server = new LocalServer()) {
            String[] allowed = {"socket 127.0.0.1 " + server.port(), "listen 127.0.0.1 " + port, "serve-oneself 127.0.0.1"};
            String[] denied = {"socket 127.0.0.1 " + port, "listen 127.0.0.1 " + server.port(), "listen-everywhere 0"};
            Steps steps = new Steps(jdk, directory, NetSteps.class).jvm("-Djdk.net.usePlainSocketImpl=true", "-Djdk.net.usePlainDatagramSocketImpl=true")
                    .declaring("CONSUMES URL:tcp://127.0.0.1:" + server.port(), "PROVIDES URL:tcp://127.0.0.1:" + port, "PROVIDES URL:tcp://127.0.0.1:0");
            assertThat(steps.watched("block", allowed)).isEqualTo(steps.bare(allowed));
            Map<String, String> results = steps.watched("block", denied);
            assertThat(results.values()).as(results.toString()).allMatch(result -> result.contains("ScopeViolationError Agent attempted "));
        }
    }

    /** A row that does not match when its class is loaded, in the middle of the program: the request that loads it does not happen. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-G06")
    void lazyRow_thatMatchesNothing_endsTheSessionBeforeTheClassIsUsed(Jdk jdk) throws IOException {
        Path jar = new AlteredJar().hooks(lines -> lines.map(line -> line.replace("\tjdk/internal/net/http/Exchange\t<init>\t", "\tjdk/internal/net/http/Exchange\tgone\t")))
                .in(directory);
        try (LocalServer server = new LocalServer()) {
            String step = "client http://127.0.0.1:" + server.port() + "/a";
            Files.writeString(directory.resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: tester\nscope:\n  - CONSUMES URL:tcp://127.0.0.1:" + server.port()
                    + "\n");
            Outcome outcome = Child.on(jdk).in(directory).jvm("-javaagent:" + jar).main(NetSteps.class, step).run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(1);
            assertThat(outcome.err()).contains("a hook is lost: no method matches jdk.internal.net.http.Exchange.gone");
            assertThat(outcome.out()).doesNotContain(step);
            assertThat(server.seen()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void network_permissive_changesNothing(Jdk jdk) throws IOException {
        try (LocalServer server = new LocalServer()) {
            String base = "http://127.0.0.1:" + server.port();
            String[] steps = {"socket 127.0.0.1 " + server.port(), "async 127.0.0.1 " + server.port(), "url " + base + "/a POST",
                "client " + base + "/b DELETE", "client " + base + "/go?" + base + "/c", "serve-oneself 127.0.0.1", "listen-everywhere 0",
                "udp 127.0.0.1 9", "lookup localhost", "unix " + directory.toRealPath() + "/none", "websocket ws://127.0.0.1:" + server.port() + "/x"};
            Steps all = new Steps(jdk, directory, NetSteps.class);
            assertThat(all.watched("permissive", steps)).isEqualTo(all.bare(steps));
        }
    }
}
