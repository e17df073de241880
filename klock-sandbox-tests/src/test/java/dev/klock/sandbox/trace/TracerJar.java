package dev.klock.sandbox.trace;

import dev.klock.sandbox.jvm.Child;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.objectweb.asm.ClassReader;

/** Packs the tracer as an agent jar. */
public final class TracerJar {
    private TracerJar() {
    }

    /** Writes the agent, and the jar of its boot class beside it, into {@code directory}; answers the agent's. */
    public static Path in(Path directory) throws IOException {
        Path boot = directory.resolve("recorder.jar");
        pack(boot, new Manifest(), "Recorder");
        Manifest manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.putValue("Premain-Class", Tracer.class.getName());
        main.putValue("Can-Retransform-Classes", "true");
        main.putValue("Boot-Class-Path", boot.getFileName().toString());
        main.put(Attributes.Name.CLASS_PATH, Child.placeOf(ClassReader.class).toUri().toString());
        Path agent = directory.resolve("tracer.jar");
        pack(agent, manifest, "Tracer", "Tracer$1", "Tracer$Row", "Tracer$Noting");
        return agent;
    }

    private static void pack(Path jar, Manifest manifest, String... classes) throws IOException {
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file, manifest)) {
            for (String name : classes) {
                out.putNextEntry(new ZipEntry("dev/klock/sandbox/trace/" + name + ".class"));
                try (InputStream in = TracerJar.class.getResourceAsStream(name + ".class")) {
                    in.transferTo(out);
                }
            }
        }
    }
}
