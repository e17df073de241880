package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** Names a class of the tests' own class path as an agent. */
public final class AgentJar {
    private AgentJar() {
    }

    /** Writes it; {@code attribute} is {@code Premain-Class} or {@code Agent-Class}. */
    public static Path write(Path jar, String attribute, Class<?> type) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue(attribute, type.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.finish();
        }
        return jar;
    }
}
