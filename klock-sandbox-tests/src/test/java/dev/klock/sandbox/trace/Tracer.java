package dev.klock.sandbox.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The agent: its argument is a file with one row a line, {@code number class method descriptor site}, tab separated; site is "-" for
 * the method's start, else the call before which to note. When the JVM ends, the file of that name and {@code .entered} has the rows entered.
 */
public final class Tracer implements ClassFileTransformer {
    private record Row(int number, String method, String descriptor, String site) {
    }

    private final Map<String, List<Row>> byClass = new TreeMap<>();

    private Tracer() {
    }

    public static void premain(String arguments, Instrumentation instrumentation) throws Exception {
        Tracer tracer = new Tracer();
        for (String line : Files.readAllLines(Path.of(arguments))) {
            String[] row = line.split("\t");
            tracer.byClass.computeIfAbsent(row[1], key -> new ArrayList<>()).add(new Row(Integer.parseInt(row[0]), row[2], row[3], row[4]));
        }
        Module boot = Recorder.class.getModule();
        for (Module module : ModuleLayer.boot().modules()) {
            if (Set.of("java.base", "java.prefs", "jdk.management.agent").contains(module.getName())) {
                instrumentation.redefineModule(module, Set.of(boot), Map.of(), Map.of(), Set.of(), Map.of());
            }
        }
        instrumentation.addTransformer(tracer, true);
        List<Class<?>> loaded = new ArrayList<>();
        for (Class<?> type : instrumentation.getAllLoadedClasses()) {
            if (tracer.byClass.containsKey(type.getName().replace('.', '/'))) {
                loaded.add(type);
            }
        }
        instrumentation.retransformClasses(loaded.toArray(new Class<?>[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                Files.writeString(Path.of(arguments + ".entered"), Recorder.entered());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }));
    }

    @Override
    public byte[] transform(Module module, ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
        List<Row> rows = byClass.get(name);
        if (rows == null) {
            return null;
        }
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] exceptions) {
                MethodVisitor next = super.visitMethod(access, method, descriptor, signature, exceptions);
                List<Row> here = rows.stream().filter(row -> row.method.equals(method) && row.descriptor.equals(descriptor)).toList();
                return here.isEmpty() ? next : new Noting(next, here);
            }
        }, 0);
        return writer.toByteArray();
    }

    private static final class Noting extends MethodVisitor {
        private final List<Row> rows;

        Noting(MethodVisitor next, List<Row> rows) {
            super(Opcodes.ASM9, next);
            this.rows = rows;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            rows.stream().filter(row -> row.site.equals("-")).forEach(this::note);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            String site = owner + "." + name + descriptor;
            rows.stream().filter(row -> row.site.equals(site)).forEach(this::note);
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }

        private void note(Row row) {
            super.visitIntInsn(Opcodes.SIPUSH, row.number);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, "dev/klock/sandbox/trace/Recorder", "enter", "(I)V", false);
        }
    }
}
