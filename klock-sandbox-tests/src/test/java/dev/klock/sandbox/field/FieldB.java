package dev.klock.sandbox.field;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.Recording;

/** B: what writes below the file APIs. */
final class FieldB {
    private FieldB() {
    }

    static void cases(Cases c) {
        c.of("B01", "H", "heap and thread dumps, which the VM writes")
                .blocks("dumpHeap", w -> dump(w, "new.hprof"), "PROVIDES FILE:W/new.hprof").declaring("CONSUMES NATIVE:vm").in("dumps").always()
                .blocks("dumpHeap, the environment with it", w -> dump(w, "out/new.hprof"), "CONSUMES NATIVE:vm")
                .blocks("dumpThreads", w -> threads(w, "new.txt"), "PROVIDES FILE:W/new.txt").since(21)
                .allows("inside the scope", w -> dump(w, "out/new.hprof")).declaring("CONSUMES NATIVE:vm").in("dumps")
                .provenBy("NativeDoorsTest.file_writtenByTheVm_isTheProgramsWherePut");
        c.of("B03", "M", "flight recordings; the recorder's own repository is not the program's")
                .blocks("dump", w -> record(w, "new.jfr"), "PROVIDES FILE:W/new.jfr").looking().in("recorder")
                .allows("inside the scope", w -> record(w, "out/new.jfr")).in("recorder")
                .provenBy("NativeDoorsTest.file_writtenByTheVm_isTheProgramsWherePut");
        c.of("B04", "M", "a child JVM that is told to write a log")
                .blocks("not declared", w -> w.say(child("-Xlog:gc:file=" + w.name("new"), "-version") + " " + Files.deleteIfExists(w.path("new"))), "PROVIDES PROCESS:.*/bin/java")
                .andPermissive("MUTATES FILE:.*").in("child")
                .allows("with its effects declared", w -> w.say(child("-Xlog:gc:file=" + w.name("out/gc"), "-version") + " " + Files.deleteIfExists(w.path("out/gc"))))
                .declaring("{predicate: PROVIDES, resource: \"PROCESS:JAVA\", effects: [\"MUTATES FILE:W/out/**\"]}", "DELETES FILE:W/out/*").in("declared child");
        c.of("B05", "C", "native libraries")
                .blocks("System.load", w -> System.load(w.name("private/libown.so")), "CONSUMES NATIVE:W/private/libown.so").looking().given(FieldB::library)
                .always()
                .blocks("Runtime.load", w -> Runtime.getRuntime().load(w.name("private/libown.so")), "CONSUMES NATIVE:W/private/libown.so").looking()
                .given(FieldB::library)
                .allows("declared", w -> System.load(w.name("private/libown.so"))).declaring("CONSUMES NATIVE:W/private/libown.so").given(FieldB::library)
                .allows("not there", w -> {
                    try {
                        System.loadLibrary("no-such-library");
                    } catch (UnsatisfiedLinkError e) {
                        w.say("none");
                    }
                })
                .provenBy("NativeDoorsTest.library_declaredAndNot_isLoadedAndStopped", "NativeDoorsTest.libraryOfTheJdk_loadedByTheProgramItself_isStopped");
        c.of("B06", "C", "a driver that unpacks its library and loads it, as SQLite's does")
                .blocks("unpacked outside", w -> unpackAndLoad(w, "private"), "PROVIDES FILE:W/private/driver.*so").looking()
                .blocks("unpacked inside", w -> unpackAndLoad(w, "out"), "CONSUMES NATIVE:W/out/driver.*so").changesOut();
        c.of("B08", "H", "JNA, JNR, and the JDK's own foreign functions")
                .blocks("downcall", w -> link(), "CONSUMES NATIVE:ffm").since(22)
                .allows("declared", w -> link()).since(22).declaring("CONSUMES NATIVE:ffm").in("foreign", "--enable-native-access=ALL-UNNAMED")
                .provenBy("NativeDoorsTest.library_declaredAndNot_isLoadedAndStopped", "NativeDoorsTest.foreignFunction_declaredAndNot_isLinkedAndStopped");
    }

    private static void dump(Site w, String name) throws IOException {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(w.name(name), true);
        w.say(Files.deleteIfExists(w.path(name)));
    }

    /** Since 21. */
    private static void threads(Site w, String name) throws Throwable {
        Class<?> format = Class.forName("com.sun.management.HotSpotDiagnosticMXBean$ThreadDumpFormat");
        try {
            HotSpotDiagnosticMXBean.class.getMethod("dumpThreads", String.class, format)
                    .invoke(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class), w.name(name), format.getEnumConstants()[0]);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        w.say(Files.deleteIfExists(w.path(name)));
    }

    private static void record(Site w, String name) throws IOException {
        try (Recording recording = new Recording()) {
            recording.start();
            recording.stop();
            recording.dump(w.path(name));
        }
        w.say(Files.deleteIfExists(w.path(name)));
    }

    private static int child(String... arguments) throws IOException, InterruptedException {
        String[] command = new String[arguments.length + 1];
        command[0] = System.getProperty("java.home") + "/bin/java";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    private static void library(Site w) throws IOException {
        Files.copy(Path.of(System.getProperty("java.home"), "lib/libprefs.so"), w.path("private/libown.so"));
    }

    private static void unpackAndLoad(Site w, String directory) throws IOException {
        Path unpacked = Files.createTempFile(w.path(directory), "driver", ".so");
        try {
            Files.write(unpacked, Files.readAllBytes(Path.of(System.getProperty("java.home"), "lib/libprefs.so")));
            System.load(unpacked.toString());
        } finally {
            Files.deleteIfExists(unpacked);
        }
    }

    /** Since 22. */
    private static void link() throws Throwable {
        Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
        Class<?> descriptorType = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
        Class<?> options = Class.forName("[Ljava.lang.foreign.Linker$Option;");
        try {
            linkerType.getMethod("downcallHandle", descriptorType, options).invoke(linkerType.getMethod("nativeLinker").invoke(null),
                    descriptorType.getMethod("ofVoid", layouts.arrayType()).invoke(null, Array.newInstance(layouts, 0)),
                    Array.newInstance(options.getComponentType(), 0));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
