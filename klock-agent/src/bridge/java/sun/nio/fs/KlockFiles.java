package sun.nio.fs;

import dev.klock.bridge.HostFiles;
import java.nio.file.FileSystems;
import java.nio.file.Path;

/** {@link HostFiles} by the JDK's own calls, which take bytes. */
public final class KlockFiles implements HostFiles {
    private final UnixFileSystem system = (UnixFileSystem) FileSystems.getDefault();

    public KlockFiles() {
    }

    @Override
    public Path path(byte[] name) {
        return new UnixPath(system, name);
    }

    @Override
    public byte[] name(Path path) {
        return ((UnixPath) path).getByteArrayForSysCalls().clone();
    }

    @Override
    public byte[] readLink(byte[] name) {
        try {
            return UnixNativeDispatcher.readlink(new UnixPath(system, name));
        } catch (UnixException notALink) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        try {
            return UnixFileAttributes.get(new UnixPath(system, name), false).mode();
        } catch (UnixException absent) {
            return 0;
        }
    }

    @Override
    public Exception absent() {
        return new UnixException(UnixConstants.ENOENT);
    }

    @Override
    public byte[] workingDirectory() {
        return UnixNativeDispatcher.getcwd();
    }
}
