package dev.klock.agent.backup;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How many names the files that had several have when a rollback begins, and how many of these the session knows: what has no other name holds nothing
 * of the session's where nobody can find it. For the thread that rolls back; changes nothing.
 */
final class NamesFound {
    private static final class Found {
        private int all;
        private final Set<Name> known = new HashSet<>();
    }

    /** By inode number; of what is at none of the names that the session knows nothing is known. */
    private final Map<Long, Found> files = new HashMap<>();

    /** @param plans with what is there {@link Plan#now} */
    NamesFound(List<Plan> plans, Map<Name, Plan> byName, Identities known) {
        for (Plan p : plans) {
            FileState image = p.e.image;
            if (p.now != null && (p.now.hasOtherNames() || image.hasOtherNames() && p.now.sameInode(image))) {
                found(p.e.name, p.now);
            }
            Name place = p.e.place;
            Plan there = place == null ? null : byName.get(place);
            if (image.hasOtherNames() && place != null && (there == null || there.e.role != Entry.TOUCHED)) {
                look(place, image, known);
            }
        }
    }

    private void look(Name place, FileState image, Identities known) {
        try {
            FileState now = known.at(place);
            if (now.sameInode(image)) {
                found(place, now);
            }
        } catch (IOException unreadable) {
            // one name less that is known of
            return;
        }
    }

    private void found(Name name, FileState now) {
        Found f = files.get(now.ino);
        if (f == null) {
            f = new Found();
            files.put(now.ino, f);
        }
        f.all = Math.max(f.all, now.nlink);
        f.known.add(name);
    }

    /** At most so many names had the file of {@code image} that the session does not know of. */
    int unknown(FileState image) {
        Found f = files.get(image.ino);
        return f == null ? Integer.MAX_VALUE : Math.max(0, f.all - f.known.size());
    }
}
