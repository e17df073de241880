package dev.klock.agent.config;

import dev.klock.agent.log.Stderr;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the manifest of a launch.
 *
 * <p>One that was named ({@code manifest=}, {@code -Dklock.manifest}, {@code KLOCK_MANIFEST}) must be there. Otherwise {@code klock.yaml},
 * {@code klock.yml} or {@code klock.json} is looked for in the working directory and then in each parent up to the repository root, the
 * first directory with a {@code .git}; without a repository in the working directory only, because then nothing says where the
 * project ends.
 *
 * <p>A manifest decides what a program may do, so one that was merely found must not be another user's: a directory or manifest that
 * belongs to somebody else than this process's user or root, or that everybody may write to (such as {@code /tmp}), is refused where it holds the
 * manifest and ends the search above the working directory. Naming the manifest is always possible.
 */
public final class ManifestLocator {
    /** The names looked for, in this order. */
    private static final String[] NAMES = {"klock.yaml", "klock.yml", "klock.json"};

    private ManifestLocator() {
    }

    /** A manifest was found that has to be named to be used. */
    public static final class Distrusted extends UsageException {
        private static final long serialVersionUID = 1;

        private final String what;

        Distrusted(String what) {
            super(what + "; give manifest=PATH if it is what you want");
            this.what = what;
        }

        /** The same for somebody who names it otherwise, or something else. */
        public UsageException advising(String remedy) {
            return new UsageException(what + "; " + remedy);
        }
    }

    /**
     * The manifest's absolute path, null if none was named and none is found.
     *
     * @throws UsageException a named one is missing, unreadable or no regular file; a found one is not to be trusted
     */
    public static File locate(LaunchOptions options, LaunchEnvironment environment) throws UsageException {
        String named = options.text(Option.MANIFEST);
        if (named != null) {
            File file = environment.file(named);
            requireReadable(file, options);
            return file;
        }
        return search(new File(environment.workingDirectory()), FileStatus.user(), options);
    }

    /** For people: where there is no manifest, and what was not looked at; when {@link #locate} has found none. */
    public static String nowhere(LaunchEnvironment environment) {
        File workingDirectory = new File(environment.workingDirectory());
        int user = FileStatus.user();
        File root = repositoryRoot(workingDirectory, user);
        StringBuilder text = new StringBuilder("no manifest: there is no klock.yaml, klock.yml or klock.json in ").append(workingDirectory);
        if (!root.equals(workingDirectory)) {
            text.append(" or above it up to the repository root ").append(root);
        } else if (!new File(workingDirectory, ".git").exists()) {
            text.append(", and nothing above it was looked at, since it is in no repository");
        }
        for (File dir = root.getParentFile(); dir != null; dir = dir.getParentFile()) {
            List<File> above = all(dir);
            if (!above.isEmpty()) {
                return text.append(" (").append(above.get(0)).append(" is there, and may be named)").toString();
            }
        }
        return text.toString();
    }

    private static File search(File workingDirectory, int user, LaunchOptions options) throws UsageException {
        File root = repositoryRoot(workingDirectory, user);
        for (File dir = workingDirectory; dir != null; dir = dir.getParentFile()) {
            List<File> found = all(dir);
            if (!found.isEmpty()) {
                File manifest = found.get(0);
                requireTrusted(dir, dir, user);
                requireTrusted(manifest, manifest, user);
                requireReadable(manifest, options);
                if (found.size() > 1) {
                    String others = found.size() == 2 ? found.get(1).getName() + " beside it is"
                            : found.get(1).getName() + " and " + found.get(2).getName() + " beside it are";
                    Stderr.warn(manifest + " is the manifest; " + others + " not read: keep one of them");
                }
                return manifest;
            }
            if (dir.equals(root)) {
                return null;
            }
        }
        return null;
    }

    /** The nearest directory at or above that holds a {@code .git}, if all on the way can be trusted; else the directory itself. */
    private static File repositoryRoot(File workingDirectory, int user) {
        for (File dir = workingDirectory; dir != null; dir = dir.getParentFile()) {
            if (distrust(dir, user) != null) {
                return workingDirectory;
            }
            if (new File(dir, ".git").exists()) {
                return dir;
            }
        }
        return workingDirectory;
    }

    private static List<File> all(File dir) {
        List<File> found = new ArrayList<>(1);
        for (String name : NAMES) {
            File file = new File(dir, name);
            // a link to nothing was meant to be a manifest too
            if (file.exists() || Files.isSymbolicLink(file.toPath())) {
                found.add(file);
            }
        }
        return found;
    }

    private static void requireTrusted(File suspect, File named, int user) throws UsageException {
        String why = distrust(suspect, user);
        if (why != null) {
            throw new Distrusted(named + " is not used unless it is named: " + why);
        }
    }

    private static String distrust(File file, int user) {
        try {
            FileStatus status = FileStatus.of(file, true);
            return status == null ? "it leads nowhere" : status.distrust(user);
        } catch (IOException e) {
            return "it cannot be looked at";
        }
    }

    private static void requireReadable(File file, LaunchOptions options) throws UsageException {
        String wrong;
        try {
            FileStatus status = FileStatus.of(file, true);
            if (status == null) {
                wrong = Files.isSymbolicLink(file.toPath()) ? "is a link to a file that does not exist" : "does not exist";
            } else if (!status.isRegular()) {
                wrong = status.isDirectory() ? "is a directory" : "is not a regular file";
            } else {
                wrong = file.canRead() ? null : "cannot be read: permission denied";
            }
        } catch (IOException e) {
            String reason = Home.reason(e);
            wrong = reason.startsWith("too many levels") ? "is a link that leads back to itself" : "cannot be looked at: " + reason;
        }
        if (wrong != null) {
            throw new UsageException("manifest " + file + " " + wrong + "; " + remedy(file, options));
        }
    }

    private static String remedy(File file, LaunchOptions options) {
        if (options.text(Option.MANIFEST) == null) {
            return "make it a file that this user can read, or take it away";
        }
        Origin origin = options.origin(Option.MANIFEST);
        String by = origin == Origin.PROPERTY ? " in -Dklock.manifest" : origin == Origin.ENVIRONMENT ? " in KLOCK_MANIFEST" : "";
        File near = file.isDirectory() ? file : file.getParentFile();
        List<File> found = near == null ? new ArrayList<>() : all(near);
        File beside = found.isEmpty() ? null : found.get(0);
        return "name one that this user can read".concat(by).concat(beside == null || beside.equals(file) ? "" : ": did you mean " + beside + "?");
    }
}
