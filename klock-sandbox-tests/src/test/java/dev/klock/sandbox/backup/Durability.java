package dev.klock.sandbox.backup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a disk holds that loses everything not synced, worked out from the system calls of a session and its rollback. At each step the worst
 * is taken: the program's own changes are there at once, klock's bytes and names only after the fsync of their file and of each directory on the
 * way. Knows of klock nothing but the names below its home and the head of a pack's records.
 *
 * <p>The trace is {@code strace -f -y -s 512} of the calls in {@link #CALLS}; the program writes {@link #STRAYS} before it strays.
 */
final class Durability {
    static final String CALLS = "openat,write,pwrite64,copy_file_range,fsync,fdatasync,rename,link,unlink,rmdir,mkdir,symlink,ftruncate,exit_group";
    static final String STRAYS = "now astray";

    private static final Pattern CALL = Pattern.compile("(\\d+) +(\\w+)\\((.*)");
    private static final Pattern UNFINISHED = Pattern.compile("(\\d+) +(\\w+)\\((.*) <unfinished \\.\\.\\.>");
    private static final Pattern RESUMED = Pattern.compile("(\\d+) +<\\.\\.\\. (\\w+) resumed>(.*)");
    private static final Pattern DESCRIPTOR = Pattern.compile("\\d+<([^>]*)>");
    private static final Pattern OPENED = Pattern.compile(".*= (\\d+)<([^>]*)>[^>]*");
    private static final Pattern BY_DESCRIPTOR = Pattern.compile("\"/proc/self/fd/(\\d+)");
    private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final int IMAGE = 3;
    private static final int END = 6;
    private static final int DECISIONS = 8;

    /** One call that succeeded. {@code paths}: what it is about, resolved; {@code text}: the bytes of a write, as strace shows them. */
    record Call(String name, List<String> paths, String text, boolean creates, String line) {
    }

    private final Path root;
    private final String tree;
    private final String home;
    /** Names made and not yet safe, with the directory whose fsync makes them so. */
    private final Map<String, String> unsafeNames = new HashMap<>();
    private final Set<String> unsafeFiles = new HashSet<>();
    private final Set<String> unsafeTree = new HashSet<>();
    private final List<String> written = new ArrayList<>();
    private final Set<String> synced = new HashSet<>();
    private final List<String> problems = new ArrayList<>();
    private boolean straying;

    private Durability(Path root) {
        this.root = root;
        this.tree = root.resolve("w").toString();
        this.home = root.resolve(".klock").toString();
    }

    /** The calls of a trace that did something, in order; a call in two parts counts from its end, for what it is to make safe, and from its begin else. */
    static List<Call> read(Path root, List<String> trace) {
        List<Call> calls = new ArrayList<>();
        Map<String, String> begun = new LinkedHashMap<>();
        Map<String, String> descriptors = new HashMap<>();
        for (String line : trace) {
            Matcher unfinished = UNFINISHED.matcher(line);
            Matcher resumed = RESUMED.matcher(line);
            String whole = line;
            if (unfinished.matches()) {
                begun.put(unfinished.group(1), line.substring(0, line.indexOf(" <unfinished")));
                continue;
            } else if (resumed.matches()) {
                String head = begun.remove(resumed.group(1));
                if (head == null) {
                    continue;
                }
                whole = head + resumed.group(3);
            }
            Matcher call = CALL.matcher(whole);
            int result = whole.lastIndexOf(") ");
            if (call.matches() && result > 0 && whole.indexOf("= -1 ", result) < 0) {
                Matcher opened = OPENED.matcher(whole);
                if (call.group(2).equals("openat") && opened.matches()) {
                    descriptors.put(opened.group(1), opened.group(2));
                }
                calls.add(call(root, call.group(2), resolved(call.group(3), descriptors), whole));
            }
        }
        return calls;
    }

    /** With names that begin with an open directory by that one's name. */
    private static String resolved(String arguments, Map<String, String> descriptors) {
        return BY_DESCRIPTOR.matcher(arguments).replaceAll(by -> Matcher.quoteReplacement(
                "\"" + descriptors.getOrDefault(by.group(1), "/proc/self/fd/" + by.group(1))));
    }

    private static Call call(Path root, String name, String arguments, String line) {
        List<String> paths = new ArrayList<>();
        String text = "";
        if (name.equals("write") || name.equals("pwrite64") || name.equals("fsync") || name.equals("fdatasync") || name.equals("ftruncate")) {
            Matcher descriptor = DESCRIPTOR.matcher(arguments);
            if (descriptor.lookingAt()) {
                paths.add(descriptor.group(1));
            }
            Matcher bytes = TEXT.matcher(arguments);
            text = bytes.find() ? bytes.group(1) : "";
        } else if (name.equals("copy_file_range")) {
            Matcher descriptors = DESCRIPTOR.matcher(arguments);
            while (descriptors.find()) {
                // the second one is written to
                paths.add(0, descriptors.group(1));
            }
        } else {
            Matcher names = TEXT.matcher(arguments);
            while (names.find()) {
                paths.add(root.resolve(names.group(1)).normalize().toString());
            }
        }
        return new Call(name, paths, text, arguments.contains("O_CREAT"), line);
    }

    /** What would be lost, each with the call at which it would; empty if nothing. */
    static List<String> lost(Path root, List<Call> calls) {
        Durability disk = new Durability(root);
        for (Call call : calls) {
            disk.take(call);
        }
        if (!disk.synced.contains(END + " ")) {
            disk.problems.add("at the end the rollback is not on record");
        }
        return disk.problems;
    }

    private void take(Call call) {
        if (call.paths().isEmpty()) {
            return;
        }
        String path = call.paths().get(0);
        switch (call.name()) {
            case "write", "pwrite64", "copy_file_range", "ftruncate" -> write(call, path);
            case "fsync", "fdatasync" -> sync(path);
            case "openat" -> {
                if (isInTree(path) && !call.line().contains("O_RDONLY") && !call.line().contains("O_PATH")) {
                    change(call, path, call.creates());
                } else if (call.creates()) {
                    made(path);
                }
            }
            case "mkdir", "symlink" -> make(call, call.paths().get(call.paths().size() - 1));
            case "unlink", "rmdir" -> remove(call, path);
            case "rename", "link" -> move(call, path, call.paths().get(1));
            default -> {
            }
        }
    }

    private boolean isInTree(String path) {
        return path.equals(tree) || path.startsWith(tree + "/");
    }

    private static String parent(String path) {
        return Path.of(path).getParent().toString();
    }

    private void write(Call call, String path) {
        straying |= call.text().contains(STRAYS);
        if (path.endsWith("/pack")) {
            String record = record(call.text());
            if (record.startsWith(END + " ") && !unsafeTree.isEmpty()) {
                problems.add("the rollback is put on record before it is safe: " + unsafeTree + " at " + call.line());
            }
            written.add(record);
        } else if (isInTree(path) && straying) {
            unsafeFiles.add(path);
            unsafeTree.add(path);
        } else if (path.startsWith(home) && isKept(path)) {
            unsafeFiles.add(path);
        }
    }

    /** The type of a pack's record, and the path it is about, if it begins with one: magic, type, two lengths, a checksum, length and name. */
    private static String record(String shown) {
        byte[] bytes = bytes(shown);
        if (bytes.length < 24 || bytes[0] != 'K') {
            return "";
        }
        java.nio.ByteBuffer buffer = java.nio.ByteBuffer.wrap(bytes);
        int type = buffer.getInt(4);
        int length = bytes.length >= 28 ? buffer.getInt(24) : 0;
        return type + " " + (type == IMAGE && length > 0 && 28 + length <= bytes.length ? new String(bytes, 28, length) : "");
    }

    /** What strace shows of bytes. */
    private static byte[] bytes(String shown) {
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
        for (int i = 0; i < shown.length(); i++) {
            char c = shown.charAt(i);
            if (c != '\\') {
                out.write(c);
                continue;
            }
            char escaped = shown.charAt(++i);
            if (escaped >= '0' && escaped <= '7') {
                int value = 0;
                int digits = 0;
                while (digits < 3 && i < shown.length() && shown.charAt(i) >= '0' && shown.charAt(i) <= '7') {
                    value = value * 8 + shown.charAt(i++) - '0';
                    digits++;
                }
                i--;
                out.write(value);
            } else {
                int known = "abtnvfr".indexOf(escaped);
                out.write(known >= 0 ? 7 + known : escaped);
            }
        }
        return out.toByteArray();
    }

    private void sync(String path) {
        if (path.endsWith("/pack")) {
            synced.addAll(written);
        }
        unsafeFiles.remove(path);
        unsafeTree.remove(path);
        unsafeNames.values().removeIf(directory -> directory.equals(path));
    }

    /** The verification log is no part of what brings anything back, and no lease outlives the machine's boot. */
    private boolean isKept(String path) {
        return !path.startsWith(home + "/log/") && !path.startsWith(home + "/kernel");
    }

    private void made(String path) {
        if (path.equals(home) || path.startsWith(home + "/") && isKept(path)) {
            unsafeNames.put(path, parent(path));
        }
    }

    private void make(Call call, String path) {
        if (isInTree(path)) {
            change(call, path, true);
        } else {
            made(path);
        }
    }

    private void remove(Call call, String path) {
        if (isInTree(path)) {
            change(call, path, true);
            unsafeFiles.remove(path);
            unsafeTree.remove(path);
        } else if (path.contains("/.open/") && !synced.contains(END + " ")) {
            problems.add("the session is no longer found by a recovery, and its rollback not on record, at " + call.line());
        }
        unsafeNames.remove(path);
    }

    private void move(Call call, String from, String to) {
        if (unsafeFiles.contains(from) && !from.contains("/displaced/") && !to.contains("/displaced/")) {
            problems.add("a file gets its name before its bytes are safe, at " + call.line());
        }
        if (isInTree(from)) {
            change(call, from, true);
        }
        if (isInTree(to)) {
            change(call, to, true);
        } else {
            made(to);
        }
    }

    /** A change of the user's tree, by the program or, when it has strayed, by the rollback. {@code name}: of a directory, too. */
    private void change(Call call, String path, boolean name) {
        if (straying) {
            if (!synced.contains(DECISIONS + " ")) {
                problems.add("something is put back before what was decided is on record, at " + call.line());
            }
            if (name) {
                unsafeTree.add(parent(path));
            }
            return;
        }
        if (!synced.contains(IMAGE + " " + path) || name && !synced.contains(IMAGE + " " + parent(path))) {
            problems.add("a change before its image is safe, at " + call.line());
        }
        for (String file : unsafeFiles) {
            if (file.contains("/blob/")) {
                problems.add("a change before the bytes of " + file + " are safe, at " + call.line());
            }
        }
        if (!unsafeNames.isEmpty()) {
            problems.add("a change before these names are safe: " + unsafeNames.keySet() + ", at " + call.line());
        }
    }
}
