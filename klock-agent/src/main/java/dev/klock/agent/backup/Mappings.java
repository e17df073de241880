package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files that the session has mapped for writing. Each is held, so that its inode number stays its own as long as a mapping may store to it:
 * were the number given to another file, that would be taken for the session's. No call tells the end of a mapping, so it is looked for.
 * Thread-safe.
 */
final class Mappings {
    /** More are not held: each takes a descriptor. */
    private static final int MAX_HELD = 1000;
    private static final int INODE = 4;
    private static final int FIELDS = 6;
    private static final String MAPS = "/proc/self/maps";

    private final HostFiles files;
    private final Map<Long, Mapping> byInode = new HashMap<>();

    Mappings(HostFiles files) {
        this.files = files;
    }

    /** A file that was mapped. */
    static final class Mapping {
        final Entry entry;
        final FileState file;
        /** Stands for the file; to be closed by who gets this from {@link #over}. */
        final int fd;
        /** How often it was mapped. */
        int times;
        /** Whether a mapping of it was seen. */
        private boolean seen;

        private Mapping(Entry entry, FileState file, int fd) {
            this.entry = entry;
            this.file = file;
            this.fd = fd;
        }
    }

    /** The file at the name of {@code e} is about to be mapped; answers it if it is held for that. */
    synchronized FileState begin(Entry e) {
        if (byInode.size() >= MAX_HELD) {
            return null;
        }
        int fd = -1;
        try {
            fd = files.hold(e.name.bytes, false);
            long[] status = fd < 0 ? null : files.status(fd);
            if (status == null) {
                return null;
            }
            FileState file = FileState.of(status, FileState.now(), null, false);
            Mapping known = byInode.get(file.ino);
            if (known == null) {
                known = new Mapping(e, file, fd);
                byInode.put(file.ino, known);
                fd = -1;
            } else if (known.entry != e) {
                // by another of its names: the file is held, but not counted here
                return null;
            }
            known.times++;
            known.seen = false;
            return file;
        } catch (IOException unreachable) {
            return null;
        } finally {
            if (fd >= 0) {
                files.close(fd);
            }
        }
    }

    /** Those of which a mapping was there and is gone; they are held here no more. */
    synchronized List<Mapping> over() {
        List<Mapping> over = new ArrayList<>();
        Set<Long> mapped = byInode.isEmpty() ? null : mapped();
        if (mapped == null) {
            return over;
        }
        byInode.forEach((inode, mapping) -> {
            if (mapped.contains(inode)) {
                mapping.seen = true;
            } else if (mapping.seen) {
                over.add(mapping);
            }
        });
        byInode.values().removeAll(over);
        return over;
    }

    /** The inode numbers of all that this process has mapped; null if that cannot be known. */
    private static Set<Long> mapped() {
        Set<Long> inodes = new HashSet<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(new FileInputStream(MAPS), StandardCharsets.ISO_8859_1))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] fields = line.split(" +", FIELDS);
                if (fields.length > INODE) {
                    inodes.add(Long.parseLong(fields[INODE]));
                }
            }
            return inodes;
        } catch (IOException | NumberFormatException unknown) {
            return null;
        }
    }
}
