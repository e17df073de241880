package dev.klock.agent;

import dev.klock.agent.config.UsageException;
import java.io.File;

/** What klock runs on: Linux, HotSpot, Java 17 or newer. */
final class Platform {
    private static final int OLDEST = 17;

    private Platform() {
    }

    /** @throws UsageException on anything klock cannot protect: it must not look as if it did */
    static void check() throws UsageException {
        String system = System.getProperty("os.name", "");
        if (!system.equals("Linux")) {
            throw new UsageException("klock protects programs on Linux, and this is " + system
                    + "; mode=off runs the program unprotected");
        }
        String machine = System.getProperty("java.vm.name", "");
        if (machine.indexOf("HotSpot") < 0 && machine.indexOf("OpenJDK") < 0) {
            throw new UsageException("klock protects programs on HotSpot, and this JVM is " + machine
                    + "; mode=off runs the program unprotected");
        }
        if (!new File("/proc/self/fd").isDirectory()) {
            throw new UsageException("klock needs /proc to see what descriptors lead to, and it is not mounted here"
                    + "; mode=off runs the program unprotected");
        }
        if (Runtime.version().feature() < OLDEST) {
            throw new UsageException("klock needs Java " + OLDEST + " or newer, and this is " + Runtime.version());
        }
    }
}
