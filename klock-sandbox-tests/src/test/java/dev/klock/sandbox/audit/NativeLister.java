package dev.klock.sandbox.audit;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Prints every native method of the JDK it runs on, one {@code class.method<tab>descriptor} a line. Shares nothing with klock's audit. */
public final class NativeLister {
    private NativeLister() {
    }

    public static void main(String[] arguments) throws IOException {
        StringBuilder out = new StringBuilder();
        List<Path> classes;
        try (Stream<Path> all = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules"))) {
            classes = all.filter(path -> path.toString().endsWith(".class")).toList();
        }
        for (Path path : classes) {
            ClassReader reader = new ClassReader(Files.readAllBytes(path));
            reader.accept(new ClassVisitor(Opcodes.ASM9) {
                @Override
                public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                    if ((access & Opcodes.ACC_NATIVE) != 0) {
                        out.append(reader.getClassName()).append('.').append(name).append('\t').append(descriptor).append('\n');
                    }
                    return null;
                }
            }, ClassReader.SKIP_CODE);
        }
        System.out.print(out);
    }
}
