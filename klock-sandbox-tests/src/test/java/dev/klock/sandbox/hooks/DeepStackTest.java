package dev.klock.sandbox.hooks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Absent;
import dev.klock.sandbox.subject.DeepStack;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Where a thread's stack ends the JVM cannot call a transformer, and no class can be initialised. */
class DeepStackTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String ROOT = "META-INF/klock/";

    /** What the program's threads come to inside of a hook. */
    private static final Pattern OF_HOOKS = Pattern.compile("dev/klock/(agent/(backup/|decide/|log/|observe/|resolve/)?[^/]+|bridge/[^/]+|resource/[^/]+)");
    /** Those of them that only klock's own thread uses, or a start that fails, or the command line. */
    private static final Set<String> OF_OTHERS = Set.of("dev/klock/agent/backup/RollbackReport$Outcome", "dev/klock/agent/backup/SparseOutput",
            "dev/klock/agent/backup/Undo", "dev/klock/agent/backup/Sha256");

    @TempDir
    Path directory;

    private Child deep(Jdk jdk, String klock, Workspace workspace, String... arguments) {
        return Child.on(jdk).in(workspace.root()).main(DeepStack.class, arguments).klock(klock).manifest(workspace.manifest());
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-1")
    void class_thatIsLoadedWhereTheStackEnds_hasItsHooks(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = deep(jdk, "", workspace, "load", "com.sun.management.internal.HotSpotDiagnostic", "dump").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.root().resolve("w/x.hprof")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-1")
    void lazyClass_thatIsLoadedWhereTheStackEnds_endsTheSession(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        for (String then : new String[] {"end", "wait"}) {
            Outcome outcome = deep(jdk, "", workspace, "load", "java.util.prefs.FileSystemPreferences", then).run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(1);
            assertThat(outcome.err()).contains("a hook is lost: java.util.prefs.FileSystemPreferences was loaded where no stack or memory was left to put its hooks in");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void firstChange_whereTheStackEnds_spoilsNoLaterOne(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        for (String mode : new String[] {"", "mode=permissive"}) {
            Outcome outcome = deep(jdk, mode, workspace, "write", "w/out/a").run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out()).isEqualTo("written\n");
        }
    }

    /** Every initialiser that a hook could come to first has run before the program begins. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void classesOfHooks_areInitialisedBeforeTheProgram(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        Path log = directory.resolve("initialised");
        Outcome outcome = Child.on(jdk).in(workspace.root()).jvm("-Xlog:class+init=info:file=" + log).main(Absent.class, "start", "0").klock("")
                .manifest(workspace.manifest()).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        Set<String> initialised = Pattern.compile("Initializing '([^']+)'").matcher(Files.readString(log)).results().map(found -> found.group(1))
                .collect(Collectors.toSet());
        List<String> missing = new ArrayList<>();
        for (String name : withInitialisers()) {
            if (OF_HOOKS.matcher(name).matches() && !OF_OTHERS.contains(name) && !initialised.contains(name)) {
                missing.add(name);
            }
        }
        assertThat(initialised).contains("dev/klock/agent/backup/Entry");
        assertThat(missing).isEmpty();
    }

    private static List<String> withInitialisers() throws IOException {
        List<String> names = new ArrayList<>();
        try (JarFile jar = new JarFile(KlockJar.path().toFile())) {
            for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements();) {
                JarEntry entry = entries.nextElement();
                Matcher name = Pattern.compile("(?:" + ROOT + ")?(dev/klock/.+)\\.class").matcher(entry.getName());
                if (name.matches() && hasInitialiser(jar, entry)) {
                    names.add(name.group(1));
                }
            }
        }
        return names;
    }

    private static boolean hasInitialiser(JarFile jar, JarEntry entry) throws IOException {
        boolean[] has = {false};
        try (InputStream in = jar.getInputStream(entry)) {
            new ClassReader(in).accept(new ClassVisitor(Opcodes.ASM9) {
                @Override
                public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                    has[0] |= name.equals("<clinit>");
                    return null;
                }
            }, ClassReader.SKIP_CODE);
        }
        return has[0];
    }
}
