package dev.klock.manifest;

import java.util.Objects;

/**
 * Reads and judges KLIS-1 manifests, JSON or YAML, in the form of the specification and its two other dialects (C15). It opens no
 * file, and it is quick: it runs before {@code main}, so it reads tokens as they come and builds no tree. May be used again and by any
 * thread as long as its options are left alone.
 */
public final class ManifestReader {
    private final Variables variables;
    private final ReadOptions options;

    public ManifestReader(Variables variables, ReadOptions options) {
        this.variables = Objects.requireNonNull(variables);
        this.options = Objects.requireNonNull(options);
    }

    /**
     * The manifest in {@code bytes}: UTF-8, one document, at most {@link Manifest#MAX_BYTES} (read at most one more than that of a
     * file whose size is not trusted).
     *
     * @param file its name, for messages and to tell JSON ({@code .json}) from YAML; without either ending the first character tells
     * @throws ManifestException when it cannot be used
     */
    public Manifest read(String file, byte[] bytes) throws ManifestException {
        return new ManifestParse(file, variables, options).read(bytes);
    }
}
