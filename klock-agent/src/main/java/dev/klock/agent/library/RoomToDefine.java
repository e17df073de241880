package dev.klock.agent.library;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Map;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Has the JDK look for room on the stack before it defines a class: the JVM defines one as it is when a transformer fails, and a class without its
 * hooks would not be judged from then on. By what {@code KlockCalls} offers, in the methods through which all definitions of named classes go.
 */
final class RoomToDefine implements ClassFileTransformer {
    /** The JDK's classes, and the methods of each, that define classes. */
    private static final Map<String, String> PLACES = Map.of("java/lang/ClassLoader", "preDefineClass",
            "java/lang/invoke/MethodHandles$Lookup$ClassDefiner", "defineClass");
    private static final String CALLS = "java/lang/KlockCalls";

    private final boolean[] found = new boolean[1];

    private RoomToDefine() {
    }

    /** Answers what is wrong, null if nothing is. {@code KlockCalls} is defined. */
    static String install(Instrumentation instrumentation) {
        RoomToDefine weaver = new RoomToDefine();
        instrumentation.addTransformer(weaver, true);
        for (Map.Entry<String, String> place : PLACES.entrySet()) {
            String name = place.getKey().replace('/', '.');
            weaver.found[0] = false;
            try {
                instrumentation.retransformClasses(Class.forName(name, false, null));
            } catch (ClassNotFoundException | UnmodifiableClassException | LinkageError | InternalError e) {
                return "no room can be made for hooks in " + name + ": " + e;
            }
            if (!weaver.found[0]) {
                return "there is no " + place.getValue() + " in " + name + ", so no room can be made for hooks";
            }
        }
        return null;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        String method = loader != null || name == null ? null : PLACES.get(name);
        if (method == null) {
            return null;
        }
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new Calling(writer, method), 0);
        return writer.toByteArray();
    }

    /** Calls it first in each method of a name. */
    private final class Calling extends ClassVisitor {
        private final String method;

        Calling(ClassVisitor next, String method) {
            super(Opcodes.ASM9, next);
            this.method = method;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            if (!name.equals(method)) {
                return next;
            }
            found[0] = true;
            return new MethodVisitor(Opcodes.ASM9, next) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, CALLS, "room", "()V", false);
                }
            };
        }
    }
}
