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
import java.io.File;
import java.io.IOException;
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
    public void before(byte[] path) throws IOException {
        backups.image(path);
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
    public void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException {
        if (effects == null) {
            beforeTree(directory);
            return;
        }
        for (int i = 0; i < effects.size(); i++) {
            Line effect = effects.get(i);
            if (!effect.predicate().changes() || !effect.resource().scheme().equals("FILE")) {
                continue;
            }
            Resource real = DeclaredScope.real(effect.resource(), resolver);
            byte[] path = name(real);
            switch (real.form()) {
                case EXACT:
                    before(path);
                    break;
                case CHILDREN:
                    before(path);
                    children(path);
                    break;
                default:
                    beforeTree(path);
                    break;
            }
        }
    }

    private static byte[] name(Resource real) {
        return Names.bytes(Names.ofText(real.path()));
    }

    private void children(byte[] directory) throws IOException {
        File[] entries = files.path(directory).toFile().listFiles();
        if (entries != null) {
            for (File entry : entries) {
                before(files.name(entry.toPath()));
            }
        }
    }
}
