package dev.klock.agent.weave;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The public methods of the bridge class by name, read from its bytes: needed only where something is woven, not where cached bytes do. */
final class BridgeMethods extends ClassVisitor {
    private static final Map<String, String> DESCRIPTORS = new HashMap<>();

    static {
        try {
            new ClassReader(SharedTypes.bytesOf(Bridge.PACKAGE + "KlockBridge")).accept(new BridgeMethods(), ClassReader.SKIP_CODE);
        } catch (IOException e) {
            throw new IllegalStateException("klock.jar cannot be read", e);
        }
    }

    private BridgeMethods() {
        super(Opcodes.ASM9);
    }

    static String descriptorOf(String method) {
        String descriptor = DESCRIPTORS.get(method);
        if (descriptor == null) {
            throw new IllegalStateException("hooks.tsv: the bridge has no method " + method);
        }
        return descriptor;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        if ((access & Opcodes.ACC_PUBLIC) != 0) {
            DESCRIPTORS.put(name, descriptor);
        }
        return null;
    }
}
