package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;

/** File operations as a program under klock does them: image, effect, left. */
public final class Work {
    static final HostFiles FILES = new TestFiles();
    private final Backups backups;

    Work(Backups backups) {
        this.backups = backups;
    }

    /** The same operations as a child does them, out of klock's sight. */
    static Work ofAChild() {
        return new Work(null);
    }

    static byte[] name(Path p) {
        return FILES.name(p);
    }

    interface Effect {
        void run() throws IOException;
    }

    void on(Path p, Effect effect) throws IOException {
        on(p, effect, false);
    }

    /** What changes the file that is there, or gives it one more name. */
    private void inPlace(Path p, Effect effect) throws IOException {
        on(p, effect, true);
    }

    private void on(Path p, Effect effect, boolean inPlace) throws IOException {
        if (backups == null) {
            effect.run();
            return;
        }
        backups.image(name(p));
        boolean done = false;
        try {
            effect.run();
            done = true;
        } finally {
            over(p, done, inPlace);
        }
    }

    private void over(Path p, boolean done, boolean inPlace) {
        if (!done) {
            backups.leftAsMet(name(p));
        } else if (inPlace) {
            backups.leftInPlace(name(p));
        } else {
            backups.left(name(p));
        }
    }

    void on(Path p, Path q, Effect effect) throws IOException {
        on(p, () -> on(q, effect));
    }

    public void write(Path p, String text) throws IOException {
        write(p, text, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    }

    public void append(Path p, String text) throws IOException {
        write(p, text, StandardOpenOption.APPEND);
    }

    void truncate(Path p) throws IOException {
        write(p, "");
    }

    /** What a descriptor has changed is left while that is open still. */
    private void write(Path p, String text, OpenOption... options) throws IOException {
        OutputStream[] open = new OutputStream[1];
        try {
            on(p, () -> {
                open[0] = Files.newOutputStream(p, options);
                open[0].write(bytes(text));
            });
        } finally {
            if (open[0] != null) {
                open[0].close();
            }
        }
    }

    public void delete(Path p) throws IOException {
        on(p, () -> Files.delete(p));
    }

    void deleteTree(Path p) throws IOException {
        if (Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> list = Files.newDirectoryStream(p)) {
                for (Path c : list) {
                    deleteTree(c);
                }
            }
        }
        delete(p);
    }

    public void mkdir(Path p) throws IOException {
        on(p, () -> Files.createDirectory(p));
    }

    public void rename(Path from, Path to) throws IOException {
        rename(from, to, () -> { }, () -> { });
    }

    /**
     * {@link #rename(Path, Path)}; of a directory, with what others do between its image and the rename, and between that and the notes of it.
     */
    void rename(Path from, Path to, Effect before, Effect after) throws IOException {
        if (backups != null && Files.isDirectory(from, LinkOption.NOFOLLOW_LINKS)) {
            backups.imageTree(name(from), name(to), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
            boolean done = false;
            try {
                backups.image(name(to));
                try {
                    before.run();
                    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
                    done = true;
                } finally {
                    if (!done) {
                        over(to, false, false);
                    }
                }
                after.run();
                backups.moved(name(from), name(to));
            } finally {
                if (!done) {
                    over(from, false, false);
                }
            }
        } else {
            on(from, to, () -> Files.move(from, to, StandardCopyOption.ATOMIC_MOVE));
        }
    }

    void link(Path existing, Path fresh) throws IOException {
        inPlace(existing, () -> on(fresh, () -> Files.createLink(fresh, existing)));
    }

    void symlink(Path link, String text) throws IOException {
        on(link, () -> Files.createSymbolicLink(link, Path.of(text)));
    }

    public void chmod(Path p, String mode) throws IOException {
        inPlace(p, () -> Files.setPosixFilePermissions(p, PosixFilePermissions.fromString(mode)));
    }

    /** Opens a file to append to and leaves it open: closing is never seen. */
    OutputStream open(Path p) throws IOException {
        backups.image(name(p));
        return Files.newOutputStream(p, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    void touch(Path p, long seconds) throws IOException {
        inPlace(p, () -> Files.setLastModifiedTime(p, FileTime.from(java.time.Instant.ofEpochSecond(seconds))));
    }

    static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.UTF_8);
    }
}
