package dev.klock.agent.weave;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Defines the classes that woven code calls inside java.base.
 *
 * <p>Why java.base and not a module of our own: only there are a UnixPath's bytes and a File's field within reach, and java.base needs
 * no reads or exports to call itself.
 */
public final class Bridge {
    static final String PACKAGE = "sun.nio.fs.";

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
        HostFiles files = (HostFiles) instanceOf(filesClass);
        byte[] bridgeBytes = SharedTypes.bytesOf(PACKAGE + "KlockBridge");
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
        @SuppressWarnings("unchecked")
        BiConsumer<Hooks, Fence> entrance = (BiConsumer<Hooks, Fence>) instanceOf(port);
        entrance.accept(hooks, fence);
        Class<?> bridge = lookup.defineClass(bridgeBytes);
        Class.forName(bridge.getName(), true, null);
        hide(port);
        hide(bridge);
        // modules other than java.base that hold hooked methods
        Set<Module> holders = new HashSet<>();
        for (String name : new String[] {"java.prefs", "jdk.management.agent", "java.net.http", "jdk.sctp", "jdk.management", "jdk.attach",
            "java.instrument"}) {
            Optional<Module> holder = ModuleLayer.boot().findModule(name);
            if (holder.isPresent()) {
                holders.add(holder.get());
            }
        }
        if (!holders.isEmpty()) {
            instrumentation.redefineModule(Object.class.getModule(), Collections.emptySet(), Map.of("sun.nio.fs", holders),
                    Collections.emptyMap(), Collections.emptySet(), Collections.emptyMap());
        }
    }

    private static Object instanceOf(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
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
