package dev.klock.agent.config;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * klock's own directory, {@code .klock}: private to its user because what it holds tells of files that others may not see (K1-19).
 *
 * <p>A directory of that name that is a link, that belongs to somebody else, or that holds something else is refused. Two programs may
 * open the same one at the same time.
 */
public final class Home {
    /** The name of the directory beside the manifest. */
    public static final String NAME = ".klock";

    /** The format of what is inside. */
    public static final int FORMAT = 1;

    private static final String VERSION = "version";
    private static final String IGNORE = ".gitignore";
    private static final String BACKUPS = "backups";
    /** What is in a session's directory below it. */
    private static final Set<String> SESSIONS_OWN = Set.of("lock", "pack", "displaced", "aside", "from", "blob", ".known");
    private static final int PRIVATE = 0700;
    private static final int ROOT = 0;

    private final File directory;

    private Home(File directory) {
        this.directory = directory;
    }

    /**
     * Where the home of a launch is: what {@code home} says, else {@code .klock} beside {@code manifest}, else (manifest null) in the
     * working directory. Touches nothing.
     */
    public static File locate(LaunchOptions options, LaunchEnvironment environment, File manifest) {
        String named = options.text(Option.HOME);
        if (named != null) {
            return environment.file(named);
        }
        return manifest == null ? environment.file(NAME) : new File(manifest.getAbsoluteFile().getParentFile(), NAME);
    }

    /**
     * Opens the home {@code directory}, making it if it is not there.
     *
     * @throws UsageException it cannot be made or written, it is a link or no directory, belongs to another user, holds something
     *     else, or is of another format
     */
    public static Home open(File directory) throws UsageException {
        File place = directory;
        try {
            File parent = directory.getAbsoluteFile().getParentFile();
            if (parent == null || !parent.isDirectory()) {
                throw new UsageException("klock's home " + directory + " cannot be made: " + (parent == null ? "it is the root directory"
                        : parent + " is not a directory"));
            }
            place = new File(parent.getCanonicalFile(), directory.getName());
            FileStatus status = makeIfAbsent(place, "klock's home");
            Home home = new Home(place);
            home.settle(status);
            return home;
        } catch (IOException e) {
            throw new UsageException("klock's home " + place + " cannot be used: " + reason(e)
                    + "; give home=DIRECTORY on a place that can be written");
        }
    }

    /**
     * The home at {@code directory} for a verb of the command line, null if there is none.
     *
     * @param named  somebody has named it, so that root may use that of another user
     * @throws UsageException it is a link or no directory, belongs to another user, holds something else, or is of another format
     */
    public static Home existing(File directory, boolean named) throws UsageException {
        try {
            FileStatus status = FileStatus.of(directory, false);
            if (status == null) {
                return null;
            }
            if (!named || FileStatus.user() != ROOT || status.isLink() || !status.isDirectory()) {
                refuseStrange(directory, status, "klock's home", "--home DIRECTORY");
            }
            Home home = new Home(directory);
            String version = home.version();
            if (version == null) {
                String strange = home.strange(false);
                if (strange == null) {
                    // without images its making was cut short: nothing has been done in it yet
                    return new File(directory, BACKUPS).exists() ? home : null;
                }
                throw new UsageException("klock's home " + directory + " is none: it holds " + Quoted.of(strange) + " and no version file");
            }
            if (!version.isEmpty()) {
                home.requireFormat(version);
            }
            return home;
        } catch (IOException e) {
            throw new UsageException("klock's home " + directory + " cannot be read: " + reason(e));
        }
    }

    /** Its absolute path; the parent's links are resolved. */
    public File directory() {
        return directory;
    }

    /**
     * The directory {@code name} inside, made private if it is not there.
     *
     * @throws UsageException it cannot be made, is a link or no directory, or belongs to another user
     */
    public File directory(String name) throws UsageException {
        File inside = new File(directory, name);
        try {
            makePrivate(inside, "klock's directory");
            return inside;
        } catch (IOException e) {
            throw new UsageException("klock's directory " + inside + " cannot be made: " + reason(e));
        }
    }

    /** Makes {@code dir}, called {@code what} in messages, if it is not there; either way nobody else can look into it afterwards. */
    static void makePrivate(File dir, String what) throws IOException, UsageException {
        tighten(dir, makeIfAbsent(dir, what));
    }

    private static FileStatus makeIfAbsent(File dir, String what) throws IOException, UsageException {
        FileStatus status = FileStatus.of(dir, false);
        if (status == null) {
            try {
                Files.createDirectory(dir.toPath(), privately());
            } catch (FileAlreadyExistsException e) {
                // another program that starts just now was first
            }
            status = FileStatus.of(dir, false);
            if (status == null) {
                throw new NoSuchFileException(dir.getPath());
            }
        }
        refuseStrange(dir, status, what, "home=DIRECTORY");
        return status;
    }

    private static void tighten(File dir, FileStatus status) throws IOException {
        if (status.permissions() != PRIVATE) {
            Files.setPosixFilePermissions(dir.toPath(), ownerOnly());
        }
    }

    private static void refuseStrange(File dir, FileStatus status, String what, String option) throws UsageException {
        if (status.isLink()) {
            throw new UsageException(what + " " + dir + " is a symbolic link; remove it or give " + option);
        }
        if (!status.isDirectory()) {
            throw new UsageException(what + " " + dir + " is not a directory; remove it or give " + option);
        }
        int user = FileStatus.user();
        if (status.owner != user) {
            throw new UsageException(what + " " + dir + " belongs to another user (uid " + status.owner + ", not " + user + "); give " + option);
        }
    }

    private static Set<PosixFilePermission> ownerOnly() {
        return EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);
    }

    private static FileAttribute<Set<PosixFilePermission>> privately() {
        return PosixFilePermissions.asFileAttribute(ownerOnly());
    }

    /** Checks the format, or marks a new directory with it. A directory that is not klock's keeps its mode. */
    private void settle(FileStatus status) throws IOException, UsageException {
        String version = version();
        if (version != null && !version.isEmpty()) {
            requireFormat(version);
            tighten(directory, status);
            requireWritable();
            return;
        }
        String strange = strange(version != null);
        if (strange != null) {
            throw new UsageException("klock's home " + directory + " holds something else (" + Quoted.of(strange)
                    + " and no version file); give home=DIRECTORY, new or empty");
        }
        tighten(directory, status);
        place(IGNORE, "*\n");
        place(VERSION, FORMAT + "\n");
    }

    /**
     * The name of something in it that klock has not put there; null if there is none. {@code settled}: there is a version file, if an
     * empty one: the machine stopped before its text was on the disk, and there may be more of ours. So there may be where the version
     * file was removed, or the whole home, and a rollback made its own place in it again, as long as it holds sessions' images.
     */
    private String strange(boolean settled) throws IOException {
        String[] present = directory.list();
        if (present == null) {
            throw new AccessDeniedException(directory.getPath());
        }
        boolean ourOwn = settled || holdsSessions();
        for (String name : present) {
            boolean ours = name.equals(IGNORE) || name.startsWith(VERSION) || ourOwn && (name.equals("log") || name.equals(BACKUPS));
            if (!ours) {
                return name;
            }
        }
        return null;
    }

    /** Whether it has sessions' images for certain: directories that are as private as klock makes them, with nothing in them but what it puts there. */
    private boolean holdsSessions() throws IOException {
        File backups = new File(directory, BACKUPS);
        String[] sessions = isPrivate(directory) && isPrivate(backups) ? backups.list() : null;
        int found = 0;
        for (int i = 0; sessions != null && i < sessions.length; i++) {
            if (sessions[i].startsWith(".")) {
                continue;
            }
            File session = new File(backups, sessions[i]);
            String[] inside = isPrivate(session) ? session.list() : null;
            if (inside == null || inside.length == 0 || !SESSIONS_OWN.containsAll(Arrays.asList(inside))) {
                return false;
            }
            found++;
        }
        return found > 0;
    }

    private static boolean isPrivate(File dir) throws IOException {
        FileStatus status = FileStatus.of(dir, false);
        return status != null && status.isDirectory() && status.permissions() == PRIVATE && status.owner == FileStatus.user();
    }

    private void requireWritable() throws IOException {
        if (!directory.canWrite()) {
            throw new FileSystemException(directory.getPath(), null, "it cannot be written");
        }
    }

    private void requireFormat(String version) throws UsageException {
        if (!version.equals(Integer.toString(FORMAT))) {
            throw new UsageException("klock's home " + directory + " has format " + Quoted.of(version) + ", this klock knows format " + FORMAT
                    + "; use the klock that made it or give home=DIRECTORY");
        }
    }

    /** The text of the version file, null if there is none. */
    private String version() throws IOException {
        File file = new File(directory, VERSION);
        if (!file.exists()) {
            return null;
        }
        try (InputStream in = new FileInputStream(file)) {
            return new String(in.readNBytes(64), StandardCharsets.UTF_8).trim();
        }
    }

    /** Writes a file that others see complete or not at all; who comes second writes the same. */
    private void place(String name, String text) throws IOException {
        File draft = new File(directory, VERSION + "." + Long.toHexString(System.nanoTime()) + ".new");
        try {
            try (FileOutputStream out = new FileOutputStream(draft)) {
                out.write(text.getBytes(StandardCharsets.UTF_8));
                out.getFD().sync();
            }
            if (!draft.renameTo(new File(directory, name))) {
                throw new FileSystemException(name, null, "cannot be renamed into place");
            }
        } finally {
            draft.delete();
        }
    }

    /** What the system said, without the path and the class name. */
    static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (e instanceof FileSystemException && ((FileSystemException) e).getReason() != null) {
            return lower(((FileSystemException) e).getReason());
        }
        if (e instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        String message = e.getMessage();
        int open = message == null ? -1 : message.lastIndexOf(" (");
        if (open >= 0 && message.endsWith(")")) {
            return lower(message.substring(open + 2, message.length() - 1));
        }
        return message == null ? e.getClass().getSimpleName() : lower(message);
    }

    private static String lower(String text) {
        return text.isEmpty() ? text : Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }
}
