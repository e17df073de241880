package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** End points, names, requests, variables and native code as the hooks report them; no packet is sent. */
@Tag("C49")
class ObserverNetworkTest {
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final byte[] LOOPBACK_6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    private static final byte[] SERVER = {(byte) 192, 0, 2, 1};
    private static final byte[] OTHER = {(byte) 192, 0, 2, 2};
    private static final byte[] NOWHERE = {0, 0, 0, 0};

    private Fixture fixture;

    @BeforeEach
    void start(@TempDir Path directory) throws IOException {
        fixture = new Fixture(directory.toRealPath());
    }

    private boolean denied(Op op, byte[] address, String host, int port) {
        return fixture.denied(() -> fixture.hooks.endPoint(op.code(), address, host, port, -1));
    }

    private boolean denied(String method, String protocol, String host, int port, String path) {
        return fixture.denied(() -> fixture.hooks.request(Op.REQUEST.code(), method, protocol, host, port, path));
    }

    private boolean lookUpDenied(String host) {
        return fixture.denied(() -> fixture.hooks.lookUp(Op.LOOK_UP.code(), host, null));
    }

    private String lastDenied() {
        Denial denial = fixture.lastDenial();
        return denial.predicate() + " " + denial.resource();
    }

    @Test
    @Tag("FIELD-F06")
    void connect_byAddress_isCoveredByANameOnlyIfTheNameWasResolvedToIt() {
        fixture.allow("CONSUMES URL:https://server.example/**").start();
        assertThat(denied(Op.CONNECT, SERVER, null, 443)).as("never looked up").isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES URL:tcp://192.0.2.1:443");
        assertThat(lookUpDenied("Server.example.")).isFalse();
        fixture.hooks.resolved("server.example", new byte[][] {SERVER});
        assertThat(denied(Op.CONNECT, SERVER, "server.example", 443)).isFalse();
        assertThat(denied(Op.CONNECT, SERVER, null, 443)).isFalse();
        assertThat(denied(Op.CONNECT, SERVER, "server.example", 80)).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES URL:tcp://server.example:80");
        assertThat(denied(Op.CONNECT, OTHER, "server.example", 443)).as("a name that was made up").isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES URL:tcp://192.0.2.2:443");
        assertThat(denied(Op.SEND_DATAGRAM, SERVER, "server.example", 443)).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES URL:udp://server.example:443");
        assertThat(denied("GET", "https", "192.0.2.1", -1, "/a")).as("the same host by its address").isFalse();
        assertThat(denied("POST", "https", "server.example", 443, "/a")).isTrue();
        assertThat(lastDenied()).isEqualTo("MUTATES URL:https://server.example/a");
    }

    @Test
    @Tag("FIELD-F06")
    void connect_toWhatADenyLineNames_isDeniedByEveryNameOfIt() {
        fixture.allow("CONSUMES URL:tcp://good.example:80").deny("CONSUMES URL:tcp://192.0.2.1:80").start();
        fixture.hooks.resolved("good.example", new byte[][] {SERVER, OTHER});
        assertThat(denied(Op.CONNECT, SERVER, "good.example", 80)).isTrue();
        assertThat(denied(Op.CONNECT, OTHER, "good.example", 80)).isFalse();
    }

    @Test
    void connect_toNowhere_isToThisMachine() {
        fixture.allow("CONSUMES URL:tcp://localhost:80").start();
        assertThat(denied(Op.CONNECT, NOWHERE, null, 80)).isFalse();
        assertThat(denied(Op.CONNECT, LOOPBACK, null, 80)).isFalse();
        assertThat(denied(Op.CONNECT, LOOPBACK_6, "localhost", 80)).isFalse();
        assertThat(denied(Op.CONNECT, NOWHERE, null, 81)).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES URL:tcp://127.0.0.1:81");
    }

    @Test
    @Tag("FIELD-F10")
    void bind_ofNoPort_isJudgedWhenItListens() {
        fixture.allow("PROVIDES URL:tcp://127.0.0.1:0").start();
        assertThat(fixture.denied(() -> fixture.hooks.endPoint(Op.BIND.code(), NOWHERE, null, 0, 7))).as("a client").isFalse();
        assertThat(fixture.denied(() -> fixture.hooks.endPoint(Op.LISTEN.code(), NOWHERE, null, 40_000, 7))).isTrue();
        assertThat(lastDenied()).isEqualTo("PROVIDES URL:tcp://0.0.0.0:0");
        fixture.hooks.endPoint(Op.BIND.code(), LOOPBACK, null, 0, 8);
        fixture.hooks.endPoint(Op.LISTEN.code(), LOOPBACK, null, 40_001, 8);
        assertThat(denied(Op.CONNECT, LOOPBACK, null, 40_001)).as("its own server").isFalse();
        assertThat(denied(Op.CONNECT, LOOPBACK, null, 40_002)).isTrue();
        assertThat(fixture.denied(() -> fixture.hooks.endPoint(Op.LISTEN.code(), LOOPBACK, null, 40_003, 9))).as("a port asked for").isTrue();
        assertThat(lastDenied()).isEqualTo("PROVIDES URL:tcp://127.0.0.1:40003");
    }

    @Test
    @Tag("FIELD-F10")
    void listening_declaredForLocalhost_isOnBothOfItsAddressesOnly() {
        fixture.allow("PROVIDES URL:tcp://localhost:80").allow("PROVIDES URL:udp://localhost:53").allow("PROVIDES URL:tcp://localhost:0").start();
        for (byte[] address : new byte[][] {LOOPBACK, LOOPBACK_6}) {
            assertThat(denied(Op.BIND, address, null, 80)).isFalse();
            assertThat(denied(Op.LISTEN, address, null, 80)).isFalse();
            assertThat(denied(Op.BIND_DATAGRAM, address, null, 53)).isFalse();
            assertThat(denied(Op.BIND_DATAGRAM, address, null, 80)).as("the other protocol").isTrue();
            assertThat(denied(Op.LISTEN, address, null, 81)).as("another port").isTrue();
            fixture.hooks.endPoint(Op.BIND.code(), address, null, 0, 7);
            assertThat(fixture.denied(() -> fixture.hooks.endPoint(Op.LISTEN.code(), address, null, 40_000, 7))).as("a chosen port").isFalse();
            assertThat(denied(Op.CONNECT, address, null, 40_000)).as("its own server").isFalse();
        }
        assertThat(denied(Op.LISTEN, NOWHERE, null, 80)).isTrue();
        assertThat(lastDenied()).isEqualTo("PROVIDES URL:tcp://0.0.0.0:80");
        assertThat(denied(Op.LISTEN, new byte[] {127, 0, 0, 2}, null, 80)).isTrue();
    }

    @Test
    @Tag("FIELD-F06")
    void listening_declaredByAName_isOnWhatItWasResolvedTo_andDeniedByEveryNameOfIt() {
        for (String host : new String[] {"here.example:80", "127.0.0.1:80", "127.0.0.1:0", "zero.example:80", "[::]:90"}) {
            fixture.allow("PROVIDES URL:tcp://" + host);
        }
        fixture.deny("PROVIDES URL:tcp://localhost:80").start();
        assertThat(denied(Op.LISTEN, SERVER, null, 80)).as("never looked up").isTrue();
        fixture.hooks.resolved("here.example", new byte[][] {SERVER});
        assertThat(denied(Op.LISTEN, SERVER, null, 80)).isFalse();
        assertThat(denied(Op.LISTEN, OTHER, null, 80)).isTrue();
        fixture.hooks.resolved("zero.example", new byte[][] {NOWHERE});
        assertThat(denied(Op.LISTEN, NOWHERE, null, 80)).as("every address is more than a name").isTrue();
        assertThat(denied(Op.LISTEN, NOWHERE, null, 90)).isFalse();
        assertThat(denied(Op.BIND, LOOPBACK, null, 80)).as("a deny line by another name").isTrue();
        assertThat(lastDenied()).isEqualTo("PROVIDES URL:tcp://localhost:80");
        fixture.hooks.endPoint(Op.BIND.code(), LOOPBACK, null, 0, 7);
        assertThat(fixture.denied(() -> fixture.hooks.endPoint(Op.LISTEN.code(), LOOPBACK, null, 80, 7))).as("the system chose it").isTrue();
    }

    @Test
    @Tag("FIELD-F08")
    void datagramMark_countsForTheNextCallOnly() {
        fixture.allow("PROVIDES URL:udp://127.0.0.1:53").start();
        fixture.hooks.datagram(false);
        assertThat(denied(Op.BIND, LOOPBACK, null, 53)).isFalse();
        assertThat(denied(Op.BIND, LOOPBACK, null, 53)).isTrue();
        fixture.hooks.datagram(true);
        assertThat(denied(Op.BIND, LOOPBACK, null, 54)).as("only restores what was bound").isFalse();
    }

    @Test
    @Tag("FIELD-F05")
    void lookUp_ofANameTheJdkGotItself_isItsOwn() {
        fixture.start();
        assertThat(lookUpDenied("localhost")).isFalse();
        assertThat(lookUpDenied("192.0.2.1")).isFalse();
        fixture.hooks.named("name.example");
        assertThat(lookUpDenied("name.example")).isFalse();
        assertThat(lookUpDenied("name.example")).as("only then").isTrue();
        assertThat(fixture.denied(() -> fixture.hooks.lookUp(Op.LOOK_UP.code(), null, SERVER))).isTrue();
        assertThat(fixture.denied(() -> fixture.hooks.lookUp(Op.LOOK_UP.code(), null, LOOPBACK))).isFalse();
    }

    @Test
    void request_throughAProxy_namesWhereItLeads() {
        fixture.allow("CONSUMES URL:tcp://server.example:443").start();
        assertThat(denied("CONNECT", "socket", "server.example", 443, "")).isFalse();
        assertThat(denied("CONNECT", "socket", "evil.example", 443, "")).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES URL:tcp://evil.example:443");
    }

    @Test
    void anything_afterTheSessionEnded_isDenied() {
        fixture.allow("CONSUMES URL:http://127.0.0.1:80/**").start();
        assertThat(denied(Op.CONNECT, LOOPBACK, null, 80)).isFalse();
        fixture.ended = true;
        assertThat(denied(Op.CONNECT, LOOPBACK, null, 80)).isTrue();
        assertThat(denied("GET", "http", "127.0.0.1", 80, "/")).isTrue();
    }

    @Test
    @Tag("FIELD-F13")
    void variable_thatIsNotSet_isFree() {
        fixture.deny("CONSUMES ENV:PATH").start();
        assertThat(fixture.denied(() -> fixture.hooks.variable(Op.READ_VARIABLE.code(), "NO_SUCH_VARIABLE_ANYWHERE", null))).isFalse();
        assertThat(fixture.denied(() -> fixture.hooks.variable(Op.READ_VARIABLE.code(), "PATH", null))).as("a deny line beats the baseline").isTrue();
        assertThat(fixture.denied(() -> fixture.hooks.variable(Op.READ_VARIABLE.code(), null, null))).isTrue();
    }

    @Test
    @Tag("FIELD-B05")
    void library_agentAndCommand_needTheirLines() {
        fixture.allow("CONSUMES NATIVE:/no/such/lib.so").start();
        assertThat(fixture.denied(() -> fixture.hooks.library(Op.LOAD_LIBRARY.code(), "/no/such/lib.so"))).isFalse();
        assertThat(fixture.denied(() -> fixture.hooks.library(Op.LOAD_LIBRARY.code(), "/no/such/../lib.so"))).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES NATIVE:/no/lib.so");
        assertThat(fixture.denied(() -> fixture.hooks.library(Op.LINK_NATIVE.code(), null))).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES NATIVE:ffm");
        assertThat(fixture.denied(() -> fixture.hooks.agent(Op.LOAD_AGENT.code()))).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES NATIVE:agent");
    }

    @Test
    @Tag("FIELD-B03")
    @Tag("K6-7")
    void command_thatWritesAFile_isJudgedByTheFile_andAnUnknownOneAsOpaque() throws IOException {
        fixture.allow("PROVIDES FILE:/out/*").start();
        String no = fixture.at("/no");
        for (String telling : new String[] {"VM.version", "help GC.heap_dump", "VM.log list", "Thread.print -l", "ManagementAgent.start port=1"}) {
            assertThat(commandDenied(telling)).as(telling).isFalse();
        }
        for (String writing : new String[] {"GC.heap_dump " + no, "GC.heap_dump -all " + no, "VM.log output=" + no + " what=gc", "VM.log output=file=" + no,
            "VM.log \"output\"=" + no, "VM.log 'output'='file=" + no + "'", "VM.log output='x\"" + no + "\"'", "Compiler.perfmap " + no + "=x", "GC.heap_dump \"-all\" '" + no + "'=y",
            "System.dump_map \"-F\"=" + no, "JFR.configure \"dumppath\"=" + no, "VM.set_flag \"HeapDumpPath\"=y " + no, "System.dump_map -F=" + no, "VM.set_flag HeapDumpPath " + no,
            "Thread.dump_to_file -format=json " + no}) {
            assertThat(commandDenied(writing)).as(writing).isTrue();
            assertThat(lastDenied()).as(writing).isEqualTo("PROVIDES FILE:" + no);
        }
        assertThat(commandDenied("Compiler.directives_add " + no + "=x")).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES FILE:" + no);
        assertThat(commandDenied("VM.set_flag \"HeapDumpOnOutOfMemoryError\"=y 1")).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES NATIVE:vm");
        assertThat(commandDenied("GC.heap_dump " + fixture.at("/out/a\0/../../x"))).as("two bytes for a zero").isTrue();
        Files.createDirectories(Path.of(fixture.at("/out")));
        Files.createSymbolicLink(Path.of(fixture.at("/out/%p")), Path.of(no));
        assertThat(commandDenied("Compiler.perfmap " + fixture.at("/out/%%p"))).as("two per cent signs").isEqualTo(Runtime.version().feature() > 17);
        assertThat(commandDenied("VM.version\nGC.heap_dump /x")).as("several lines").isTrue();
        assertThat(commandDenied("GC.heap_dump " + fixture.at("/out/a"))).as("the environment is in it").isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES NATIVE:vm");
        assertThat(commandDenied("VM.log output=" + fixture.at("/out/a"))).as("still the VM's").isTrue();
        assertThat(commandDenied("Thread.dump_to_file " + fixture.at("/out/a"))).as("declared").isFalse();
        assertThat(commandDenied("System.dump_map")).as("a name of its own").isTrue();
        assertThat(commandDenied("JVMTI.agent_load /x.so")).isTrue();
        assertThat(lastDenied()).isEqualTo("CONSUMES NATIVE:agent");
        assertThat(commandDenied("Some.new_command")).isTrue();
        assertThat(fixture.lastDenial().isTree()).isTrue();
    }

    private boolean commandDenied(String command) {
        boolean denied = fixture.denied(() -> fixture.hooks.command(Op.VM_COMMAND.code(), command));
        if (!denied) {
            fixture.hooks.end(Op.VM_COMMAND.code(), 0);
        }
        return denied;
    }
}
