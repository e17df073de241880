package dev.klock.sandbox.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A program of this machine's, such as mount, which it may lack or not let us use. */
final class HostCommand {
    private HostCommand() {
    }

    /** @return what it said, if it failed; else nothing */
    static String run(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? "" : said + "exit " + process.exitValue();
        } catch (IOException missing) {
            return missing.getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
