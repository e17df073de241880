package dev.klock.agent.weave;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Inserts the calls of {@code propagation.tsv}. As with the {@link Inserter}, no branch and no local variable is added, so the frames of the
 * original stay valid, and the one new frame is that of the handler, which knows of {@code this} alone.
 *
 * <p>What is around a method must be undone exactly once: the calls that undo it on a return lie outside of what the handler covers.
 */
final class TaskInserter extends ClassVisitor {
    static final String BRIDGE = "sun/nio/fs/KlockTasks";
    /** More than any inserted call pushes. */
    private static final int STACK = 6;

    private final List<TaskRow> rows;
    private final Set<TaskRow> done;
    private final Map<String, String> descriptors;
    private String owner;

    private TaskInserter(ClassWriter writer, List<TaskRow> rows, Set<TaskRow> done, Map<String, String> descriptors) {
        super(Opcodes.ASM9, writer);
        this.rows = rows;
        this.done = done;
        this.descriptors = descriptors;
    }

    /** The woven bytes of a class whose rows are {@code rows}; those that matched are added to {@code done}. */
    static byte[] weave(byte[] bytes, List<TaskRow> rows, Set<TaskRow> done, Map<String, String> descriptors) {
        ClassReader reader = new ClassReader(bytes);
        // not COMPUTE_MAXS: what the JVM hands over for a class of its archive may have no frames, and then ASM computes too little
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new TaskInserter(writer, rows, done, descriptors), 0);
        return writer.toByteArray();
    }

    /** The public methods of the bridge class and their descriptors. */
    static Map<String, String> bridgeMethods() throws IOException {
        Map<String, String> found = new HashMap<>();
        new ClassReader(SharedTypes.bytesOf(BRIDGE.replace('/', '.'))).accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                if ((access & Opcodes.ACC_PUBLIC) != 0) {
                    found.put(name, descriptor);
                }
                return null;
            }
        }, ClassReader.SKIP_CODE);
        return found;
    }

    /** Adds to {@code found} those of {@code rows} whose calls stand in {@code bytes}. */
    static void find(byte[] bytes, List<TaskRow> rows, Set<TaskRow> found) {
        new ClassReader(bytes).accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] exceptions) {
                return new MethodVisitor(Opcodes.ASM9) {
                    @Override
                    public void visitMethodInsn(int opcode, String callee, String name, String called, boolean isInterface) {
                        for (int i = 0; callee.equals(BRIDGE) && i < rows.size(); i++) {
                            TaskRow row = rows.get(i);
                            // of two calls the second: the first always comes with it
                            if (row.method.equals(method) && row.descriptor.equals(descriptor) && row.calls[row.calls.length - 1].equals(name)) {
                                found.add(row);
                            }
                        }
                    }
                };
            }
        }, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        MethodVisitor result = super.visitMethod(access, name, descriptor, signature, exceptions);
        for (TaskRow row : rows) {
            if (row.method.equals(name) && row.descriptor.equals(descriptor) && (access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0) {
                result = new Woven(result, row);
            }
        }
        return result;
    }

    private final class Woven extends MethodVisitor {
        private final TaskRow row;
        /** What the handler covers: from, to. */
        private final List<Label[]> ranges = new ArrayList<>();
        /** Where the last of them begins. */
        private Label covered;

        Woven(MethodVisitor next, TaskRow row) {
            super(Opcodes.ASM9, next);
            this.row = row;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (row.is("start")) {
                push();
                bridge(row.calls[0]);
                done.add(row);
            } else if (row.is("around")) {
                super.visitVarInsn(Opcodes.ALOAD, 0);
                bridge(row.calls[0]);
                cover();
                done.add(row);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            boolean returns = opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN;
            if (returns && row.is("return")) {
                push();
                bridge(row.calls[0]);
                done.add(row);
            } else if (returns && row.is("around")) {
                Label end = new Label();
                super.visitLabel(end);
                handle(end);
                leave();
                super.visitInsn(opcode);
                cover();
                return;
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMethodInsn(int opcode, String callee, String name, String descriptor, boolean isInterface) {
            if (row.site.isEmpty() || !row.site.equals(callee + "." + name + descriptor)) {
                super.visitMethodInsn(opcode, callee, name, descriptor, isInterface);
                return;
            }
            push();
            bridge(row.calls[0]);
            if (row.is("before")) {
                super.visitMethodInsn(opcode, callee, name, descriptor, isInterface);
            }
            done.add(row);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            if (covered != null) {
                Label handler = new Label();
                super.visitLabel(handler);
                handle(handler);
                for (Label[] range : ranges) {
                    // nothing lies between two returns of which none is jumped to, nor behind the last
                    if (range[0].getOffset() < range[1].getOffset()) {
                        super.visitTryCatchBlock(range[0], range[1], handler, null);
                    }
                }
                super.visitFrame(Opcodes.F_FULL, 1, new Object[] {owner}, 1, new Object[] {"java/lang/Throwable"});
                leave();
                super.visitInsn(Opcodes.ATHROW);
            }
            super.visitMaxs(maxStack + STACK, maxLocals);
        }

        private void cover() {
            covered = new Label();
            super.visitLabel(covered);
        }

        private void handle(Label end) {
            ranges.add(new Label[] {covered, end});
        }

        private void leave() {
            super.visitVarInsn(Opcodes.ALOAD, 0);
            push();
            bridge(row.calls[1]);
        }

        private void push() {
            int[] slots = slots();
            for (String argument : row.arguments) {
                char kind = argument.charAt(0);
                if (kind == '^') {
                    super.visitInsn(Opcodes.DUP);
                } else if (kind != '$') {
                    super.visitInsn(Opcodes.ICONST_0 + kind - '0');
                } else {
                    // of all parameters that are pushed, none is a primitive
                    super.visitVarInsn(Opcodes.ALOAD, slots[argument.charAt(1) - '0']);
                    int colon = argument.indexOf(':');
                    int parenthesis = argument.indexOf('(');
                    if (parenthesis >= 0) {
                        super.visitMethodInsn(Opcodes.INVOKEVIRTUAL, owner, argument.substring(3, parenthesis), argument.substring(parenthesis), false);
                    } else if (colon >= 0) {
                        super.visitFieldInsn(Opcodes.GETFIELD, owner, argument.substring(3, colon), argument.substring(colon + 1));
                    }
                }
            }
        }

        private int[] slots() {
            Type[] types = Type.getArgumentTypes(row.descriptor);
            int[] slots = new int[types.length + 1];
            int slot = 1;
            for (int i = 0; i < types.length; i++) {
                slots[i + 1] = slot;
                slot += types[i].getSize();
            }
            return slots;
        }

        private void bridge(String method) {
            String descriptor = descriptors.get(method);
            if (descriptor == null) {
                throw new IllegalStateException("propagation.tsv: the bridge has no method " + method);
            }
            super.visitMethodInsn(Opcodes.INVOKESTATIC, BRIDGE, method, descriptor, false);
        }
    }
}
