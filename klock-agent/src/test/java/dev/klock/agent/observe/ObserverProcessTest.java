package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.agent.decide.Own;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObserverProcessTest {
    @TempDir
    Path temp;
    private Path w;

    @BeforeEach
    void tree() throws IOException {
        w = temp.toRealPath();
        Files.createDirectories(w.resolve("bin"));
        Files.createDirectories(w.resolve("child"));
        program("bin/tool");
        program("bin/other");
        Files.createSymbolicLink(w.resolve("bin/alias"), Path.of("tool"));
        Files.writeString(w.resolve("bin/data"), "not a program");
    }

    private void program(String name) throws IOException {
        Path file = Files.writeString(w.resolve(name), "#!/bin/sh\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** PROCESS paths are absolute: given with the root. */
    private Fixture declared(List<Line> effects) {
        return new Fixture(w).allow("PROVIDES PROCESS:" + w + "/bin/tool", effects);
    }

    private static void start(Fixture f, String program, String dir) {
        f.hooks.start(Op.START_PROCESS.code(), Fixture.bytes(program + "\0"), new byte[0], 0, null, 0,
                dir == null ? null : Fixture.bytes(dir + "\0"), new int[] {-1, -1, -1});
    }

    private static void end(Fixture f) {
        f.hooks.end(Op.START_PROCESS.code(), 0);
    }

    @Test
    @Tag("C48")
    void a_program_is_its_real_file() {
        Fixture f = declared(List.of()).start();
        start(f, f.at("/bin/tool"), null);
        end(f);
        start(f, f.at("/bin/alias"), null);
        end(f);
        start(f, "./alias", f.at("/bin"));
        end(f);
        start(f, "../bin/tool", f.at("/child"));
        end(f);
        assertThat(f.denials).isEmpty();
        assertThat(f.children).hasSize(4);
        assertThatThrownBy(() -> start(f, f.at("/bin/other"), null)).hasMessageContaining("PROVIDES on PROCESS:" + w + "/bin/other");
        assertThat(f.children).hasSize(4);
        assertThat(f.observer.inMutation()).isZero();
    }

    @Test
    @Tag("C48")
    void a_bare_name_is_looked_up_on_the_parents_path() throws IOException {
        Fixture f = new Fixture(w).allow("PROVIDES PROCESS:" + w + "/bin/tool", List.of()).start();
        Programs programs = new Programs(f.files, f.resolver, w + "/none:" + w + "/child::" + w + "/bin");
        assertThat(programs.find("tool", w.toString())).isEqualTo(w + "/bin/tool");
        assertThat(programs.find("alias", w.toString())).isEqualTo(w + "/bin/tool");
        assertThat(programs.find("nothing", w.toString())).isNull();
        assertThat(programs.find("data", w.toString())).isNull();
        // an empty entry is the child's directory
        Files.copy(w.resolve("bin/other"), w.resolve("tool"), java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
        assertThat(programs.find("tool", w.toString())).isEqualTo(w + "/tool");
        assertThat(programs.find("tool", w + "/child")).isEqualTo(w + "/bin/tool");
        // a directory of that name is no program
        Files.createDirectories(w.resolve("child/tool"));
        assertThat(programs.find("tool", w.toString())).isEqualTo(w + "/tool");
        String sh = programs.find("sh", w.toString());
        assertThat(sh).isNull();
        assertThat(new Programs(f.files, f.resolver, null).find("sh", w.toString())).isEqualTo(Path.of("/bin/sh").toRealPath().toString());
    }

    @Test
    void a_program_that_does_not_exist_is_left_to_the_jdk() {
        Fixture f = new Fixture(w).start();
        start(f, "no-such-program-anywhere", null);
        end(f);
        start(f, w + "/nothing", null);
        end(f);
        start(f, "", null);
        end(f);
        assertThat(f.denials).isEmpty();
    }

    @Test
    @Tag("K6-7")
    void a_child_without_effects_needs_the_subtree_it_works_in() {
        Fixture none = declared(null).start();
        assertThatThrownBy(() -> start(none, none.at("/bin/tool"), none.at("/child")))
                .hasMessageContaining("MUTATES on FILE:" + w + "/child/**");
        assertThat(none.lastDenial().isTree()).isTrue();
        assertThat(none.children).isEmpty();

        Fixture children = declared(null).allow("MUTATES FILE:/child/*").start();
        assertThat(children.denied(() -> start(children, children.at("/bin/tool"), children.at("/child")))).isTrue();

        Fixture tree = declared(null).allow("MUTATES FILE:/child/**").start();
        start(tree, tree.at("/bin/tool"), tree.at("/child"));
        assertThat(tree.observer.inMutation()).isOne();
        end(tree);
        assertThat(tree.children).containsExactly("/bin/tool in /child null");
        assertThat(tree.observer.inMutation()).isZero();
    }

    @Test
    @Tag("K6-7")
    void a_child_with_effects_is_imaged_for_those() {
        Line effect = new Line(Predicate.MUTATES, Resource.file(w + "/child/x"), 1, 0, 0, "x", null);
        Fixture f = declared(List.of(effect)).start();
        start(f, f.at("/bin/tool"), f.at("/child"));
        end(f);
        assertThat(f.children).containsExactly("/bin/tool in /child [MUTATES FILE:" + w + "/child/x]");
    }

    private void overwrites(Fixture f, String name) {
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), f.at(name), 0), () -> Files.writeString(w.resolve(name.substring(1)), "#!/bin/sh\nevil\n"));
    }

    @Test
    @Tag("FIELD-E08")
    void a_program_that_the_session_changed_needs_a_line_of_its_own() {
        Fixture f = declared(List.of()).allow("MUTATES FILE:/bin/*").start();
        start(f, f.at("/bin/tool"), null);
        end(f);
        overwrites(f, "/bin/tool");
        assertThatThrownBy(() -> start(f, f.at("/bin/alias"), null)).hasMessageContaining("CONSUMES on NATIVE:" + w + "/bin/tool");
        assertThat(f.children).hasSize(1);
        assertThat(f.observer.inMutation()).isZero();

        Fixture own = declared(List.of()).allow("MUTATES FILE:/bin/*").allow("CONSUMES NATIVE:" + w + "/bin/tool").start();
        overwrites(own, "/bin/tool");
        start(own, own.at("/bin/tool"), null);
        end(own);
        assertThat(own.denials).isEmpty();
    }

    @Test
    @Tag("FIELD-E08")
    void a_program_that_a_child_changed_needs_a_line_of_its_own() {
        Fixture f = declared(List.of()).start();
        f.observer.childDid(f.bytesAt("/bin/tool"), Predicate.MUTATES, true);
        assertThat(f.denied(() -> start(f, f.at("/bin/tool"), null))).isTrue();

        Fixture below = declared(List.of()).start();
        below.observer.childDid(below.bytesAt("/bin"), Predicate.PROVIDES, true);
        assertThat(below.denied(() -> start(below, below.at("/bin/tool"), null))).isTrue();

        Fixture running = declared(List.of()).start();
        running.changedByChild = running.at("/bin/tool");
        assertThat(running.denied(() -> start(running, running.at("/bin/tool"), null))).isTrue();
    }

    @Test
    @Tag("FIELD-E08")
    void a_program_that_others_changed_starts() throws IOException {
        Fixture f = declared(List.of()).allow("MUTATES FILE:/bin/*").start();
        program("bin/tool");
        overwrites(f, "/bin/other");
        start(f, f.at("/bin/tool"), null);
        end(f);
        assertThat(f.denials).isEmpty();
    }

    @Test
    @Tag("FIELD-E08")
    void what_was_removed_and_is_still_open_starts_and_is_loaded_by_the_name_it_had_only() throws IOException {
        Fixture f = declared(List.of()).start();
        Fixture itself = declared(List.of()).allow("DELETES FILE:/bin/*").start();
        try (RandomAccessFile tool = new RandomAccessFile(f.at("/bin/tool"), "r"); RandomAccessFile other = new RandomAccessFile(f.at("/bin/other"), "r")) {
            String doors = "/proc/" + ProcessHandle.current().pid() + "/fd/";
            int toolFd = ObserverTest.descriptors(w.resolve("bin/tool")).get(0);
            int otherFd = ObserverTest.descriptors(w.resolve("bin/other")).get(0);
            itself.does(Op.DELETE, () -> itself.hooks.path(Op.DELETE.code(), itself.bytesAt("/bin/tool"), 0), () -> Files.delete(w.resolve("bin/tool")));
            Files.delete(w.resolve("bin/other"));
            assertThat(f.denied(() -> start(f, doors + otherFd, null))).isTrue();
            assertThat(f.lastDenial().resource()).isEqualTo("PROCESS:" + w + "/bin/other");
            start(f, doors + toolFd, null);
            end(f);
            assertThat(f.children).hasSize(1);
            assertThat(f.denied(() -> f.hooks.library(Op.LOAD_LIBRARY.code(), doors + otherFd))).isTrue();
            assertThat(f.lastDenial().resource()).isEqualTo("NATIVE:" + w + "/bin/other");
            assertThat(f.denials).hasSize(2);
            assertThat(itself.denied(() -> start(itself, doors + toolFd, null))).isTrue();
            assertThat(itself.lastDenial().resource()).isEqualTo("NATIVE:" + w + "/bin/tool");
            assertThat(tool.length() + other.length()).isPositive();
        }
    }

    @Test
    @Tag("C48")
    void a_program_that_is_to_work_in_a_directory_that_was_removed_or_cannot_be_seen_is_judged() throws IOException {
        Fixture f = new Fixture(w).start();
        try (DirectoryStream<Path> child = Files.newDirectoryStream(w.resolve("child"))) {
            String door = "/proc/self/fd/" + ObserverTest.descriptors(w.resolve("child")).get(0);
            Files.delete(w.resolve("child"));
            assertThat(f.denied(() -> start(f, f.at("/bin/tool"), door))).isTrue();
            assertThat(f.lastDenial().resource()).isEqualTo("PROCESS:" + w + "/bin/tool");
            Fixture declared = declared(null).start();
            assertThat(declared.denied(() -> start(declared, declared.at("/bin/tool"), door))).isTrue();
            assertThat(declared.lastDenial().resource()).isEqualTo("FILE:" + w + "/child/**");
            Fixture nothing = declared(List.of()).start();
            start(nothing, nothing.at("/bin/tool"), door);
            end(nothing);
            assertThat(nothing.children).hasSize(1).first().asString().endsWith(" in /child []");
            assertThat(child.iterator().hasNext()).isFalse();
        }
        f.files.workingDirectory(null);
        assertThat(f.denied(() -> start(f, f.at("/bin/tool"), null))).isTrue();
        assertThat(f.denied(() -> start(f, "tool", w.toString()))).isTrue();
        assertThat(f.failures).hasSize(2);
    }

    @Test
    @Tag("FIELD-C11")
    @Tag("FIELD-E05")
    void a_child_of_which_more_must_be_said_is_told() throws IOException {
        Files.createDirectories(w.resolve("lib"));
        Files.writeString(w.resolve("lib/jvm.cfg"), "");
        program("bin/java");
        program("bin/javac");
        program("child/java");
        program("child/python3.11");
        program("child/pythonic");
        Fixture f = new Fixture(w).own(new Own(null, w + "/bin/data"));
        for (String program : new String[] {"/bin/java", "/bin/javac", "/child/java", "/child/python3.11", "/child/pythonic"}) {
            f.allow("PROVIDES PROCESS:" + w + program, List.of());
        }
        f.allow("MUTATES ENV:JAVA_TOOL_OPTIONS").start();
        for (String program : new String[] {"/bin/java", "/bin/javac", "/child/java", "/child/python3.11", "/child/pythonic"}) {
            start(f, f.at(program), null);
            end(f);
        }
        assertThat(f.unseen).containsExactly("UNMONITORED_JVM PROCESS:/bin/java", "UNMONITORED_JVM PROCESS:/bin/javac", "OPEN_ENDED PROCESS:/child/python3.11");
        f.unseen.clear();
        byte[] watched = Fixture.bytes("-Xmx1g\0-javaagent:../bin/data=mode=block\0");
        f.hooks.start(Op.START_PROCESS.code(), f.bytesAt("/bin/java\0"), watched, 2, null, 0, f.bytesAt("/child\0"), new int[3]);
        end(f);
        byte[] variables = Fixture.bytes("A=b\0JAVA_TOOL_OPTIONS=-javaagent:" + w + "/bin/data\0");
        f.hooks.start(Op.START_PROCESS.code(), f.bytesAt("/bin/java\0"), new byte[0], 0, variables, 2, null, new int[3]);
        end(f);
        assertThat(f.unseen).isEmpty();
        // a tool of the JDK takes no notice of that variable's agent
        f.hooks.start(Op.START_PROCESS.code(), f.bytesAt("/bin/javac\0"), new byte[0], 0, variables, 2, null, new int[3]);
        end(f);
        byte[] another = Fixture.bytes("-javaagent:" + w + "/bin/other\0");
        f.hooks.start(Op.START_PROCESS.code(), f.bytesAt("/bin/java\0"), another, 1, null, 0, null, new int[3]);
        end(f);
        assertThat(f.unseen).containsExactly("UNMONITORED_JVM PROCESS:/bin/javac", "UNMONITORED_JVM PROCESS:/bin/java");
    }

    /** As the launcher and the VM read their words: what stands behind the main class is the program's own. */
    @Test
    @Tag("FIELD-C11")
    void a_jvm_has_klock_if_its_own_options_load_it_and_do_not_switch_it_off() throws IOException {
        Files.createDirectories(w.resolve("lib"));
        Files.writeString(w.resolve("lib/jvm.cfg"), "");
        program("bin/java");
        program("bin/javac");
        String klock = "-javaagent:" + w + "/bin/data";
        Files.writeString(w.resolve("args"), "# " + klock + "=mode=off\n-cp 'a \\' b'\n-javaagent:\"" + w + "/b\\in/da\\\n   ta\"");
        Files.writeString(w.resolve("main"), "Main " + klock);
        Files.writeString(w.resolve("comment"), "#" + klock);
        String[] watched = {klock, "-cp x " + klock + " Main", "--module-path -x " + klock, "-jar " + klock + " x.jar", "-agentlib:instrument=" + w + "/bin/data",
            "@args Main", "-cp @@x @" + w + "/args", klock + "=mode=block", klock + "=home=a\\,mode=off", "-Dklock.mode=off " + klock + "=mode=strict",
            "-Dklock.mode=off -Dklock.mode=learn " + klock, klock + "=mode=off " + klock};
        String[] alone = {"Main " + klock, "-cp x Main " + klock, "-jar x.jar " + klock, "-m x/y " + klock, "--module=x/y " + klock, "-cp " + klock,
            "@main", "@comment", "@@args", "--disable-@files @args", "@none", "@/dev/null", "-cp x @main " + klock, klock + "=mode=off", klock + "=agent=x,mode=off",
            "-Dklock.mode=off " + klock, klock + " -Dklock.mode=off", "-Dx=" + klock, "-J" + klock};
        for (String arguments : watched) {
            assertThat(unseen("/bin/java", arguments)).as(arguments).isEmpty();
        }
        for (String arguments : alone) {
            assertThat(unseen("/bin/java", arguments)).as(arguments).containsExactly("UNMONITORED_JVM PROCESS:/bin/java");
        }
        for (String variable : new String[] {"JAVA_TOOL_OPTIONS=-Xmx1g '" + klock + "'", "_JAVA_OPTIONS=" + klock, "JDK_JAVA_OPTIONS=" + klock, "JDK_JAVA_OPTIONS=@args"}) {
            assertThat(unseen("/bin/java", "Main", variable)).as(variable).isEmpty();
            assertThat(unseen("/bin/java", "Main", variable, "KLOCK_MODE=off")).as(variable).hasSize(1);
            assertThat(unseen("/bin/javac", "Main", variable)).as(variable).hasSize(1);
        }
        for (String variable : new String[] {"OTHER=" + klock, "X_JAVA_OPTIONS=" + klock, "JAVA_TOOL_OPTIONS=" + klock + "=mode=off", "JAVA_TOOL_OPTIONS=@args"}) {
            assertThat(unseen("/bin/java", "Main", variable)).as(variable).hasSize(1);
        }
        assertThat(unseen("/bin/java", klock, "KLOCK_MODE=off")).hasSize(1);
        assertThat(unseen("/bin/java", klock + "=mode=strict", "KLOCK_MODE=off")).isEmpty();
        assertThat(unseen("/bin/javac", "A.java -J" + klock)).isEmpty();
        assertThat(unseen("/bin/javac", klock)).hasSize(1);
    }

    private List<String> unseen(String program, String arguments, String... variables) throws IOException {
        Fixture f = new Fixture(w).own(new Own(null, w + "/bin/data")).allow("PROVIDES PROCESS:" + w + program, List.of());
        for (String name : new String[] {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"}) {
            f.allow("MUTATES ENV:" + name);
        }
        f.start();
        String environment = variables.length == 0 ? "A=b\0" : String.join("\0", variables) + "\0";
        f.hooks.start(Op.START_PROCESS.code(), f.bytesAt(program + "\0"), Fixture.bytes(arguments.replace(' ', '\0') + "\0"), 1, Fixture.bytes(environment), 1,
                f.bytesAt("\0"), new int[3]);
        end(f);
        return f.unseen;
    }

    @Test
    @Tag("FIELD-C04")
    void a_native_that_is_a_door_is_reached_only_where_declared() {
        Fixture f = new Fixture(w).start();
        int op = Op.REACH_NATIVE.code();
        f.hooks.reached(op, "java.io.FileInputStream", "available0");
        assertThat(f.denials).isEmpty();
        assertThatThrownBy(() -> f.hooks.reached(op, "java.io.FileOutputStream", "open0"))
                .hasMessageContaining("CONSUMES on NATIVE:java.io.FileOutputStream.open0");

        Fixture declared = new Fixture(w).allow("CONSUMES NATIVE:java.io.FileOutputStream.open0").start();
        declared.hooks.reached(op, "java.io.FileOutputStream", "open0");
        assertThat(declared.denials).isEmpty();
    }

    @Test
    @Tag("K6-8")
    void a_child_whose_image_cannot_be_made_does_not_start() {
        Fixture f = declared(List.of()).start();
        f.unimageable.add("child");
        assertThatThrownBy(() -> start(f, f.at("/bin/tool"), null)).isInstanceOf(IOException.class).hasMessageContaining("1.2 GB");
        assertThat(f.observer.inMutation()).isZero();
    }

    @Test
    @Tag("K6-3")
    void permissive_starts_what_is_not_declared_without_an_image() {
        Fixture f = new Fixture(w).start();
        f.blocks = false;
        start(f, f.at("/bin/tool"), f.at("/child"));
        end(f);
        assertThat(f.denials).hasSize(1);
        assertThat(f.children).isEmpty();
    }

    @Test
    void a_start_drops_what_was_remembered_and_so_does_the_end_of_the_child() {
        Fixture f = declared(List.of()).start();
        int before = f.resolver.epoch();
        start(f, f.at("/bin/tool"), null);
        end(f);
        int started = f.resolver.epoch();
        assertThat(started).isNotEqualTo(before);
        f.observer.childEnded();
        assertThat(f.resolver.epoch()).isNotEqualTo(started);
    }

    @Test
    @Tag("C48")
    void a_signal_to_ones_own_child_is_allowed_and_to_another_process_is_a_removal_and_its_arguments_are_a_read() throws IOException {
        Fixture f = new Fixture(w).start();
        Process child = new ProcessBuilder("sleep", "20").start();
        try {
            f.hooks.signal(Op.SIGNAL_PROCESS.code(), child.pid(), -1, true);
            f.hooks.signal(Op.SIGNAL_PROCESS.code(), ProcessHandle.current().pid(), -1, true);
            long parent = ProcessHandle.current().parent().orElseThrow().pid();
            assertThat(f.denied(() -> f.hooks.signal(Op.SIGNAL_PROCESS.code(), parent, -1, false))).isTrue();
            assertThat(f.lastDenial().predicate()).isEqualTo(Predicate.DELETES);
            assertThat(f.lastDenial().resource()).startsWith("PROCESS:");
            f.hooks.signal(Op.READ_PROCESS.code(), child.pid(), -1, false);
            assertThat(f.denied(() -> f.hooks.signal(Op.READ_PROCESS.code(), parent, -1, false))).isTrue();
            assertThat(f.lastDenial().predicate()).isEqualTo(Predicate.CONSUMES);
            // nobody has this number
            f.hooks.signal(Op.SIGNAL_PROCESS.code(), 0x7ffffff0L, -1, false);
        } finally {
            child.destroyForcibly();
        }
    }
}
