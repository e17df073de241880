package dev.klock.agent.cache;

import java.io.DataOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * The files klock keeps in the user's cache directory.
 *
 * <p>Who can write here can widen a scope or change java.base. So the directory is 0700 and its user's, a file in it counts only if it is
 * a regular one of the same user that nobody else may write, and in every mode the program is kept out of the place as it is kept out of
 * {@code .klock}, whether it exists or not. There is no signature: a key that this process can read without asking is one that anybody
 * who can write here can read as well, and the JDK's HMAC costs 30 ms CPU before {@code main}.
 *
 * <p>A file is: magic number, the identity of the klock.jar that wrote it, the length of its content, the content, and a CRC32 of all
 * that. Whatever is damaged, cut short, somebody else's, or another build's counts as absent, and is written again: to a draft that is
 * renamed, so that nobody sees half a file. A place that cannot be made, read or written is no error.
 *
 * <p>Used by the premain thread only.
 */
public final class UserCache {
    private static final int MAGIC = 0x4B4C4301;
    /** Files kept; when one is added to as many, the oldest goes. */
    private static final int MAX_FILES = 48;
    private static final int TYPE_AND_PERMISSIONS = 0177777;
    private static final int PRIVATE_FILE = 0100600;

    private final File directory;
    private final byte[] identity;

    private UserCache(File directory, byte[] identity) {
        this.directory = directory;
        this.identity = identity;
    }

    /** The cache in {@code directory}, which exists, is this user's and 0700; null if that is null or this klock is not one of a klock.jar. */
    public static UserCache of(File directory) {
        byte[] identity = directory == null ? null : identityOfThisJar();
        return identity == null ? null : new UserCache(directory, identity);
    }

    /** For tests: a cache in {@code directory} for the build {@code identity}. */
    static UserCache in(File directory, byte[] identity) {
        return new UserCache(directory, identity);
    }

    /** What was kept as {@code name}; null if nothing that can be trusted was. */
    public byte[] get(String name) {
        File file = new File(directory, name);
        try (FileInputStream in = new FileInputStream(file)) {
            return isPrivate(file) ? content(in) : null;
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /** Keeps {@code content} as {@code name} (letters, digits, dots and dashes), or does nothing if that cannot be done. */
    public void put(String name, byte[] content) {
        File draft = null;
        try {
            sweep();
            draft = new File(directory, "draft-".concat(Long.toHexString(System.nanoTime())));
            Files.createFile(draft.toPath(), PosixFilePermissions.asFileAttribute(
                    EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE)));
            try (FileOutputStream out = new FileOutputStream(draft)) {
                out.write(framed(content));
            }
            if (draft.renameTo(new File(directory, name))) {
                draft = null;
            }
        } catch (IOException | RuntimeException e) {
            // the next start works it out again
        } finally {
            if (draft != null) {
                draft.delete();
            }
        }
    }

    /** A file name for {@code key}, which may be of any characters; two keys may share one, so the content must hold its key. */
    public String name(String kind, String key) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < key.length(); i++) {
            hash = (hash ^ key.charAt(i)) * 0x100000001b3L;
        }
        for (int i = 0; i < identity.length; i++) {
            hash = (hash ^ identity[i] & 0xFF) * 0x100000001b3L;
        }
        return kind.concat("-").concat(Long.toHexString(hash));
    }

    private byte[] framed(byte[] content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(content.length + 64);
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(MAGIC);
        out.write(identity);
        out.writeInt(content.length);
        out.write(content);
        CRC32 sum = new CRC32();
        sum.update(bytes.toByteArray());
        out.writeInt((int) sum.getValue());
        return bytes.toByteArray();
    }

    /** What {@link #framed} made the file of; null if this build did not. */
    private byte[] content(FileInputStream in) throws IOException {
        byte[] all = in.readAllBytes();
        int head = 8 + identity.length;
        if (all.length < head + 4 || int4(all, 0) != MAGIC || !Arrays.equals(all, 4, 4 + identity.length, identity, 0, identity.length)
                || int4(all, head - 4) != all.length - head - 4) {
            return null;
        }
        CRC32 sum = new CRC32();
        sum.update(all, 0, all.length - 4);
        return int4(all, all.length - 4) == (int) sum.getValue() ? Arrays.copyOfRange(all, head, all.length - 4) : null;
    }

    private static int int4(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 24 | (bytes[at + 1] & 0xFF) << 16 | (bytes[at + 2] & 0xFF) << 8 | bytes[at + 3] & 0xFF;
    }

    /** What stood here before the directory was made private may be anybody's, and a link may lead anywhere. */
    private boolean isPrivate(File file) throws IOException {
        Map<String, Object> status = Files.readAttributes(file.toPath(), "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        return ((Integer) status.get("mode") & TYPE_AND_PERMISSIONS) == PRIVATE_FILE
                && status.get("uid").equals(Files.getAttribute(directory.toPath(), "unix:uid"));
    }

    private void sweep() {
        File[] files = directory.listFiles();
        if (files == null || files.length < MAX_FILES) {
            return;
        }
        File oldest = files[0];
        for (int i = 1; i < files.length; i++) {
            if (files[i].lastModified() < oldest.lastModified()) {
                oldest = files[i];
            }
        }
        oldest.delete();
    }

    private static byte[] identityOfThisJar() {
        try (InputStream in = UserCache.class.getClassLoader().getResourceAsStream("identity")) {
            return in == null ? null : in.readAllBytes();
        } catch (IOException e) {
            return null;
        }
    }
}
