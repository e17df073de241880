package dev.klock.agent.weave;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

@Tag("FIELD-C07")
class LostHookTest {
    private final List<Hook> hooks = HookTable.forRelease(17).hooksOf("java/io/FileOutputStream").stream().filter(hook -> hook.method.startsWith("open")
            || hook.method.equals("writeBytes") || hook.method.equals("write")).toList();

    /** A class whose methods of {@code woven} call the bridge, and no others. */
    private byte[] bytes(List<Hook> woven) {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, "java/io/FileOutputStream", null, "java/lang/Object", null);
        for (Hook hook : hooks) {
            MethodVisitor method = writer.visitMethod(Opcodes.ACC_PUBLIC, hook.method, hook.descriptor, null, null);
            method.visitCode();
            if (woven.contains(hook)) {
                method.visitMethodInsn(Opcodes.INVOKESTATIC, Weaver.BRIDGE, hook.call, "()V", false);
            }
            method.visitInsn(Opcodes.RETURN);
            method.visitMaxs(0, 4);
            method.visitEnd();
        }
        writer.visitEnd();
        return writer.toByteArray();
    }

    @Test
    void class_thatAnotherAgentGivesBackAsItWas_hasLostItsHooks() {
        assertThat(hooks.size()).isGreaterThan(1);
        assertThat(Installation.lost(hooks, bytes(hooks), bytes(List.of()))).isEqualTo("another agent took it out of " + hooks.get(0));
        assertThat(Installation.lost(hooks, bytes(hooks), bytes(hooks.subList(0, 1)))).isEqualTo("another agent took it out of " + hooks.get(1));
    }

    @Test
    void class_thatStillHasWhatItHad_hasLostNothing() {
        assertThat(Installation.lost(hooks, bytes(hooks), bytes(hooks))).isNull();
        assertThat(Installation.lost(hooks, bytes(List.of()), bytes(hooks))).as("klock's own weaver").isNull();
        assertThat(Installation.lost(hooks, bytes(List.of()), bytes(List.of()))).as("an agent before klock").isNull();
        assertThat(Installation.lost(hooks, bytes(hooks.subList(1, 2)), bytes(hooks.subList(1, 2)))).as("a row that does not fit, in permissive").isNull();
    }
}
