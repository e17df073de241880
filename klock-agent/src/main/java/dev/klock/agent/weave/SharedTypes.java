package dev.klock.agent.weave;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Defines the types that java.base and klock's own loader share, and {@code ScopeViolationError}, into the boot loader's unnamed module,
 * and lets java.base read it. The first thing that happens: no class that mentions one of them may be loaded earlier, so this one does
 * not.
 *
 * <p>Why not the boot class path: appending to it prints a JVM warning, disables class-data sharing for the program's classes and costs
 * about 50 ms. What is opened of java.base is opened to the isolated loader's unnamed module, which no class of the program is in.
 */
public final class SharedTypes {
    private static final String[] NAMES = {"dev.klock.bridge.Fence", "dev.klock.bridge.HostFiles", "dev.klock.bridge.Hooks",
        "dev.klock.ScopeViolationError"};

    private SharedTypes() {
    }

    /** Called once, on the premain thread. */
    public static void define(Instrumentation instrumentation) throws ReflectiveOperationException, IOException {
        Module base = Object.class.getModule();
        Set<Module> toUs = Collections.singleton(SharedTypes.class.getModule());
        Map<String, Set<Module>> opens = new HashMap<>();
        opens.put("jdk.internal.access", toUs);
        opens.put("jdk.internal.reflect", toUs);
        opens.put("sun.nio.fs", toUs);
        instrumentation.redefineModule(base, Collections.emptySet(), Collections.emptyMap(), opens, Collections.emptySet(),
                Collections.emptyMap());
        Method getter = Class.forName("jdk.internal.access.SharedSecrets", true, null).getMethod("getJavaLangAccess");
        getter.setAccessible(true);
        Object access = getter.invoke(null);
        Method define = Class.forName("jdk.internal.access.JavaLangAccess", false, null).getMethod("defineClass", ClassLoader.class,
                String.class, byte[].class, ProtectionDomain.class, String.class);
        define.setAccessible(true);
        Class<?> type = null;
        for (String name : NAMES) {
            type = (Class<?>) define.invoke(access, null, name, bytesOf(name), null, null);
        }
        instrumentation.redefineModule(base, Collections.singleton(type.getModule()), Collections.emptyMap(), Collections.emptyMap(),
                Collections.emptySet(), Collections.emptyMap());
    }

    static byte[] bytesOf(String className) throws IOException {
        String resource = className.replace('.', '/').concat(".class");
        try (InputStream in = SharedTypes.class.getClassLoader().getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException("klock.jar lacks ".concat(resource));
            }
            return in.readAllBytes();
        }
    }
}
