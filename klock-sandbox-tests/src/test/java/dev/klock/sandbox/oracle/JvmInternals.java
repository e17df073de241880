package dev.klock.sandbox.oracle;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a JVM, the C library and the loaders of children ask the system for by themselves, whatever the program does: docs/security.md has the
 * same list for people. Anything else has to be on record.
 */
final class JvmInternals {
    private final Map<String, Pattern> reasons = new LinkedHashMap<>();

    /** @param directory where the program runs */
    JvmInternals(Jdk jdk, Path directory) throws IOException {
        Path home = jdk.java().toRealPath().getParent().getParent();
        Path classes = KlockJar.module().resolve("target/test-classes").toRealPath();
        reasons.put("the JDK's own files", Pattern.compile(below(home) + "|" + below(jdk.java().getParent().getParent())));
        reasons.put("the class path", Pattern.compile(below(classes)));
        reasons.put("directories above those", Pattern.compile(above(home, jdk.java().getParent().getParent(), classes)));
        reasons.put("the VM: its settings in the working directory, its performance data, its attach socket",
                Pattern.compile(Pattern.quote(directory.toString()) + "/\\.hotspot(rc|_compiler)|/tmp/hsperfdata_\\w+(/\\d+)?|/tmp/\\.java_pid\\d+"));
        reasons.put("what machine it is on: processors, memory, control groups", Pattern.compile(
                "/proc/(cgroups|cpuinfo|meminfo|stat|sys/vm/\\w+|self/(cgroup|mountinfo|coredump_filter|exe|maps)|\\d+/stat)|/sys/(devices|fs/cgroup|kernel/mm)(/.*)?"));
        reasons.put("the loader and the C library", Pattern.compile("/etc/ld\\.so\\.(cache|preload)|(/usr)?/lib(64)?(/[\\w.-]*linux[\\w.-]*)?/[\\w.+-]+\\.so(\\.\\d+)*"
                + "|(/usr)?/lib/[\\w.-]*linux[\\w.-]*/gconv/.*"));
        reasons.put("the user's language", Pattern.compile("/usr/(lib|share)/locale/.*"));
        reasons.put("the time zone", Pattern.compile("/etc/(localtime|timezone)|/usr/share/zoneinfo(/.*)?"));
        reasons.put("the names of users", Pattern.compile("/etc/(nsswitch\\.conf|passwd|group)"));
        reasons.put("random numbers", Pattern.compile("/dev(/u?random)?"));
        reasons.put("the kinds of the network", Pattern.compile("/proc/net/if_inet6"));
        reasons.put("the table of mounts, for a file's store", Pattern.compile("/proc/mounts"));
        reasons.put("the start of a child, which is on record as a process", Pattern.compile("(/usr)?/bin/true|/proc/(self|\\d+)/fd"));
    }

    private static String below(Path directory) {
        return Pattern.quote(directory.toString()) + "(/.*)?";
    }

    private static String above(Path... directories) {
        List<String> all = new ArrayList<>();
        for (Path directory : directories) {
            for (Path up = directory.getParent(); up != null; up = up.getParent()) {
                all.add(Pattern.quote(up.toString()));
            }
        }
        return String.join("|", all);
    }

    /** The reasons, in the order of the list. */
    List<String> reasons() {
        return List.copyOf(reasons.keySet());
    }

    /** Takes what there is a reason for out of {@code calls}, and answers how many calls there were for each. */
    Map<String, Integer> take(Map<String, Integer> calls) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (Map.Entry<String, Integer> call : new TreeMap<>(calls).entrySet()) {
            for (Map.Entry<String, Pattern> reason : reasons.entrySet()) {
                if (calls.containsKey(call.getKey()) && reason.getValue().matcher(call.getKey()).matches()) {
                    calls.remove(call.getKey());
                    counts.merge(reason.getKey(), call.getValue(), Integer::sum);
                }
            }
        }
        return counts;
    }
}
