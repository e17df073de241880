package dev.klock.agent.observe;

import java.lang.module.ResolvedModule;
import java.net.URI;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Looks at the stack for why an access happens. Costs microseconds, so it is asked only before something would be denied.
 *
 * <p>Classes count by module, not by name (C10): a program's class in a package called {@code jdk.internal.loader} is not the JDK's.
 */
final class Causes {
    private static final int FRAMES = 64;

    /** The JDK's methods that replace a file by removing it first (C34): module, class, method. Reviewed on 17 and 25. */
    private static final String[][] REPLACE_IDIOMS = {
        {"java.desktop", "javax.imageio.ImageIO", "write"},
        {"jdk.zipfs", "jdk.nio.zipfs.ZipFileSystem", "sync"},
    };

    private Causes() {
    }

    /**
     * Whether the JVM's own class loaders read what is on their path: jars that a jar's manifest names are on it without being in
     * {@code java.class.path}. Everything between must be java.base's, so that what a loaded class or a transformer does is not meant.
     */
    static boolean isClassLoading() {
        return walk(new LoaderSearch());
    }

    /** Whether java.nio.file looks at the mount points it was asked to list: names that {@code /proc/mounts} tells anybody. */
    static boolean isListingMounts() {
        return walk(new MountSearch());
    }

    /** Whether the flight recorder does something by itself: no class of the program stands between. */
    static boolean isFlightRecorder() {
        return walk(new RecorderSearch());
    }

    /** Whether a module of the JDK, not the program, links native code. */
    static boolean isLinkedByTheJdk() {
        return walk(new LinkSearch());
    }

    /** Whether the {@code premain} of an agent runs that the launcher has named: that comes before the program. */
    static boolean isPremain() {
        return walk(new PremainSearch());
    }

    /** Whether it is the JDK itself that defines a class at run time. */
    static boolean isDefinedByTheJdk() {
        return walk(new DefinerSearch());
    }

    /** Whether the JDK is about to put another file in the place of the one it removes. */
    static boolean isReplacing() {
        return walk(new IdiomSearch());
    }

    private static boolean walk(Function<Stream<StackWalker.StackFrame>, Boolean> search) {
        return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(search);
    }

    private static final class LoaderSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            Module base = Object.class.getModule();
            ClassLoader own = Causes.class.getClassLoader();
            boolean inside = true;
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                Class<?> c = i.next().getDeclaringClass();
                if (inside && c.getClassLoader() == own && c.getName().startsWith("dev.klock.agent.observe.")) {
                    continue;
                }
                inside = false;
                if (c.getModule() != base) {
                    return Boolean.FALSE;
                }
                // or the enumeration it answers findResources with, which looks as it is asked for the next
                if (c.getName().equals("jdk.internal.loader.BuiltinClassLoader") || c.getName().startsWith("jdk.internal.loader.BuiltinClassLoader$")
                        || c.getName().startsWith("jdk.internal.loader.ClassLoaders")) {
                    return Boolean.TRUE;
                }
            }
            return Boolean.FALSE;
        }
    }

    private static final class MountSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            Module base = Object.class.getModule();
            ClassLoader own = Causes.class.getClassLoader();
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                Class<?> c = i.next().getDeclaringClass();
                if (c.getClassLoader() == own) {
                    continue;
                }
                if (c.getModule() != base) {
                    return Boolean.FALSE;
                }
                if (c.getName().equals("sun.nio.fs.UnixFileSystem$FileStoreIterator")) {
                    return Boolean.TRUE;
                }
            }
            return Boolean.FALSE;
        }
    }

    private static final class RecorderSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            Module base = Object.class.getModule();
            ClassLoader own = Causes.class.getClassLoader();
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                Class<?> c = i.next().getDeclaringClass();
                if (c.getClassLoader() == own || c.getModule() == base) {
                    continue;
                }
                return c.getClassLoader() == null && "jdk.jfr".equals(c.getModule().getName())
                        && c.getPackageName().startsWith("jdk.jfr.internal");
            }
            return Boolean.FALSE;
        }
    }

    private static final class LinkSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            Module base = Object.class.getModule();
            ClassLoader own = Causes.class.getClassLoader();
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                Class<?> c = i.next().getDeclaringClass();
                if (c.getClassLoader() == own || c.getModule() == base && (c.getPackageName().startsWith("jdk.internal.foreign")
                        || c.getPackageName().startsWith("java.lang") || c.getPackageName().startsWith("jdk.internal.loader")
                        || c.getPackageName().startsWith("sun.nio.fs") || c.getPackageName().startsWith("java.util"))) {
                    continue;
                }
                Module module = c.getModule();
                return module.isNamed() && module.getLayer() == ModuleLayer.boot() && isOfTheJdk(module);
            }
            return Boolean.FALSE;
        }

        /** By where it was found, since any module may be called java.something. */
        private static boolean isOfTheJdk(Module module) {
            Optional<ResolvedModule> resolved = ModuleLayer.boot().configuration().findModule(module.getName());
            Optional<URI> place = resolved.isPresent() ? resolved.get().reference().location() : Optional.empty();
            return place.isPresent() && "jrt".equals(place.get().getScheme());
        }
    }

    private static final class PremainSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                StackWalker.StackFrame frame = i.next();
                Class<?> c = frame.getDeclaringClass();
                if (c.getClassLoader() == null && c.getName().equals("sun.instrument.InstrumentationImpl")
                        && frame.getMethodName().equals("loadClassAndCallPremain")) {
                    return Boolean.TRUE;
                }
            }
            return Boolean.FALSE;
        }
    }

    private static final class DefinerSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            ClassLoader own = Causes.class.getClassLoader();
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                Class<?> c = i.next().getDeclaringClass();
                // up to the one who calls Lookup.defineClass, from wherever it is called by reflection or handles
                if (c.getClassLoader() == own || c.getName().equals("sun.nio.fs.KlockBridge") || c.getPackageName().equals("java.lang.invoke")
                        || c.getPackageName().equals("java.lang.reflect") || c.getPackageName().equals("jdk.internal.reflect")) {
                    continue;
                }
                return c.getModule().isNamed() && LinkSearch.isOfTheJdk(c.getModule());
            }
            return Boolean.TRUE;
        }
    }

    private static final class IdiomSearch implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        @Override
        public Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            ModuleLayer boot = ModuleLayer.boot();
            ClassLoader own = Causes.class.getClassLoader();
            for (int n = 0; n < FRAMES && i.hasNext(); n++) {
                StackWalker.StackFrame frame = i.next();
                Class<?> c = frame.getDeclaringClass();
                Module module = c.getModule();
                if (c.getClassLoader() == own && c.getName().startsWith("dev.klock.agent.observe.")) {
                    continue;
                }
                if (!module.isNamed() || module.getLayer() != boot) {
                    // the program itself: what it deletes is not part of an idiom of the JDK
                    return Boolean.FALSE;
                }
                for (int k = 0; k < REPLACE_IDIOMS.length; k++) {
                    if (module.getName().equals(REPLACE_IDIOMS[k][0]) && c.getName().equals(REPLACE_IDIOMS[k][1])
                            && frame.getMethodName().equals(REPLACE_IDIOMS[k][2])) {
                        return Boolean.TRUE;
                    }
                }
            }
            return Boolean.FALSE;
        }
    }
}
