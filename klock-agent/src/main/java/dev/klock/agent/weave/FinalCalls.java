package dev.klock.agent.weave;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Reads a class that another agent's transformer has had after the weaver: which rows' calls stand in it still. */
final class FinalCalls extends ClassVisitor {
    private final List<Hook> hooks;
    private final Set<Hook> found;

    private FinalCalls(List<Hook> hooks, Set<Hook> found) {
        super(Opcodes.ASM9);
        this.hooks = hooks;
        this.found = found;
    }

    /** Adds to {@code found} those of {@code hooks} whose calls stand in the class {@code bytes}. */
    static void find(byte[] bytes, List<Hook> hooks, Set<Hook> found) {
        new ClassReader(bytes).accept(new FinalCalls(hooks, found), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] exceptions) {
        List<Hook> here = new ArrayList<>(2);
        for (Hook hook : hooks) {
            if (hook.method.equals(method) && hook.descriptor.equals(descriptor)) {
                here.add(hook);
            }
        }
        if (here.isEmpty()) {
            return null;
        }
        return new MethodVisitor(Opcodes.ASM9) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String called, boolean isInterface) {
                if (!owner.equals(Weaver.BRIDGE)) {
                    return;
                }
                for (Hook hook : here) {
                    if (hook.call.equals("-") ? isEnd(name) : name.equals(hook.call)) {
                        found.add(hook);
                    }
                }
            }
        };
    }

    private static boolean isEnd(String bridgeMethod) {
        return bridgeMethod.startsWith("end") || bridgeMethod.equals("hides") || bridgeMethod.equals("variable") || bridgeMethod.equals("replaced")
                || bridgeMethod.equals("without") || bridgeMethod.equals("text") || bridgeMethod.equals("forget")
                || bridgeMethod.equals("changed") || bridgeMethod.equals("received");
    }
}
