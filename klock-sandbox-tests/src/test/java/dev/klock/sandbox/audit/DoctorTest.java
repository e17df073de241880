package dev.klock.sandbox.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code doctor}: every door that can be knocked on is, and one that lets the call through is named. */
class DoctorTest {
    /** Doors that no harmless call can be stopped at, by the beginning of their name, and why; the hook pairs enter them. */
    private static final Map<String, String> CANNOT_BE_STOPPED_AT = Map.ofEntries(
            Map.entry("java.io.FileDescriptor.close", "a close is never denied"),
            Map.entry("java.io.FileCleanable.performCleanup", "a close is never denied"),
            Map.entry("sun.nio.fs.UnixNativeDispatcher.close", "a close is never denied"),
            Map.entry("sun.nio.ch.SocketDispatcher", "sockets are no regular files: they are never fenced"),
            Map.entry("sun.nio.ch.DatagramDispatcher.close", "a close is never denied"),
            Map.entry("sun.nio.ch.UnixDispatcher.close", "a close is never denied"),
            Map.entry("java.io.UnixFileSystem.getBooleanAttributes", "no public API enters it"),
            Map.entry("java.io.FileOutputStream.traceWrite", "entered only while a flight recording runs"),
            Map.entry("sun.nio.fs.UnixNativeDispatcher.statvfs", "looking up the store decides before it"),
            Map.entry("sun.nio.fs.UnixFileAttributeViews$Basic.setTimes", "futimens is preferred to futimes"),
            Map.entry("sun.nio.fs.LinuxNativeDispatcher.setmntent", "the list of mounts is baseline"),
            Map.entry("java.util.prefs.FileSystemPreferences", "making its directory decides before it"),
            Map.entry("sun.nio.ch.ServerSocketChannelImpl.unixBind", "binding its name decides before it"),
            Map.entry("java.net.AbstractPlain", "the sockets of before: only with -Djdk.net.usePlainSocketImpl"),
            Map.entry("java.net.Inet4AddressImpl", "the JVM uses the one for both, or the other"),
            Map.entry("java.net.Inet6AddressImpl", "the JVM uses the one for both, or the other"),
            Map.entry("sun.nio.ch.sctp.", "SCTP needs a library and a kernel module"),
            Map.entry("com.sun.management.internal.DiagnosticCommandImpl.commandDescriptor", "asks only for help, which is never denied"),
            Map.entry("jdk.internal.perf.Perf.attach", "exported to no program"),
            Map.entry("jdk.internal.misc.CDS.dumpSharedArchive", "called by the VM for its own commands"),
            Map.entry("jdk.jfr.internal.Options.setDumpPath", "exported to no program"),
            Map.entry("sun.awt.", "needs a display"),
            Map.entry("sun.font.FontConfigManager.", "asked for only where the manifest lets the program configure fonts"),
            Map.entry("com.sun.media.sound.", "needs the sound library"),
            Map.entry("sun.print.CUPSPrinter", "the property that asks for a printer starts AWT"),
            Map.entry("sun.security.pkcs11.", "needs a token library and its configuration"),
            Map.entry("sun.security.smartcardio.", "needs a card library"),
            Map.entry("sun.security.jgss.", "needs a GSS library"),
            Map.entry("sun.jvm.hotspot.", "only in a JVM with --add-modules=jdk.hotspot.agent"),
            Map.entry("jdk.internal.agent.FileSystemImpl.isAccessUserOnly", "entered only while the management agent starts"));

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-1")
    void doctor_ofTheFinishedJar_isDeniedAtEveryDoor(Jdk jdk) throws IOException {
        long started = System.nanoTime();
        CommandLine doctor = CommandLine.run(jdk, directory, KlockJar.path(), "doctor", "--json");
        Duration took = Duration.ofNanos(System.nanoTime() - started);
        assertThat(doctor.exit()).as(doctor.toString()).isZero();
        JsonNode answer = new ObjectMapper().readTree(String.join("\n", doctor.out()));
        assertThat(answer.path("failed")).as(doctor.toString()).isEmpty();
        assertThat(answer.path("passed").asBoolean()).as(doctor.toString()).isTrue();
        assertThat(answer.path("table").asInt()).isEqualTo(jdk.feature());
        assertThat(answer.path("denied").asInt()).as(doctor.toString()).isGreaterThan(60);
        List<String> unexplained = new ArrayList<>();
        for (JsonNode row : answer.path("woven_only")) {
            if (CANNOT_BE_STOPPED_AT.keySet().stream().noneMatch(row.asText()::startsWith)) {
                unexplained.add(row.asText());
            }
        }
        assertThat(unexplained).as("doors that the doctor does not knock on: write a probe").isEmpty();
        assertThat(took).as("the doctor's time").isLessThan(Duration.ofSeconds(60));
        assertThat(doctor.err()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void doctor_ofAHookThatLooksAway_namesItsRow(Jdk jdk) {
        Path jar = new AlteredJar().hooks(lines -> lines.map(line -> line.contains("java/io/UnixFileSystem\tdelete\t")
                ? line.replace("\tfile\t$1 0\t", "\t-\t-\t") : line)).in(directory);
        CommandLine doctor = CommandLine.run(jdk, directory, jar, "doctor");
        assertThat(doctor.exit()).as(doctor.toString()).isEqualTo(2);
        assertThat(doctor.out()).as(doctor.toString()).anyMatch(line ->
                line.startsWith("failed: java.io.UnixFileSystem.delete(Ljava/io/File;)Z was not denied"));
        assertThat(doctor.lastLine()).as(doctor.toString()).startsWith("doctor: ").endsWith(" 1 failed");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void doctor_ofARowThatMatchesNothing_saysThatKlockDoesNotHold(Jdk jdk) {
        Path jar = new AlteredJar().hooks(lines -> Stream.concat(lines,
                Stream.of("door\t17,25\tjava/io/FileInputStream\tgone\t()V\tname\t$1 0\tOPEN_READ\t-\t-\t-"))).in(directory);
        CommandLine doctor = CommandLine.run(jdk, directory, jar, "doctor");
        assertThat(doctor.exit()).as(doctor.toString()).isEqualTo(2);
        assertThat(doctor.out()).as(doctor.toString()).contains("failed: no method matches java.io.FileInputStream.gone()V")
                .anyMatch(line -> line.startsWith("failed: klock does not hold in a child JVM: hooks could not be installed on Java "));
    }
}
