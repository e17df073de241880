package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Everything of a file but its content: owner, extended attributes, mode, times. What is not permitted is noted in the plan; what fails for a
 * reason that may pass, as a full disk, fails.
 */
final class Metadata {
    private static final String[] PASSING = {"No space left on device", "Disk quota exceeded", "Input/output error", "Read-only file system",
        "Too many open files", "Cannot allocate memory"};

    private final HostFiles files;

    Metadata(HostFiles files) {
        this.files = files;
    }

    /**
     * Has a file come back with the mode, the owner and the further attributes that somebody else gave it after the session left it, which is
     * noted. What they made of attributes that it had is in what gives way.
     */
    void keepTheirs(Plan p) throws IOException {
        FileState image = p.e.image;
        FileState left = p.e.left;
        FileState now = p.now;
        List<String> kept = new ArrayList<>();
        FileState like = image;
        if (now.mode != left.mode && now.mode != image.mode) {
            like = like.withOwnerAndMode(image.uid, image.gid, now.mode);
            kept.add("mode " + Integer.toOctalString(now.mode));
        }
        if (!now.sameOwner(left) && !now.sameOwner(image)) {
            like = like.withOwnerAndMode(now.uid, now.gid, like.mode);
            kept.add("owner " + now.uid + ':' + now.gid);
        }
        byte[][] theirs = image.attributes == null ? null : files.attributes(p.e.name.bytes);
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; theirs != null && i < theirs.length; i += 2) {
            if (valueOf(image.attributes, theirs[i]) == null) {
                all.add(theirs[i]);
                all.add(theirs[i + 1]);
                kept.add("attribute " + Name.show(theirs[i]));
            }
        }
        if (!all.isEmpty()) {
            all.addAll(Arrays.asList(image.attributes));
            like = like.withAttributes(all.toArray(new byte[0][]));
        }
        if (!kept.isEmpty()) {
            p.like = like;
            p.note(String.join(", ", kept) + " left as somebody else set it since");
        }
    }

    /** @param now null for a file just made with mode 0600 */
    void put(Plan p, Held object, FileState imaged, FileState now) throws IOException {
        FileState image = p.like == null ? imaged : p.like;
        FileState before = now != null ? now : object.look();
        boolean owned = owner(p, object, image, before);
        attributes(p, object, image);
        if (image.kind != FileState.LINK) {
            int mode = owned ? image.mode : image.mode & 01777;
            if (object.look().mode != mode) {
                object.chmod(mode);
            }
        }
        times(p, object, image);
    }

    void times(Plan p, Held object, FileState image) throws IOException {
        try {
            object.times(image.atime, image.mtime);
        } catch (FileSystemException notPermitted) {
            failIfPassing(notPermitted);
            // who may write a file but does not own it cannot give it other times than now
            p.note("its times are not permitted to us");
        }
    }

    /** Whether the file, which is ours, can be given the image's owner. */
    boolean canOwn(Held object, FileState image) throws IOException {
        return object.look().sameOwner(image) || chown(object, image);
    }

    private static boolean chown(Held object, FileState image) throws IOException {
        try {
            object.chown(image.uid, image.gid);
            return true;
        } catch (IOException notPermitted) {
            failIfPassing(notPermitted);
            return false;
        }
    }

    /** The next run may do what was not done for one of these reasons. */
    private static void failIfPassing(IOException failed) throws IOException {
        String reason = Plan.reason(failed);
        for (String passing : PASSING) {
            if (reason.contains(passing)) {
                throw failed;
            }
        }
    }

    boolean owner(Plan p, Held object, FileState image, FileState now) throws IOException {
        if (now.sameOwner(image) || chown(object, image)) {
            return true;
        }
        p.note("owner " + image.uid + ":" + image.gid + " is not permitted to us");
        return false;
    }

    /** Extended attributes, ACLs and capabilities; after the owner, whose change drops capabilities, and before the mode, which may shut us out. */
    void attributes(Plan p, Held object, FileState image) throws IOException {
        if (image.attributes == null) {
            return;
        }
        int fd = object.forAttributes();
        try {
            byte[][] now = fd >= 0 ? files.attributes(fd) : object.isByName() ? files.attributes(object.name()) : null;
            if (now == null) {
                if (image.attributes.length > 0) {
                    p.note("extended attributes could not be read, so they are not put back");
                }
                return;
            }
            for (int i = 0; i < now.length; i += 2) {
                if (valueOf(image.attributes, now[i]) == null) {
                    setAttribute(p, object, fd, now[i], null);
                }
            }
            for (int i = 0; i < image.attributes.length; i += 2) {
                byte[] present = valueOf(now, image.attributes[i]);
                if (present == null || !Arrays.equals(present, image.attributes[i + 1])) {
                    setAttribute(p, object, fd, image.attributes[i], image.attributes[i + 1]);
                }
            }
        } finally {
            if (fd >= 0) {
                files.close(fd);
            }
        }
    }

    private void setAttribute(Plan p, Held object, int fd, byte[] attribute, byte[] value) throws IOException {
        try {
            if (fd >= 0) {
                files.setAttribute(fd, attribute, value);
            } else {
                files.setAttribute(object.name(), attribute, value);
            }
        } catch (IOException notPermitted) {
            failIfPassing(notPermitted);
            p.note("attribute " + Name.show(attribute) + ": " + Plan.reason(notPermitted));
        }
    }

    /** Whether the path has the attributes of its image. */
    boolean sameAttributes(Entry e) throws IOException {
        byte[][] was = e.image.attributes;
        if (was == null) {
            return true;
        }
        byte[][] now = files.attributes(e.name.bytes);
        return now == null || Arrays.deepEquals(was, now);
    }

    /** What {@code attributes}, names and values in turn, hold under the name; null for nothing. */
    static byte[] valueOf(byte[][] attributes, byte[] name) {
        for (int i = 0; i < attributes.length; i += 2) {
            if (Arrays.equals(attributes[i], name)) {
                return attributes[i + 1];
            }
        }
        return null;
    }
}
