package dev.klock.agent.weave;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Inserts the calls of the hook table into JDK classes.
 *
 * <p>How a method looks afterwards. At its start, before anything else (also before a constructor's {@code super()}), stands one static
 * call to the bridge with the operation's number and the arguments the table names; if it throws, nothing has happened. Where the table
 * names an end, the body is wrapped so that the end call is made on every return and, outside constructors, for every throwable that
 * leaves the body. A row that names a call inside the method spills that call's arguments into fresh local variables, makes the bridge
 * call, and pushes them back: needed where the real argument is a local variable (file descriptors on 17) or where the caller of the
 * native is a method with other arguments.
 *
 * <p>No branch is added, so the frames of the original stay valid; the one new frame is the handler's, which knows of no local variable,
 * or of {@code this} alone. Methods without a row are copied as they are. Nothing here uses lambdas or string concatenation through invokedynamic at
 * run time of woven code.
 */
final class Inserter extends ClassVisitor {
    static final String BRIDGE = Weaver.BRIDGE;

    private final List<Hook> hooks;
    private final Sizes sizes;
    private final List<Hook> done;
    private String owner;

    private Inserter(ClassWriter writer, List<Hook> hooks, Sizes sizes, List<Hook> done) {
        super(Opcodes.ASM9, writer);
        this.hooks = hooks;
        this.sizes = sizes;
        this.done = done;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        owner = name;
        super.visit(version, access, name, signature, superName, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
        if ((access & (Opcodes.ACC_NATIVE | Opcodes.ACC_ABSTRACT)) != 0) {
            return next;
        }
        MethodVisitor result = next;
        for (Hook hook : hooks) {
            if (!hook.method.equals(name) || !hook.descriptor.equals(descriptor)) {
                continue;
            }
            if (result == next) {
                result = new Room(next);
            }
            if (hook.atStart()) {
                result = new AtStart(result, hook, owner, access, done);
            } else {
                result = new AtSite(result, hook, owner, access, sizes.of(name, descriptor), done);
            }
        }
        return result;
    }

    /** The woven bytes of a class whose rows are {@code hooks}; those that matched a method are added to {@code done}. */
    static byte[] weave(byte[] bytes, List<Hook> hooks, List<Hook> done) {
        ClassReader reader = new ClassReader(bytes);
        // not COMPUTE_MAXS: what the JVM hands over for a class of its archive may have no frames, and then ASM computes too little
        ClassWriter writer = new ClassWriter(reader, 0);
        Sizes sizes = anySite(hooks) ? Sizes.of(reader) : null;
        reader.accept(new Inserter(writer, hooks, sizes, done), 0);
        return writer.toByteArray();
    }

    /** Declares room for what is inserted on top of what the method has declared: never less than the JDK's own compiler found to be needed. */
    private static final class Room extends MethodVisitor {
        /** More than any inserted call pushes: eight arguments of two slots each, a result and an exception. */
        private static final int STACK = 24;

        private int locals;

        Room(MethodVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            // a long or double takes two
            locals = Math.max(locals, variable + 2);
            super.visitVarInsn(opcode, variable);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            super.visitMaxs(maxStack + STACK, Math.max(maxLocals, locals));
        }
    }

    private static boolean anySite(List<Hook> hooks) {
        for (Hook hook : hooks) {
            if (!hook.atStart()) {
                return true;
            }
        }
        return false;
    }

    /** The number of local variables of each method, so that fresh ones can be placed behind them. */
    private static final class Sizes extends ClassVisitor {
        private final Map<String, Integer> locals = new HashMap<>();

        private Sizes() {
            super(Opcodes.ASM9);
        }

        static Sizes of(ClassReader reader) {
            Sizes sizes = new Sizes();
            reader.accept(sizes, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            return sizes;
        }

        int of(String method, String descriptor) {
            return locals.get(method + descriptor);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitMaxs(int maxStack, int maxLocals) {
                    locals.put(name + descriptor, maxLocals);
                }
            };
        }
    }

    /** Common to both places: pushing arguments and calling the bridge. */
    private abstract static class Calls extends MethodVisitor {
        final Hook hook;
        final String owner;
        final List<Hook> done;
        /** Types of the method's parameters, {@code this} first where there is one, and the slot of each. */
        final Type[] parameters;
        final int[] slots;
        final boolean isStatic;

        Calls(MethodVisitor next, Hook hook, String owner, int access, List<Hook> done) {
            super(Opcodes.ASM9, next);
            this.hook = hook;
            this.owner = owner;
            this.done = done;
            this.isStatic = (access & Opcodes.ACC_STATIC) != 0;
            Type[] declared = Type.getArgumentTypes(hook.descriptor);
            int first = isStatic ? 0 : 1;
            parameters = new Type[declared.length + first];
            slots = new int[parameters.length];
            int slot = 0;
            if (!isStatic) {
                parameters[0] = Type.getObjectType(owner);
                slot = 1;
            }
            for (int i = 0; i < declared.length; i++) {
                parameters[i + first] = declared[i];
                slots[i + first] = slot;
                slot += declared[i].getSize();
            }
        }

        void call(int[] siteSlots, Type[] siteTypes) {
            if (hook.call.equals("-")) {
                return;
            }
            pushInt(hook.op.code());
            for (String argument : hook.arguments) {
                push(argument, siteSlots, siteTypes);
            }
            super.visitMethodInsn(Opcodes.INVOKESTATIC, BRIDGE, hook.call, BridgeMethods.descriptorOf(hook.call), false);
            if (hook.end.equals("argument")) {
                int last = slots.length - 1;
                super.visitVarInsn(parameters[last].getOpcode(Opcodes.ISTORE), slots[last]);
            }
        }

        private void push(String argument, int[] siteSlots, Type[] siteTypes) {
            char kind = argument.charAt(0);
            if (kind == '$') {
                int dot = argument.indexOf('.');
                int n = Integer.parseInt(argument.substring(1, dot < 0 ? argument.length() : dot));
                int index = isStatic ? n - 1 : n;
                super.visitVarInsn(parameters[index].getOpcode(Opcodes.ILOAD), slots[index]);
                int parenthesis = argument.indexOf('(');
                if (parenthesis >= 0) {
                    super.visitMethodInsn(Opcodes.INVOKEVIRTUAL, parameters[index].getInternalName(),
                            argument.substring(dot + 1, parenthesis), argument.substring(parenthesis), false);
                } else if (dot >= 0) {
                    int colon = argument.indexOf(':');
                    super.visitFieldInsn(Opcodes.GETFIELD, owner, argument.substring(dot + 1, colon), argument.substring(colon + 1));
                }
            } else if (kind == '#') {
                int n = Integer.parseInt(argument.substring(1));
                super.visitVarInsn(siteTypes[n].getOpcode(Opcodes.ILOAD), siteSlots[n]);
            } else if (kind == '@') {
                int dot = argument.indexOf('.');
                int colon = argument.indexOf(':');
                super.visitFieldInsn(Opcodes.GETSTATIC, argument.substring(1, dot), argument.substring(dot + 1, colon), argument.substring(colon + 1));
            } else {
                pushInt(Integer.parseInt(argument));
            }
        }

        /** The row's arguments for its end, where it has no call before. */
        private void pushAll() {
            for (String argument : hook.arguments) {
                push(argument, null, null);
            }
        }

        void pushInt(int value) {
            if (value <= 5) {
                super.visitInsn(Opcodes.ICONST_0 + value);
            } else {
                super.visitIntInsn(Opcodes.BIPUSH, value);
            }
        }

        /** The end call for a normal return; the result, if any, is on the stack and stays there. */
        void end() {
            switch (hook.end) {
                case "-":
                case "argument":
                case "forget":
                    return;
                case "process":
                    super.visitInsn(Opcodes.DUP);
                    pushInt(hook.op.code());
                    bridge("started");
                    return;
                case "void":
                    pushInt(hook.op.code());
                    bridge("end");
                    return;
                case "probe":
                    pushInt(hook.op.code());
                    bridge("probed");
                    return;
                case "hides":
                    super.visitVarInsn(Opcodes.ALOAD, 1);
                    bridge("hides");
                    return;
                case "addresses":
                    super.visitInsn(Opcodes.DUP);
                    super.visitVarInsn(Opcodes.ALOAD, 1);
                    bridge("resolved");
                    return;
                case "variable":
                    super.visitInsn(Opcodes.DUP);
                    super.visitVarInsn(Opcodes.ALOAD, 1);
                    pushInt(hook.op.code());
                    bridge("variable");
                    return;
                case "replaced":
                    super.visitVarInsn(Opcodes.ALOAD, 1);
                    bridge("replaced");
                    return;
                case "host":
                    super.visitInsn(Opcodes.DUP);
                    bridge("named");
                    return;
                case "names":
                    pushInt(hook.op.code());
                    bridge("without");
                    return;
                case "text":
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    bridge("text");
                    return;
                case "changed":
                case "received":
                    super.visitInsn(Opcodes.DUP);
                    pushAll();
                    bridge(hook.end);
                    return;
                case "ended":
                    pushInt(hook.op.code());
                    bridge("ended");
                    return;
                case "int":
                    super.visitInsn(Opcodes.DUP);
                    pushInt(hook.op.code());
                    bridge("endInt");
                    return;
                case "boolean":
                    super.visitInsn(Opcodes.DUP);
                    pushInt(hook.op.code());
                    bridge("endBoolean");
                    return;
                case "stream":
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    pushInt(hook.op.code());
                    bridge("endStream");
                    return;
                case "random":
                    super.visitVarInsn(Opcodes.ALOAD, 0);
                    pushInt(hook.op.code());
                    bridge("endRandom");
                    return;
                default:
                    throw new IllegalStateException("hooks.tsv: unknown end: " + hook.end);
            }
        }

        /** Behind the whole body, which begins at {@code bodyStart}: the end call for what leaves it by an exception. */
        void endWhereThrown(Label bodyStart) {
            Label bodyEnd = new Label();
            super.visitLabel(bodyEnd);
            super.visitTryCatchBlock(bodyStart, bodyEnd, bodyEnd, null);
            if (hook.end.equals("forget")) {
                super.visitFrame(Opcodes.F_FULL, 1, new Object[] {owner}, 1, new Object[] {"java/lang/Throwable"});
                pushAll();
                bridge("forget");
                super.visitInsn(Opcodes.ATHROW);
                return;
            }
            super.visitFrame(Opcodes.F_FULL, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
            super.visitInsn(Opcodes.DUP);
            pushInt(hook.op.code());
            bridge(hook.end.equals("probe") ? "probedThrown" : "endThrown");
            super.visitInsn(Opcodes.ATHROW);
        }

        void bridge(String method) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, BRIDGE, method, BridgeMethods.descriptorOf(method), false);
        }
    }

    private static final class AtStart extends Calls {
        private final Label bodyStart = new Label();
        private final boolean wrapped;
        private final boolean constructor;

        AtStart(MethodVisitor next, Hook hook, String owner, int access, List<Hook> done) {
            super(next, hook, owner, access, done);
            constructor = hook.method.equals("<init>");
            wrapped = hook.wrapsBody() && !constructor;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            call(null, null);
            if (wrapped) {
                super.visitLabel(bodyStart);
            }
            done.add(hook);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                end();
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            if (wrapped) {
                endWhereThrown(bodyStart);
            }
            super.visitMaxs(maxStack, maxLocals);
        }
    }

    /**
     * Around a call inside the method. If that call fails, the method may catch the exception and go on, and where it does cannot be told from
     * here; so what has not ended by then ends, as failed, when the method does.
     */
    private static final class AtSite extends Calls {
        private final Label bodyStart = new Label();
        private final int firstFree;

        AtSite(MethodVisitor next, Hook hook, String owner, int access, int firstFree, List<Hook> done) {
            super(next, hook, owner, access, done);
            this.firstFree = firstFree;
        }

        @Override
        public void visitMethodInsn(int opcode, String callee, String name, String descriptor, boolean isInterface) {
            if (!hook.site.equals(callee + "." + name + descriptor)) {
                super.visitMethodInsn(opcode, callee, name, descriptor, isInterface);
                return;
            }
            Type[] types = Type.getArgumentTypes(descriptor);
            // #1 is the call's first argument; the receiver of an instance call is left where it is
            Type[] siteTypes = new Type[types.length + 1];
            int[] siteSlots = new int[types.length + 1];
            int slot = firstFree;
            for (int i = 0; i < types.length; i++) {
                siteTypes[i + 1] = types[i];
                siteSlots[i + 1] = slot;
                slot += types[i].getSize();
            }
            for (int i = types.length; i >= 1; i--) {
                super.visitVarInsn(siteTypes[i].getOpcode(Opcodes.ISTORE), siteSlots[i]);
            }
            call(siteSlots, siteTypes);
            for (int i = 1; i <= types.length; i++) {
                super.visitVarInsn(siteTypes[i].getOpcode(Opcodes.ILOAD), siteSlots[i]);
            }
            super.visitMethodInsn(opcode, callee, name, descriptor, isInterface);
            end();
            done.add(hook);
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (hook.wrapsBody()) {
                super.visitLabel(bodyStart);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (hook.wrapsBody() && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                pushInt(-1);
                pushInt(hook.op.code());
                bridge("endInt");
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            if (hook.wrapsBody()) {
                endWhereThrown(bodyStart);
            }
            super.visitMaxs(maxStack, maxLocals);
        }
    }
}
