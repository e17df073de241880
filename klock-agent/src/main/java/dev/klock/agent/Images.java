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
        return backups.image(path);
    }

    @Override
    public boolean before(byte[] path, long nowNs) throws IOException {
        return backups.image(path, nowNs);
    }

    @Override
    public boolean before(byte[] path, byte[] other, long nowNs) throws IOException {
        return backups.image(path, other, nowNs);
    }

    @Override
    public void mapped(byte[] path) throws IOException {
        backups.mapped(path);
    }

    @Override
    public void beforeTree(byte[] path) throws IOException {
        backups.imageTree(path, maxFiles, maxBytes);
    }

    @Override
    public void left(byte[] path) {
        backups.left(path);
    }

    @Override
    public void left(byte[] path, int fd) {
        backups.left(path, fd);
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
    }

    private final List<Reach> reaches = new ArrayList<>();
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

    /** The children are over that were started before the first {@code count} places were opened to them (K6-7). */
    void childrenOver(int count, Differences differences) {
        List<Reach> over;
        synchronized (reaches) {
            List<Reach> first = reaches.subList(0, Math.min(count, reaches.size()));
            over = new ArrayList<>(first);
            first.clear();
        }
        for (int i = 0; i < over.size(); i++) {
            Reach reach = over.get(i);
            List<Backups.Change> changes = backups.leftTree(reach.path, reach.depth);
            for (int j = 0; j < reach.below.size(); j++) {
                backups.left(reach.below.get(j));
            }
            for (int j = 0; j < changes.size(); j++) {
                differences.differs(changes.get(j), reach.declared);
            }
        }
        if (!over.isEmpty() && !homeGone && !Files.isDirectory(backups.directory())) {
            homeGone = true;
            Path home = backups.homeDirectory();
            differences.homeGone(home);
            differences.differs(new Backups.Change(files.name(home), true, false), true);
        }
    }

    private void reach(byte[] path, int depth, boolean declared, List<byte[]> below) {
        synchronized (reaches) {
            reaches.add(new Reach(path, depth, declared, below));
        }
    }

    @Override
    public void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException {
        // what an earlier child left is its own difference, and nothing that was there before this one
        session.settleChildren(1);
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
                    before(path);
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
        surroundings.opened(Names.real(program), Names.real(directory));
    }

    @Override
    public void lent(byte[] path) throws IOException {
        before(path);
        reach(path, 0, true, new ArrayList<>());
    }

    private static byte[] name(Resource real) {
        return Names.bytes(Names.ofText(real.path()));
    }
}
