package dev.klock.sandbox.field;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.stream.Stream;

/** D: names and what they lead to. */
final class FieldD {
    private static final int LINKS = 41;
    private static final int DEPTH = 400;

    private FieldD() {
    }

    static void cases(Cases c) {
        c.of("D02", "C", "//, /./ and ..")
                .blocks("out/../x", w -> new FileOutputStream(w.name("out/../x")).close(), "MUTATES FILE:W/x")
                .blocks("//out/./../x", w -> new FileOutputStream(w.name("/out/./../x")).close(), "MUTATES FILE:W/x")
                .blocks("by channel", w -> Files.writeString(w.path("out/./../x"), "changed"), "MUTATES FILE:W/x")
                .blocks("through a link: not where it looks", w -> new FileOutputStream(w.name("out/l/../new")).close(), "PROVIDES FILE:W/private/new")
                .given(w -> {
                    Files.createDirectory(w.path("private/inner"));
                    Files.createSymbolicLink(w.path("out/l"), w.path("private/inner"));
                })
                .allows("in/../out/a", w -> new FileOutputStream(w.name("in/../out/a")).close());
        c.of("D03", "C", "siblings that begin alike")
                .blocks("out.txt", w -> new FileOutputStream(w.name("out.txt")).close(), "PROVIDES FILE:W/out.txt")
                .blocks("out-old/a", w -> new FileOutputStream(w.name("out-old/a")).close(), "PROVIDES FILE:W/out-old/a")
                .given(w -> Files.createDirectory(w.path("out-old")))
                .blocks("outside/a, with out/**", w -> new FileOutputStream(w.name("outside/a")).close(), "MUTATES FILE:W/outside/a")
                .given(w -> {
                    Files.createDirectory(w.path("outside"));
                    Files.createFile(w.path("outside/a"));
                }).declaring("MUTATES FILE:W/out/**");
        c.of("D04", "C", "a link that leads outside")
                .blocks("append", w -> Files.writeString(w.path("out/l"), "more", StandardOpenOption.APPEND), "MUTATES FILE:W/private/p")
                .given(w -> Files.createSymbolicLink(w.path("out/l"), w.path("private/p"))).always()
                .blocks("a dangling one", w -> new FileOutputStream(w.name("out/l")).close(), "PROVIDES FILE:W/private/new")
                .given(w -> Files.createSymbolicLink(w.path("out/l"), w.path("private/new")))
                .blocks("a directory", w -> Files.writeString(w.path("out/l/p"), "changed"), "MUTATES FILE:W/private/p")
                .given(w -> Files.createSymbolicLink(w.path("out/l"), w.path("private")));
        c.of("D06", "H", "swapped between check and open").provenBy("OthersTest.name_ledElsewhereByAnotherProcessAfterItWasUsed_isJudgedByWhereItLeadsNow",
                "ObserverTest.a_name_that_others_led_elsewhere_since_is_judged_by_where_it_leads_before_a_change").as("blocked; microseconds stay open, a stated limit");
        c.of("D07", "C", "/proc/self/root")
                .blocks("x", w -> new FileOutputStream("/proc/self/root" + w.name("x")).close(), "MUTATES FILE:W/x")
                .blocks("by channel", w -> Files.writeString(Path.of("/proc/self/root" + w.name("x")), "changed"), "MUTATES FILE:W/x")
                .allows("out/a", w -> new FileOutputStream("/proc/self/root" + w.name("out/a")).close());
        c.of("D08", "H", "/proc/self/cwd, /proc/PID/cwd, /proc/self/task, /proc/self/fd")
                .blocks("self", w -> new FileOutputStream("/proc/self/cwd/" + w.path().getFileName() + "/x").close(), "MUTATES FILE:W/x")
                .blocks("own number", w -> new FileOutputStream("/proc/" + ProcessHandle.current().pid() + "/cwd/" + w.path().getFileName() + "/x").close(),
                        "MUTATES FILE:W/x")
                .blocks("thread", w -> new FileOutputStream("/proc/thread-self/cwd/" + w.path().getFileName() + "/x").close(), "MUTATES FILE:W/x")
                .blocks("descriptor", w -> reopen(w.path("in/a"), false), "MUTATES FILE:W/in/a").andPermissive("CONSUMES FILE:/proc.*")
                .declaring("CONSUMES FILE:/proc/**").in("descriptors")
                .blocks("descriptor of a file that was removed and has another name", w -> reopen(w.path("out/s/l"), true), "MUTATES FILE:W/out/s/l")
                .andPermissive("CONSUMES FILE:/proc.*").declaring("CONSUMES FILE:/proc/**", "CONSUMES FILE:W/out/s/*", "DELETES FILE:W/out/s/l").given(w -> {
                    Files.createDirectory(w.path("out/s"));
                    Files.writeString(w.path("out/s/a"), "a");
                    Files.createLink(w.path("out/s/l"), w.path("out/s/a"));
                }).changesOut().always().in("descriptors")
                .allows("descriptor of a temporary file that was removed", FieldD::unlinked).declaring("CONSUMES FILE:/proc/**").in("descriptors")
                .blocks("program that was removed", FieldD::startRemoved, "PROVIDES PROCESS:W/out/l").andPermissive("CONSUMES FILE:/proc.*", "CONSUMES NATIVE:W/out/l")
                .declaring("CONSUMES FILE:/proc/**", "CONSUMES FILE:W/out/*", "DELETES FILE:W/out/*").given(w -> Files.copy(Path.of("/bin/true"), w.path("out/l")))
                .changesOut().in("removed")
                .blocks("program in a directory that was removed", FieldD::startInRemoved, "PROVIDES PROCESS:.*/true").andPermissive("CONSUMES FILE:/proc.*")
                .declaring("CONSUMES FILE:/proc/**", "CONSUMES FILE:W/out/*", "DELETES FILE:W/out/*").given(w -> Files.createDirectory(w.path("out/s")))
                .changesOut().in("removed");
        c.of("D11", "M", "a NUL in a name gives the JDK's own error")
                .allows("stream", w -> new FileOutputStream(w.name("out/a\0.evil")).close())
                .allows("path", w -> Path.of(w.name("out/a\0.evil")))
                .allows("exists", w -> w.say(w.file("out/a\0.evil").exists() + " " + w.file("out/a\0.evil").delete()));
        c.of("D12", "M", "very long names")
                .blocks("judged", w -> new FileOutputStream(w.name("out" + "/.".repeat(1000) + "/../x")).close(), "MUTATES FILE:W/x")
                .allows("too long: the system's own error", w -> new FileOutputStream(w.name("out" + "/.".repeat(3000) + "/a")).close())
                .allows("by channel", w -> Files.writeString(w.path("out" + "/.".repeat(3000) + "/a"), "x"))
                .allows("255 bytes", w -> new FileOutputStream(w.name("out/" + "n".repeat(255))).close())
                .allows("256 bytes", w -> new FileOutputStream(w.name("out/" + "n".repeat(256))).close())
                .allows("deep", w -> Files.writeString(w.path("out/" + "d/".repeat(DEPTH) + "f"), "x")).declaring("PROVIDES FILE:W/out/**")
                .given(w -> Files.createDirectories(w.path("out/" + "d/".repeat(DEPTH))));
        c.of("D13", "M", "forms of Unicode are different files")
                .blocks("decomposed", w -> new FileOutputStream(w.name("caf" + "e\u0301")).close(), "PROVIDES FILE:W/caf.*").declaring("PROVIDES FILE:W/caf\u00e9")
                .allows("composed", w -> new FileOutputStream(w.name("caf\u00e9")).close()).declaring("PROVIDES FILE:W/caf\u00e9");
        c.of("D15", "M", "upper and lower case are different files where the file system says so")
                .blocks("A for a", w -> new FileOutputStream(w.name("m/A")).close(), "PROVIDES FILE:W/m/A").declaring("MUTATES FILE:W/m/a").given(w -> {
                    Files.createDirectory(w.path("m"));
                    Files.createFile(w.path("m/a"));
                });
        c.of("D16", "M", "a trailing slash, blank or dot")
                .blocks("blank", w -> new FileOutputStream(w.name("m/a ")).close(), "PROVIDES FILE:W/m/a.+").declaring("PROVIDES FILE:W/m/a")
                .given(w -> Files.createDirectory(w.path("m")))
                .blocks("dot", w -> new FileOutputStream(w.name("m/a.")).close(), "PROVIDES FILE:W/m/a.+").declaring("PROVIDES FILE:W/m/a")
                .given(w -> Files.createDirectory(w.path("m")))
                .allows("slash", w -> new FileOutputStream(w.name("m/a/")).close()).declaring("PROVIDES FILE:W/m/a").given(w -> Files.createDirectory(w.path("m")))
                .provenBy("ResourceTest.parse_canonicalText_givesTheSameTextBack");
        c.of("D17", "H", "the directory, its children, and all below")
                .blocks("/*: a grandchild", w -> new FileOutputStream(w.name("out/s/a")).close(), "PROVIDES FILE:W/out/s/a").given(w -> Files.createDirectory(w.path("out/s")))
                .blocks("/*: listing the directory", w -> w.say(w.file("out").list().length), "CONSUMES FILE:W/out")
                .blocks("/*: making the directory", w -> w.say(w.file("m").mkdir()), "PROVIDES FILE:W/m").declaring("PROVIDES FILE:W/m/*")
                .allows("/*: children", w -> {
                    new FileOutputStream(w.name("out/a")).close();
                    new FileOutputStream(w.name("out/.hidden")).close();
                })
                .allows("/**: the directory and all below", w -> w.say(w.file("m/s").mkdirs() + " " + w.file("m/s/a").createNewFile()))
                .declaring("PROVIDES FILE:W/m/**", "DEPENDS_ON FILE:W/**")
                .allows("/** at the root", w -> w.say(Files.readString(w.path("private/p")))).declaring("CONSUMES FILE:/**").in("root");
        c.of("D19", "H", "lines that overlap, in any order")
                .allows("the narrow one last", w -> w.say(Files.readString(w.path("m/c")))).declaring("CONSUMES FILE:W/m/*", "CONSUMES FILE:W/m/d").given(FieldD::pair)
                .allows("the narrow one first", w -> w.say(Files.readString(w.path("m/c")))).declaring("CONSUMES FILE:W/m/d", "CONSUMES FILE:W/m/*").given(FieldD::pair)
                .allows("below and above", w -> w.say(Files.readString(w.path("m/c")) + Files.readString(w.path("m/d"))))
                .declaring("CONSUMES FILE:W/m/d/**", "CONSUMES FILE:W/m/**").given(FieldD::pair);
        c.of("D20", "H", "names that sort between a directory and its children").provenBy("ScopeModelTest.scope_hundredThousandRandomProbes_decidesLikeTheNaiveMatcher",
                "ScopeModelTest.scope_anyLinesInAnyOrder_decidesLikeTheNaiveMatcher").as("as the naive matcher");
        c.of("D21", "H", "the declared name leads through links")
                .allows("declared by the link", w -> Files.writeString(w.path("real/a"), "changed")).declaring("MUTATES FILE:W/l/*").given(FieldD::linked)
                .allows("declared by the real name", w -> Files.writeString(w.path("l/a"), "changed")).declaring("MUTATES FILE:W/real/*").given(FieldD::linked)
                .blocks("and then astray: one image", w -> {
                    Files.writeString(w.path("real/a"), "changed");
                    Files.writeString(w.path("l/a"), "and again");
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").declaring("MUTATES FILE:W/out/l/*").given(w -> {
                    Files.createDirectory(w.path("out/real"));
                    Files.createFile(w.path("out/real/a"));
                    Files.createSymbolicLink(w.path("out/l"), Path.of("real"));
                    Files.createSymbolicLink(w.path("real"), Path.of("out/real"));
                    Files.createSymbolicLink(w.path("l"), Path.of("out/l"));
                }).changesOut().always();
        c.of("D22", "C", "what is outside is moved inside")
                .blocks("move", w -> Files.move(w.path("private/p"), w.path("out/s")), "RENAMES FILE:W/private/p").looking().declaring("RENAMES FILE:W/out/*")
                .blocks("renameTo", w -> w.say(w.file("private/p").renameTo(w.file("out/s"))), "RENAMES FILE:W/private/p").declaring("RENAMES FILE:W/out/*");
        c.of("D24", "H", "what is not there yet when it is declared")
                .allows("read below a glob", w -> {
                    Files.writeString(w.path("m/new"), "made");
                    w.say(Files.readString(w.path("m/new")));
                }).declaring("CONSUMES FILE:W/m/**", "PROVIDES FILE:W/m/new").given(w -> Files.createDirectory(w.path("m")))
                .blocks("forbidden before it is there", w -> {
                    Files.writeString(w.path("out/secret"), "made");
                    w.say(Files.readString(w.path("out/secret")));
                }, "CONSUMES FILE:W/out/secret").forbidding("CONSUMES FILE:W/out/secret").changesOut();
        c.of("D25", "M", "line ends, escapes and quotes in a name")
                .blocks("outside", w -> new FileOutputStream(w.name("new\n{\"decision\":\"allow\"}\u001b[2J")).close(), "PROVIDES FILE:W/new.*")
                .allows("inside", w -> new FileOutputStream(w.name("out/new\n{\"decision\":\"allow\"}\u001b[2J")).close());
        c.of("D26", "M", "encoded and opaque URIs")
                .blocks("encoded", w -> w.say(Files.readString(Path.of(URI.create("file://" + w.name("in/%2e%2e/private/p"))))), "CONSUMES FILE:W/private/p")
                .allows("opaque", w -> Path.of(URI.create("file:x")))
                .allows("with a host", w -> Path.of(URI.create("file://host" + w.name("x"))));
        c.of("D27", "L", "links that lead in a circle, and too many of them")
                .allows("circle", w -> new FileInputStream(w.name("in/l1")).close()).given(w -> {
                    Files.createSymbolicLink(w.path("in/l1"), Path.of("l2"));
                    Files.createSymbolicLink(w.path("in/l2"), Path.of("l1"));
                })
                .allows("41 links", w -> Files.readString(w.path("in/l0"))).given(w -> {
                    for (int i = 0; i < LINKS; i++) {
                        Files.createSymbolicLink(w.path("in/l" + i), Path.of(i + 1 < LINKS ? "l" + (i + 1) : "a"));
                    }
                });
        c.of("D28", "H", "paths of other file systems")
                .blocks("the archive itself", w -> inArchive(w, w.path("private/p.zip")), "CONSUMES FILE:W/private/p.zip").given(w -> FieldA.zip(w.path("private/p.zip")))
                .looking()
                .allows("a name in it that is outside elsewhere", w -> inArchive(w, w.path("in/p.zip"))).given(w -> FieldA.zip(w.path("in/p.zip")))
                .allows("the run-time image", w -> w.say(Files.exists(Path.of(URI.create("jrt:/java.base/module-info.class")))));
    }

    private static void reopen(Path file, boolean removed) throws IOException {
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            String descriptor = descriptor(file);
            if (removed) {
                Files.delete(file);
            }
            new FileOutputStream("/proc/self/fd/" + descriptor).close();
        }
    }

    private static void unlinked(Site w) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(w.file("out/c"), "rw")) {
            String descriptor = "/proc/self/fd/" + descriptor(w.path("out/c"));
            Files.delete(w.path("out/c"));
            Files.writeString(Path.of(descriptor), "c");
            w.say(file.length() + Files.readString(Path.of(descriptor)));
        }
    }

    private static void startRemoved(Site w) throws Exception {
        try (FileInputStream in = new FileInputStream(w.file("out/l"))) {
            String descriptor = descriptor(w.path("out/l"));
            Files.delete(w.path("out/l"));
            w.say(new ProcessBuilder("/proc/" + ProcessHandle.current().pid() + "/fd/" + descriptor).start().waitFor());
        }
    }

    private static void startInRemoved(Site w) throws Exception {
        try (Stream<Path> open = Files.list(w.path("out/s"))) {
            File directory = new File("/proc/" + ProcessHandle.current().pid() + "/fd/" + descriptor(w.path("out/s")));
            Files.delete(w.path("out/s"));
            w.say(open.count() + " " + new ProcessBuilder("/bin/true").directory(directory).start().waitFor());
        }
    }

    private static String descriptor(Path file) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                if (Files.isSymbolicLink(descriptor) && Files.readSymbolicLink(descriptor).equals(file)) {
                    return descriptor.getFileName().toString();
                }
            }
        }
        throw new IOException("no descriptor of " + file);
    }

    private static void pair(Site w) throws IOException {
        Files.createDirectory(w.path("m"));
        Files.writeString(w.path("m/c"), "c");
        Files.writeString(w.path("m/d"), "d");
    }

    private static void linked(Site w) throws IOException {
        Files.createDirectory(w.path("real"));
        Files.createFile(w.path("real/a"));
        Files.createSymbolicLink(w.path("l"), Path.of("real"));
    }

    private static void inArchive(Site w, Path archive) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(archive, Map.of())) {
            w.say(Files.exists(files.getPath("/etc/passwd")) + " " + Files.size(files.getPath("/a")));
        }
    }
}
