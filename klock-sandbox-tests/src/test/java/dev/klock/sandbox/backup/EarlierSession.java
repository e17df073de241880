package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A session that ended well before the one that is looked at, and imaged so much of the same files that what it has is used again. */
final class EarlierSession {
    /** What a later session does so that it refers to the earlier one's images, and then strays. */
    static final String[] STEPS = {"write w/out/made by the session", "move w/out/c w/out/moved", "write w/out/moved/f3 other", "delete w/out/moved/f4",
        "print " + Durability.STRAYS, "write w/x no"};

    private static final int FILES = 70;

    private EarlierSession() {
    }

    /** Fills {@code w/out/c} and has a session, called {@code earlier}, rename it to and fro. */
    static void of(Workspace workspace, Jdk jdk) throws IOException {
        Path directory = workspace.root().resolve("w/out/c");
        for (int i = 0; i < FILES; i++) {
            Files.writeString(directory.resolve("f" + i), "what is in " + i + "\n".repeat(i * 50));
        }
        Outcome outcome = workspace.watched(jdk, "", "move w/out/c w/out/c2", "move w/out/c2 w/out/c")
                .manifest(workspace.manifest().replace("straying", "earlier")).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(workspace.root().resolve(".klock/backups/.known")).as(outcome.toString()).exists();
    }
}
