package dev.klock.agent.config;

import dev.klock.agent.cache.UserCache;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.ManifestException;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Everything a launch is told, read once: options, manifest, and where klock's home is. Writes nothing but the user's cache. Immutable.
 */
public final class Launch {
    private final LaunchEnvironment environment;
    private final LaunchOptions options;
    private final File manifestFile;
    private final Manifest manifest;
    private final File home;

    private Launch(LaunchEnvironment environment, LaunchOptions options, File manifestFile, Manifest manifest, File home) {
        this.environment = environment;
        this.options = options;
        this.manifestFile = manifestFile;
        this.manifest = manifest;
        this.home = home;
    }

    /**
     * Reads a launch; {@code agentArgument} is what stands behind {@code klock.jar=}, null or empty if nothing does.
     *
     * <p>A manifest is needed in every mode but {@code learn} and {@code off}; {@code off} does not read one.
     *
     * @throws UsageException an argument, a setting or the manifest cannot be used, or a manifest is needed and there is none
     */
    public static Launch read(String agentArgument, LaunchEnvironment environment) throws UsageException {
        return read(agentArgument, environment, null);
    }

    /** As above; what reading the manifest gives is taken from {@code cache} (null if there is none), or left there for the next start. */
    public static Launch read(String agentArgument, LaunchEnvironment environment, UserCache cache) throws UsageException {
        LaunchOptions options = LaunchOptions.read(agentArgument, environment);
        File file = ManifestLocator.locate(options, environment);
        File home = Home.locate(options, environment, file);
        Mode mode = options.mode();
        if (mode == Mode.OFF) {
            return new Launch(environment, options, file, null, home);
        }
        if (file == null) {
            if (mode == Mode.LEARN && options.text(Option.REQUIRE_SIGNED) == null) {
                return new Launch(environment, options, null, null, home);
            }
            throw new UsageException(ManifestLocator.nowhere(environment) + "; write one, give manifest=PATH, or run with mode=learn to see what it needs");
        }
        byte[] source = bytes(file);
        Vouched.require(file, source, options, environment);
        Manifest manifest = readManifest(file, source, options, environment, cache);
        return new Launch(environment, options.withManifest(manifest), file, manifest, home);
    }

    /**
     * Reads the manifest {@code file} as this launch would.
     *
     * @throws UsageException it cannot be read, or is not a valid manifest
     */
    public static Manifest readManifest(File file, LaunchOptions options, LaunchEnvironment environment) throws UsageException {
        return readManifest(file, bytes(file), options, environment, null);
    }

    /** As above, where {@code source} is what stands in the file. */
    public static Manifest readManifest(File file, byte[] source, LaunchOptions options, LaunchEnvironment environment) throws UsageException {
        return readManifest(file, source, options, environment, null);
    }

    /** Where links lead, null if that cannot be told. */
    private static String real(String path) {
        try {
            return path == null ? null : new File(path).getCanonicalPath();
        } catch (IOException unreachable) {
            return null;
        }
    }

    private static Manifest readManifest(File file, byte[] source, LaunchOptions options, LaunchEnvironment environment, UserCache cache)
            throws UsageException {
        LaunchVariables variables = new LaunchVariables(environment, file.getAbsoluteFile().getParentFile());
        ReadOptions judgement = new ReadOptions().agentId(options.agent()).settingKeys(Option.keys()).programs(variables)
                .homes(variables.value("user.home"), real(variables.value("user.home")));
        ManifestReader reader = new ManifestReader(variables, judgement);
        String name = shown(file, environment);
        try {
            if (cache == null) {
                return reader.read(name, source);
            }
            String key = cache.name("manifest", file.getAbsolutePath().concat("\n").concat(variables.value("java.home")));
            byte[] packed = cache.get(key);
            Manifest manifest = packed == null ? null : reader.unpack(name, source, packed);
            if (manifest == null) {
                manifest = reader.read(name, source);
                cache.put(key, reader.pack(manifest, source));
            }
            return manifest;
        } catch (ManifestException e) {
            throw new UsageException(e.getMessage());
        }
    }

    /** The name used in messages and in the log: short where the file is below the working directory. */
    private static String shown(File file, LaunchEnvironment environment) {
        String path = file.getPath();
        String below = environment.workingDirectory().concat("/");
        return path.startsWith(below) ? path.substring(below.length()) : path;
    }

    /** Reads one byte more than a manifest may have at most, so that the reader sees that it is too long. */
    public static byte[] bytes(File file) throws UsageException {
        try (InputStream in = new FileInputStream(file)) {
            return in.readNBytes(Manifest.MAX_BYTES + 1);
        } catch (IOException e) {
            throw new UsageException("manifest " + file + " cannot be read: " + Home.reason(e));
        }
    }

    /** What the launch saw of its surroundings. */
    public LaunchEnvironment environment() {
        return environment;
    }

    /** The options, the manifest's section included. */
    public LaunchOptions options() {
        return options;
    }

    /** The manifest's absolute path, null if there is none. */
    public File manifestFile() {
        return manifestFile;
    }

    /** The manifest, null if there is none or the mode is {@code off}. */
    public Manifest manifest() {
        return manifest;
    }

    /** Where the home is or would be; {@link Home#open} makes it. */
    public File home() {
        return home;
    }
}
