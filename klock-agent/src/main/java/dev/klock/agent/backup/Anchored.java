package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files of a rollback, by names through which no link leads elsewhere, whenever it is put there (H25, C32).
 *
 * <p>A look at the directories above a name proves nothing: before the call that follows, who may write in one of them can put a link to
 * another directory in its place, and what runs with more rights than he has then makes, overwrites and removes files there for him. So each
 * directory is opened first, with a descriptor that stands for it and allows nothing else, and what the kernel says of the way to it
 * ({@code /proc/self/fd/N}) must be its name to the byte, that is without any link. Everything in it is then done as
 * {@code /proc/self/fd/N/last}, which the kernel takes from the directory itself. A directory that is not there, or is led to by a link, is
 * reached as one that can never be there, below a descriptor that no process can have: what is done there fails as in a directory
 * that is gone.
 *
 * <p>Before each look the way to an open directory is compared again, so that one that was moved is not used any longer, as far as that can
 * be seen; between the comparison and the use it may be moved, but it stays the directory that was there, and to move one somewhere takes
 * the right to write in it. Descriptors are kept for the directories used last. One in a {@link Path} that was given out stays open until
 * {@link #rest}, as the number must not come to mean another directory.
 *
 * <p>Where there is no {@code /proc} or no such descriptor, names are used as they are. For one thread.
 */
final class Anchored implements HostFiles, AutoCloseable {
    private static final String PREFIX = "/proc/self/fd/";
    private static final byte[] PREFIX_BYTES = PREFIX.getBytes(StandardCharsets.US_ASCII);
    /** No process can have that many descriptors (the kernel's own limit is below it), so that nothing is and nothing can be made there. */
    private static final byte[] NOWHERE = link(Integer.MAX_VALUE);

    /** Directories kept open, at most. */
    private static final int MOST = 64;
    /** As many are kept open where descriptors are few. */
    private static final int LEAST = 2;
    /** What share of the descriptors that are free may be theirs: files are opened as well. */
    private static final int SHARE = 4;
    /** How often what is moved while it is looked at is looked at. */
    private static final int MAX_LOOKS = 10;

    private static final class Anchor {
        final byte[] directory;
        final int fd;
        final byte[] link;
        boolean givenOut;

        Anchor(byte[] directory, int fd) {
            this.directory = directory;
            this.fd = fd;
            this.link = link(fd);
        }
    }

    private final HostFiles files;
    private final Path own;
    private final Name ownName;
    /** Not if it is gone, or somebody has put a link of his own where klock keeps its sessions: then by its name. */
    private final boolean ownIsReached;
    private final boolean works;
    /** Of which files are that this process makes; of no meaning where names are used. */
    private final int self;
    /** By the directory's name, the one used last at the end. */
    private final Map<Name, Anchor> anchors = new LinkedHashMap<>(16, 0.75f, true);
    /** Of names given out, whose directory is another one by now. */
    private final List<Anchor> left = new ArrayList<>();
    private int givenOut;
    private final int most;

    /** For what has nothing to do with klock's own files. */
    Anchored(HostFiles files) {
        this(files, null, null);
    }

    /** @param own klock's own directory, {@code ownName} its real name */
    Anchored(HostFiles files, Path own, Name ownName) {
        this.files = files;
        this.own = own;
        this.ownName = ownName;
        long[] process = null;
        boolean can = false;
        try {
            int fd = files.hold(new byte[] {'/'}, true);
            can = fd >= 0 && Arrays.equals(files.readLink(link(fd)), new byte[] {'/'});
            process = can ? files.followed("/proc/self".getBytes(StandardCharsets.US_ASCII)) : null;
            if (fd >= 0) {
                files.close(fd);
            }
        } catch (IOException none) {
            can = false;
        }
        works = can && process != null;
        self = works ? (int) process[HostFiles.UID] : 0;
        most = works ? Math.max(LEAST, Math.min(MOST, free() / SHARE)) : MOST;
        ownIsReached = ownName != null && reaches(ownName);
    }

    /** Descriptors that this process may still have; a guess where that is not told. */
    private static int free() {
        int free = MOST;
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of(PREFIX))) {
            for (String line : Files.readAllLines(Path.of("/proc/self/limits"), StandardCharsets.ISO_8859_1)) {
                if (line.startsWith("Max open files")) {
                    String soft = line.substring("Max open files".length()).trim().split(" ", 2)[0];
                    free = soft.equals("unlimited") ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE, Long.parseLong(soft));
                }
            }
            for (Path each : open) {
                free -= each == null ? 0 : 1;
            }
        } catch (IOException | RuntimeException untold) {
            return MOST;
        }
        return free;
    }

    /** The name that leads to what the descriptor stands for. */
    static byte[] link(int fd) {
        return PREFIX.concat(Integer.toString(fd)).getBytes(StandardCharsets.US_ASCII);
    }

    /** What people can read of a text that may have names in it that are given out here: the directory's own name, while it is open. */
    static String readable(String text) {
        int at = text.indexOf(PREFIX);
        if (at < 0) {
            return text;
        }
        StringBuilder out = new StringBuilder();
        int from = 0;
        for (; at >= 0; at = text.indexOf(PREFIX, from)) {
            int end = at + PREFIX.length();
            while (end < text.length() && Character.isDigit(text.charAt(end))) {
                end++;
            }
            out.append(text, from, at);
            try {
                String directory = Files.readSymbolicLink(Path.of(text.substring(at, end))).toString();
                out.append(directory.equals("/") ? "" : directory);
            } catch (IOException | RuntimeException closed) {
                // the name in its directory has to do
                end += end < text.length() && text.charAt(end) == '/' ? 1 : 0;
            }
            from = end;
        }
        return out.append(text, from, text.length()).toString();
    }

    /** No {@link Path} that was given out is used from here on. */
    void rest() {
        for (Anchor a : left) {
            files.close(a.fd);
        }
        left.clear();
        if (givenOut > 0) {
            for (Anchor a : anchors.values()) {
                a.givenOut = false;
            }
            givenOut = 0;
            trim(most);
        }
    }

    /** Whether it is time for a {@link #rest}. */
    boolean isCrowded() {
        return givenOut >= 2 * most;
    }

    @Override
    public void close() {
        rest();
        trim(0);
    }

    private void trim(int most) {
        Iterator<Anchor> all = anchors.values().iterator();
        while (anchors.size() > most && all.hasNext()) {
            Anchor a = all.next();
            if (!a.givenOut) {
                all.remove();
                files.close(a.fd);
            }
        }
    }

    // --- names

    /** Null if the directory is not there or its name leads elsewhere. */
    private Anchor anchor(Name directory, boolean giveOut) throws IOException {
        Anchor a = anchors.get(directory);
        // what is given out again was compared by the look before
        if (a != null && !(giveOut && a.givenOut) && !leads(a)) {
            anchors.remove(directory);
            if (a.givenOut) {
                left.add(a);
            } else {
                files.close(a.fd);
            }
            a = null;
        }
        if (a == null) {
            int fd = holdDirectory(directory.bytes);
            if (fd < 0) {
                return null;
            }
            a = new Anchor(directory.bytes, fd);
            if (!leads(a)) {
                files.close(fd);
                return null;
            }
            trim(most - 1);
            anchors.put(directory, a);
        }
        if (giveOut && !a.givenOut) {
            a.givenOut = true;
            givenOut++;
        }
        return a;
    }

    /** Whether the directory is where its name says, with no link on the way. */
    private boolean leads(Anchor a) {
        return Arrays.equals(files.readLink(a.link), a.directory);
    }

    private int holdDirectory(byte[] directory) throws IOException {
        try {
            return files.hold(directory, true);
        } catch (IOException failed) {
            if (!Rollback.isOutOfDescriptors(failed)) {
                throw failed;
            }
            trim(0);
            return files.hold(directory, true);
        }
    }

    /** The same name, from its directory. */
    private byte[] from(byte[] name, boolean giveOut) throws IOException {
        if (!works || name.length < 2 || name[0] != '/' || isGivenOut(name)) {
            return name;
        }
        Name whole = new Name(name);
        return inside(anchor(whole.parent(), giveOut), whole.last());
    }

    private static byte[] inside(Anchor a, byte[] last) {
        return new Name(a == null ? NOWHERE : a.link).child(last).bytes;
    }

    private static boolean isGivenOut(byte[] name) {
        return name.length > PREFIX_BYTES.length && Arrays.equals(name, 0, PREFIX_BYTES.length, PREFIX_BYTES, 0, PREFIX_BYTES.length);
    }

    /**
     * Good until {@link #rest}.
     *
     * @throws UncheckedIOException if the directory cannot be reached although it is there, or no descriptor is left
     */
    @Override
    public Path path(byte[] name) {
        try {
            return files.path(from(name, true));
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /** For what is opened itself and not by its name in another directory: no link is followed to it. Good until {@link #rest}. */
    Path directory(Name directory) throws IOException {
        return works ? files.path(inside(anchor(directory, true), new byte[] {'.'})) : files.path(directory.bytes);
    }

    /** The path of a link's text, which is no name of anything here. */
    Path text(byte[] link) {
        return files.path(link);
    }

    /** The same file of klock's own. Good until {@link #rest}. */
    Path own(Path file) {
        if (!ownIsReached || !file.startsWith(own)) {
            return file;
        }
        Name name = ownName;
        for (Path part : own.relativize(file)) {
            name = name.child(files.name(part));
        }
        return path(name.bytes);
    }

    /** Whether the directory is there and no link leads to it; if not so, or that is not known, it has to be looked at. */
    boolean reaches(Name directory) {
        try {
            return works && anchor(directory, false) != null;
        } catch (IOException unreachable) {
            return false;
        }
    }

    /** What is directly in {@code directory}, in no order. */
    List<Name> list(Name directory) throws IOException {
        List<Name> children = new ArrayList<>();
        Path from = works ? files.path(inside(anchor(directory, false), new byte[] {'.'})) : files.path(directory.bytes);
        try (DirectoryStream<Path> list = Files.newDirectoryStream(from)) {
            for (Path child : list) {
                children.add(directory.child(files.name(child.getFileName())));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return children;
    }

    // --- objects

    /**
     * What is at {@code name} and is {@code expected}, whatever has become of it since.
     *
     * @throws NoSuchFileException   if nothing is there
     * @throws Decisions.Obstructed if something else is
     */
    Held hold(byte[] name, FileState expected) throws IOException {
        if (!works) {
            return new Held(files, name);
        }
        Held held = held(name);
        if (!looked(held).sameInode(expected)) {
            held.close();
            throw new Decisions.Obstructed("changed by someone else while it was put back");
        }
        return held;
    }

    /**
     * What was just made at {@code name}: of that kind, with no other name.
     *
     * @param kind as in {@link FileState#kind}
     * @throws IOException if it is something else
     */
    Held holdMade(byte[] name, int kind) throws IOException {
        if (!works) {
            return new Held(files, name);
        }
        Held held = held(name);
        FileState made = looked(held);
        if (made.kind != kind || made.nlink != 1 && kind != FileState.DIRECTORY) {
            held.close();
            throw new IOException("taken away by someone else while it was put back");
        }
        return held;
    }

    /** What it is like; closed if that cannot be told. */
    private static FileState looked(Held held) throws IOException {
        try {
            return held.look();
        } catch (IOException | RuntimeException failed) {
            held.close();
            throw failed;
        }
    }

    private Held held(byte[] name) throws IOException {
        int fd = files.hold(from(name, false), false);
        if (fd < 0) {
            throw new NoSuchFileException(Name.show(name));
        }
        return new Held(files, fd, true);
    }

    /** The file that was made with the channel, which stays open longer; {@code name} is where. */
    Held holdWritten(FileChannel channel, byte[] name) {
        int fd = works ? files.descriptor(channel) : -1;
        return fd < 0 ? new Held(files, name) : new Held(files, fd, false);
    }

    /** Whether it can have been made by this process. */
    boolean isOwn(FileState state) {
        return !works || state.uid == self;
    }

    /** Gives {@code expected}, which is no link, another mode. */
    void chmod(byte[] name, FileState expected, int mode) throws IOException {
        try (Held held = hold(name, expected)) {
            held.chmod(mode);
        }
    }

    // --- HostFiles

    @Override
    public byte[] name(Path path) {
        return files.name(path);
    }

    @Override
    public byte[] readLink(byte[] name) {
        try {
            return files.readLink(from(name, false));
        } catch (IOException unreachable) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        try {
            return files.mode(from(name, false));
        } catch (IOException unreachable) {
            return 0;
        }
    }

    /** @throws IOException also if a link has been put above it: what is there is not looked at, but it is not absent either */
    @Override
    public long[] status(byte[] name) throws IOException {
        byte[] from = from(name, false);
        for (int n = 0; isNowhere(from); n++) {
            Name directory = new Name(name).parent();
            Name wall = wall(directory);
            int mode = wall == null ? FileState.DIRECTORY_BITS : files.mode(wall.bytes);
            if (n == MAX_LOOKS || (mode & FileState.TYPE_BITS) == FileState.LINK_BITS) {
                throw new IOException((wall == null ? directory : wall) + " leads elsewhere and is not followed");
            }
            if (wall != null && (mode & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
                return null;
            }
            // a directory again
            from = from(name, false);
        }
        return files.status(from);
    }

    private static boolean isNowhere(byte[] name) {
        return name.length > NOWHERE.length && Arrays.equals(name, 0, NOWHERE.length, NOWHERE, 0, NOWHERE.length);
    }

    /** The topmost of the directory and those above that is not there or no directory, null if there is none. */
    private Name wall(Name directory) {
        Name wall = null;
        for (Name up = directory; up != null; up = up.parent()) {
            wall = (files.mode(up.bytes) & FileState.TYPE_BITS) == FileState.DIRECTORY_BITS ? wall : up;
        }
        return wall;
    }

    @Override
    public long[] followed(byte[] name) {
        try {
            return files.followed(from(name, false));
        } catch (IOException unreachable) {
            return null;
        }
    }

    @Override
    public long[] status(int fd) {
        return files.status(fd);
    }

    @Override
    public int open(byte[] name) {
        try {
            return files.open(from(name, false));
        } catch (IOException unreachable) {
            return -1;
        }
    }

    @Override
    public byte[][] attributes(int fd) throws IOException {
        return files.attributes(fd);
    }

    @Override
    public int read(int fd, byte[] target, int length) throws IOException {
        return files.read(fd, target, length);
    }

    @Override
    public void close(int fd) {
        files.close(fd);
    }

    @Override
    public int hold(byte[] name, boolean directory) throws IOException {
        return files.hold(from(name, false), directory);
    }

    @Override
    public int reopen(int fd) {
        return files.reopen(fd);
    }

    @Override
    public int descriptor(FileChannel channel) {
        return files.descriptor(channel);
    }

    @Override
    public void setTimes(int fd, long accessedNs, long modifiedNs) throws IOException {
        files.setTimes(fd, accessedNs, modifiedNs);
    }

    @Override
    public void setAttribute(int fd, byte[] attribute, byte[] value) throws IOException {
        files.setAttribute(fd, attribute, value);
    }

    @Override
    public byte[][] attributes(byte[] name) throws IOException {
        return files.attributes(from(name, false));
    }

    @Override
    public void setAttribute(byte[] name, byte[] attribute, byte[] value) throws IOException {
        files.setAttribute(from(name, false), attribute, value);
    }

    @Override
    public void setTimes(byte[] name, long accessedNs, long modifiedNs) throws IOException {
        files.setTimes(from(name, false), accessedNs, modifiedNs);
    }

    @Override
    public void makeSpecial(byte[] name, int mode, long rdev) throws IOException {
        files.makeSpecial(from(name, false), mode, rdev);
    }

    @Override
    public Exception absent() {
        return files.absent();
    }

    @Override
    public void holdReads() {
        files.holdReads();
    }

    @Override
    public boolean resolvesNames(String hostsFile) {
        return files.resolvesNames(hostsFile);
    }

    @Override
    public byte[] workingDirectory() {
        return files.workingDirectory();
    }
}
