package dev.klock.agent.weave;

import dev.klock.boot.IsolatedLoader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.jar.JarFile;

/**
 * Loads klock where the program cannot get at it. The program meets objects of klock's, its threads before all, and could go on by plain
 * reflection from field to field to whatever decides. So their classes are in a module that exports and opens nothing; and so is the class of
 * the loader that they are from, which could else be made to define others beside them.
 *
 * <p>What is in klock.jar of libraries stays in that loader's unnamed module: SLF4J looks for providers there.
 *
 * <p>This class is loaded by a loader of its own, of which nothing is left when it has done its work: to that one's unnamed module java.base's
 * internals are exported.
 */
final class Walls implements Function<Object[], Throwable> {
    private static final String BOOT = "dev.klock.boot";
    private static final String LOADER = "dev.klock.boot.IsolatedLoader";
    private static final String LOG = "dev.klock.agent.log";

    static {
        @SuppressWarnings("unchecked")
        Consumer<Object> loader = (Consumer<Object>) Walls.class.getClassLoader();
        loader.accept(new Walls());
    }

    private Walls() {
    }

    /** Takes the agent argument, klock.jar, the Instrumentation and the opened jar, and starts klock with them; gives what failed or null. */
    @Override
    public Throwable apply(Object[] launch) {
        try {
            if (Walls.class.getModule().isNamed()) {
                throw new IllegalStateException("klock has been started");
            }
            JarFile jar = (JarFile) launch[3];
            SharedTypes.define((Instrumentation) launch[2]);
            JavaBase base = SharedTypes.javaBase;
            Module boot = base.module(null, BOOT, Set.of(BOOT));
            base.export(boot, BOOT, Walls.class.getModule());
            base.define(LOADER, bytes(jar, LOADER));
            base.define(LOADER.concat("$Archive"), bytes(jar, LOADER.concat("$Archive")));
            return Inside.start(base, jar, launch);
        } catch (Throwable e) {
            return e;
        }
    }

    private static byte[] bytes(JarFile jar, String name) throws IOException {
        try (InputStream in = jar.getInputStream(jar.getEntry(name.replace('.', '/').concat(".class")))) {
            return in.readAllBytes();
        }
    }

    /** Not loaded before the loader's class is: this one is linked to it. */
    static final class Inside {
        /** Every package of klock's own, but for what is defined in the boot loader and what only libraries call; a test compares them with the jar. */
        static final Set<String> PACKAGES = Set.of("dev.klock", "dev.klock.agent", "dev.klock.agent.audit", "dev.klock.agent.backup", "dev.klock.agent.cache",
                "dev.klock.agent.config", "dev.klock.agent.decide", "dev.klock.agent.library", "dev.klock.agent.library.sql", LOG, "dev.klock.agent.notice", "dev.klock.agent.observe",
                "dev.klock.agent.resolve", "dev.klock.agent.sign", "dev.klock.agent.weave", "dev.klock.cli", "dev.klock.cli.learn", "dev.klock.cli.log",
                "dev.klock.cli.probe", "dev.klock.cli.report", "dev.klock.digest", "dev.klock.embedded",
                "dev.klock.kernel", "dev.klock.local", "dev.klock.manifest", "dev.klock.resource", "dev.klock.shared");

        private Inside() {
        }

        static Throwable start(JavaBase base, JarFile jar, Object[] launch) throws Exception {
            IsolatedLoader loader = new IsolatedLoader(jar);
            Module klock = base.module(loader, "dev.klock", PACKAGES);
            base.readAll(klock);
            for (String name : SharedTypes.EXPORTED) {
                base.export(Object.class.getModule(), name, klock);
            }
            base.export(klock, LOG, loader.getUnnamedModule());
            return loader.entrance("dev.klock.agent.Entrance").apply(launch);
        }
    }
}
