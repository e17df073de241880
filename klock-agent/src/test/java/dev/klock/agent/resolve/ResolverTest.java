package dev.klock.agent.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResolverTest {
    /*
     * w/
     *   in/a
     *   out/a  out/sub/
     *   real/inner/
     *   sl   -> real/inner
     *   dl   -> ../outside/new.txt   (dangling)
     *   abs  -> <w>/out
     *   loop -> loop2 -> loop
     * outside/
     */
    @TempDir
    Path temp;
    private Path w;
    private final TestHostFiles files = new TestHostFiles();
    private final Resolver resolver = new Resolver(files);

    @BeforeEach
    void tree() throws IOException {
        temp = temp.toRealPath();
        w = Files.createDirectories(temp.resolve("w"));
        Files.createDirectories(w.resolve("in"));
        Files.createDirectories(w.resolve("out/sub"));
        Files.createDirectories(w.resolve("real/inner"));
        Files.createDirectories(temp.resolve("outside"));
        Files.writeString(w.resolve("in/a"), "in");
        Files.writeString(w.resolve("out/a"), "out");
        Files.createSymbolicLink(w.resolve("sl"), Path.of("real/inner"));
        Files.createSymbolicLink(w.resolve("dl"), Path.of("../outside/new.txt"));
        Files.createSymbolicLink(w.resolve("abs"), w.resolve("out"));
        Files.createSymbolicLink(w.resolve("loop"), Path.of("loop2"));
        Files.createSymbolicLink(w.resolve("loop2"), Path.of("loop"));
    }

    private String at(String name) {
        return at(name, true);
    }

    private String at(String name, boolean follow) {
        Resolved r = resolver.resolve(Names.ofText(name), follow);
        return r.isUnreachable() ? "unreachable" : r.isNotAFile() ? "no file" : Names.text(r.path());
    }

    private String real(String below) {
        return temp + "/" + below;
    }

    @Test
    void dots_and_doubled_slashes_are_taken_as_the_kernel_takes_them() {
        assertThat(at(w + "/out/../x")).isEqualTo(real("w/x"));
        assertThat(at(w + "//out/./../x")).isEqualTo(real("w/x"));
        assertThat(at(w + "/in/../out/a")).isEqualTo(real("w/out/a"));
        assertThat(at("/../../etc/hosts")).isEqualTo("/etc/hosts");
        assertThat(at("/..")).isEqualTo("/");
        assertThat(at("//")).isEqualTo("/");
        assertThat(at(w + "/out/")).isEqualTo(real("w/out"));
    }

    @Test
    void dots_after_a_link_leave_the_directory_the_link_leads_to() {
        assertThat(at(w + "/sl/../evil.txt")).isEqualTo(real("w/real/evil.txt"));
        assertThat(at(w + "/abs/../evil.txt")).isEqualTo(real("w/evil.txt"));
    }

    @Test
    void a_dangling_link_ends_where_a_create_would_land() throws IOException {
        assertThat(at(w + "/dl")).isEqualTo(real("outside/new.txt"));
        Files.writeString(w.resolve("dl"), "x");
        assertThat(Files.exists(temp.resolve("outside/new.txt"))).isTrue();
    }

    @Test
    void a_final_link_is_itself_the_object_without_follow_unless_a_slash_follows() {
        assertThat(at(w + "/sl", false)).isEqualTo(real("w/sl"));
        assertThat(at(w + "/sl/", false)).isEqualTo(real("w/real/inner"));
        assertThat(at(w + "/sl/.", false)).isEqualTo(real("w/real/inner"));
        assertThat(at(w + "/sl/..", false)).isEqualTo(real("w/real"));
        assertThat(at(w + "/abs/a", false)).isEqualTo(real("w/out/a"));
    }

    @Test
    void missing_components_stay_as_written() {
        assertThat(at(w + "/abs/new/deeper/x")).isEqualTo(real("w/out/new/deeper/x"));
        assertThat(at(w + "/in/a/below-a-file")).isEqualTo(real("w/in/a/below-a-file"));
    }

    @Test
    void a_declared_directory_behind_a_link_and_its_real_name_are_one() {
        assertThat(at(w + "/abs/a")).isEqualTo(at(w + "/out/a"));
    }

    @Test
    void a_loop_and_more_than_forty_links_are_left_to_the_jdk() throws IOException {
        assertThat(at(w + "/loop")).isEqualTo("unreachable");
        assertThat(at(w + "/loop/x")).isEqualTo("unreachable");
        Files.createSymbolicLink(w.resolve("l0"), Path.of("out/a"));
        for (int i = 1; i <= 41; i++) {
            Files.createSymbolicLink(w.resolve("l" + i), Path.of("l" + (i - 1)));
        }
        assertThat(at(w + "/l39")).isEqualTo(real("w/out/a"));
        assertThat(Files.exists(w.resolve("l39"))).isTrue();
        assertThat(at(w + "/l40")).isEqualTo("unreachable");
        assertThat(Files.exists(w.resolve("l40"))).isFalse();
    }

    @Test
    void names_the_kernel_refuses_are_left_to_the_jdk() {
        assertThat(at("")).isEqualTo("unreachable");
        assertThat(at(w + "/a\0.evil")).isEqualTo("unreachable");
        assertThat(at(w + "/out" + "/.".repeat(3000) + "/../x")).isEqualTo("unreachable");
        assertThat(at("/" + "a".repeat(4094))).startsWith("/aaa");
        assertThat(at("/" + "a".repeat(4095))).isEqualTo("unreachable");
    }

    @Test
    void a_deep_name_is_walked_in_bounded_time() {
        String deep = w + "/out" + "/.".repeat(1900) + "/../x";
        org.assertj.core.api.Assertions.assertThatCode(() ->
                org.junit.jupiter.api.Assertions.assertTimeout(Duration.ofSeconds(2), () -> {
                    assertThat(at(deep)).isEqualTo(real("w/x"));
                })).doesNotThrowAnyException();
    }

    @Test
    void a_relative_name_starts_in_the_working_directory() {
        files.workingDirectory(w.toString());
        assertThat(at("out/a")).isEqualTo(real("w/out/a"));
        assertThat(at(".")).isEqualTo(real("w"));
        assertThat(at("../outside/x")).isEqualTo(real("outside/x"));
        assertThat(at("dl")).isEqualTo(real("outside/new.txt"));
    }

    @Test
    void a_name_relative_to_a_directory_handle_starts_there() {
        assertThat(resolver.resolve("../sl/x", w + "/out", true).path()).isEqualTo(real("w/real/inner/x"));
        assertThat(resolver.resolve("/etc/hosts", w + "/out", true).path()).isEqualTo("/etc/hosts");
    }

    @Test
    void the_root_of_a_process_is_the_root() {
        assertThat(at("/proc/self/root" + w + "/x")).isEqualTo(real("w/x"));
        assertThat(at("/proc/self/root" + w + "/out/a")).isEqualTo(real("w/out/a"));
        assertThat(at("/proc/self/root")).isEqualTo("/");
        assertThat(at("/proc/thread-self/root/etc/hosts")).isEqualTo("/etc/hosts");
        long tid = ProcessHandle.current().pid();
        assertThat(at("/proc/self/task/" + tid + "/root" + w + "/x")).isEqualTo(real("w/x"));
    }

    @Test
    void working_directories_of_processes_are_directories() throws IOException {
        String here = Path.of("").toRealPath().toString();
        assertThat(at("/proc/self/cwd/x")).isEqualTo(here + "/x");
        assertThat(at("/proc/self/cwd/../x")).isEqualTo(Path.of(here).getParent() + "/x");
        long pid = ProcessHandle.current().pid();
        assertThat(at("/proc/" + pid + "/cwd/x")).isEqualTo(here + "/x");
        assertThat(at("/proc/self/task/" + pid + "/cwd/x")).isEqualTo(here + "/x");
        ProcessHandle.current().parent().ifPresent(parent -> {
            Path cwd = Path.of("/proc/" + parent.pid() + "/cwd");
            if (Files.isReadable(cwd)) {
                try {
                    assertThat(at(cwd + "/x")).isEqualTo(cwd.toRealPath() + "/x");
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        });
    }

    @Test
    void an_open_descriptor_is_what_it_is_open_on() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(w.resolve("in/a").toFile(), "r")) {
            String fd = descriptorOf(w.resolve("in/a"));
            assertThat(at("/proc/self/fd/" + fd)).isEqualTo(real("w/in/a"));
            assertThat(at("/dev/fd/" + fd)).isEqualTo(real("w/in/a"));
            assertThat(resolver.resolve("/dev/fd/" + fd, true).isLasting()).isFalse();
            assertThat(resolver.descriptor(Integer.parseInt(fd)).path()).isEqualTo(real("w/in/a"));
            assertThat(file.length()).isEqualTo(2);
        }
    }

    @Test
    void a_descriptor_of_a_removed_file_or_a_pipe_is_no_file() throws IOException, InterruptedException {
        Path gone = w.resolve("gone");
        try (FileOutputStream out = new FileOutputStream(gone.toFile())) {
            String fd = descriptorOf(gone);
            Files.delete(gone);
            assertThat(at("/proc/self/fd/" + fd)).isEqualTo("no file");
            Files.writeString(w.resolve("gone (deleted)"), "x");
            assertThat(at("/proc/self/fd/" + fd)).isEqualTo("no file");
            assertThat(resolver.resolve("/proc/self/fd/" + fd, true).was()).isEqualTo(real("w/gone"));
            out.write(1);
        }
        try (RandomAccessFile in = new RandomAccessFile(w.resolve("gone (deleted)").toFile(), "r")) {
            assertThat(at("/proc/self/fd/" + descriptorOf(w.resolve("gone (deleted)")))).isEqualTo(real("w/gone (deleted)"));
            assertThat(in.length()).isEqualTo(1);
        }
        Process sleeper = new ProcessBuilder("sleep", "5").start();
        try {
            assertThat(at("/proc/" + sleeper.pid() + "/fd/0")).isEqualTo("no file");
            assertThat(at("/proc/" + sleeper.pid() + "/fd/0/x")).isEqualTo("unreachable");
        } finally {
            sleeper.destroyForcibly().waitFor();
        }
    }

    private static String descriptorOf(Path file) throws IOException {
        try (var entries = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path entry : entries) {
                try {
                    if (Files.readSymbolicLink(entry).equals(file)) {
                        return entry.getFileName().toString();
                    }
                } catch (IOException closedMeanwhile) {
                    continue;
                }
            }
        }
        throw new AssertionError("no descriptor for " + file);
    }

    @Test
    @Tag("C18")
    void files_of_one_directory_cost_one_look_each_once_the_directory_is_known() {
        at(w + "/abs/a");
        int before = files.linksRead.get() + files.modesRead.get();
        at(w + "/abs/b");
        at(w + "/abs/a");
        assertThat(files.linksRead.get() + files.modesRead.get() - before).isEqualTo(2);
    }

    @Test
    void below_what_is_missing_nothing_is_looked_at() {
        int before = files.modesRead.get();
        at("/no-such-directory/a/b/c/d/e/f");
        assertThat(files.modesRead.get() - before).isEqualTo(2);
    }

    @Test
    void a_link_that_changes_counts_after_the_bump() throws IOException {
        assertThat(at(w + "/abs/x")).isEqualTo(real("w/out/x"));
        Files.delete(w.resolve("abs"));
        Files.createSymbolicLink(w.resolve("abs"), Path.of("in"));
        int epoch = resolver.epoch();
        resolver.bump();
        assertThat(resolver.epoch()).isNotEqualTo(epoch);
        assertThat(at(w + "/abs/x")).isEqualTo(real("w/in/x"));
    }

    @Test
    void a_directory_made_where_none_was_changes_no_answer() throws IOException {
        String before = at(w + "/later/x");
        Files.createDirectories(w.resolve("later"));
        assertThat(at(w + "/later/x")).isEqualTo(before).isEqualTo(real("w/later/x"));
    }

    @Test
    void unicode_forms_are_different_names() {
        assertThat(at(w + "/caf\u00e9")).isNotEqualTo(at(w + "/cafe\u0301"));
        assertThat(at(w + "/out/a\n{\"allow\":true}")).isEqualTo(real("w/out/a\n{\"allow\":true}"));
    }

    @Test
    void removed_directory_is_left_by_its_dots() throws IOException {
        Path gone = Files.createDirectory(w.resolve("gone"));
        try (var open = Files.newDirectoryStream(gone)) {
            Files.delete(gone);
            String fd = null;
            try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
                for (Path descriptor : descriptors) {
                    fd = Files.isSymbolicLink(descriptor) && Files.readSymbolicLink(descriptor).toString().equals(real("w/gone") + " (deleted)") ? descriptor.toString() : fd;
                }
            }
            assertThat(fd).isNotNull();
            assertThat(at(fd + "/../evil.txt")).isEqualTo(real("w/evil.txt"));
            assertThat(at(fd + "/../../x")).isEqualTo(real("x"));
            assertThat(at(fd + "/./../out/a")).isEqualTo(real("w/out/a"));
            assertThat(resolver.directory(Integer.parseInt(fd.substring(fd.lastIndexOf('/') + 1))).path()).isEqualTo(real("w/gone"));
            Files.createSymbolicLink(w.resolve("gone (deleted)"), Path.of("/etc"));
            assertThat(at(fd + "/../evil.txt")).as("a link by the name that is shown").isEqualTo(real("w/evil.txt"));
            assertThat(open).isNotNull();
        }
    }
}
