package dev.klock.sandbox.subject;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * An agent and a program that uses it: {@code WRITTEN WAY WHAT}. Writes a file, changes a class of the JDK's with a transformer that comes
 * after klock's, and reads the file {@code WHAT}, or asks that URL. {@code WAY}: {@code pristine} (the class as the JDK has it),
 * {@code copy} (as it came), {@code around} (what klock put in stays, and is not reached), {@code self} (pristine, of what the JVM calls
 * transformers by, first), {@code unseen} (pristine, of a class that is loaded only then), {@code library} (pristine, of a class that a
 * hook of the manifest is on, with which the step {@code WHAT} is done), {@code open} (opens klock's module to itself), {@code own} (changes
 * a class of klock's).
 */
public final class LaterAgent {
    private static final String STREAM = "java/io/FileInputStream";
    private static Instrumentation instrumentation;

    private LaterAgent() {
    }

    public static void premain(String argument, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] arguments) throws Exception {
        Files.writeString(Path.of(arguments[0]), "written");
        switch (arguments[1]) {
            case "pristine":
                change(STREAM, original(STREAM));
                instrumentation.retransformClasses(FileInputStream.class);
                break;
            case "self":
                change("sun/instrument/InstrumentationImpl", original("sun/instrument/InstrumentationImpl"));
                instrumentation.retransformClasses(instrumentation.getClass());
                change(STREAM, original(STREAM));
                instrumentation.retransformClasses(FileInputStream.class);
                break;
            case "open":
                Module module = guard().getModule();
                instrumentation.redefineModule(module, Set.of(), Map.of(), Map.of("dev.klock.agent", Set.of(LaterAgent.class.getModule())), Set.of(), Map.of());
                break;
            case "own":
                String own = guard().getName().replace('.', '/');
                instrumentation.addTransformer(new ClassFileTransformer() {
                    @Override
                    public byte[] transform(ClassLoader loader, String shown, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                        return !own.equals(shown) ? null : new ClassWriter(new ClassReader(bytes), ClassWriter.COMPUTE_MAXS).toByteArray();
                    }
                }, true);
                instrumentation.retransformClasses(guard());
                break;
            case "copy":
                change(STREAM, null);
                instrumentation.retransformClasses(FileInputStream.class);
                break;
            case "around":
                around();
                instrumentation.retransformClasses(FileInputStream.class);
                break;
            case "library":
                change("dev/klock/sandbox/subject/Settings$Memory", original("dev/klock/sandbox/subject/Settings$Memory"));
                instrumentation.retransformClasses(Settings.Memory.class);
                Settings.main(new String[] {arguments[2]});
                return;
            case "unseen":
                change("jdk/internal/net/http/Exchange", original("jdk/internal/net/http/Exchange"));
                System.out.println("got " + HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(arguments[2])).build(),
                        HttpResponse.BodyHandlers.ofString()).body());
                return;
            default:
                throw new IllegalArgumentException(arguments[1]);
        }
        System.out.println("changed");
        try (InputStream in = new FileInputStream(arguments[2])) {
            System.out.println("read " + new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** The class of klock's thread. */
    private static Class<?> guard() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("klock")).findFirst().orElseThrow().getClass();
    }

    private static byte[] original(String name) throws IOException {
        Module module = name.startsWith("dev/") ? LaterAgent.class.getModule() : name.startsWith("jdk/") ? HttpClient.class.getModule() : name.startsWith("sun/") ? instrumentation.getClass().getModule()
                : Object.class.getModule();
        try (InputStream in = module.getResourceAsStream(name + ".class")) {
            return in.readAllBytes();
        }
    }

    /** @param to null for what it is */
    private static void change(String name, byte[] to) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String shown, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                return !name.equals(shown) ? null : to == null ? bytes.clone() : to;
            }
        }, true);
    }

    private static void around() {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String shown, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                if (!STREAM.equals(shown)) {
                    return null;
                }
                ClassReader reader = new ClassReader(bytes);
                ClassWriter writer = new ClassWriter(reader, 0);
                reader.accept(new Around(writer), 0);
                return writer.toByteArray();
            }
        }, true);
    }

    private static final class Around extends ClassVisitor {
        Around(ClassWriter writer) {
            super(Opcodes.ASM9, writer);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            return !name.equals("open") ? next : new MethodVisitor(Opcodes.ASM9, next) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    Label never = new Label();
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    super.visitJumpInsn(Opcodes.IFNULL, never);
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    super.visitVarInsn(Opcodes.ALOAD, 1);
                    super.visitMethodInsn(Opcodes.INVOKESPECIAL, STREAM, "open0", "(Ljava/lang/String;)V", false);
                    super.visitInsn(Opcodes.RETURN);
                    super.visitLabel(never);
                    super.visitFrame(Opcodes.F_SAME, 0, null, 0, null);
                }
            };
        }
    }
}
