package dev.klock.agent;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.observe.PreImages;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** {@link PreImages} kept by the session's {@link Backups}. */
final class Images implements PreImages {
    private final Backups backups;
    private final Resolver resolver;
    private final HostFiles files;
    private final int maxFiles;
    private final long maxBytes;

    Images(Backups backups, Resolver resolver, HostFiles files, int maxFiles, long maxBytes) {
        this.backups = backups;
        this.resolver = resolver;
        this.files = files;
        this.maxFiles = maxFiles;
        this.maxBytes = maxBytes;
    }

    /**
     * Before the grant (K6-8, C30): images of the exact paths that {@code manifest} lets change, and a durable record of the directories
     * below which it lets things change, whose files are imaged at first touch.
     */
    void preflight(Manifest manifest) throws IOException {
        List<byte[]> exact = new ArrayList<>();
        List<byte[]> below = new ArrayList<>();
        List<Resource> seen = new ArrayList<>();
        List<Line> lines = manifest.scope();
        for (int i = 0; i < lines.size(); i++) {
            Resource real = DeclaredScope.real(lines.get(i).resource(), resolver);
            if (lines.get(i).predicate().changes() && real.scheme().equals("FILE") && !seen.contains(real)) {
                seen.add(real);
                (real.form() == Resource.Form.EXACT ? exact : below).add(name(real));
            }
        }
        backups.preflight(exact, below);
    }

    @Override
    public boolean before(byte[] path) throws IOException {
        settleEnded();
        return backups.image(path);
    }

    @Override
    public boolean before(byte[] path, long nowNs) throws IOException {
        settleEnded();
        return backups.image(path, nowNs);
    }

    @Override
    public boolean before(byte[] path, byte[] other, long nowNs) throws IOException {
        settleEnded();
        return backups.image(path, other, nowNs);
    }

    @Override
    public void mapped(byte[] path) throws IOException {
        backups.mapped(path);
    }

    @Override
    public void beforeTree(byte[] path) throws IOException {
        settleEnded();
        backups.imageTree(path, maxFiles, maxBytes);
    }

    @Override
    public void beforeTree(byte[] path, byte[] to) throws IOException {
        settleEnded();
        backups.imageTree(path, to, maxFiles, maxBytes);
    }

    @Override
    public void left(byte[] path) {
        if (!session.hasLostLeases()) {
            backups.left(path);
        }
    }

    @Override
    public void failed(byte[] path) {
        backups.leftAsMet(path);
    }

    @Override
    public void kept(byte[] path) {
        backups.leftInPlace(path);
    }

    @Override
    public void renamed(byte[] from, byte[] to) {
        backups.renamed(from, to);
    }

    @Override
    public void moved(byte[] from, byte[] to) {
        backups.moved(from, to);
    }

    @Override
    public void kept(byte[] path, int fd) {
        backups.leftInPlace(path, fd);
    }

    @Override
    public void left(byte[] path, int fd) {
        // what is there by now may be what others have made of it: a stream can be closed after its process was stopped for long
        if (!session.hasLostLeases()) {
            backups.left(path, fd);
        }
    }

    @Override
    public void carriedTo(byte[] path, int fd) {
        backups.carriedTo(path, fd);
    }

    /** What a child may be changing: {@code depth} as in {@link Backups#leftTree(byte[], int)}. */
    private static final class Reach {
        final byte[] path;
        final long sinceNs = System.currentTimeMillis() * 1_000_000L - Surroundings.TICK_NS;
        final int depth;
        final boolean declared;
        /** What was opened in it ({@link Backups#openChildren}). */
        final List<byte[]> below;

        Reach(byte[] path, int depth, boolean declared, List<byte[]> below) {
            this.path = path;
            this.depth = depth;
            this.declared = declared;
            this.below = below;
        }

        /** Whether {@code real} lies in it and has changed since. */
        boolean mayHaveChanged(String real, HostFiles files) {
            String place = Names.real(path);
            boolean inside = real.equals(place) || depth > 0 && real.startsWith(place.endsWith("/") ? place : place.concat("/"));
            if (!inside) {
                return false;
            }
            try {
                long[] status = files.status(Names.bytes(real));
                return status != null && status[HostFiles.CTIME] >= sinceNs;
            } catch (IOException e) {
                return true;
            }
        }
    }

    /** Told what children did, once they are over. */
    interface Differences {
        /** @param declared whether the child's {@code effects:} cover it; else it came with the working directory */
        void differs(Backups.Change change, boolean declared);

        /** The images, or all of klock's home, were removed meanwhile. Told once, before it is told as a difference. */
        void homeGone(Path home);

        /** What klock keeps of this session was changed meanwhile. Told before it is told as a difference. */
        void ownAltered(Backups.Altered what);
    }

    /** So long a look for what descends from children that are over is not repeated, in nanoseconds. */
    private static final long LOOKS_AGAIN_NS = 10_000_000;
    private static final Process[] NONE = {};

    private final List<Reach> reaches = new ArrayList<>();
    /** Whether there are any {@link #reaches}, or some are being looked at. */
    private volatile boolean open;
    /** Children that were running when they were last asked; arrays are replaced, not changed. */
    private volatile Process[] running = NONE;
    /** A {@link System#nanoTime()}. */
    private volatile long notBefore;
    private boolean homeGone;
    private Session session;
    private Surroundings surroundings;

    void settledBy(Session newSession) {
        session = newSession;
    }

    /** Tells {@code newSurroundings} of the children that say what they touch. */
    void lookedAfterBy(Surroundings newSurroundings) {
        surroundings = newSurroundings;
    }

    /** Places that children may be changing; 0 as a rule. */
    int openToChildren() {
        synchronized (reaches) {
            return reaches.size();
        }
    }

    @Override
    public void stillOpen(int fd) {
        backups.stillOpen(fd);
    }

    @Override
    public boolean isChangedByChild(byte[] path) {
        session.settleChildren(0);
        String real = Names.real(path);
        List<Reach> open;
        synchronized (reaches) {
            open = new ArrayList<>(reaches);
        }
        for (int i = 0; i < open.size(); i++) {
            if (open.get(i).mayHaveChanged(real, files)) {
                return true;
            }
        }
        return surroundings.mayHaveChanged(real);
    }

    @Override
    public void started(Process process) {
        session.childStarted(process);
        if (open) {
            synchronized (reaches) {
                Process[] more = Arrays.copyOf(running, running.length + 1);
                more[running.length] = process;
                running = more;
            }
            session.wakeGuard();
        }
    }

    /** Whether places are open to children, of which those that this JVM has started itself are over. Costs nothing to ask. */
    boolean areEnded() {
        if (!open || notBefore != 0 && System.nanoTime() - notBefore < 0) {
            return false;
        }
        Process[] last = running;
        for (int i = 0; i < last.length; i++) {
            if (last[i].isAlive()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Before a change of the program's: what children left that the program may have seen the end of is looked at first, so that what others
     * have put there since is not overwritten as theirs. Where something else of the program's is under way this waits for the next tick.
     */
    private void settleEnded() {
        if (open && areEnded()) {
            session.settleChildren(1);
            looked();
        }
    }

    /** Children that are over have been looked for. */
    void looked() {
        // what descends from them may run on, and to look for it takes the whole list of processes
        notBefore = open ? System.nanoTime() + LOOKS_AGAIN_NS | 1 : 0;
    }

    /**
     * The children are over that were started before the first {@code count} places were opened to them (K6-7).
     *
     * @param until when they were, as {@link Backups#alive} tells it: what changed later is not theirs
     */
    void childrenOver(int count, long until, Differences differences) {
        List<Reach> over;
        synchronized (reaches) {
            List<Reach> first = reaches.subList(0, Math.min(count, reaches.size()));
            over = new ArrayList<>(first);
            first.clear();
            int kept = 0;
            Process[] last = running.clone();
            for (int i = 0; i < last.length; i++) {
                if (last[i].isAlive()) {
                    last[kept++] = last[i];
                }
            }
            running = kept == 0 ? NONE : Arrays.copyOf(last, kept);
        }
        for (int i = 0; i < over.size(); i++) {
            Reach reach = over.get(i);
            List<Backups.Change> changes = backups.leftTree(reach.path, reach.depth, until);
            for (int j = 0; j < reach.below.size(); j++) {
                backups.left(reach.below.get(j));
            }
            for (int j = 0; j < changes.size(); j++) {
                differences.differs(changes.get(j), reach.declared);
            }
        }
        synchronized (reaches) {
            // not before: a change of the program's waits for all this, and overwrites nothing that was not looked at
            open = !reaches.isEmpty();
        }
        lookAtOwn(differences);
        if (!over.isEmpty() && !homeGone && !Files.isDirectory(backups.directory())) {
            homeGone = true;
            Path home = backups.homeDirectory();
            differences.homeGone(home);
            differences.differs(new Backups.Change(files.name(home), true, false), true);
        }
    }

    /** Tells, if children are or were at work, whether one has changed what klock keeps of this session. Cheap if none has. */
    void lookAtOwn(Differences differences) {
        Backups.Altered altered = backups.lookAtOwn();
        if (altered != null) {
            differences.ownAltered(altered);
            differences.differs(new Backups.Change(files.name(altered.file()), true, true), true);
        }
    }

    private void reach(byte[] path, int depth, boolean declared, List<byte[]> below) {
        synchronized (reaches) {
            reaches.add(new Reach(path, depth, declared, below));
            open = true;
        }
    }

    @Override
    public void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException {
        // what an earlier child left is its own difference, and nothing that was there before this one
        session.settleChildren(1);
        backups.watchOwn();
        if (effects == null) {
            surroundings.covers(Resource.of("FILE", Names.text(Names.real(directory)), Resource.Form.SUBTREE));
            backups.openTree(directory, maxFiles, maxBytes);
            reach(directory, Integer.MAX_VALUE, false, new ArrayList<>());
            return;
        }
        for (int i = 0; i < effects.size(); i++) {
            Line effect = effects.get(i);
            if (!effect.predicate().changes() || !effect.resource().scheme().equals("FILE")) {
                continue;
            }
            Resource real = DeclaredScope.real(effect.resource(), resolver);
            surroundings.covers(real);
            byte[] path = name(real);
            switch (real.form()) {
                case EXACT:
                    backups.imageForChild(path);
                    reach(path, 0, true, new ArrayList<>());
                    break;
                case CHILDREN:
                    reach(path, 1, true, backups.openChildren(path));
                    break;
                default:
                    backups.openTree(path, maxFiles, maxBytes);
                    reach(path, Integer.MAX_VALUE, true, new ArrayList<>());
                    break;
            }
        }
        surroundings.opened(Names.real(program), Names.real(directory));
    }

    @Override
    public void beforeUndeclaredChild(byte[] program, byte[] directory) {
        session.settleChildren(1);
        try {
            backups.watchOwn();
        } catch (IOException unseen) {
            // what the child does to klock's own shows when that is read
            surroundings.opened(Names.real(program), Names.real(directory));
            return;
        }
        surroundings.opened(Names.real(program), Names.real(directory));
    }

    @Override
    public void lent(byte[] path) throws IOException {
        backups.imageForChild(path);
        reach(path, 0, true, new ArrayList<>());
    }

    private static byte[] name(Resource real) {
        return Names.bytes(Names.ofText(real.path()));
    }
}
