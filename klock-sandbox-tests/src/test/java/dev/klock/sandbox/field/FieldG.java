package dev.klock.sandbox.field;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.FileHandler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** G: programs that a guard has broken. */
final class FieldG {
    private static final int READERS = 10_000;
    private static final int LOADERS = 500;
    private static final int READS = 100_000;
    private static final int DEPTH = 150;

    private FieldG() {
    }

    static void cases(Cases c) {
        c.of("G01", "C", "a program that logs each of its writes to a file")
                .allows("FileHandler", FieldG::logged);
        c.of("G02", "H", "whatever it does first").provenBy("FieldStartTest.program_whateverItDoesFirst_runsAsWithoutKlock").as("allowed").permissively("same");
        c.of("G03", "H", "a log manager of its own").provenBy("FieldStartTest.program_withItsOwnLogManager_startsEachTime").as("allowed").permissively("same");
        c.of("G04", "H", "an agent whose thread uses files while klock starts").provenBy("FieldStartTest.agentsThread_usingFilesWhileKlockStarts_doesNotHang").as("allowed");
        c.of("G05", "H", "other agents before and after").provenBy("CompatibilityTest.program_withItsOwnAgent_runsUnchanged").as("allowed").permissively("same");
        c.of("G06", "C", "a hook that could not be put in").provenBy("NetworkTest.lazyRow_thatMatchesNothing_endsTheSessionBeforeTheClassIsUsed",
                "DoctorTest.doctor_ofARowThatMatchesNothing_saysThatKlockDoesNotHold").as("refuses to run");
        c.of("G07", "H", "no further flags needed").provenBy("HookPairTest.row_declaredAndNot_allowedAndStopped").as("allowed");
        c.of("G08", "C", "a release that klock does not know").provenBy("UnlistedReleaseTest.unlistedRelease_thatFailsTheAudit_isRefusedInStrictAndWarnedOfInPermissive",
                "AuditTest.audit_ofASupportedJdk_findsNoUnhookedCallerAndNoUnclassifiedNative").as("refuses to run unless the audit passes");
        c.of("G09", "H", "very many virtual threads")
                .allows("each reads a file", FieldG::virtualReaders).since(21).in("virtual", "-Djdk.virtualThreadScheduler.parallelism=2")
                .provenBy("CompatibilityTest.program_withItsOwnAgent_runsUnchanged");
        c.of("G10", "M", "very many class loaders")
                .allows("made, used and closed", FieldG::loaders).in("loaders", "-XX:MaxMetaspaceSize=48m");
        c.of("G11", "M", "very many reads, deep in the stack")
                .allows("reads", w -> w.say(deep(w.path("in/a"), DEPTH))).as("allowed; measured in performance.md");
        c.of("G13", "H", "a zip file system makes a sibling while it updates")
                .blocks("only the archive declared", w -> update(w.path("m/p.zip")), "PROVIDES FILE:W/m/zipfstmp.*").looking().declaring("MUTATES FILE:W/m/p.zip", "DELETES FILE:W/m/p.zip")
                .given(w -> {
                    Files.createDirectory(w.path("m"));
                    FieldA.zip(w.path("m/p.zip"));
                })
                .allows("the directory declared", w -> {
                    update(w.path("out/p.zip"));
                    try (FileSystem files = FileSystems.newFileSystem(w.path("out/p.zip"), Map.of())) {
                        w.say(Files.readString(files.getPath("/added")));
                    }
                    Files.delete(w.path("out/p.zip"));
                }).declaring("DELETES FILE:W/out/*", "RENAMES FILE:W/out/*", "CONSUMES FILE:W/out/**").given(w -> FieldA.zip(w.path("out/p.zip")))
                .blocks("and then astray: the archive comes back, and nothing beside it", w -> {
                    update(w.path("out/p.zip"));
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").declaring("DELETES FILE:W/out/*", "RENAMES FILE:W/out/*", "CONSUMES FILE:W/out/**").given(w -> FieldA.zip(w.path("out/p.zip")))
                .changesOut().in("astray").always();
        c.of("G14", "M", "what other agents write").provenBy("CompatibilityTest.program_withItsOwnAgent_runsUnchanged").as("allowed where declared").permissively("same");
        c.of("G15", "M", "a flood of the same violation").provenBy("FieldStartTest.violation_againAndAgainInPermissive_isOneWarningAndACount").as("one line and a count").permissively("same; one warning and a count");
        c.of("G16", "M", "what a start costs").as("measured in performance.md");
        c.of("G17", "L", "native images").as("none: such an image takes no agents, so klock says nothing there");
        c.of("G18", "M", "exceptions stay what they are")
                .allows("a missing file", w -> {
                    try {
                        new FileInputStream(w.name("in/none")).close();
                    } catch (FileNotFoundException e) {
                        w.say("FileNotFoundException");
                    }
                    try {
                        Files.readString(w.path("in/none"));
                    } catch (NoSuchFileException e) {
                        w.say("NoSuchFileException");
                    }
                })
                .blocks("a violation is none that libraries catch", w -> {
                    try {
                        Files.readString(w.path("private/p"));
                    } catch (Exception e) {
                        w.say("caught");
                    }
                }, "CONSUMES FILE:W/private/p");
        c.of("G20", "M", "several JVMs at once in one directory").provenBy("ModesTest.programs_startedAtOnceInOneDirectory_workWithSessionsOfTheirOwn").as("allowed");
    }

    private static void logged(Site w) throws IOException {
        FileHandler handler = new FileHandler(w.name("out/app.log"));
        handler.setFormatter(new SimpleFormatter() {
            @Override
            public String format(LogRecord record) {
                return record.getMessage() + "\n";
            }
        });
        Logger logger = Logger.getLogger("field");
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        for (int i = 0; i < 100; i++) {
            Files.writeString(w.path("out/f" + i), "x");
            logger.log(Level.INFO, "wrote {0}", i);
        }
        handler.close();
    }

    /** Since 21. */
    private static void virtualReaders(Site w) throws Exception {
        AtomicInteger read = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
                try {
                    read.addAndGet(Files.readAllBytes(w.path("in/a")).length);
                } catch (IOException e) {
                    w.say(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        w.say(read);
    }

    private static void loaders(Site w) throws Exception {
        URL classes = FieldG.class.getProtectionDomain().getCodeSource().getLocation();
        for (int i = 0; i < LOADERS; i++) {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {classes}, null)) {
                loader.loadClass(FieldC.Writer.class.getName()).getMethod("read", String.class).invoke(null, w.name("in/a"));
            }
        }
        w.say("all");
    }

    private static long deep(Path file, int depth) throws IOException {
        if (depth > 0) {
            return deep(file, depth - 1);
        }
        long sum = 0;
        for (int i = 0; i < READS / 10; i++) {
            try (FileInputStream in = new FileInputStream(file.toFile())) {
                sum += in.read();
            }
        }
        return sum;
    }

    private static void update(Path archive) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(archive, Map.of())) {
            Files.writeString(files.getPath("/added"), "added");
        }
    }
}
