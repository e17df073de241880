package dev.klock.cli;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import dev.klock.agent.backup.Backups;
import dev.klock.agent.resolve.Names;
import dev.klock.bridge.HostFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One path that is not what it was before a session. */
final class Difference {
    private static final int CONTEXT_LINES = 3;
    /** git's short names of no file, and of an empty one. */
    private static final String NOTHING = "0000000";
    private static final String EMPTY = "e69de29";
    private static final int FILE_TYPE = 0100000;
    private static final int TYPE = 0170000;

    String name;
    /** {@link #name} for programs. */
    String exactName;
    /** {@code created}, {@code changed} or {@code deleted}. */
    String change;
    String was;
    String is;
    /** What changed of a file besides its text, in words; empty if nothing did, or {@link #was} and {@link #is} have to say it. */
    String beside = "";
    /** What git and patch want to know of a file besides its text, to be read before {@link #lines}; empty if there is no diff. */
    List<String> head = new ArrayList<>();
    /** A unified diff; empty if there is none. */
    List<String> lines = new ArrayList<>();

    private Difference() {
    }

    /**
     * What was at a path before the session against what is there now; null if it is the same.
     *
     * @param maxBytes larger files are compared by size and hash only
     */
    static Difference sinceBefore(Backups backups, Backups.Image image, HostFiles files, long maxBytes) throws IOException {
        return between(backups, image, image.path(), files, maxBytes);
    }

    /** What was at a path before the session against what is at {@code path}; null if it is the same. {@code maxBytes} as above. */
    static Difference between(Backups backups, Backups.Image image, byte[] path, HostFiles files, long maxBytes) throws IOException {
        long[] now = files.status(path);
        boolean file = now != null && (now[HostFiles.MODE] & TYPE) == FILE_TYPE;
        Difference d = new Difference();
        d.name = image.name();
        d.exactName = Names.exact(image.path());
        boolean wasThere = !image.was().equals("nothing");
        d.change = !wasThere ? "created" : now == null ? "deleted" : "changed";
        if (!wasThere && now == null) {
            return null;
        }
        d.was = wasThere ? image.was() + mode(image.mode()) : "nothing";
        d.is = now == null ? "nothing" : kind((int) now[HostFiles.MODE], now[HostFiles.SIZE]) + mode((int) now[HostFiles.MODE] & 07777);
        boolean anotherOwner = wasThere && now != null && (now[HostFiles.UID] != image.uid() || now[HostFiles.GID] != image.gid());
        String owner = anotherOwner ? owner(image.uid(), image.gid()) : "";
        String owned = anotherOwner ? owner(now[HostFiles.UID], now[HostFiles.GID]) : "";
        d.was += owner;
        d.is += owned;
        if (!image.file() && !file) {
            boolean link = now != null && (now[HostFiles.MODE] & TYPE) == 0120000;
            if (link) {
                d.is = "a symbolic link to " + Names.printed(files.readLink(path)) + mode((int) now[HostFiles.MODE] & 07777) + owned;
            }
            return d.was.equals(d.is) ? null : d;
        }
        if (file && !isReadable(files.path(path))) {
            d.is += ", which may not be read";
            return d;
        }
        byte[] before = image.file() ? text(image.size(), maxBytes, out -> backups.copy(image.path(), out)) : new byte[0];
        byte[] after = file ? text(now[HostFiles.SIZE], maxBytes, out -> copy(files.path(path), out)) : new byte[0];
        List<String> old = before == null ? null : lines(before);
        List<String> fresh = after == null ? null : lines(after);
        if (old != null && fresh != null) {
            d.lines = UnifiedDiffUtils.generateUnifiedDiff(image.file() ? quoted('a', image.path()) : "/dev/null",
                    file ? quoted('b', image.path()) : "/dev/null", old, DiffUtils.diff(old, fresh), CONTEXT_LINES);
            d.beside = image.file() && file ? beside(image, now) : wasThere && now != null ? d.was + " -> " + d.is : "";
            d.head = head(image, file ? (int) now[HostFiles.MODE] : 0, !d.lines.isEmpty());
            // an empty side begins at line 0, or patch refuses it
            for (int i = 0; i < d.lines.size() && (old.isEmpty() || fresh.isEmpty()); i++) {
                if (d.lines.get(i).startsWith("@@ ")) {
                    d.lines.set(i, d.lines.get(i).replace("-1,0 ", "-0,0 ").replace("+1,0 ", "+0,0 "));
                }
            }
        } else {
            d.was = image.file() ? d.was + ", SHA-256 " + hex(image.sha256()) : d.was;
            d.is = file ? d.is + ", SHA-256 " + hex(sha(files.path(path))) : d.is;
        }
        return d.lines.isEmpty() && d.was.equals(d.is) ? null : d;
    }

    private static boolean isReadable(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return true;
        } catch (AccessDeniedException shut) {
            return false;
        }
    }

    /** {@code mode} is that of the file that is there now, 0 if there is none. */
    private static List<String> head(Backups.Image image, int mode, boolean hasText) {
        List<String> head = new ArrayList<>();
        int before = image.file() ? FILE_TYPE | image.mode() & 07777 : 0;
        if (before == mode && !hasText) {
            return head;
        }
        head.add("diff --git " + quoted('a', image.path()) + " " + quoted('b', image.path()));
        if (before == 0) {
            head.add("new file mode " + Integer.toOctalString(mode));
        } else if (mode == 0) {
            head.add("deleted file mode " + Integer.toOctalString(before));
        } else if (before != mode) {
            head.add("old mode " + Integer.toOctalString(before));
            head.add("new mode " + Integer.toOctalString(mode));
        }
        if (!hasText && (before == 0 || mode == 0)) {
            // patch takes an empty file for none otherwise
            head.add("index " + (before == 0 ? NOTHING + ".." + EMPTY : EMPTY + ".." + NOTHING));
        }
        return head;
    }

    /** {@code side/path} as git reads it: in quotes if a line could not hold it, or it could be read otherwise. A space ends a name for patch. */
    private static String quoted(char side, byte[] path) {
        String text = side + new String(path, StandardCharsets.UTF_8);
        boolean isPlain = Arrays.equals(text.substring(1).getBytes(StandardCharsets.UTF_8), path);
        for (int i = 0; isPlain && i < text.length(); i++) {
            isPlain = text.charAt(i) > 0x20 && text.charAt(i) != 0x7f && text.charAt(i) != '"' && text.charAt(i) != '\\';
        }
        if (isPlain) {
            return text;
        }
        StringBuilder quoted = new StringBuilder("\"").append(side);
        for (byte b : path) {
            if (b == '"' || b == '\\') {
                quoted.append('\\').append((char) b);
            } else if (b == '\n' || b == '\t' || b == '\r') {
                quoted.append('\\').append(b == '\n' ? 'n' : b == '\t' ? 't' : 'r');
            } else if (b >= 0x20 && b < 0x7f) {
                quoted.append((char) b);
            } else {
                quoted.append(String.format("\\%03o", b & 0xff));
            }
        }
        return quoted.append('"').toString();
    }

    private static String mode(int bits) {
        return ", mode " + Integer.toOctalString(bits);
    }

    private static String beside(Backups.Image image, long[] now) {
        List<String> changes = new ArrayList<>();
        int mode = (int) now[HostFiles.MODE] & 07777;
        if (image.mode() != mode) {
            changes.add("mode " + Integer.toOctalString(image.mode()) + " -> " + Integer.toOctalString(mode));
        }
        if (image.uid() != now[HostFiles.UID] || image.gid() != now[HostFiles.GID]) {
            changes.add("owner " + image.uid() + ":" + image.gid() + " -> " + now[HostFiles.UID] + ":" + now[HostFiles.GID]);
        }
        return String.join(", ", changes);
    }

    private static String owner(long uid, long gid) {
        return ", owner " + uid + ":" + gid;
    }

    private static String kind(int mode, long size) {
        switch (mode & TYPE) {
            case FILE_TYPE: return "a file of " + size + " bytes";
            case 0040000: return "a directory";
            case 0120000: return "a symbolic link";
            case 0010000: return "a FIFO";
            case 0140000: return "a socket";
            default: return "a device";
        }
    }

    private interface Content {
        void to(ByteArrayOutputStream out) throws IOException;
    }

    /** Null if it is too large or not text. */
    private static byte[] text(long size, long maxBytes, Content content) throws IOException {
        if (size > maxBytes) {
            return null;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream((int) size);
        content.to(out);
        byte[] bytes = out.toByteArray();
        for (byte b : bytes) {
            if (b == 0) {
                return null;
            }
        }
        return bytes;
    }

    /** Null if the bytes are not UTF-8. A last line without an end is marked, as diff does. */
    private static List<String> lines(byte[] bytes) {
        String text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
        List<String> lines = new ArrayList<>();
        int from = 0;
        for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
            lines.add(text.substring(from, end));
            from = end + 1;
        }
        if (from < text.length()) {
            lines.add(text.substring(from) + "\n\\ No newline at end of file");
        }
        return lines;
    }

    private static void copy(Path file, ByteArrayOutputStream out) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            in.transferTo(out);
        }
    }

    private static byte[] sha(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            in.transferTo(new DigestOutputStream(java.io.OutputStream.nullOutputStream(), digest));
            return digest.digest();
        } catch (GeneralSecurityException e) {
            throw new IOException("this JVM has no SHA-256", e);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        return hex.toString();
    }
}
