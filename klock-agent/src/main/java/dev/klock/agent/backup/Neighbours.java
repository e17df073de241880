package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Sessions of the same home that were at work while this one was. What one of them has left is its work, although nothing else tells it from
 * what a child of this session did. For the thread that rolls back.
 */
final class Neighbours {
    private final Backups own;
    /** Null before they are asked for. */
    private List<Backups> others;

    Neighbours(Backups own) {
        this.own = own;
    }

    /** The id of the session whose program itself has left the path as it is {@code now}, or null. */
    String whoLeft(Name name, FileState now) {
        if (now.kind == FileState.DIRECTORY) {
            return null;
        }
        if (others == null) {
            others = find();
        }
        for (int i = 0; i < others.size(); i++) {
            Entry e = others.get(i).known.get(name);
            FileState left = e == null || e.role != Entry.TOUCHED || e.byChild ? null : e.left;
            if (left != null && (now.kind == FileState.ABSENT ? left.kind == FileState.ABSENT : left.sameStat(now))) {
                return others.get(i).sessionId();
            }
        }
        return null;
    }

    private List<Backups> find() {
        List<Backups> found = new ArrayList<>();
        Path sessions = own.directory.getParent();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(sessions)) {
            for (Path p : list) {
                Path pack = p.resolve("pack");
                if (!p.equals(own.directory) && Files.isRegularFile(pack, LinkOption.NOFOLLOW_LINKS)
                        && Files.getLastModifiedTime(pack).toMillis() >= own.startedMs) {
                    read(p, found);
                }
            }
        } catch (IOException | RuntimeException unlisted) {
            // as if it had none: what a child may have changed is kept beside all the same
            return found;
        }
        return found;
    }

    private void read(Path directory, List<Backups> found) {
        String id = Store.sessionId(directory.getFileName().toString());
        try (Backups other = Backups.read(own.homeDirectory(), id, own.files)) {
            found.add(other);
        } catch (IOException | RuntimeException unreadable) {
            return;
        }
    }
}
