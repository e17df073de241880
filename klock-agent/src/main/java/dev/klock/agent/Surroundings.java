package dev.klock.agent;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.resolve.Names;
import dev.klock.bridge.HostFiles;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What children change around them outside of their {@code effects:} (E11). Nothing of that was imaged, so it cannot be put back; it is
 * told, since a line that says less than the program does would otherwise pass for the truth.
 *
 * <p>How it works. While children run, a window of time is open for the directories they were started in. When they are over, those
 * directories are looked through: a file whose inode changed inside a window (its ctime, which only the kernel sets) and that no child's
 * effects cover, that the session has not changed itself, that is not as another session of this JVM has left it and that this process does
 * not hold open, was changed by a child, or by another process at the same time: which of both cannot be told. A name that went shows in its directory's own time. No look is needed
 * before the start, so a start costs nothing; the looks afterwards are klock's own thread's, and take at most a twentieth of its time.
 *
 * <p>Thread-safe. Does I/O; callers have exempted themselves.
 */
final class Surroundings {
    /** Told of what changed, once each. */
    interface Found {
        /** @param programs the paths of those that ran, in a manifest's form; @param real the real name of what changed */
        void changed(Set<String> programs, String real);

        /** Whether another session of this JVM has made what is at {@code real} now, by klock's own record of it. */
        boolean isOthers(String real);

        /** {@code directory} holds too much to be looked through; told once. */
        void tooLarge(Set<String> programs, String directory);

        /** Whether there are more urgent things to do. */
        boolean isHurried();
    }

    /** File times are those of the kernel's last tick, which is at most this old. */
    static final long TICK_NS = 10_000_000L;
    private static final long MS_NS = 1_000_000L;
    /** So long one look may take. */
    private static final long LOOK_NS = 2_000_000_000L;
    /** After a look, so many times as long as it took there is none. */
    private static final int PAUSES = 20;
    /** Names between two looks at the clock. */
    private static final int CLOCK_NAMES = 256;
    /** Windows of a directory that are kept apart. */
    private static final int MAX_WINDOWS = 256;

    private static final int S_IFMT = 0170000;
    private static final int S_IFDIR = 0040000;

    /** A directory that children were started in. */
    private static final class Place {
        final String directory;
        final Set<String> programs = new LinkedHashSet<>();
        /** From and until, in nanoseconds since the epoch. */
        final List<long[]> windows = new ArrayList<>();
        /** Since when a child may be running; 0 if none is. */
        long openSince;

        Place(String directory) {
            this.directory = directory;
        }

        boolean holds(long time) {
            for (int i = 0; i < windows.size(); i++) {
                if (windows.get(i)[0] <= time && time <= windows.get(i)[1]) {
                    return true;
                }
            }
            return false;
        }

        void close(long until) {
            long[] last = windows.isEmpty() ? null : windows.get(windows.size() - 1);
            if (last != null && (openSince <= last[1] || windows.size() == MAX_WINDOWS)) {
                last[1] = until;
            } else {
                windows.add(new long[] {openSince, until});
            }
            openSince = 0;
        }

        /** Takes out what is over, as a place of its own. */
        Place over() {
            Place over = new Place(directory);
            over.programs.addAll(programs);
            over.windows.addAll(windows);
            windows.clear();
            return over;
        }
    }

    private final HostFiles files;
    private final Targets targets;
    private final int maxFiles;
    private final Map<String, Place> places = new LinkedHashMap<>();
    private final Set<Resource> covered = new LinkedHashSet<>();
    private final Set<String> told = new HashSet<>();
    private final Set<String> tooLarge = new HashSet<>();
    /** Those that are being looked through. */
    private final List<Place> looked = new ArrayList<>();
    /** Held by the one thread that looks; the monitor of this object comes after it. */
    private final Object looking = new Object();
    private long notBefore = System.nanoTime();

    Surroundings(HostFiles files, Targets targets, int maxFiles) {
        this.files = files;
        this.targets = targets;
        this.maxFiles = maxFiles;
    }

    /** {@code program} is about to be started in {@code directory}; both are real names. */
    synchronized void opened(String program, String directory) {
        Place place = places.get(directory);
        if (place == null) {
            place = new Place(directory);
            places.put(directory, place);
        }
        place.programs.add(Names.text(program));
        if (place.openSince == 0) {
            place.openSince = System.currentTimeMillis() * MS_NS - TICK_NS;
        }
    }

    /** What lies in {@code resource} is a child's to change. */
    synchronized void covers(Resource resource) {
        covered.add(resource);
    }

    /** Whether a child may be running that {@link #over} has not been called for. */
    synchronized boolean isOpen() {
        for (Place place : places.values()) {
            if (place.openSince != 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether there is something that {@link #look} looks through, or will when children are over. */
    synchronized boolean isWatching() {
        return !places.isEmpty() || !looked.isEmpty();
    }

    /** No child of this JVM is running. */
    synchronized void over() {
        long now = (System.currentTimeMillis() + 1) * MS_NS;
        for (Place place : places.values()) {
            if (place.openSince != 0) {
                place.close(now);
            }
        }
    }

    /** Whether {@code real} lies where a child that nobody has looked after yet was started, and has changed since. */
    synchronized boolean mayHaveChanged(String real) {
        List<Place> all = new ArrayList<>(places.values());
        all.addAll(looked);
        for (int i = 0; i < all.size(); i++) {
            Place place = all.get(i);
            if (!isBelow(place.directory, real)) {
                continue;
            }
            long[] status = status(real);
            if (status != null && (place.openSince != 0 && status[HostFiles.CTIME] >= place.openSince || place.holds(status[HostFiles.CTIME]))) {
                return true;
            }
        }
        return false;
    }

    /** Looks at what the children that are over have left; {@code last}: in any case, since there is no later. */
    void look(Found found, boolean last) {
        synchronized (looking) {
            lookOnce(found, last);
        }
    }

    private void lookOnce(Found found, boolean last) {
        long began = System.nanoTime();
        Look look;
        synchronized (this) {
            if (!last && began - notBefore < 0 || !isAnyOver()) {
                return;
            }
            for (Place place : places.values()) {
                if (!place.windows.isEmpty()) {
                    looked.add(place.over());
                }
            }
            look = new Look(found, last, began + LOOK_NS, new ArrayList<>(covered));
            if (!isOpen()) {
                covered.clear();
                places.clear();
            }
        }
        // without the lock: a thread of the program that starts a child must not wait for this
        look.prepare();
        for (int i = 0; i < looked.size(); i++) {
            if (!tooLarge.contains(looked.get(i).directory)) {
                look.through(looked.get(i));
            }
        }
        synchronized (this) {
            if (look.hurried) {
                putBack(look.effects);
            }
            looked.clear();
        }
        long ended = System.nanoTime();
        notBefore = ended + (ended - began) * PAUSES;
    }

    private boolean isAnyOver() {
        for (Place place : places.values()) {
            if (!place.windows.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private void putBack(List<Resource> coveredThen) {
        covered.addAll(coveredThen);
        for (int i = 0; i < looked.size(); i++) {
            Place before = looked.get(i);
            Place place = places.get(before.directory);
            if (place == null) {
                places.put(before.directory, before);
            } else {
                place.windows.addAll(before.windows);
                place.programs.addAll(before.programs);
            }
        }
    }

    /** One look, by one thread. */
    private final class Look {
        private final Found found;
        private final boolean last;
        private final long deadline;
        private final List<Resource> effects;
        private final Set<String> parentsOfOurs = new HashSet<>();
        private final Set<String> held = new HashSet<>();
        private int names;
        private boolean enough;
        private boolean hurried;

        Look(Found found, boolean last, long deadline, List<Resource> effects) {
            this.found = found;
            this.last = last;
            this.deadline = deadline;
            this.effects = effects;
        }

        /** Notes what the session changed itself, and what this process has open: its output, its VM's logs. */
        void prepare() {
            Target[] all = targets.all();
            for (int i = 0; i < all.length; i++) {
                if (all[i].isFile() && targets.isTouched(all[i].real())) {
                    parentsOfOurs.add(parent(all[i].real()));
                }
            }
            File[] descriptors = new File("/proc/self/fd").listFiles();
            for (int i = 0; descriptors != null && i < descriptors.length; i++) {
                byte[] open = files.readLink(Names.bytes(Names.ofText(descriptors[i].getPath())));
                if (open != null && open.length > 0 && open[0] == '/') {
                    held.add(Names.real(open));
                }
            }
        }

        void through(Place place) {
            long[] root = status(place.directory);
            if (root == null) {
                return;
            }
            names = 0;
            ArrayDeque<String> waiting = new ArrayDeque<>();
            ArrayDeque<long[]> states = new ArrayDeque<>();
            waiting.add(place.directory);
            states.add(root);
            while (!waiting.isEmpty() && !enough) {
                String directory = waiting.poll();
                long[] state = states.poll();
                boolean listed = place.holds(state[HostFiles.MTIME]);
                if (!list(place, directory, root[HostFiles.DEV], waiting, states) && listed) {
                    tell(place, directory, true);
                } else if (place.holds(state[HostFiles.CTIME]) && !listed) {
                    tell(place, directory, false);
                }
            }
            if (enough && !hurried) {
                tooLarge.add(place.directory);
                found.tooLarge(place.programs, place.directory);
            }
            enough = hurried;
        }

        /** Looks at what is in {@code directory}; answers whether something in it changed, which explains why its own times did. */
        private boolean list(Place place, String directory, long device, ArrayDeque<String> waiting, ArrayDeque<long[]> states) {
            boolean changed = false;
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(files.path(Names.bytes(directory)))) {
                for (Iterator<Path> i = entries.iterator(); i.hasNext();) {
                    if (++names > maxFiles || names % CLOCK_NAMES == 0 && isTime()) {
                        enough = true;
                        return true;
                    }
                    String real = Names.real(files.name(i.next()));
                    long[] state = status(real);
                    if (state == null || state[HostFiles.DEV] != device) {
                        continue;
                    }
                    boolean inWindow = place.holds(state[HostFiles.CTIME]);
                    changed |= inWindow;
                    if (targets.own().forbidden(real) != 0) {
                        continue;
                    }
                    if ((state[HostFiles.MODE] & S_IFMT) == S_IFDIR) {
                        waiting.add(real);
                        states.add(state);
                    } else if (inWindow) {
                        tell(place, real, false);
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                // what cannot be listed cannot be told of
                return true;
            }
            return changed;
        }

        private boolean isTime() {
            hurried = !last && found.isHurried();
            return hurried || System.nanoTime() - deadline > 0;
        }

        /** @param listed a name in the directory {@code real} came or went, and nothing that is in it shows which */
        private void tell(Place place, String real, boolean listed) {
            if (targets.isTouched(real) || held.contains(real) || isCovered(real) || listed && (parentsOfOurs.contains(real) || coversIn(real))) {
                return;
            }
            if (told.size() < maxFiles && !told.contains(real) && !found.isOthers(real) && told.add(real)) {
                found.changed(place.programs, real);
            }
        }

        private boolean isCovered(String real) {
            for (int i = 0; i < effects.size(); i++) {
                String path = Names.ofText(effects.get(i).path());
                switch (effects.get(i).form()) {
                    case EXACT:
                        if (path.equals(real)) {
                            return true;
                        }
                        break;
                    case CHILDREN:
                        if (path.equals(parent(real))) {
                            return true;
                        }
                        break;
                    default:
                        if (isBelow(path, real)) {
                            return true;
                        }
                        break;
                }
            }
            return false;
        }

        /** Whether a name in {@code directory} may come and go. */
        private boolean coversIn(String directory) {
            for (int i = 0; i < effects.size(); i++) {
                String path = Names.ofText(effects.get(i).path());
                if (effects.get(i).form() == Resource.Form.CHILDREN ? path.equals(directory) : parent(path).equals(directory)) {
                    return true;
                }
            }
            return false;
        }
    }

    private long[] status(String real) {
        try {
            return files.status(Names.bytes(real));
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean isBelow(String directory, String real) {
        return real.startsWith(directory)
                && (real.length() == directory.length() || directory.equals("/") || real.charAt(directory.length()) == '/');
    }

    private static String parent(String real) {
        int slash = real.lastIndexOf('/');
        return slash <= 0 ? "/" : real.substring(0, slash);
    }
}
