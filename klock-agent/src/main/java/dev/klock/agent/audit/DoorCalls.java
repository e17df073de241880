package dev.klock.agent.audit;

import dev.klock.agent.weave.Hook;
import dev.klock.agent.weave.WovenImage;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Collects the calls of one class, as woven, that name a method called like a door, and whether each passes a hook. */
final class DoorCalls extends ClassVisitor {
    /** One call. */
    static final class Call {
        /** {@code class.method(descriptor)} of the method it is in. */
        final String caller;
        final String owner;
        /** {@code name(descriptor)}. */
        final String member;
        /** Whether the bridge is called at the caller's start, or directly before this call by a row for it. */
        final boolean hooked;

        private Call(String caller, String owner, String member, boolean hooked) {
            this.caller = caller;
            this.owner = owner;
            this.member = member;
            this.hooked = hooked;
        }
    }

    /** Null if the class has no row. */
    private final List<Hook> hooks;
    private final Set<String> wanted;
    private final List<Call> calls;
    private String type;

    DoorCalls(List<Hook> hooks, Set<String> wanted, List<Call> calls) {
        super(Opcodes.ASM9);
        this.hooks = hooks;
        this.wanted = wanted;
        this.calls = calls;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        type = name;
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        return new Body(name, descriptor);
    }

    private final class Body extends MethodVisitor {
        private final String method;
        private final String descriptor;
        private final String caller;
        /** No call, jump or place to jump to has been seen yet, except bridge calls. */
        private boolean atStart = true;
        /** A row's call stood at the start. */
        private boolean startIsHooked;
        /** The bridge method called last, with no other call, jump or place to jump to since; else null. */
        private String bridgeBefore;

        Body(String method, String descriptor) {
            super(Opcodes.ASM9);
            this.method = method;
            this.descriptor = descriptor;
            caller = type.concat(".").concat(method).concat(descriptor);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String called, String calledDescriptor, boolean isInterface) {
            if (owner.equals(WovenImage.BRIDGE)) {
                if (atStart && isRow(called, "-")) {
                    startIsHooked = true;
                }
                bridgeBefore = called;
                return;
            }
            if (wanted.contains(called)) {
                String member = called.concat(calledDescriptor);
                boolean hooked = startIsHooked || bridgeBefore != null && isRow(bridgeBefore, owner.concat(".").concat(member));
                calls.add(new Call(caller, owner, member, hooked));
            }
            otherwise();
        }

        private boolean isRow(String bridgeMethod, String site) {
            if (hooks != null) {
                for (Hook hook : hooks) {
                    if (hook.door && hook.method.equals(method) && hook.descriptor.equals(descriptor) && hook.site.equals(site)
                            && hook.calls(bridgeMethod)) {
                        return true;
                    }
                }
            }
            return false;
        }

        private void otherwise() {
            atStart = false;
            bridgeBefore = null;
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            otherwise();
        }

        @Override
        public void visitLabel(Label label) {
            // the weaver puts one behind the call at the start; one before it would be a way round
            otherwise();
        }

        @Override
        public void visitInvokeDynamicInsn(String called, String calledDescriptor, Handle bootstrap, Object... constants) {
            for (Object constant : constants) {
                constant(constant);
            }
            otherwise();
        }

        @Override
        public void visitLdcInsn(Object value) {
            constant(value);
        }

        private void constant(Object value) {
            if (value instanceof Handle) {
                Handle handle = (Handle) value;
                if (wanted.contains(handle.getName())) {
                    calls.add(new Call(caller, handle.getOwner(), handle.getName().concat(handle.getDesc()), false));
                }
            } else if (value instanceof ConstantDynamic) {
                ConstantDynamic dynamic = (ConstantDynamic) value;
                for (int i = 0; i < dynamic.getBootstrapMethodArgumentCount(); i++) {
                    constant(dynamic.getBootstrapMethodArgument(i));
                }
            }
        }
    }
}
