package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;

/** Everything of a file but its content: owner, extended attributes, mode, times. What is not permitted is noted in the plan. */
final class Metadata {
    private final HostFiles files;

    Metadata(HostFiles files) {
        this.files = files;
    }

    /** @param now null for a file just made with mode 0600 */
    void put(Plan p, Path path, FileState image, FileState now) throws IOException {
        FileState before = now != null ? now : FileState.look(files, new Name(files.name(path)));
        boolean owned = owner(p, path, image, before);
        attributes(p, path, image);
        if (image.kind != FileState.LINK) {
            int mode = owned ? image.mode : image.mode & 01777;
            if (FileState.look(files, new Name(files.name(path))).mode != mode) {
                chmod(path, mode);
            }
        }
        try {
            times(path, image);
        } catch (FileSystemException notPermitted) {
            // who may write a file but does not own it cannot give it other times than now
            p.note("its times are not permitted to us");
        }
    }

    /** Whether the file, which is ours, can be given the image's owner. */
    boolean canOwn(Path path, FileState image) throws IOException {
        FileState now = FileState.look(files, new Name(files.name(path)));
        return now.sameOwner(image) || chown(path, image);
    }

    private static boolean chown(Path path, FileState image) {
        try {
            Files.setAttribute(path, "unix:uid", image.uid, LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:gid", image.gid, LinkOption.NOFOLLOW_LINKS);
            return true;
        } catch (IOException notPermitted) {
            return false;
        }
    }

    boolean owner(Plan p, Path path, FileState image, FileState now) {
        if (now.sameOwner(image) || chown(path, image)) {
            return true;
        }
        p.note("owner " + image.uid + ":" + image.gid + " is not permitted to us");
        return false;
    }

    /** For a file that will be read and written: who may do so without owning it needs no other mode. */
    static void open(Path path, int mode) throws IOException {
        try {
            chmod(path, mode);
        } catch (FileSystemException notTheOwner) {
            // what is not permitted by the mode that there is fails by itself
            return;
        }
    }

    static void chmod(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    void times(Path path, FileState image) throws IOException {
        try {
            files.setTimes(files.name(path), image.atime, image.mtime);
        } catch (IOException | UnsupportedOperationException e) {
            if (image.kind != FileState.LINK) {
                throw e;
            }
        }
    }

    /** Extended attributes, ACLs and capabilities; after the owner, whose change drops capabilities, and before the mode, which may shut us out. */
    void attributes(Plan p, Path path, FileState image) throws IOException {
        if (image.attributes == null) {
            return;
        }
        byte[] name = files.name(path);
        byte[][] now = files.attributes(name);
        if (now == null) {
            if (image.attributes.length > 0) {
                p.note("extended attributes could not be read, so they are not put back");
            }
            return;
        }
        for (int i = 0; i < now.length; i += 2) {
            if (valueOf(image.attributes, now[i]) == null) {
                setAttribute(p, name, now[i], null);
            }
        }
        for (int i = 0; i < image.attributes.length; i += 2) {
            byte[] present = valueOf(now, image.attributes[i]);
            if (present == null || !Arrays.equals(present, image.attributes[i + 1])) {
                setAttribute(p, name, image.attributes[i], image.attributes[i + 1]);
            }
        }
    }

    private void setAttribute(Plan p, byte[] name, byte[] attribute, byte[] value) {
        try {
            files.setAttribute(name, attribute, value);
        } catch (IOException notPermitted) {
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

    private static byte[] valueOf(byte[][] attributes, byte[] name) {
        for (int i = 0; i < attributes.length; i += 2) {
            if (Arrays.equals(attributes[i], name)) {
                return attributes[i + 1];
            }
        }
        return null;
    }
}
