package dev.klock.sandbox.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.hooks.HookRow;
import dev.klock.sandbox.jvm.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each door to the network, the environment and native code is entered by a step of the tests beside this one, which show it allowed and
 * denied; the doors to files and processes are in {@link dev.klock.sandbox.hooks.HookPairTest}.
 */
@Tag("K6-1")
class ReachedDoorsTest {
    /** Those that no step here enters, by how they begin, with what they take or who enters them. */
    private static final Map<String, String> NOT_ENTERED = Map.ofEntries(
            Map.entry("sun/nio/ch/sctp/", "SCTP is a module of the kernel that is rarely there"),
            Map.entry("java/net/Inet6AddressImpl", "IPv6, which a machine may not have"),
            Map.entry("java/net/AbstractPlainDatagramSocketImpl.join(", "joinGroup stands above it"),
            Map.entry("jdk/internal/net/http/Exchange.<init>(Ljdk/internal/net/http/HttpRequestImpl;Ljdk/internal/net/http/MultiExchange;Ljava/security/",
                    "the JDK's own requests under a security manager"),
            Map.entry("jdk/internal/foreign/abi/", "an incubating module in 17, and the other architecture's; where they are there, NativeDoorsTest has them"),
            Map.entry("jdk/internal/loader/RawNativeLibraries", "foreign functions, which NativeDoorsTest has"),
            Map.entry("sun/instrument/InstrumentationImpl", "the start of a late agent, which NativeDoorsTest has"),
            Map.entry("jdk/internal/misc/CDS", "jcmd's request from outside"),
            Map.entry("sun/awt/", "a desktop"),
            Map.entry("sun/font/FontConfigManager.getFontConfigAAHint", "a desktop"),
            Map.entry("sun/print/", "a printing system"),
            Map.entry("sun/security/pkcs11/", "a PKCS#11 library"),
            Map.entry("sun/security/smartcardio/", "a card reader"),
            Map.entry("sun/security/jgss/wrapper/", "a Kerberos library"),
            Map.entry("sun/jvm/hotspot/", "the serviceability agent's own program"),
            Map.entry("java/lang/invoke/MethodHandles$Lookup.define", "own byte code with natives, which ThroughUnsafe and KnownLimitsTest have"));

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void door_ofEachRow_isEnteredByAStep(Jdk jdk) throws IOException {
        List<HookRow> rows = HookRow.withoutPairs(jdk.feature());
        Set<Integer> entered = new TreeSet<>();
        try (LocalServer server = new LocalServer()) {
            int port = server.port();
            for (String[] jvm : new String[][] {{}, {"-Djdk.net.usePlainSocketImpl=true", "-Djdk.net.usePlainDatagramSocketImpl=true"},
                {"-Djava.net.preferIPv4Stack=true"}}) {
                entered.addAll(new Steps(jdk, directory, NetSteps.class).jvm(jvm).enters(rows, "socket 127.0.0.1 " + port,
                        "socket-channel 127.0.0.1 " + port, "async 127.0.0.1 " + port, "adaptor 127.0.0.1 " + port, "url http://127.0.0.1:" + port + "/a",
                        "client http://127.0.0.1:" + port + "/a", "listen 127.0.0.1 0", "listen-channel 127.0.0.1 0", "listen-async 127.0.0.1 0",
                        "serve-oneself 127.0.0.1", "udp 127.0.0.1 9", "udp-channel 127.0.0.1 9", "udp-connected 127.0.0.1 9", "udp-bind 127.0.0.1 0", "udp-serve 127.0.0.1 " + port,
                        "multicast 239.1.2.3 99", "unix-listen " + directory + "/a.sock", "unix " + directory + "/a.sock", "lookup localhost",
                        "reverse 127.0.0.1", "ping 127.0.0.1", "ping ::1"));
                Files.deleteIfExists(directory.resolve("a.sock"));
            }
        }
        Path dumps = Files.createDirectory(directory.resolve("dumps"));
        String[] steps = {"getenv SECRET", "map SECRET", "builder SECRET", "entry SECRET", "builder-entry SECRET", "copy SECRET", "values", "has-value", "put",
            "replace SECRET", "remove SECRET", "entry-set SECRET", "entry-hash SECRET", "entry-equals SECRET", "guess SECRET",
            "values-contain", "values-remove", "values-equal", "values-hash", "entries-remove SECRET", "entries-equal", "entries-hash",
            "load " + jdk.home().resolve("lib/libprefs.so"), "heap " + dumps + "/a.hprof", "flag HeapDumpPath " + dumps, "command vmFlags", "plain-command vmVersion",
            "describe", "record " + dumps + "/r.jfr", "record-to " + dumps + "/s.jfr", "attach 1", "draw", "sound", "stop", "stop suspended", "reinterpret", "target-layout"};
        entered.addAll(new Steps(jdk, directory, NativeSteps.class).enters(rows, steps));
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            String row = rows.get(i).toString();
            if (!entered.contains(i) && NOT_ENTERED.keySet().stream().noneMatch(row::startsWith)) {
                missing.add(row);
            }
        }
        assertThat(missing).as("rows that no step enters").isEmpty();
        for (String reason : NOT_ENTERED.keySet()) {
            assertThat(HookRow.all()).as(reason).anyMatch(row -> row.toString().startsWith(reason));
        }
    }
}
