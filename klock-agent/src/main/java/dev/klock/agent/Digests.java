package dev.klock.agent;

import dev.klock.agent.config.Home;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.ThisProcess;
import dev.klock.digest.DigestFormat;
import dev.klock.digest.DigestKey;
import dev.klock.digest.DigestReader;
import dev.klock.digest.DigestRefusal;
import dev.klock.digest.Restored;
import dev.klock.digest.StateDigest;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Set;

/**
 * Who an agent was when it died: what its process leaves in klock's home at DIE, and the next one of the same agent takes up, so that it is as
 * old as before (K8-3 to K8-5). Signed with a key of the home's, which no program that klock holds can read (K8-9, K8-10).
 *
 * <p>Each digest is taken by one process only. For the thread that starts the program.
 */
final class Digests {
    private static final String DIRECTORY = "state-digest";
    private static final String KEY = "key";
    private static final String ENDING = ".json";
    private static final String TAKEN = ".taken";
    private static final String REFUSED = ".refused";

    private final Home home;
    /** The digest that this process has taken up; null if it has none. */
    private Path taken;

    Digests(Home home) {
        this.home = home;
    }

    /**
     * Takes up the oldest digest that a session of {@code agentId}'s has left. What is no digest, or somebody else's doing, is put aside and
     * said.
     *
     * @return null if there is none that counts
     */
    Restored take(String agentId, long nowMs) throws IOException {
        File directory = new File(home.directory(), DIRECTORY);
        String[] names = directory.list();
        if (names == null) {
            return null;
        }
        DigestReader reader = DigestReader.verifying(key());
        Restored oldest = null;
        Path place = null;
        for (int i = 0; i < names.length; i++) {
            Path file = new File(directory, names[i]).toPath();
            if (!names[i].endsWith(ENDING)) {
                removeIfOld(file, nowMs);
                continue;
            }
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                // to open a pipe would wait for ever
                if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                    Stderr.warn(Escapes.line("the digest " + file) + " is not used: it is no file; remove it");
                }
                continue;
            }
            Restored read = reader.read(bytes(file), agentId, nowMs);
            if (read.isRefused()) {
                refused(file, read.refusal());
            } else if (oldest == null || read.digest().priorityMs() < oldest.digest().priorityMs()) {
                oldest = read;
                place = file;
            }
        }
        if (oldest == null) {
            return null;
        }
        Path own = place.resolveSibling(place.getFileName() + "." + ThisProcess.pid() + TAKEN);
        try {
            Files.move(place, own, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException another) {
            // quicker: it is that process's
            return take(agentId, nowMs);
        }
        taken = own;
        // it may have been exchanged for a newer one meanwhile
        Restored now = reader.read(bytes(own), agentId, nowMs);
        return now.isRefused() ? null : now;
    }

    private static void refused(Path file, DigestRefusal why) throws IOException {
        if (why.code() == DigestRefusal.Code.FOREIGN_AGENT) {
            return;
        }
        if (why.countsAsAbsent()) {
            Files.deleteIfExists(file);
            return;
        }
        Path aside = file.resolveSibling(file.getFileName() + REFUSED);
        Files.move(file, aside, StandardCopyOption.ATOMIC_MOVE);
        Stderr.warn(Escapes.line("the digest " + file + " is not used (" + why + "); it is put aside as " + aside.getFileName()) + ", and the agent is as young as if there were none");
    }

    /** What was taken by a process that has ended since, or refused, and has lost its meaning by its age. */
    private static void removeIfOld(Path file, long nowMs) throws IOException {
        try {
            if (nowMs - Files.getLastModifiedTime(file).toMillis() > StateDigest.DEFAULT_LIFE_MS && !file.toString().endsWith(REFUSED)) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException gone) {
            return;
        }
    }

    private static byte[] bytes(Path file) throws IOException {
        try (InputStream in = new FileInputStream(file.toFile())) {
            return in.readNBytes(StateDigest.MAX_BYTES + 1);
        } catch (IOException e) {
            if (Files.notExists(file)) {
                return null;
            }
            throw e;
        }
    }

    /** The agent is at work again: it does not need what it has taken up. */
    void settled() {
        try {
            if (taken != null) {
                Files.deleteIfExists(taken);
            }
        } catch (IOException e) {
            // it is nobody's any more, and removed once it is old
        }
    }

    /** Keeps {@code digest}, durably when this returns (K8-4). It takes the place of the one that was taken up. */
    void keep(StateDigest digest) throws IOException, UsageException {
        File directory = home.directory(DIRECTORY);
        String name = SessionClaim.fileName(digest.session().sessionId());
        Path draft = new File(directory, name + '.' + ThisProcess.pid() + TAKEN).toPath();
        write(draft, DigestFormat.sign(digest, key()));
        Files.move(draft, new File(directory, name + ENDING).toPath(), StandardCopyOption.ATOMIC_MOVE);
        sync(directory);
        settled();
    }

    /** The home's key, made by who needs it first. */
    private DigestKey key() throws IOException {
        File file = new File(home.directory(), KEY);
        if (!file.exists()) {
            byte[] secret = new byte[DigestKey.MIN_SECRET_BYTES];
            new SecureRandom().nextBytes(secret);
            Path draft = new File(home.directory(), KEY + '.' + ThisProcess.pid()).toPath();
            Files.deleteIfExists(draft);
            write(draft, secret);
            try {
                Files.createLink(file.toPath(), draft);
            } catch (FileAlreadyExistsException another) {
                // theirs is as good
            }
            Files.delete(draft);
            sync(home.directory());
        }
        byte[] secret = bytes(file.toPath());
        if (secret == null || secret.length < DigestKey.MIN_SECRET_BYTES) {
            throw new IOException(file + " is no key: it has less than " + DigestKey.MIN_SECRET_BYTES + " bytes; remove it");
        }
        DigestKey key = DigestKey.hmac(secret);
        Arrays.fill(secret, (byte) 0);
        return key;
    }

    private static void write(Path file, byte[] bytes) throws IOException {
        try (FileChannel out = FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer all = ByteBuffer.wrap(bytes);
            while (all.hasRemaining()) {
                out.write(all);
            }
            out.force(true);
        }
    }

    private static void sync(File directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory.toPath(), StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
