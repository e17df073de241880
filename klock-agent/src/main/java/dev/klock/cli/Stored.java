package dev.klock.cli;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.Store;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.cli.log.LogFiles;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Finds the session and the path that a command line means. */
final class Stored {
    private Stored() {
    }

    /**
     * The session named, or the last one that changed something.
     *
     * @throws IOException none is named, and the journal of the last one cannot be read whole: an older one must not be taken for it
     */
    static Store.Session session(String named, Path home, HostFiles files) throws UsageException, IOException {
        List<Store.Session> all = sessions(home, files);
        if (named != null) {
            String id = SessionClaim.fileName(named);
            for (Store.Session s : all) {
                if (s.id().equals(id) || s.id().equals(named)) {
                    return s;
                }
            }
            throw new UsageException("there are no images of a session " + named + " in " + home + "; see java -jar klock.jar sessions");
        }
        Store.Session last = null;
        Store.Session whole = null;
        for (Store.Session s : all) {
            if (s.damage() != null || s.touched() > 0) {
                last = last == null || s.startedMs() >= last.startedMs() ? s : last;
            }
            if (s.damage() == null && s.touched() > 0) {
                whole = whole == null || s.startedMs() >= whole.startedMs() ? s : whole;
            }
        }
        if (last == null) {
            throw new UsageException("there are no images of any session in " + home + ": none changed anything, or backups prune has removed them");
        }
        if (last.damage() != null) {
            throw new IOException("the last session is " + last.id() + ", and " + last.damage() + "; say which is meant: --session " + last.id()
                    + " for what is known of it" + (whole == null ? "" : ", --session " + whole.id() + " for the last one that is whole"));
        }
        String gone = later(home, all, last);
        if (gone != null) {
            throw new IOException("the last session that changed something is " + gone + ", and its images are gone (there is no " + Store.directory(home, gone)
                    + " any more): what it changed cannot be put back; say which is meant: --session " + last.id() + " for the last one that has images");
        }
        return last;
    }

    /** The last session that left changes after {@code last} began, and has no images any more; null if there is none. */
    private static String later(Path home, List<Store.Session> all, Store.Session last) throws IOException {
        String gone = null;
        long latestMs = last.startedMs();
        for (LogFiles log : LogFiles.all(home)) {
            boolean isOlder = log.file().lastModified() < last.startedMs() || all.stream().anyMatch(s -> s.id().equals(log.name()));
            SessionRecord record = isOlder ? null : SessionRecord.read(log);
            if (record != null && record.leftChanges() && record.startedMs() >= latestMs) {
                gone = log.name();
                latestMs = record.startedMs();
            }
        }
        return gone;
    }

    /** All sessions of which there are images, or were: what has lost its journal is told by its log. */
    static List<Store.Session> sessions(Path home, HostFiles files) throws IOException {
        List<Store.Session> all = new ArrayList<>();
        for (Store.Session s : Store.sessions(home, files)) {
            boolean empty = s.startedMs() == 0 && !s.live();
            File log = new File(home.toFile(), "log/" + s.id() + ".jsonl");
            SessionRecord record = (empty || s.damage() != null) && log.isFile() ? SessionRecord.read(LogFiles.of(log)) : null;
            long begunMs = record == null ? 0 : record.startedMs();
            if (begunMs != 0 && s.damage() != null) {
                all.add(s.damaged(s.damage(), begunMs));
            } else if (begunMs != 0 && (record.rolledBack > 0 || "completed".equals(record.end))) {
                all.add(s.damaged("its journal is gone: what it changed is not known any more", begunMs));
            } else {
                all.add(s);
            }
        }
        return all;
    }

    /** Whether {@code path} is {@code top}, or below it. */
    static boolean isWithin(byte[] path, byte[] top) {
        return Arrays.equals(path, top) || path.length > top.length && (path[top.length] == '/' || top.length == 1)
                && Arrays.equals(path, 0, top.length, top, 0, top.length);
    }

    /**
     * The bytes of the real path that {@code name} means from here, its last component not followed; null for null. Where there is no such name, here or in
     * what the session {@code id} has changed, {@code \xNN} in it is a byte, as in the names that the verbs print.
     *
     * @throws UsageException it is empty, or has characters that did not come through the command line
     */
    static byte[] path(String name, Path home, String id, HostFiles files, LaunchEnvironment environment) throws UsageException {
        if (name == null) {
            return null;
        }
        if (name.isEmpty()) {
            throw new UsageException("PATH is empty; name a file or a directory, or give none to mean everything");
        }
        byte[] literal = real(Names.ofText(name), files, environment);
        byte[] typed = typed(Names.ofText(name), environment);
        if (!Arrays.equals(typed, literal) && !isRecorded(literal, home, id, files) && isRecorded(typed, home, id, files)) {
            return typed;
        }
        String encoding = environment.property("sun.jnu.encoding");
        boolean isUtf8 = encoding == null || encoding.equalsIgnoreCase("UTF-8");
        boolean isLost = name.indexOf('\ufffd') >= 0 || !isUtf8 && name.indexOf('?') >= 0;
        String named = Names.real(Names.ofExact(name));
        if (!isLost && named.equals(Names.ofText(name)) || isThere(literal, files) || isRecorded(literal, home, id, files)) {
            return literal;
        }
        if (isLost) {
            throw new UsageException("PATH " + name + " is not known as it was typed: " + (isUtf8 ? "it is not UTF-8"
                    : "the locale's encoding, " + encoding + ", has not all of its characters; set LC_ALL=C.UTF-8")
                    + (isUtf8 ? "; " : ", or ") + "write each byte that is none of a character as \\xNN, as diff does, or name a directory above it");
        }
        return real(named, files, environment);
    }

    private static byte[] real(String name, HostFiles files, LaunchEnvironment environment) {
        String absolute = absolute(name, environment);
        String real = new Resolver(files).resolve(absolute, false).path();
        return Names.bytes(real == null ? absolute : real);
    }

    private static String absolute(String name, LaunchEnvironment environment) {
        return name.startsWith("/") ? name : Names.ofText(environment.workingDirectory()) + '/' + name;
    }

    /** The name by itself: where a link has been put above it since, this is the one that was changed. */
    private static byte[] typed(String name, LaunchEnvironment environment) {
        List<String> parts = new ArrayList<>();
        for (String part : absolute(name, environment).split("/")) {
            if (part.equals("..")) {
                parts = parts.subList(0, Math.max(0, parts.size() - 1));
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
        }
        return Names.bytes("/" + String.join("/", parts));
    }

    private static boolean isThere(byte[] path, HostFiles files) {
        return files.mode(path) != 0;
    }

    private static boolean isRecorded(byte[] path, Path home, String id, HostFiles files) {
        try (Backups backups = Backups.read(home, id, files)) {
            for (Backups.Image image : backups.images()) {
                if (image.touched() && isWithin(image.path(), path)) {
                    return true;
                }
            }
            return false;
        } catch (IOException unreadable) {
            // which who looks next will say
            return false;
        }
    }
}
