package dev.klock.shared;

import java.io.Closeable;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;

/**
 * Tells which of the processes that share a kernel are still there: each holds a lock on a file of its own, which the system takes from it when
 * it ends, however it ends. A number of a process that was given anew means nothing to it, not even this process's own.
 *
 * <p>Such a lock is gone, too, once its process closes any other descriptor of that file, so none of its own process's files is ever opened here.
 */
final class Presence implements Closeable {
    private static final String ENDING = ".alive";
    private static final int MAX_TEXT = 200;

    private final File directory;
    private final String boot;
    private final RandomAccessFile file;
    /** The end of the names of this process's files. */
    private final String ownEnding;

    private Presence(File directory, String boot, RandomAccessFile file, String ownEnding) {
        this.ownEnding = ownEnding;
        this.directory = directory;
        this.boot = boot;
        this.file = file;
    }

    /**
     * From here on until it is closed, or this process ends, {@code writer} is there.
     *
     * @throws IOException the file cannot be made or locked
     */
    static Presence of(long writer, File directory, String boot) throws IOException {
        String process = Ancestors.own();
        // its number alone would be that of whoever was PID 1 of the container before
        String ending = '.' + process.replace(' ', '-') + ENDING;
        File own = new File(directory, boot + '.' + Long.toHexString(writer) + ending);
        RandomAccessFile file = new RandomAccessFile(own, "rw");
        try {
            if (file.getChannel().tryLock() == null) {
                throw new IOException(own + " is locked by another process");
            }
            file.writeBytes(process);
            return new Presence(directory, boot, file, ending);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Whether {@code writer}'s process has ended. False where that cannot be told: no file of it is there any more. */
    boolean isGone(long writer) {
        String[] names = directory.list();
        boolean any = false;
        for (int i = 0; names != null && i < names.length; i++) {
            if (isOf(writer, names[i])) {
                any = true;
                if (isThere(names[i])) {
                    return false;
                }
            }
        }
        return any;
    }

    private boolean isOf(long writer, String name) {
        return name.endsWith(ENDING) && name.startsWith(boot + '.' + Long.toHexString(writer) + '.');
    }

    private boolean isThere(String name) {
        return isOwn(name) || isLocked(new File(directory, name).toPath());
    }

    private boolean isOwn(String name) {
        return name.endsWith(ownEnding);
    }

    /** The name of {@code writer}'s process, as {@link Ancestors} has it; null if it is not there, or cannot be known. Not of one in this process. */
    String processOf(long writer) {
        String[] names = directory.list();
        for (int i = 0; names != null && i < names.length; i++) {
            if (isOf(writer, names[i]) && !isOwn(names[i]) && isThere(names[i])) {
                return text(new File(directory, names[i]));
            }
        }
        return null;
    }

    private static String text(File file) {
        try (InputStream in = new FileInputStream(file)) {
            return new String(in.readNBytes(MAX_TEXT), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return null;
        }
    }

    /** Removes the files of those who have ended, but for {@code asked}: it will be asked for whether they have. */
    void tidy(Collection<Long> asked) {
        String[] names = directory.list();
        for (int i = 0; names != null && i < names.length; i++) {
            if (!names[i].endsWith(ENDING)) {
                continue;
            }
            String[] parts = names[i].split("\\.");
            boolean isOfThisBoot = parts.length == 4 && parts[0].equals(boot);
            if (!isOfThisBoot || !isAsked(parts[1], asked) && !isThere(names[i])) {
                new File(directory, names[i]).delete();
            }
        }
    }

    private static boolean isAsked(String writer, Collection<Long> asked) {
        try {
            return asked.contains(Long.parseUnsignedLong(writer, 16));
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static boolean isLocked(Path path) {
        // a shared lock: two that look at the same moment are not in each other's way
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ); FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
            return lock == null;
        } catch (NoSuchFileException gone) {
            return false;
        } catch (IOException | OverlappingFileLockException unknown) {
            return true;
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            // closed is what it was to be
        }
    }
}
