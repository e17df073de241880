package dev.klock.agent.library;

import dev.klock.agent.observe.Subjects;
import dev.klock.agent.weave.Losses;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.method.MethodList;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.TypeResolutionStrategy;
import net.bytebuddy.dynamic.loading.ClassInjector;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.matcher.ElementMatcher;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.pool.TypePool;

/**
 * Weaves hooked methods, by Byte Buddy.
 *
 * <p>A class is woven for the look of its methods, name and parameters, whatever it extends: that cannot be known while it is being loaded
 * without reading, or loading, other classes, and JVMs do not show classes to agents that are loaded meanwhile. So nothing is read here but
 * the bytes at hand; whether a call counts shows when it is made ({@link HookedMethod#applies}). Most classes are let go after a look into
 * their constant pool.
 *
 * <p>It stays registered, as {@code weave.Weaver} does, and its first use is before {@code main}: what Byte Buddy needs of the JDK is not
 * loaded in the middle of loading another class.
 */
final class LibraryWeaver implements ClassFileTransformer {
    private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
    private static final ClassLoader OURS = LibraryWeaver.class.getClassLoader();
    private static final String ENTRY = "dev.klock.boot.";
    /** The property that keeps Byte Buddy from {@code sun.misc.Unsafe}; else release 25 prints warnings. */
    private static final String SAFE = "net.bytebuddy.safe";

    private final ByteBuddy byteBuddy = new ByteBuddy().with(TypeValidation.DISABLED)
            .with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE);
    private final HookedMethod[] sites;
    private final Class<?> advice;
    /** By site, made when a class first matches. */
    private final AtomicReferenceArray<Advice> advices;
    private final Like[] likes;
    private final Set<String> names = new HashSet<>();
    private final String manifest;
    private final Losses losses;
    private final SpareThread spare;
    /** A class was defined without its hooks, and that could not be told. Never false again. */
    private volatile boolean failed;

    private LibraryWeaver(HookedMethod[] sites, String manifest, Losses losses, Subjects subjects) throws ClassNotFoundException {
        this.sites = sites;
        this.manifest = manifest;
        this.losses = losses;
        this.spare = new SpareThread(this::woven, subjects);
        advices = new AtomicReferenceArray<>(sites.length);
        likes = new Like[sites.length];
        // compiled apart, against what it calls
        advice = Class.forName("dev.klock.agent.library.CallAdvice", false, OURS);
        for (int i = 0; i < sites.length; i++) {
            names.add(sites[i].method);
            likes[i] = new Like(sites[i].method, sites[i].parameters);
        }
    }

    static LibraryWeaver install(Instrumentation instrumentation, HookedMethod[] sites, String manifest, Losses losses, Subjects subjects)
            throws IOException, ClassNotFoundException {
        System.setProperty(SAFE, "true");
        try {
            // these read it, once
            ClassInjector.UsingReflection.isAvailable();
            ClassInjector.UsingUnsafe.isAvailable();
        } finally {
            // the program sees it otherwise
            System.clearProperty(SAFE);
        }
        LibraryWeaver weaver = new LibraryWeaver(sites, manifest, losses, subjects);
        weaver.spare.start();
        weaver.warmUp();
        String fault = RoomToDefine.install(instrumentation);
        if (fault != null) {
            losses.lost(fault);
        }
        instrumentation.addTransformer(weaver, true);
        List<Class<?>> before = new ArrayList<>();
        Class<?>[] loaded = instrumentation.getAllLoadedClasses();
        for (int i = 0; i < loaded.length; i++) {
            if (isOfALibrary(loaded[i].getClassLoader()) && !loaded[i].isArray() && instrumentation.isModifiableClass(loaded[i])) {
                before.add(loaded[i]);
            }
        }
        try {
            if (!before.isEmpty()) {
                instrumentation.retransformClasses(before.toArray(new Class<?>[0]));
            }
        } catch (UnmodifiableClassException | LinkageError | InternalError e) {
            losses.lost("classes that were loaded before klock: " + e);
        }
        return weaver;
    }

    /** Weaves a class of klock's own for nothing. */
    private void warmUp() throws IOException {
        byte[] sample = ClassFileLocator.ForClassLoader.read(CallJudge.class);
        weave("dev.klock.agent.library.CallJudge", sample, List.of(advice(0).on(new Like("enter", null))));
    }

    private Advice advice(int site) {
        Advice made = advices.get(site);
        if (made == null) {
            made = Advice.withCustomMapping().bind(Site.class, site).to(advice, ClassFileLocator.ForClassLoader.of(OURS));
            advices.set(site, made);
        }
        return made;
    }

    private static boolean isOfALibrary(ClassLoader loader) {
        return loader != null && loader != PLATFORM && loader != OURS;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (!isOfALibrary(loader)) {
            return null;
        }
        String className = name;
        try {
            // one may define a class without saying its name
            className = (name == null ? new ClassReader(bytes).getClassName() : name).replace('/', '.');
            if (className.startsWith(ENTRY)) {
                return null;
            }
            boolean named = false;
            for (int i = 0; i < sites.length; i++) {
                if (sites[i].type.equals(className)) {
                    sites[i].hook.loaded();
                    named = true;
                }
            }
            return named || ConstantNames.hasOneOf(bytes, names) ? woven(className, bytes) : null;
        } catch (StackOverflowError e) {
            return wovenElsewhere(className, bytes);
        } catch (Throwable e) {
            tell(className, e);
            return null;
        }
    }

    private byte[] wovenElsewhere(String className, byte[] bytes) {
        try {
            return spare.weave(className, bytes);
        } catch (IllegalStateException e) {
            tell(className, e.getCause());
        } catch (Throwable e) {
            failed = true;
        }
        return null;
    }

    private void tell(String className, Throwable why) {
        try {
            losses.lost("a hook of " + manifest + " in " + className + ": " + why);
        } catch (Throwable e) {
            failed = true;
        }
    }

    /** One line if a class was defined without its hooks and that could not be told at once; null as a rule. */
    String failure() {
        return failed ? "a class was loaded without its hooks of " + manifest : null;
    }

    private byte[] woven(String className, byte[] bytes) {
        TypeDescription type = pool(ClassFileLocator.Simple.of(className, bytes)).describe(className).resolve();
        List<AsmVisitorWrapper> visitors = new ArrayList<>();
        for (int i = 0; i < sites.length; i++) {
            Like like = likes[i];
            MethodList<MethodDescription.InDefinedShape> found = type.getDeclaredMethods().filter(like);
            if (!found.isEmpty()) {
                sites[i].hook.loaded();
                visitors.add(advice(i).on(like));
            }
            if (sites[i].type.equals(className)) {
                String fault = fault(sites[i], type, like);
                if (fault != null) {
                    losses.lost(manifest + ":" + sites[i].hook.declared.line() + ":" + sites[i].hook.declared.column() + ": hook "
                            + sites[i].hook.declared.name() + ": " + fault);
                }
            }
        }
        return visitors.isEmpty() ? null : weave(className, bytes, visitors);
    }

    /** What is wrong with a hook, now that its type shows; null if nothing is, or the method may stand in what the type extends. */
    private static String fault(HookedMethod site, TypeDescription type, Like like) {
        boolean named = false;
        for (MethodDescription.InDefinedShape method : type.getDeclaredMethods()) {
            if (!like.isLike(method)) {
                continue;
            }
            named = true;
            if (method.isNative()) {
                return method + " is native, so it cannot be hooked";
            }
            int last = site.hook.declared.lastArgument();
            if (last >= method.getParameters().size()) {
                return "${arg:" + last + "} is none of the " + method.getParameters().size() + " arguments of " + method;
            }
        }
        TypeDescription.Generic up = type.getSuperClass();
        boolean alone = (up == null || up.asErasure().getName().equals("java.lang.Object")) && type.getInterfaces().isEmpty();
        return named || !alone ? null : "there is no " + site.hook.declared;
    }

    private byte[] weave(String className, byte[] bytes, List<AsmVisitorWrapper> visitors) {
        ClassFileLocator locator = ClassFileLocator.Simple.of(className, bytes);
        TypeDescription type = pool(locator).describe(className).resolve();
        DynamicType.Builder<?> builder = byteBuddy.decorate(type, locator);
        for (int i = 0; i < visitors.size(); i++) {
            builder = builder.visit(visitors.get(i));
        }
        return builder.make(TypeResolutionStrategy.Disabled.INSTANCE).getBytes();
    }

    /** Types by name only, until more is asked: what a class's methods mention need not be there. */
    private static TypePool pool(ClassFileLocator locator) {
        return TypePool.Default.WithLazyResolution.of(locator);
    }

    /** Methods of a name and, unless all of that name are meant, of certain parameters. */
    private static final class Like implements ElementMatcher<MethodDescription> {
        private final String name;
        /** The beginning of their descriptors. */
        private final String parameters;

        Like(String name, List<String> types) {
            this.name = name;
            StringBuilder b = new StringBuilder("(");
            for (int i = 0; types != null && i < types.size(); i++) {
                Descriptors.append(b, types.get(i));
            }
            parameters = types == null ? "(" : b.append(')').toString();
        }

        boolean isLike(MethodDescription method) {
            return method.isMethod() && method.getInternalName().equals(name) && method.getDescriptor().startsWith(parameters);
        }

        @Override
        public boolean matches(MethodDescription method) {
            return isLike(method) && !method.isAbstract() && !method.isNative();
        }
    }
}
