package dev.klock.agent.weave;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import dev.klock.bridge.HostFiles;
import dev.klock.bridge.Listeners;
import java.io.IOException;
import java.util.Set;
import java.util.function.Function;

/**
 * Defines the classes that woven code calls inside java.base.
 *
 * <p>Why java.base and not a module of our own: only there are a UnixPath's bytes and a File's field within reach, and java.base needs
 * no reads or exports to call itself.
 */
public final class Bridge {
    static final String PACKAGE = "sun.nio.fs.";
    private static final String CALLS = "dev.klock.bridge.Calls";
    private static final String SESSIONS = "dev.klock.bridge.Sessions";
    private static final String LISTENERS = "dev.klock.bridge.Listeners";
    private static final String CALLS_HOLDER = "java.lang.KlockCalls";
    /** Modules other than java.base that hold hooked methods. */
    private static final String[] HOLDERS = {"java.prefs", "jdk.management.agent", "java.net.http", "jdk.sctp", "jdk.management", "jdk.attach",
        "java.instrument", "jdk.incubator.foreign", "java.desktop", "jdk.crypto.cryptoki", "java.smartcardio", "java.security.jgss",
        "jdk.hotspot.agent", "jdk.jfr"};

    private final HostFiles files;

    private Bridge(HostFiles files) {
        this.files = files;
    }

    /** Defines what klock itself needs of java.base; the bridge class needs the hooks ({@link #connect}). */
    public static Bridge open() throws IOException {
        Class<?> type = define("KlockFiles");
        SharedTypes.javaBase.hide(type);
        return new Bridge((HostFiles) SharedTypes.javaBase.files());
    }

    /** The host's files by the bytes of their names. */
    public HostFiles files() {
        return files;
    }

    /** Defines and initialises the bridge class: from here on woven code reaches {@code hooks}. Called once, before weaving. */
    public void connect(Hooks hooks, Fence fence) throws ReflectiveOperationException, IOException {
        Class<?> port = define("KlockPort");
        SharedTypes.javaBase.hand(hooks, fence);
        Class<?> bridge = define("KlockBridge");
        Class.forName(bridge.getName(), true, null);
        SharedTypes.javaBase.hide(port);
        SharedTypes.javaBase.hide(bridge);
        Set<String> holders = Set.of(HOLDERS);
        // not by findModule: for a module that is absent it spins classes, 2 ms CPU before main
        for (Module module : ModuleLayer.boot().modules()) {
            if (holders.contains(module.getName())) {
                SharedTypes.javaBase.export(Object.class.getModule(), "sun.nio.fs", module);
            }
        }
    }

    /**
     * Defines what woven methods of libraries call, and has it call {@code calls}, a {@code dev.klock.bridge.Calls}. Called at most once, by
     * who has not mentioned that type before {@link #defineCalls}.
     */
    public static void connectCalls(Object calls) throws ReflectiveOperationException {
        Class<?> holder = Class.forName(CALLS_HOLDER, true, null);
        holder.getMethod("connect", Class.forName(CALLS, false, null)).invoke(null, calls);
        SharedTypes.javaBase.hide(holder);
    }

    /** Has programs' sessions ask {@code sessions}. Called at most once. */
    public static void connectSessions(Function<Object[], Object> sessions) throws ReflectiveOperationException, IOException {
        Class<?> holder = SharedTypes.javaBase.define(SESSIONS, SharedTypes.bytesOf(SESSIONS));
        holder.getMethod("connect", Function.class).invoke(null, sessions);
        SharedTypes.javaBase.hide(holder);
    }

    /** Has programs' listeners ask {@code notices}. Called at most once. */
    public static void connectListeners(Function<Object[], Object> notices) throws IOException {
        Class<?> holder = SharedTypes.javaBase.define(LISTENERS, SharedTypes.bytesOf(LISTENERS));
        Listeners.connect(notices);
        SharedTypes.javaBase.hide(holder);
    }

    /** The first half of {@link #connectCalls}: from here on classes that mention the type can be loaded. */
    public static void defineCalls() throws IOException {
        SharedTypes.javaBase.define(CALLS, SharedTypes.bytesOf(CALLS));
        SharedTypes.javaBase.define(CALLS_HOLDER, SharedTypes.bytesOf(CALLS_HOLDER));
    }

    private static Class<?> define(String name) throws IOException {
        return SharedTypes.javaBase.define(PACKAGE.concat(name), SharedTypes.bytesOf(PACKAGE.concat(name)));
    }
}
