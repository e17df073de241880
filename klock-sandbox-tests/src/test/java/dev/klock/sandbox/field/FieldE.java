package dev.klock.sandbox.field;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** E: child processes. */
final class FieldE {
    private static final String ECHO = effects("echo");
    private static final String CAT = effects("cat");
    private static final String TRUE = effects("true");
    private static final String SHELL = "/bin/sh";
    private static final String ANYTHING = "MUTATES FILE:.*";
    private static final List<String> LOADERS = List.of("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1");

    private FieldE() {
    }

    private static String effects(String program, String... lines) {
        return "{predicate: PROVIDES, resource: \"PROCESS:" + program + "\", effects: " + List.of(lines) + "}";
    }

    static void cases(Cases c) {
        c.of("E01", "C", "output redirected to a file: the write is the parent's")
                .blocks("to", w -> run(w, new ProcessBuilder("echo", "x").redirectOutput(ProcessBuilder.Redirect.to(w.file("x")))), "MUTATES FILE:W/x")
                .declaring(ECHO).always()
                .blocks("appendTo", w -> run(w, new ProcessBuilder("echo", "x").redirectOutput(ProcessBuilder.Redirect.appendTo(w.file("x")))), "MUTATES FILE:W/x")
                .declaring(ECHO)
                .blocks("error", w -> run(w, new ProcessBuilder("echo", "x").redirectError(w.file("new"))), "PROVIDES FILE:W/new").declaring(ECHO)
                .allows("inside the scope", w -> run(w, new ProcessBuilder("echo", "x").redirectOutput(w.file("out/new")))).declaring(ECHO);
        c.of("E02", "H", "input redirected from a file")
                .blocks("from", w -> run(w, new ProcessBuilder("cat").redirectInput(w.file("private/p"))), "CONSUMES FILE:W/private/p").declaring(CAT)
                .allows("inside the scope", w -> run(w, new ProcessBuilder("cat").redirectInput(w.file("in/a")))).declaring(CAT);
        Case e03 = c.of("E03", "H", "Runtime.exec, all six");
        for (int i = 0; i < 6; i++) {
            int overload = i;
            e03.blocks("overload " + (i + 1), w -> w.say(exec(overload, "uname", w.path().toFile()).waitFor()), "PROVIDES PROCESS:.*/uname").andPermissive(ANYTHING);
        }
        e03.allows("declared", w -> {
            for (int i = 0; i < 6; i++) {
                w.say(exec(i, "echo", w.path().toFile()).waitFor());
            }
        }).declaring(ECHO);
        c.of("E05", "H", "a shell hides the real command")
                .blocks("what it may touch is not said: all below its directory", w -> run(w, new ProcessBuilder(SHELL, "-c", "rm -r in/sub").directory(w.path().toFile())),
                        "MUTATES FILE:W/.*").declaring("PROVIDES PROCESS:" + SHELL).in("shell")
                .blocks("env X=1 rm", w -> run(w, new ProcessBuilder("env", "X=1", "rm", w.name("x"))), "PROVIDES PROCESS:.*/(env|coreutils|busybox)").andPermissive(ANYTHING)
                .blocks("xargs rm", w -> run(w, new ProcessBuilder("xargs", "rm", w.name("x"))), "PROVIDES PROCESS:.*/(xargs|busybox)").andPermissive(ANYTHING)
                .blocks("find -exec", w -> run(w, new ProcessBuilder("find", w.name("x"), "-exec", "rm", "{}", ";")), "PROVIDES PROCESS:.*/(find|busybox)").andPermissive(ANYTHING)
                .allows("what it may touch is said", w -> run(w, new ProcessBuilder(SHELL, "-c", "echo made > out/new").directory(w.path().toFile())))
                .declaring(effects(SHELL, "\"MUTATES FILE:W/out/**\"")).in("declared shell")
                .provenBy("OpaqueChildTest.program_thatRunsWhateverItIsTold_isReportedOnce").as("blocked, allowed; reported as open-ended");
        c.of("E06", "H", "which file a program's name means")
                .blocks("another of the same name", w -> run(w, new ProcessBuilder(w.name("private/true"))), "PROVIDES PROCESS:W/private/true").declaring(TRUE)
                .given(w -> copy("true", w.path("private/true"))).andPermissive(ANYTHING)
                .blocks("relative to its directory", w -> run(w, new ProcessBuilder("./true").directory(w.file("private"))), "PROVIDES PROCESS:W/private/true").declaring(TRUE)
                .given(w -> copy("true", w.path("private/true"))).andPermissive(ANYTHING)
                .allows("PATH changed for the child", w -> {
                    ProcessBuilder builder = new ProcessBuilder("true");
                    builder.environment().put("PATH", w.name("private"));
                    run(w, builder);
                }).declaring(TRUE).given(w -> copy("false", w.path("private/true")));
        c.of("E07", "H", "a program copied or linked under another name")
                .blocks("copied", w -> run(w, new ProcessBuilder(w.name("out/mine"))), "PROVIDES PROCESS:W/out/mine").declaring(TRUE)
                .given(w -> copy("true", w.path("out/mine"))).andPermissive(ANYTHING)
                .blocks("linked", w -> run(w, new ProcessBuilder(w.name("out/mine"))), "PROVIDES PROCESS:.*/uname")
                .given(w -> Files.createSymbolicLink(w.path("out/mine"), program("uname"))).andPermissive(ANYTHING)
                .allows("a link to a declared one", w -> run(w, new ProcessBuilder(w.name("out/mine")))).declaring(TRUE)
                .given(w -> Files.createSymbolicLink(w.path("out/mine"), program("true")));
        c.of("E08", "H", "a declared program is overwritten and run")
                .blocks("overwritten", w -> {
                    Files.writeString(w.path("out/tool"), "#!/bin/sh\necho evil\n");
                    run(w, new ProcessBuilder(w.name("out/tool")));
                }, "CONSUMES NATIVE:W/out/tool").declaring(effects("W/out/tool")).given(w -> copy("true", w.path("out/tool"))).changesOut()
                .blocks("made", w -> {
                    Files.writeString(w.path("out/new"), "#!/bin/sh\necho evil\n");
                    Files.setPosixFilePermissions(w.path("out/new"), PosixFilePermissions.fromString("rwxr-xr-x"));
                    run(w, new ProcessBuilder(w.name("out/new")));
                }, "CONSUMES NATIVE:W/out/new").declaring(effects("W/out/new")).changesOut()
                .blocks("another moved into its place", w -> {
                    Files.move(w.path("out/b"), w.path("out/tool"), StandardCopyOption.REPLACE_EXISTING);
                    run(w, new ProcessBuilder(w.name("out/tool")));
                }, "CONSUMES NATIVE:W/out/tool").declaring(effects("W/out/tool"), "RENAMES FILE:W/out/*").changesOut()
                .given(w -> {
                    copy("true", w.path("out/tool"));
                    copy("false", w.path("out/b"));
                })
                .blocks("its directory exchanged", w -> {
                    Files.delete(w.path("out/bin/tool"));
                    Files.move(w.path("out/other"), w.path("out/bin"), StandardCopyOption.REPLACE_EXISTING);
                    run(w, new ProcessBuilder(w.name("out/bin/tool")));
                }, "CONSUMES NATIVE:W/out/bin/tool").declaring(effects("W/out/bin/tool"), "RENAMES FILE:W/out/**", "DELETES FILE:W/out/**",
                        "PROVIDES FILE:W/out/**", "MUTATES FILE:W/out/**").changesOut()
                .given(w -> {
                    Files.createDirectories(w.path("out/bin"));
                    Files.createDirectories(w.path("out/other"));
                    copy("true", w.path("out/bin/tool"));
                    copy("false", w.path("out/other/tool"));
                })
                .blocks("written through another name", w -> {
                    Files.createLink(w.path("out/alias"), w.path("out/tool"));
                    Files.writeString(w.path("out/alias"), "#!/bin/sh\necho evil\n");
                    run(w, new ProcessBuilder(w.name("out/tool")));
                }, "CONSUMES NATIVE:W/out/tool").declaring(effects("W/out/tool"), "CONSUMES FILE:W/out/*").changesOut()
                .given(w -> copy("true", w.path("out/tool")))
                .blocks("overwritten by a child", w -> {
                    run(w, new ProcessBuilder("cp", w.name("in/a"), w.name("out/tool")));
                    run(w, new ProcessBuilder(w.name("out/tool")));
                }, "CONSUMES NATIVE:W/out/tool").declaring(effects("W/out/tool"), effects("cp", "\"MUTATES FILE:W/out/**\""))
                .given(w -> {
                    copy("true", w.path("out/tool"));
                    Files.writeString(w.path("in/a"), "#!/bin/sh\necho evil\n");
                }).changesOut().in("changed by a child")
                .blocks("while the child that overwrote it still runs", w -> {
                    Process child = new ProcessBuilder("sleep", "60").start();
                    run(w, new ProcessBuilder("cp", w.name("in/a"), w.name("out/tool")));
                    try {
                        run(w, new ProcessBuilder(w.name("out/tool")));
                    } finally {
                        child.destroyForcibly().waitFor();
                    }
                }, "CONSUMES NATIVE:W/out/tool").declaring(effects("W/out/tool"), effects("sleep"), effects("cp", "\"MUTATES FILE:W/out/**\""))
                .given(w -> {
                    copy("true", w.path("out/tool"));
                    Files.writeString(w.path("in/a"), "#!/bin/sh\necho evil\n");
                }).changesOut().in("changed while a child runs")
                .allows("not changed, though it may be", w -> run(w, new ProcessBuilder(w.name("out/tool")))).declaring(effects("W/out/tool"))
                .given(w -> copy("true", w.path("out/tool")))
                .allows("made, and declared as code of one's own", w -> {
                    Files.writeString(w.path("out/new"), "#!/bin/sh\necho built\n");
                    Files.setPosixFilePermissions(w.path("out/new"), PosixFilePermissions.fromString("rwxr-xr-x"));
                    run(w, new ProcessBuilder(w.name("out/new")));
                }).declaring(effects("W/out/new"), "CONSUMES NATIVE:W/out/new");
        c.of("E09", "H", "variables by which a loader takes in code")
                .blocks("LD_PRELOAD", w -> withVariable(w, "LD_PRELOAD", w.name("none.so")), "MUTATES ENV:LD_PRELOAD").declaring(TRUE)
                .blocks("JAVA_TOOL_OPTIONS", w -> withVariable(w, "JAVA_TOOL_OPTIONS", "-Dx=y"), "MUTATES ENV:JAVA_TOOL_OPTIONS").declaring(TRUE)
                .blocks("NODE_OPTIONS", w -> withVariable(w, "NODE_OPTIONS", "--require=x"), "MUTATES ENV:NODE_OPTIONS").declaring(TRUE)
                .allows("others", w -> withVariable(w, "OWN", "value")).declaring(TRUE)
                .provenBy("EnvironmentTest.child_getsWhatTheProgramGives_butNoNewLoaderVariable");
        c.of("E10", "M", "the dynamic linker as a launcher")
                .blocks("linker", w -> run(w, new ProcessBuilder(loader(), "/usr/bin/true")), "PROVIDES PROCESS:.*/ld.*").declaring(TRUE).andPermissive(ANYTHING);
        c.of("E11", "C", "what an allowed child writes itself")
                .allows("inside its effects", w -> run(w, new ProcessBuilder(SHELL, "-c", "echo more >> out/a").directory(w.path().toFile())))
                .declaring(effects(SHELL, "\"MUTATES FILE:W/out/**\"")).in("writing child")
                .blocks("inside, and then astray: what was there comes back", w -> {
                    run(w, new ProcessBuilder(SHELL, "-c", "echo more >> out/a; rm out/b; echo new > out/new").directory(w.path().toFile()));
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").declaring(effects(SHELL, "\"MUTATES FILE:W/out/**\"")).in("writing child, then astray").changesOut().always()
                .provenBy("OpaqueChildTest.difference_ofChildrenInsideTheirEffects_isLoggedAsTriples", "OpaqueChildTest.difference_thatADenyLineForbids_isAViolationAndRolledBack")
                .provenBy("OpaqueChildTest.change_outsideOfTheEffects_isToldInEachMode")
                .as("blocked, allowed; what it writes outside of its effects is reported after its end, and not put back");
        c.of("E12", "M", "other processes are ended")
                .blocks("a foreign one", w -> {
                    long pid = Long.parseLong(Files.readString(w.path("out/pid")));
                    Files.delete(w.path("out/pid"));
                    w.say(ProcessHandle.of(pid).orElseThrow().destroyForcibly());
                }, "DELETES PROCESS:.*/sleep").declaring("DELETES FILE:W/out/*", "CONSUMES FILE:W/out/*").changesOut()
                .given(w -> Files.writeString(w.path("out/pid"), Long.toString(new ProcessBuilder("sleep", "90").start().pid())))
                .allows("its own", w -> {
                    Process own = new ProcessBuilder("sleep", "60").start();
                    own.toHandle().destroyForcibly();
                    w.say(own.waitFor(20, TimeUnit.SECONDS));
                }).declaring(effects("sleep")).in("killing");
        c.of("E13", "H", "a command that changes while it is read")
                .allows("read once, as without klock", w -> run(w, new ProcessBuilder(new Changing(w.name("new"))))).declaring(ECHO);
        c.of("E14", "L", "inherited streams")
                .allows("inheritIO", w -> w.say(new ProcessBuilder("echo", "printed by the child").inheritIO().start().waitFor())).declaring(ECHO);
        c.of("E16", "M", "an interpreter that reads its code from the program")
                .blocks("what it may touch is not said", w -> {
                    Process shell = new ProcessBuilder(SHELL).directory(w.path().toFile()).start();
                    try (OutputStream in = shell.getOutputStream()) {
                        in.write("echo changed > x\n".getBytes(StandardCharsets.UTF_8));
                    }
                    w.say(shell.waitFor());
                }, "MUTATES FILE:W/.*").declaring("PROVIDES PROCESS:" + SHELL).in("shell");
        c.of("E18", "H", "the environment a child is given").provenBy("EnvironmentTest.child_getsWhatTheProgramGives_butNoNewLoaderVariable")
                .as("reported: each variable is in the log");
    }

    private static final class Changing extends ArrayList<String> {
        private static final long serialVersionUID = 1L;
        private final String file;
        private int reads;

        Changing(String file) {
            super(List.of("echo", "once"));
            this.file = file;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T[] toArray(T[] array) {
            return reads++ == 0 ? super.toArray(array) : (T[]) new String[] {"touch", file};
        }
    }

    private static void run(Site w, ProcessBuilder builder) throws IOException, InterruptedException {
        Process process = builder.start();
        process.getOutputStream().close();
        w.say(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        w.say(process.waitFor());
    }

    private static void withVariable(Site w, String name, String value) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder("true");
        builder.environment().put(name, value);
        run(w, builder);
    }

    @SuppressWarnings("deprecation")
    private static Process exec(int overload, String program, File directory) throws IOException {
        Runtime runtime = Runtime.getRuntime();
        return switch (overload) {
            case 0 -> runtime.exec(program + " x");
            case 1 -> runtime.exec(program + " x", new String[] {"A=b"});
            case 2 -> runtime.exec(program + " x", new String[] {"A=b"}, directory);
            case 3 -> runtime.exec(new String[] {program, "x"});
            case 4 -> runtime.exec(new String[] {program, "x"}, new String[] {"A=b"});
            default -> runtime.exec(new String[] {program, "x"}, null, directory);
        };
    }

    /** The real file of a program of the system. */
    private static Path program(String name) throws IOException {
        return Path.of("/usr/bin", name).toRealPath();
    }

    private static void copy(String program, Path to) throws IOException {
        Files.copy(program(program), to, StandardCopyOption.REPLACE_EXISTING);
        Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static String loader() {
        return LOADERS.stream().filter(name -> System.getProperty("os.arch").equals("aarch64")
                == name.contains("aarch64")).findFirst().orElseThrow();
    }
}
