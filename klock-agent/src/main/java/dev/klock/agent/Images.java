package dev.klock.agent;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.observe.PreImages;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.util.List;

/** {@link PreImages} kept by the session's {@link Backups}. */
final class Images implements PreImages {
    private static final int WRITES =
            Predicate.PROVIDES.bit() | Predicate.MUTATES.bit() | Predicate.DELETES.bit() | Predicate.RENAMES.bit();

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

    @Override
    public void before(byte[] path) throws IOException {
        backups.image(path);
    }

    @Override
    public void beforeTree(byte[] path) throws IOException {
        backups.imageTree(path, maxFiles, maxBytes);
    }

    @Override
    public void created(byte[] path) {
        backups.left(path);
    }

    @Override
    public void left(byte[] path) {
        backups.left(path);
    }

    @Override
    public void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException {
        if (effects == null) {
            beforeTree(directory);
            return;
        }
        for (int i = 0; i < effects.size(); i++) {
            Line effect = effects.get(i);
            if ((effect.predicate().bit() & WRITES) == 0 || !effect.resource().scheme().equals("FILE")) {
                continue;
            }
            Resource real = Declared.real(effect.resource(), resolver);
            byte[] path = Names.bytes(Names.ofText(real.path()));
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

    private void children(byte[] directory) throws IOException {
        File[] entries = files.path(directory).toFile().listFiles();
        if (entries != null) {
            for (File entry : entries) {
                before(files.name(entry.toPath()));
            }
        }
    }
}
