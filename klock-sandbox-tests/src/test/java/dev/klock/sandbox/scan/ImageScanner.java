package dev.klock.sandbox.scan;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Lists, for the JDK it runs on, all native methods and every method of the whole image that directly calls one of those its arguments
 * name ({@code class.method}), as lines {@code native NAME DESCRIPTOR} and {@code call NATIVE CALLER}.
 *
 * <p>A virtual call counts for every native that may be what it reaches: a call on {@code java.io.FileSystem} counts for the
 * {@code UnixFileSystem} method that overrides it. A method handle on a native counts as a call.
 */
public final class ImageScanner {
    private record Call(String caller, String owner, String member) {
    }

    private final Map<String, String> superOf = new HashMap<>();
    private final Map<String, String[]> interfacesOf = new HashMap<>();
    private final Map<String, Set<String>> declared = new HashMap<>();
    /** Native members ({@code name(descriptor)}) by class. */
    private final Map<String, Set<String>> natives = new HashMap<>();
    private final List<Call> calls = new ArrayList<>();

    private final Set<String> wanted;
    private final Set<String> wantedMethods;

    private ImageScanner(Set<String> wanted) {
        this.wanted = wanted;
        wantedMethods = wanted.stream().map(name -> name.substring(name.indexOf('.') + 1)).collect(Collectors.toSet());
    }

    public static void main(String[] arguments) throws IOException {
        ImageScanner scanner = new ImageScanner(Set.of(arguments));
        List<Path> classes;
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> all = Files.walk(modules)) {
            classes = all.filter(path -> path.toString().endsWith(".class") && !path.endsWith("module-info.class")).toList();
        }
        for (Path path : classes) {
            new ClassReader(Files.readAllBytes(path)).accept(scanner.new Reading(), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        }
        StringBuilder report = new StringBuilder();
        scanner.report().forEach(line -> report.append(line).append('\n'));
        System.out.print(report);
        System.err.println(classes.size() + " classes read");
    }

    private Set<String> report() {
        Set<String> lines = new TreeSet<>();
        Map<String, List<String>> ownersOf = new HashMap<>();
        natives.forEach((owner, members) -> {
            for (String member : members) {
                lines.add("native " + owner + "." + member);
                if (wanted.contains(owner + "." + member.substring(0, member.indexOf('(')))) {
                    ownersOf.computeIfAbsent(member, key -> new ArrayList<>()).add(owner);
                }
            }
        });
        for (Call call : calls) {
            for (String owner : ownersOf.getOrDefault(call.member, List.of())) {
                if (reaches(call.owner, owner, call.member)) {
                    lines.add("call " + owner + "." + call.member + " " + call.caller);
                }
            }
        }
        return lines;
    }

    /** Whether a call of {@code member} on static type {@code called} may land in {@code owner}'s. */
    private boolean reaches(String called, String owner, String member) {
        // what the call names is an ancestor or an interface of the native's class: it may be overridden by it
        if (isAncestor(called, owner)) {
            return true;
        }
        // what it names is a descendant that inherits the native
        for (String type = called; type != null; type = superOf.get(type)) {
            if (declared.getOrDefault(type, Set.of()).contains(member)) {
                return type.equals(owner);
            }
        }
        return false;
    }

    private boolean isAncestor(String ancestor, String type) {
        if (type == null || ancestor.equals(type)) {
            return type != null;
        }
        return isAncestor(ancestor, superOf.get(type)) || Stream.of(interfacesOf.getOrDefault(type, new String[0]))
                .anyMatch(one -> isAncestor(ancestor, one));
    }

    private final class Reading extends ClassVisitor {
        private String type;

        Reading() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
            type = name;
            superOf.put(name, superName);
            interfacesOf.put(name, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            String member = name + descriptor;
            declared.computeIfAbsent(type, key -> new HashSet<>()).add(member);
            if ((access & Opcodes.ACC_NATIVE) != 0) {
                natives.computeIfAbsent(type, key -> new HashSet<>()).add(member);
            }
            String caller = type + "." + member;
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String calledDescriptor, boolean isInterface) {
                    if (wantedMethods.contains(called)) {
                        calls.add(new Call(caller, owner, called + calledDescriptor));
                    }
                }

                @Override
                public void visitInvokeDynamicInsn(String called, String calledDescriptor, Handle bootstrap, Object... constants) {
                    for (Object constant : constants) {
                        constant(constant);
                    }
                }

                @Override
                public void visitLdcInsn(Object value) {
                    constant(value);
                }

                private void constant(Object value) {
                    if (value instanceof Handle handle) {
                        calls.add(new Call(caller, handle.getOwner(), handle.getName() + handle.getDesc()));
                    } else if (value instanceof ConstantDynamic dynamic) {
                        for (int i = 0; i < dynamic.getBootstrapMethodArgumentCount(); i++) {
                            constant(dynamic.getBootstrapMethodArgument(i));
                        }
                    }
                }
            };
        }
    }
}
