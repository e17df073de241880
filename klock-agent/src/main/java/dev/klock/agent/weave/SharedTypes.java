package dev.klock.agent.weave;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
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
 * about 50 ms. What is exported of java.base is exported to an isolated loader's unnamed module, which no class of the program is in.
 */
public final class SharedTypes {
    private static final String[] NAMES = {"dev.klock.bridge.Fence", "dev.klock.bridge.HostFiles", "dev.klock.bridge.Hooks",
        "dev.klock.ScopeViolationError"};

    /** The packages of java.base that {@code ByLinking} is linked to. */
    static final String[] EXPORTED = {"jdk.internal.access", "jdk.internal.reflect", "sun.nio.fs"};

    private SharedTypes() {
    }

    /** Set by the implementation when it is initialised, before any thread but the premain thread uses it. */
    static JavaBase javaBase;

    /** Called once, on the premain thread. */
    public static void define(Instrumentation instrumentation) throws ReflectiveOperationException, IOException {
        Set<Module> toUs = Collections.singleton(SharedTypes.class.getModule());
        Map<String, Set<Module>> exports = new HashMap<>();
        for (String name : EXPORTED) {
            exports.put(name, toUs);
        }
        instrumentation.redefineModule(Object.class.getModule(), Collections.emptySet(), exports, Collections.emptyMap(),
                Collections.emptySet(), Collections.emptyMap());
        link();
        Class<?> type = null;
        for (String name : NAMES) {
            type = javaBase.define(name, bytesOf(name));
        }
        javaBase.read(Object.class.getModule(), type.getModule());
    }

    /** Only that: in a loader to whose module others have exported what it takes, once the types are there. */
    public static void link() throws ClassNotFoundException {
        Class.forName("dev.klock.agent.weave.ByLinking", true, SharedTypes.class.getClassLoader());
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
