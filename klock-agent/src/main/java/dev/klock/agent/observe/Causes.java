package dev.klock.agent.observe;

import java.lang.module.ResolvedModule;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.Iterator;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Looks at the stack for why an access happens. Costs microseconds, so it is asked only before something would be denied.
 *
 * <p>Classes count by module, not by name (C10): a program's class in a package called {@code jdk.internal.loader} is not the JDK's.
 */
final class Causes {
    private static final int FRAMES = 96;
    private static final Set<StackWalker.Option> OPTIONS =
            Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE, StackWalker.Option.SHOW_HIDDEN_FRAMES);

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
        return new LoaderSearch().walk();
    }

    /** Whether java.nio.file looks at the mount points it was asked to list: names that {@code /proc/mounts} tells anybody. */
    static boolean isListingMounts() {
        return new MountSearch().walk();
    }

    /** Whether the flight recorder does something by itself: no class of the program stands between. */
    static boolean isFlightRecorder() {
        return new InternalSearch("jdk.jfr", "jdk.jfr.internal").walk();
    }

    /** Whether the JDK looks after its fonts by itself: likewise. */
    static boolean isFontConfiguration() {
        return new InternalSearch("java.desktop", "sun.font").walk();
    }

    /** Whether a module of the JDK, not the program, links native code. */
    static boolean isLinkedByTheJdk() {
        return new LinkSearch().walk();
    }

    /** Whether the part of the JDK that gives access to the process's memory takes some for itself, whoever uses it. */
    static boolean isMemoryOfTheJdk() {
        return new MemorySearch().walk();
    }

    /** Whether the {@code premain} of an agent runs that the launcher has named: that comes before the program. */
    static boolean isPremain() {
        return new PremainSearch().walk();
    }

    /** Whether it is the JDK itself that defines a class at run time. */
    static boolean isDefinedByTheJdk() {
        return new DefinerSearch().walk();
    }

    /** Whether a thread of the JDK's own runs, on whose stack no class of the program is that could be told anything by an error. */
    static boolean isOnAThreadOfTheJdk() {
        return new ThreadSearch().walk();
    }

    /** Whether the JDK is about to put another file in the place of the one it removes. */
    static boolean isReplacing() {
        return new IdiomSearch().walk();
    }

    /** One look at the stack, from the hook outwards, until a frame decides or as many as it may look at have been seen. */
    private abstract static class Search implements Function<Stream<StackWalker.StackFrame>, Boolean> {
        static final int ON = 0;
        static final int YES = 1;
        static final int NO = 2;

        private final boolean otherwise;
        private final int most;

        /** @param otherwise the answer if no frame decides */
        Search(boolean otherwise) {
            this(otherwise, FRAMES);
        }

        Search(boolean otherwise, int most) {
            this.otherwise = otherwise;
            this.most = most;
        }

        /** Hidden frames are looked at, too: what a lambda or a method handle leads to is done by whoever made it. */
        boolean walk() {
            return Walks.walk(StackWalker.getInstance(OPTIONS), this);
        }

        @Override
        public final Boolean apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> i = frames.iterator();
            for (int n = 0; n < most && i.hasNext(); n++) {
                StackWalker.StackFrame frame = i.next();
                Class<?> c = frame.getDeclaringClass();
                int answer = isReflection(c) ? ON : look(frame, c);
                if (answer != ON) {
                    return answer == YES;
                }
            }
            return otherwise;
        }

        /** {@link #ON}, {@link #YES} or {@link #NO}. */
        abstract int look(StackWalker.StackFrame frame, Class<?> c);

        /** Who calls by reflection stands behind these. */
        private static boolean isReflection(Class<?> c) {
            return isBase(c) && (c == Method.class || c == Constructor.class || c.getPackageName().equals("jdk.internal.reflect"));
        }

        static boolean isOwn(Class<?> c) {
            return c.getClassLoader() == Causes.class.getClassLoader();
        }

        static boolean isBase(Class<?> c) {
            return c.getModule() == Object.class.getModule();
        }

        /** By where its module was found, since any module may be called java.something. */
        static boolean isOfTheJdk(Class<?> c) {
            Module module = c.getModule();
            if (!module.isNamed() || module.getLayer() != ModuleLayer.boot()) {
                return false;
            }
            Optional<ResolvedModule> resolved = ModuleLayer.boot().configuration().findModule(module.getName());
            Optional<URI> place = resolved.isPresent() ? resolved.get().reference().location() : Optional.empty();
            return place.isPresent() && "jrt".equals(place.get().getScheme());
        }

        static int answer(boolean yes) {
            return yes ? YES : NO;
        }
    }

    private static final class LoaderSearch extends Search {
        private boolean outside;

        LoaderSearch() {
            super(false);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            if (!outside && isOwn(c) && c.getName().startsWith("dev.klock.agent.observe.")) {
                return ON;
            }
            outside = true;
            if (!isBase(c)) {
                return NO;
            }
            // or the enumeration it answers findResources with, which looks as it is asked for the next
            return c.getName().equals("jdk.internal.loader.BuiltinClassLoader") || c.getName().startsWith("jdk.internal.loader.BuiltinClassLoader$")
                    || c.getName().startsWith("jdk.internal.loader.ClassLoaders") ? YES : ON;
        }
    }

    private static final class MountSearch extends Search {
        MountSearch() {
            super(false);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            if (isOwn(c)) {
                return ON;
            }
            return !isBase(c) ? NO : c.getName().equals("sun.nio.fs.UnixFileSystem$FileStoreIterator") ? YES : ON;
        }
    }

    /** Whether the first that is neither klock's nor java.base's belongs to a part of the JDK. */
    private static final class InternalSearch extends Search {
        private final String module;
        private final String packageName;

        InternalSearch(String module, String packageName) {
            super(false);
            this.module = module;
            this.packageName = packageName;
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            return isOwn(c) || isBase(c) ? ON
                    : answer(c.getClassLoader() == null && module.equals(c.getModule().getName()) && c.getPackageName().startsWith(packageName));
        }
    }

    private static final class LinkSearch extends Search {
        LinkSearch() {
            super(false);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            if (isOwn(c) || isBase(c) && (c.getPackageName().startsWith("jdk.internal.foreign")
                    || c.getPackageName().startsWith("java.lang") || c.getPackageName().startsWith("jdk.internal.loader")
                    || c.getPackageName().startsWith("sun.nio.fs") || c.getPackageName().startsWith("java.util"))) {
                return ON;
            }
            return answer(isOfTheJdk(c));
        }
    }

    private static final class MemorySearch extends Search {
        MemorySearch() {
            super(false);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            if (isOwn(c) || isBase(c) && (c.getName().equals("sun.nio.fs.KlockBridge") || c.getPackageName().equals("java.lang.invoke")
                    || frame.getMethodName().equals("reinterpret") || frame.getMethodName().equals("withTargetLayout"))) {
                return ON;
            }
            return answer(isBase(c) && c.getPackageName().startsWith("jdk.internal.foreign"));
        }
    }

    private static final class PremainSearch extends Search {
        PremainSearch() {
            super(false);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            return c.getClassLoader() == null && c.getName().equals("sun.instrument.InstrumentationImpl")
                    && frame.getMethodName().equals("loadClassAndCallPremain") ? YES : ON;
        }
    }

    private static final class DefinerSearch extends Search {
        DefinerSearch() {
            super(false, Integer.MAX_VALUE);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            // up to the one who calls Lookup.defineClass, from wherever it is called by reflection or handles
            if (isOwn(c) || isBase(c) && (c.getName().equals("sun.nio.fs.KlockBridge") || c.getPackageName().equals("java.lang.invoke")
                    || c.getPackageName().equals("java.lang.reflect"))) {
                return ON;
            }
            return answer(isOfTheJdk(c));
        }
    }

    private static final class ThreadSearch extends Search {
        private boolean outside;

        ThreadSearch() {
            super(true, Integer.MAX_VALUE);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            if (isOwn(c)) {
                return outside ? NO : ON;
            }
            outside = true;
            return c.getClassLoader() == null || isOfTheJdk(c) ? ON : NO;
        }
    }

    private static final class IdiomSearch extends Search {
        IdiomSearch() {
            super(false);
        }

        @Override
        int look(StackWalker.StackFrame frame, Class<?> c) {
            if (isOwn(c) && c.getName().startsWith("dev.klock.agent.observe.")) {
                return ON;
            }
            if (!isOfTheJdk(c)) {
                // the program itself: what it deletes is not part of an idiom of the JDK
                return NO;
            }
            for (int k = 0; k < REPLACE_IDIOMS.length; k++) {
                if (c.getModule().getName().equals(REPLACE_IDIOMS[k][0]) && c.getName().equals(REPLACE_IDIOMS[k][1])
                        && frame.getMethodName().equals(REPLACE_IDIOMS[k][2])) {
                    return YES;
                }
            }
            return ON;
        }
    }
}
