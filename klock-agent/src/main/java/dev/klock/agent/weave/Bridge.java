package dev.klock.agent.weave;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Defines the classes that woven code calls inside java.base.
 *
 * <p>Why java.base and not a module of our own: only there are a UnixPath's bytes and a File's field within reach, and java.base needs
 * no reads or exports to call itself.
 */
public final class Bridge {
    private static final String PACKAGE = "sun.nio.fs.";
    private static final Map<String, String> DESCRIPTORS = new HashMap<>();

    private final HostFiles files;
    private final MethodHandles.Lookup lookup;
    private final byte[] bridgeBytes;

    private Bridge(HostFiles files, MethodHandles.Lookup lookup, byte[] bridgeBytes) {
        this.files = files;
        this.lookup = lookup;
        this.bridgeBytes = bridgeBytes;
    }

    /** Defines everything but the bridge class itself, which needs the hooks ({@link #connect}). */
    public static Bridge open() throws ReflectiveOperationException, IOException {
        Class<?> anchor = Class.forName(PACKAGE + "UnixPath", false, null);
        MethodHandles.Lookup inside = MethodHandles.privateLookupIn(anchor, MethodHandles.lookup());
        Class<?> filesClass = inside.defineClass(SharedTypes.bytesOf(PACKAGE + "KlockFiles"));
        MethodHandle constructor = inside.findConstructor(filesClass, MethodType.methodType(void.class));
        HostFiles files;
        try {
            files = (HostFiles) constructor.invoke();
        } catch (Throwable e) {
            throw new ReflectiveOperationException("KlockFiles", e);
        }
        byte[] bridgeBytes = SharedTypes.bytesOf(PACKAGE + "KlockBridge");
        readDescriptors(bridgeBytes);
        hide(filesClass);
        return new Bridge(files, inside, bridgeBytes);
    }

    /** The host's files by the bytes of their names. */
    public HostFiles files() {
        return files;
    }

    /** Defines and initialises the bridge class: from here on woven code reaches {@code hooks}. Called once, before weaving. */
    public void connect(Instrumentation instrumentation, Hooks hooks, Fence fence) throws ReflectiveOperationException, IOException {
        Class<?> port = lookup.defineClass(SharedTypes.bytesOf(PACKAGE + "KlockPort"));
        try {
            lookup.findStaticSetter(port, "hooks", Hooks.class).invoke(hooks);
            lookup.findStaticSetter(port, "fence", Fence.class).invoke(fence);
        } catch (Throwable e) {
            throw new ReflectiveOperationException("KlockPort", e);
        }
        Class<?> bridge = lookup.defineClass(bridgeBytes);
        Class.forName(bridge.getName(), true, null);
        hide(port);
        hide(bridge);
        // modules other than java.base that hold hooked methods
        Set<Module> holders = new HashSet<>();
        for (String name : new String[] {"java.prefs", "jdk.management.agent"}) {
            ModuleLayer.boot().findModule(name).ifPresent(holders::add);
        }
        if (!holders.isEmpty()) {
            instrumentation.redefineModule(Object.class.getModule(), Collections.emptySet(), Map.of("sun.nio.fs", holders),
                    Collections.emptyMap(), Collections.emptySet(), Collections.emptyMap());
        }
    }

    static String descriptorOf(String method) {
        String descriptor = DESCRIPTORS.get(method);
        if (descriptor == null) {
            throw new IllegalStateException("hooks.tsv: the bridge has no method " + method);
        }
        return descriptor;
    }

    private static void readDescriptors(byte[] bytes) {
        new ClassReader(bytes).accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                if ((access & Opcodes.ACC_PUBLIC) != 0) {
                    DESCRIPTORS.put(name, descriptor);
                }
                return null;
            }
        }, ClassReader.SKIP_CODE);
    }

    private static void hide(Class<?> type) throws ReflectiveOperationException {
        Class<?> reflection = Class.forName("jdk.internal.reflect.Reflection", true, null);
        Set<String> all = Set.of("*");
        for (String filter : new String[] {"registerFieldsToFilter", "registerMethodsToFilter"}) {
            Method register = reflection.getMethod(filter, Class.class, Set.class);
            register.setAccessible(true);
            register.invoke(null, type, all);
        }
    }
}
