package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.ScopeViolationError;
import dev.klock.agent.decide.Baseline;
import dev.klock.agent.decide.Own;
import dev.klock.agent.decide.Target;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.ProgramFile;
import dev.klock.agent.resolve.Resolver;
import dev.klock.agent.resolve.TestHostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Scope;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ObserverTest {
    private static final int O_RDONLY = 0;
    private static final int O_WRONLY = 1;
    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0100;
    private static final int O_EXCL = 0200;
    private static final int O_TRUNC = 01000;
    private static final int O_NOFOLLOW = 0400000;

    @TempDir
    Path temp;
    private Path w;

    @BeforeEach
    void tree() throws IOException {
        w = temp.toRealPath();
        Files.createDirectories(w.resolve("in/sub"));
        Files.createDirectories(w.resolve("out/dir"));
        Files.createDirectories(w.resolve("secret"));
        Files.writeString(w.resolve("in/a"), "in");
        Files.writeString(w.resolve("out/a"), "out");
        Files.writeString(w.resolve("secret/s"), "secret");
    }

    private Fixture fixture() {
        return new Fixture(w);
    }

    // every operation, declared and not

    private record Row(String what, Op op, List<String> needs, Consumer<Fixture> hook) {
        @Override
        public String toString() {
            return what;
        }
    }

    private static Row row(String what, Op op, Consumer<Fixture> hook, String... needs) {
        return new Row(what, op, List.of(needs), hook);
    }

    static Stream<Row> rows() {
        return Stream.of(
                row("FileInputStream", Op.OPEN_READ, f -> f.hooks.name(Op.OPEN_READ.code(), f.at("/in/a"), 0), "CONSUMES FILE:/in/a"),
                row("FileOutputStream on a file", Op.OPEN_WRITE, f -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/in/a"), 0),
                        "MUTATES FILE:/in/a"),
                row("FileOutputStream appending", Op.OPEN_WRITE, f -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/in/a"), 1),
                        "MUTATES FILE:/in/a"),
                row("FileOutputStream on nothing", Op.OPEN_WRITE, f -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/in/new"), 0),
                        "PROVIDES FILE:/in/new"),
                row("RandomAccessFile r", Op.OPEN_RANDOM, f -> f.hooks.name(Op.OPEN_RANDOM.code(), f.at("/in/a"), 1), "CONSUMES FILE:/in/a"),
                row("RandomAccessFile rw", Op.OPEN_RANDOM, f -> f.hooks.name(Op.OPEN_RANDOM.code(), f.at("/in/a"), 2), "MUTATES FILE:/in/a"),
                row("RandomAccessFile rwd on nothing", Op.OPEN_RANDOM, f -> f.hooks.name(Op.OPEN_RANDOM.code(), f.at("/in/new"), 2 | 8),
                        "PROVIDES FILE:/in/new"),
                row("open read", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/a"), O_RDONLY), "CONSUMES FILE:/in/a"),
                row("open write", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/a"), O_WRONLY), "MUTATES FILE:/in/a"),
                row("open read write", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/a"), O_RDWR),
                        "MUTATES FILE:/in/a"),
                row("open truncate", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/a"), O_WRONLY | O_TRUNC),
                        "MUTATES FILE:/in/a"),
                row("open create", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/new"), O_WRONLY | O_CREAT),
                        "PROVIDES FILE:/in/new"),
                row("open create new", Op.OPEN_FLAGS,
                        f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/new"), O_WRONLY | O_CREAT | O_EXCL), "PROVIDES FILE:/in/new"),
                row("openat relative to a handle that is the working directory", Op.OPEN_FLAGS,
                        f -> f.hooks.at(Op.OPEN_FLAGS.code(), -100, f.bytesAt("/in/a"), O_WRONLY), "MUTATES FILE:/in/a"),
                row("createNewFile", Op.CREATE, f -> f.hooks.name(Op.CREATE.code(), f.at("/in/new"), 0), "PROVIDES FILE:/in/new"),
                row("mkdir", Op.MAKE_DIRECTORY, f -> f.hooks.name(Op.MAKE_DIRECTORY.code(), f.at("/in/new"), 0), "PROVIDES FILE:/in/new"),
                row("mknod", Op.MAKE_NODE, f -> f.hooks.path(Op.MAKE_NODE.code(), f.bytesAt("/in/new"), 0), "PROVIDES FILE:/in/new"),
                row("delete", Op.DELETE, f -> f.hooks.name(Op.DELETE.code(), f.at("/in/a"), 0), "DELETES FILE:/in/a"),
                row("unlinkat", Op.DELETE, f -> f.hooks.at(Op.DELETE.code(), -100, f.bytesAt("/in/a"), 0), "DELETES FILE:/in/a"),
                row("renameTo", Op.RENAME, f -> f.hooks.names(Op.RENAME.code(), f.at("/in/a"), f.at("/in/new")), "RENAMES FILE:/in/a",
                        "PROVIDES FILE:/in/new"),
                row("rename onto a file", Op.RENAME, f -> f.hooks.paths(Op.RENAME.code(), f.bytesAt("/in/a"), f.bytesAt("/secret/s")),
                        "RENAMES FILE:/in/a", "MUTATES FILE:/secret/s"),
                row("renameat", Op.RENAME, f -> f.hooks.ats(Op.RENAME.code(), -100, f.bytesAt("/in/a"), -100, f.bytesAt("/in/new")),
                        "RENAMES FILE:/in/a", "PROVIDES FILE:/in/new"),
                row("hard link", Op.LINK, f -> f.hooks.paths(Op.LINK.code(), f.bytesAt("/in/a"), f.bytesAt("/in/new")),
                        "MUTATES FILE:/in/a", "PROVIDES FILE:/in/new"),
                row("symbolic link", Op.SYMLINK, f -> f.hooks.paths(Op.SYMLINK.code(), Fixture.bytes("../x"), f.bytesAt("/in/new")),
                        "PROVIDES FILE:/in/new"),
                row("list", Op.LIST, f -> f.hooks.name(Op.LIST.code(), f.at("/in"), 0), "CONSUMES FILE:/in"),
                row("watch", Op.WATCH, f -> f.hooks.path(Op.WATCH.code(), f.bytesAt("/in"), 0), "CONSUMES FILE:/in"),
                row("exists", Op.PROBE, f -> f.hooks.name(Op.PROBE.code(), f.at("/in/a"), 0), "DEPENDS_ON FILE:/in/a"),
                row("lstat", Op.PROBE_NO_FOLLOW, f -> f.hooks.path(Op.PROBE_NO_FOLLOW.code(), f.bytesAt("/in/a"), 0), "DEPENDS_ON FILE:/in/a"),
                row("fstatat", Op.PROBE_AT, f -> f.hooks.at(Op.PROBE_AT.code(), -100, f.bytesAt("/in/a"), 0x100), "DEPENDS_ON FILE:/in/a"),
                row("chmod", Op.CHANGE_ATTRIBUTES, f -> f.hooks.path(Op.CHANGE_ATTRIBUTES.code(), f.bytesAt("/in/a"), 0),
                        "MUTATES FILE:/in/a"),
                row("setLastModified", Op.CHANGE_ATTRIBUTES, f -> f.hooks.name(Op.CHANGE_ATTRIBUTES.code(), f.at("/in/a"), 0),
                        "MUTATES FILE:/in/a"),
                row("lchown", Op.CHANGE_ATTRIBUTES_NO_FOLLOW,
                        f -> f.hooks.path(Op.CHANGE_ATTRIBUTES_NO_FOLLOW.code(), f.bytesAt("/in/a"), 0), "MUTATES FILE:/in/a"),
                row("copy", Op.COPY, f -> f.hooks.begin(Op.COPY.code(), f.bytesAt("/in/a"), f.bytesAt("/in/new"), 0), "CONSUMES FILE:/in/a",
                        "PROVIDES FILE:/in/new"),
                row("copy replacing", Op.COPY, f -> f.hooks.begin(Op.COPY.code(), f.bytesAt("/in/a"), f.bytesAt("/secret/s"), 1),
                        "CONSUMES FILE:/in/a", "MUTATES FILE:/secret/s"),
                row("move", Op.MOVE, f -> f.hooks.begin(Op.MOVE.code(), f.bytesAt("/in/a"), f.bytesAt("/in/new"), 0), "RENAMES FILE:/in/a",
                        "PROVIDES FILE:/in/new"),
                row("move replacing", Op.MOVE, f -> f.hooks.begin(Op.MOVE.code(), f.bytesAt("/in/a"), f.bytesAt("/secret/s"), 1),
                        "RENAMES FILE:/in/a", "MUTATES FILE:/secret/s"));
    }

    @ParameterizedTest
    @MethodSource("rows")
    @Tag("K6-1")
    void each_operation_with_its_lines_is_allowed(Row row) {
        Fixture f = fixture();
        for (String line : row.needs) {
            f.allow(line);
        }
        f.start();
        assertThatCode(() -> row.hook.accept(f)).doesNotThrowAnyException();
        assertThat(f.denials).isEmpty();
        assertThat(f.trail).isNotEmpty();
        if (row.op.mutates()) {
            f.hooks.end(row.op.code(), -1);
        }
        assertThat(f.observer.inMutation()).isZero();
    }

    @ParameterizedTest
    @MethodSource("rows")
    @Tag("K6-2")
    void each_operation_that_lacks_any_one_of_its_lines_is_denied_before_any_image(Row row) {
        for (int missing = 0; missing < row.needs.size(); missing++) {
            Fixture f = fixture();
            for (int i = 0; i < row.needs.size(); i++) {
                if (i != missing) {
                    f.allow(row.needs.get(i));
                }
            }
            f.start();
            assertThatThrownBy(() -> row.hook.accept(f)).isInstanceOf(ScopeViolationError.class);
            String lacked = row.needs.get(missing);
            assertThat(f.lastDenial().predicate().name()).isEqualTo(lacked.substring(0, lacked.indexOf(' ')));
            assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + lacked.substring(lacked.indexOf(':') + 1));
            assertThat(f.images).isEmpty();
            assertThat(f.observer.inMutation()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    @Tag("K6-3")
    void each_operation_that_permissive_lets_go_on_ends_well(Row row) {
        Fixture f = fixture();
        f.blocks = false;
        f.start();
        row.hook.accept(f);
        assertThat(f.denials).isNotEmpty();
        if (row.op.mutates()) {
            f.hooks.end(row.op.code(), 0);
        }
        assertThat(f.observer.inMutation()).isZero();
        assertThat(f.failures).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void once_the_session_has_ended_reading_goes_on_and_changing_does_not(Row row) {
        Fixture f = fixture();
        for (String line : row.needs) {
            f.allow(line);
        }
        f.start();
        f.ended = true;
        boolean onlyReads = !row.op.mutates() || row.what.equals("RandomAccessFile r") || row.what.equals("open read");
        boolean wholeOnly = row.op == Op.COPY || row.op == Op.MOVE;
        assertThat(f.denied(() -> row.hook.accept(f))).isEqualTo(!onlyReads && !wholeOnly);
        assertThat(f.images).isEmpty();
        if (wholeOnly) {
            f.hooks.end(row.op.code(), -1);
        }
        assertThat(f.observer.inMutation()).isZero();
        assertThat(f.keptInMutation).isZero();
    }

    // the JDK's own errors stay (FIELD part 5)

    @Test
    void names_that_the_jdk_refuses_are_left_to_it() {
        Fixture f = fixture().start();
        for (Op op : Op.values()) {
            assertThatCode(() -> f.hooks.name(op.code(), null, 0)).doesNotThrowAnyException();
            assertThatCode(() -> f.hooks.name(op.code(), "", 0)).doesNotThrowAnyException();
            assertThatCode(() -> f.hooks.name(op.code(), "a\0b", 2)).doesNotThrowAnyException();
            assertThatCode(() -> f.hooks.path(op.code(), null, 0)).doesNotThrowAnyException();
            assertThatCode(() -> f.hooks.path(op.code(), new byte[0], 0)).doesNotThrowAnyException();
            assertThatCode(() -> f.hooks.path(op.code(), "a".repeat(5000).getBytes(), O_CREAT)).doesNotThrowAnyException();
        }
        assertThatCode(() -> f.hooks.names(Op.RENAME.code(), null, f.at("/out/x"))).doesNotThrowAnyException();
        assertThatCode(() -> f.hooks.names(Op.RENAME.code(), "a\0b", f.at("/out/x"))).doesNotThrowAnyException();
        assertThatCode(() -> f.hooks.paths(Op.LINK.code(), null, null)).doesNotThrowAnyException();
        assertThatCode(() -> f.hooks.begin(Op.COPY.code(), null, null, 0)).doesNotThrowAnyException();
        assertThatCode(() -> f.hooks.start(Op.START_PROCESS.code(), null, null, 0, null, 0, null, null)).doesNotThrowAnyException();
        assertThat(f.failures).isEmpty();
    }

    @Test
    void creating_what_exists_and_removing_what_does_not_needs_only_to_depend_on_it() {
        Fixture f = fixture().allow("MUTATES FILE:/out/**").start();
        f.hooks.name(Op.MAKE_DIRECTORY.code(), f.at("/out/dir"), 0);
        f.hooks.end(Op.MAKE_DIRECTORY.code(), -1);
        f.hooks.name(Op.CREATE.code(), f.at("/out/a"), 0);
        f.hooks.end(Op.CREATE.code(), 0);
        f.hooks.name(Op.DELETE.code(), f.at("/out/none"), 0);
        f.hooks.end(Op.DELETE.code(), -1);
        f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/a"), O_WRONLY | O_CREAT | O_EXCL);
        f.hooks.end(Op.OPEN_FLAGS.code(), -1);
        assertThat(f.images).isEmpty();
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), f.at("/secret/none"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.CREATE.code(), f.at("/secret/s"), 0))).isTrue();
    }

    // created by this session (C34)

    @Test
    @Tag("C34")
    @Tag("K1-4")
    void what_the_session_created_it_may_change_and_remove_until_it_is_gone() {
        Fixture f = fixture().allow("PROVIDES FILE:/out/*").start();
        String name = f.at("/out/new");
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), name, 0), () -> Files.createFile(Path.of(name)));
        assertThat(f.images).containsExactly("/out/new");
        assertThat(f.targets.file(name).isCreated()).isTrue();
        f.hooks.name(Op.OPEN_READ.code(), name, 0);
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), name, 1), () -> { });
        f.does(Op.CHANGE_ATTRIBUTES, () -> f.hooks.name(Op.CHANGE_ATTRIBUTES.code(), name, 1), () -> { });
        f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), name, 0), () -> Files.delete(Path.of(name)));
        assertThat(f.targets.file(name).isCreated()).isFalse();
        f.does(Op.CREATE, () -> f.hooks.name(Op.CREATE.code(), name, 0), () -> Files.createFile(Path.of(name)));
        f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), name, 0), () -> Files.delete(Path.of(name)));
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), f.at("/out/a"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 0))).isTrue();
        assertThat(f.images).containsExactly("/out/new");
    }

    @Test
    @Tag("C34")
    void a_create_that_failed_leaves_nothing_created() throws IOException {
        Fixture f = fixture().allow("PROVIDES FILE:/out/*").start();
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/new"), 0);
        f.hooks.end(Op.OPEN_WRITE.code(), -1);
        Files.createFile(w.resolve("out/new"));
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), f.at("/out/new"), 0))).isTrue();
    }

    static Stream<Row> creations() {
        return Stream.of(
                row("FileOutputStream", Op.OPEN_WRITE, f -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/new"), 0)),
                row("RandomAccessFile", Op.OPEN_RANDOM, f -> f.hooks.name(Op.OPEN_RANDOM.code(), f.at("/out/new"), 2)),
                row("channel", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/new"), O_WRONLY | O_CREAT)),
                row("createNewFile", Op.CREATE, f -> f.hooks.name(Op.CREATE.code(), f.at("/out/new"), 0)),
                row("mkdir", Op.MAKE_DIRECTORY, f -> f.hooks.path(Op.MAKE_DIRECTORY.code(), f.bytesAt("/out/new"), 0)),
                row("mknod", Op.MAKE_NODE, f -> f.hooks.path(Op.MAKE_NODE.code(), f.bytesAt("/out/new"), 0)),
                row("symbolic link", Op.SYMLINK, f -> f.hooks.paths(Op.SYMLINK.code(), Fixture.bytes("a"), f.bytesAt("/out/new"))),
                row("hard link", Op.LINK, f -> f.hooks.paths(Op.LINK.code(), f.bytesAt("/out/a"), f.bytesAt("/out/new"))),
                row("rename", Op.RENAME, f -> f.hooks.names(Op.RENAME.code(), f.at("/out/a"), f.at("/out/new"))),
                row("rename of a directory", Op.RENAME, f -> f.hooks.names(Op.RENAME.code(), f.at("/out/dir"), f.at("/out/new"))));
    }

    @ParameterizedTest
    @MethodSource("creations")
    @Tag("C34")
    void what_is_made_after_a_creation_that_failed_is_the_sessions_own_and_what_others_made_is_not(Row row) throws IOException {
        Fixture f = fixture().m0().allow("CONSUMES FILE:/out/*").allow("RENAMES FILE:/out/*").start();
        Path made = w.resolve("out/new");
        row.hook.accept(f);
        f.hooks.end(row.op.code(), -1);
        Files.createFile(made);
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), made.toString(), 0), () -> { });
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), made.toString(), 0))).isTrue();
        Files.delete(made);
        for (Row next : new Row[] {row, creations().findFirst().orElseThrow()}) {
            next.hook.accept(f);
            f.hooks.end(next.op.code(), -1);
        }
        f.does(Op.OPEN_FLAGS, () -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/new"), O_WRONLY | O_CREAT), () -> Files.createFile(made));
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), made.toString(), 0), () -> { });
        f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), made.toString(), 0), () -> Files.delete(made));
        assertThat(f.targets.file(made.toString()).count(Predicate.PROVIDES)).isGreaterThanOrEqualTo(3);
        assertThat(f.allLeft()).isTrue();
    }

    @Test
    @Tag("C34")
    void what_is_renamed_to_a_new_name_stays_what_it_was() {
        Fixture f = fixture().allow("RENAMES FILE:/out/a").allow("PROVIDES FILE:/out/*").start();
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/out/a"), f.at("/out/b")),
                () -> Files.move(w.resolve("out/a"), w.resolve("out/b")));
        assertThat(f.images).containsExactly("/out/a", "/out/b");
        // the other way round: in between another thread would find a file at the new name that nobody is changing, and nobody has left there
        assertThat(f.left).containsExactly("/out/b", "/out/a");
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/out/b"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), f.at("/out/b"), 0))).isTrue();

        f.does(Op.CREATE, () -> f.hooks.name(Op.CREATE.code(), f.at("/out/c"), 0), () -> Files.createFile(w.resolve("out/c")));
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/out/c"), f.at("/out/d")),
                () -> Files.move(w.resolve("out/c"), w.resolve("out/d")));
        f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), f.at("/out/d"), 0), () -> Files.delete(w.resolve("out/d")));
    }

    // links

    @Test
    @Tag("C34")
    void writing_through_a_dangling_link_is_decided_where_the_file_would_be_made() throws IOException {
        Files.createSymbolicLink(w.resolve("out/dl"), Path.of("../secret/new"));
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/dl"), 0))).isTrue();
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/secret/new");
        assertThat(f.lastDenial().requested()).isEqualTo(f.at("/out/dl"));
        assertThat(f.lastDenial().predicate()).isEqualTo(Predicate.PROVIDES);
    }

    @Test
    void a_link_made_in_scope_does_not_open_what_it_leads_to() {
        Fixture f = fixture().m0().start();
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/l"), 0), () -> Files.createFile(w.resolve("out/l")));
        f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), f.at("/out/l"), 0), () -> Files.delete(w.resolve("out/l")));
        f.does(Op.SYMLINK, () -> f.hooks.paths(Op.SYMLINK.code(), Fixture.bytes("../secret/s"), f.bytesAt("/out/l")),
                () -> Files.createSymbolicLink(w.resolve("out/l"), Path.of("../secret/s")));
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/l"), 0))).isTrue();
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/secret/s");
    }

    @Test
    void a_link_swapped_for_another_is_seen_at_the_next_access() throws IOException {
        Files.createSymbolicLink(w.resolve("l"), Path.of("out"));
        Fixture f = fixture().m0().allow("DELETES FILE:/l").allow("PROVIDES FILE:/l").start();
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/l/a"), 0), () -> { });
        f.does(Op.DELETE, () -> f.hooks.path(Op.DELETE.code(), f.bytesAt("/l"), 0), () -> Files.delete(w.resolve("l")));
        f.does(Op.SYMLINK, () -> f.hooks.paths(Op.SYMLINK.code(), Fixture.bytes("secret"), f.bytesAt("/l")),
                () -> Files.createSymbolicLink(w.resolve("l"), Path.of("secret")));
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/l/a"), 0))).isTrue();
    }

    @Test
    void an_open_without_follow_is_about_the_link_itself() throws IOException {
        Files.createSymbolicLink(w.resolve("out/l"), Path.of("../secret/s"));
        Fixture f = fixture().m0().start();
        f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/l"), O_WRONLY | O_NOFOLLOW);
        f.hooks.end(Op.OPEN_FLAGS.code(), -1);
        assertThat(f.denials).isEmpty();
    }

    @Test
    void dots_and_siblings_do_not_reach_out_of_scope() {
        Fixture f = fixture().m0().allow("MUTATES FILE:/tree/**").start();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/../x"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("//out/./../x"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/in/../out/a"), 0))).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/tree-old/a"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/tree.txt"), 0))).isTrue();
    }

    @Test
    @Tag("C18")
    void children_are_not_deeper_and_not_the_directory_itself() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/.hidden"), 0))).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/dir/a"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.LIST.code(), f.at("/out"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.PROBE.code(), f.at("/out"), 0))).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.LIST.code(), f.at("/in"), 0))).isFalse();
    }

    @Test
    void a_file_that_appears_later_is_decided_by_its_line() throws IOException {
        Fixture f = fixture().allow("CONSUMES FILE:/in/**").allow("MUTATES FILE:/late/x").start();
        f.hooks.name(Op.OPEN_READ.code(), f.at("/in/later"), 0);
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/late/x"), 0))).isTrue();
        Files.createDirectories(w.resolve("late"));
        Files.createFile(w.resolve("late/x"));
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/late/x"), 0))).isFalse();
    }

    @Test
    void a_name_with_a_newline_is_one_name_and_shown_escaped() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a\n{\"allow\":true}"), 0))).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/secret/a\nb"), 0))).isTrue();
        assertThat(f.lastDenial().resource()).contains("/secret/a\\nb");
    }

    @Test
    @Tag("FIELD-D06")
    void a_name_that_others_led_elsewhere_since_is_judged_by_where_it_leads_before_a_change() throws Exception {
        Fixture f = fixture().m0().start();
        Files.createDirectories(w.resolve("out/d"));
        Files.createDirectories(w.resolve("secret/d"));
        byte[] name = f.bytesAt("/out/a");
        f.hooks.path(Op.OPEN_FLAGS.code(), name, 1);
        f.hooks.end(Op.OPEN_FLAGS.code(), -1);
        Files.move(w.resolve("out"), w.resolve("out-old"));
        Files.createSymbolicLink(w.resolve("out"), w.resolve("secret"));
        // many changes within a millisecond share one look at the way
        Thread.sleep(5);
        assertThat(f.denied(() -> f.hooks.path(Op.OPEN_FLAGS.code(), name, 1))).isTrue();
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/secret/a");
        assertThat(f.denied(() -> f.hooks.path(Op.DELETE.code(), name, 0))).isTrue();
        f.observer.forgetNames();
        assertThat(f.denied(() -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/s"), 0))).isTrue();
    }

    @Test
    @Tag("FIELD-D06")
    void a_file_that_others_made_a_link_since_is_judged_by_where_it_leads_before_a_change() throws Exception {
        Fixture f = fixture().m0().start();
        String name = f.at("/out/a");
        f.hooks.name(Op.OPEN_WRITE.code(), name, 0);
        f.hooks.end(Op.OPEN_WRITE.code(), -1);
        Files.delete(w.resolve("out/a"));
        Files.createSymbolicLink(w.resolve("out/a"), w.resolve("secret/s"));
        Thread.sleep(5);
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), name, 0))).isTrue();
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/secret/s");
    }

    @Test
    @Tag("FIELD-D06")
    void what_is_opened_by_a_name_through_a_link_is_looked_at_each_time() throws Exception {
        Fixture f = fixture().m0().start();
        Path way = Files.createSymbolicLink(w.resolve("out/way"), w.resolve("out"));
        Path inside = Files.writeString(w.resolve("out/s"), "declared");
        byte[] name = f.bytesAt("/out/way/s");
        for (int i = 0; i < 100; i++) {
            f.hooks.path(Op.OPEN_FLAGS.code(), name, 1);
            try (FileOutputStream opened = new FileOutputStream(inside.toFile(), true)) {
                f.hooks.end(Op.OPEN_FLAGS.code(), descriptor(inside));
            }
        }
        f.hooks.path(Op.OPEN_FLAGS.code(), name, 1);
        // others led it elsewhere after the look and before the open
        Files.delete(way);
        Files.createSymbolicLink(way, w.resolve("secret"));
        try (FileOutputStream opened = new FileOutputStream(w.resolve("out/way/s").toFile(), true)) {
            int fd = descriptor(w.resolve("secret/s"));
            assertThat(f.denied(() -> f.hooks.end(Op.OPEN_FLAGS.code(), fd))).isTrue();
        }
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/secret/s");
        assertThat(f.lastDenial().isLate()).isTrue();
    }

    /** Others lead out/way, which leads to out, to secret, from the next image on. */
    private void leadAwayWhileImaging(Fixture f, Path way) {
        f.meanwhile = () -> {
            Files.delete(way);
            Files.createSymbolicLink(way, w.resolve("secret"));
        };
    }

    @Test
    @Tag("FIELD-D06")
    void what_a_name_leads_to_after_the_image_was_made_is_judged_for_every_operation() throws Exception {
        Files.writeString(w.resolve("secret/n"), "s");
        record Case(String what, Predicate predicate, java.util.function.BiConsumer<Fixture, String> call) { }
        List<Case> cases = List.of(
                new Case("s", Predicate.MUTATES, (f, n) -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt(n), 1)),
                new Case("s", Predicate.MUTATES, (f, n) -> f.hooks.name(Op.OPEN_WRITE.code(), f.at(n), 0)),
                new Case("s", Predicate.DELETES, (f, n) -> f.hooks.path(Op.DELETE.code(), f.bytesAt(n), 0)),
                new Case("s", Predicate.DELETES, (f, n) -> f.hooks.name(Op.DELETE.code(), f.at(n), 0)),
                new Case("s", Predicate.MUTATES, (f, n) -> f.hooks.path(Op.CHANGE_ATTRIBUTES.code(), f.bytesAt(n), 0)),
                new Case("s", Predicate.RENAMES, (f, n) -> f.hooks.paths(Op.RENAME.code(), f.bytesAt(n), f.bytesAt("/out/to"))),
                new Case("new", Predicate.PROVIDES, (f, n) -> f.hooks.path(Op.MAKE_DIRECTORY.code(), f.bytesAt(n), 0)),
                new Case("new", Predicate.PROVIDES, (f, n) -> f.hooks.names(Op.RENAME.code(), f.at("/out/from"), f.at(n))));
        for (Case c : cases) {
            Path way = Files.createSymbolicLink(w.resolve("out/way"), w.resolve("out"));
            Files.writeString(w.resolve("out/s"), "declared");
            Files.writeString(w.resolve("out/from"), "declared");
            Fixture f = fixture().m0().allow("DELETES FILE:/out/*").allow("RENAMES FILE:/out/*").start();
            leadAwayWhileImaging(f, way);
            assertThat(f.denied(() -> c.call.accept(f, "/out/way/" + c.what))).as("%s %s", c.predicate, c.what).isTrue();
            assertThat(f.lastDenial()).hasToString(c.predicate + " FILE:" + w + "/secret/" + c.what);
            assertThat(f.lastDenial().isLate()).isFalse();
            assertThat(f.allLeft()).isTrue();
            assertThat(f.observer.inMutation()).isZero();
            Files.delete(way);
        }
    }

    /** Which fails; what is under way for good would make what others do there the session's. */
    @Test
    void a_link_from_a_name_to_itself_is_over_when_it_has_failed() {
        Fixture f = fixture().m0().allow("CONSUMES FILE:/out/*").start();
        f.hooks.path(Op.CHANGE_ATTRIBUTES.code(), f.bytesAt("/out/a"), 0);
        f.hooks.end(Op.CHANGE_ATTRIBUTES.code(), 0);
        f.hooks.paths(Op.LINK.code(), f.bytesAt("/out/a"), f.bytesAt("/out/a"));
        f.hooks.end(Op.LINK.code(), -1);
        assertThat(f.allLeft()).isTrue();
        assertThat(f.observer.inMutation()).isZero();
        f.hooks.paths(Op.LINK.code(), f.bytesAt("/out/a"), f.bytesAt("/out/a"));
        assertThat(f.open.values()).allMatch(n -> n == 0);
        f.hooks.end(Op.LINK.code(), -1);
    }

    @Test
    @Tag("FIELD-D06")
    void a_name_that_is_led_elsewhere_again_and_again_while_images_are_made_is_given_up() throws Exception {
        Fixture f = fixture().allow("MUTATES FILE:/**").start();
        Path way = Files.createSymbolicLink(w.resolve("out/way"), w.resolve("out"));
        for (int i = 0; i < 20; i++) {
            Files.writeString(Files.createDirectories(w.resolve("d" + i)).resolve("s"), "s");
        }
        Files.writeString(w.resolve("out/s"), "s");
        int[] n = {0};
        Fixture.Effect[] next = new Fixture.Effect[1];
        next[0] = () -> {
            Files.delete(way);
            Files.createSymbolicLink(way, w.resolve("d" + n[0]++));
            f.meanwhile = next[0];
        };
        f.meanwhile = next[0];
        assertThat(f.denied(() -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/way/s"), 1))).isTrue();
        assertThat(f.failures).hasSize(1);
        assertThat(n[0]).isBetween(2, 10);
        assertThat(f.allLeft()).isTrue();
        assertThat(f.observer.inMutation()).isZero();
    }

    @Test
    @Tag("FIELD-D06")
    void what_was_made_removed_or_changed_through_a_link_that_others_led_elsewhere_is_told() throws Exception {
        record Case(String what, Predicate predicate, java.util.function.BiConsumer<Fixture, String> call, Op op, Fixture.Effect effect) { }
        List<Case> cases = List.of(
                new Case("new", Predicate.PROVIDES, (f, n) -> f.hooks.path(Op.MAKE_DIRECTORY.code(), f.bytesAt(n), 0), Op.MAKE_DIRECTORY,
                        () -> Files.createDirectory(w.resolve("out/way/new"))),
                new Case("s", Predicate.DELETES, (f, n) -> f.hooks.path(Op.DELETE.code(), f.bytesAt(n), 0), Op.DELETE,
                        () -> Files.delete(w.resolve("out/way/s"))),
                new Case("s", Predicate.RENAMES, (f, n) -> f.hooks.paths(Op.RENAME.code(), f.bytesAt(n), f.bytesAt("/out/to")), Op.RENAME,
                        () -> Files.move(w.resolve("out/way/s"), w.resolve("out/to"))),
                new Case("to", Predicate.PROVIDES, (f, n) -> f.hooks.paths(Op.RENAME.code(), f.bytesAt("/out/from"), f.bytesAt(n)), Op.RENAME,
                        () -> Files.move(w.resolve("out/from"), w.resolve("out/way/to"))),
                new Case("s", Predicate.MUTATES, (f, n) -> f.hooks.path(Op.CHANGE_ATTRIBUTES.code(), f.bytesAt(n), 0), Op.CHANGE_ATTRIBUTES,
                        () -> Files.setAttribute(w.resolve("out/way/s"), "unix:mode", 0600)));
        for (Case c : cases) {
            Path way = Files.createSymbolicLink(w.resolve("out/way"), w.resolve("out"));
            Files.writeString(w.resolve("out/s"), "declared");
            Files.writeString(w.resolve("out/from"), "declared");
            Files.writeString(w.resolve("secret/s"), "s");
            Fixture f = fixture().m0().allow("DELETES FILE:/out/*").allow("RENAMES FILE:/out/*").start();
            // the image is there, so the look after it does not see the change either
            f.images.addAll(List.of("/out/s", "/out/new", "/out/from", "/out/to"));
            Thread.sleep(50);
            c.call.accept(f, "/out/way/" + c.what);
            Files.delete(way);
            Files.createSymbolicLink(way, w.resolve("secret"));
            c.effect.run();
            assertThat(f.denied(() -> f.hooks.end(c.op.code(), 0))).as("%s %s", c.predicate, c.what).isTrue();
            assertThat(f.lastDenial()).hasToString(c.predicate + " FILE:" + w + "/secret/" + c.what);
            assertThat(f.lastDenial().isLate()).isTrue();
            Files.delete(way);
            for (String left : List.of("out/s", "out/from", "out/to", "secret/new", "secret/s", "secret/to")) {
                Files.deleteIfExists(w.resolve(left));
            }
        }
    }

    @Test
    @Tag("FIELD-D06")
    void what_happened_where_it_was_allowed_is_not_told_though_the_link_leads_elsewhere_by_now() throws Exception {
        Fixture f = fixture().m0().allow("DELETES FILE:/out/*").allow("RENAMES FILE:/out/*").start();
        Path way = Files.createSymbolicLink(w.resolve("out/way"), w.resolve("out"));
        f.hooks.path(Op.MAKE_DIRECTORY.code(), f.bytesAt("/out/way/new"), 0);
        Files.createDirectory(w.resolve("out/new"));
        Files.delete(way);
        Files.createSymbolicLink(way, w.resolve("secret"));
        f.hooks.end(Op.MAKE_DIRECTORY.code(), 0);
        assertThat(f.denials).isEmpty();
    }

    /** The process was stopped meanwhile, say, and its leases have gone on to others. */
    @ParameterizedTest
    @MethodSource("creations")
    @Tag("C46")
    void what_the_session_ends_before_while_its_image_is_made_does_not_happen(Row row) {
        Fixture f = fixture().m0().allow("CONSUMES FILE:/out/*").allow("RENAMES FILE:/out/*").start();
        f.meanwhile = () -> f.ended = true;
        assertThat(f.denied(() -> row.hook.accept(f))).isTrue();
        assertThat(f.images).isNotEmpty();
        assertThat(f.allLeft()).isTrue();
    }

    // two-sided operations

    @Test
    @Tag("C32")
    void what_is_linked_or_renamed_to_itself_is_not_left_open() {
        Fixture f = fixture().m0().allow("RENAMES FILE:/out/*").start();
        f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 0), () -> { });
        f.hooks.paths(Op.LINK.code(), f.bytesAt("/out/a"), f.bytesAt("/out/a"));
        f.hooks.end(Op.LINK.code(), -1);
        f.hooks.names(Op.RENAME.code(), f.at("/out/a"), f.at("/out/a"));
        f.hooks.end(Op.RENAME.code(), 0);
        assertThat(f.allLeft()).as("%s left of %s", f.left, f.images).isTrue();
    }

    @Test
    void a_hard_link_to_what_may_not_be_changed_is_denied() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.paths(Op.LINK.code(), f.bytesAt("/in/a"), f.bytesAt("/out/l")))).isTrue();
        assertThat(f.lastDenial().predicate()).isEqualTo(Predicate.MUTATES);
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/in/a");
        assertThat(f.denied(() -> f.hooks.paths(Op.LINK.code(), f.bytesAt("/out/a"), f.bytesAt("/out/l")))).isFalse();
        assertThat(f.images).containsExactly("/out/a", "/out/l");
    }

    @Test
    void a_rename_into_scope_needs_the_source() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.paths(Op.RENAME.code(), f.bytesAt("/secret/s"), f.bytesAt("/out/s")))).isTrue();
        assertThat(f.lastDenial().toString()).isEqualTo("RENAMES FILE:" + w + "/secret/s");
    }

    @Test
    void a_directory_is_renamed_only_if_everything_below_is_covered() throws IOException {
        Files.writeString(w.resolve("out/dir/x"), "x");
        Fixture exact = fixture().allow("RENAMES FILE:/out/dir").allow("PROVIDES FILE:/new").start();
        assertThat(exact.denied(() -> exact.hooks.names(Op.RENAME.code(), exact.at("/out/dir"), exact.at("/new")))).isTrue();
        assertThat(exact.lastDenial().resource()).isEqualTo("FILE:" + w + "/out/dir/x");

        Fixture each = fixture().allow("RENAMES FILE:/out/dir").allow("RENAMES FILE:/out/dir/x").allow("PROVIDES FILE:/new")
                .allow("PROVIDES FILE:/new/x").start();
        assertThat(each.denied(() -> each.hooks.names(Op.RENAME.code(), each.at("/out/dir"), each.at("/new")))).isFalse();

        Fixture target = fixture().allow("RENAMES FILE:/out/dir/**").allow("PROVIDES FILE:/new").start();
        assertThat(target.denied(() -> target.hooks.names(Op.RENAME.code(), target.at("/out/dir"), target.at("/new")))).isTrue();
        assertThat(target.lastDenial().resource()).isEqualTo("FILE:" + w + "/new/x");

        Fixture denied = fixture().allow("RENAMES FILE:/out/**").allow("PROVIDES FILE:/new/**").deny("RENAMES FILE:/out/dir/x").start();
        assertThat(denied.denied(() -> denied.hooks.names(Op.RENAME.code(), denied.at("/out/dir"), denied.at("/new")))).isTrue();

        Fixture empty = fixture().allow("RENAMES FILE:/in/sub").allow("PROVIDES FILE:/new").start();
        assertThat(empty.denied(() -> empty.hooks.names(Op.RENAME.code(), empty.at("/in/sub"), empty.at("/new")))).isFalse();
        assertThat(empty.images).containsExactly("/in/sub/**", "/new");
    }

    @Test
    @Tag("C34")
    void what_came_with_a_renamed_directory_stays_what_it_was() throws IOException {
        Files.writeString(w.resolve("out/dir/x"), "x");
        Fixture f = fixture().allow("RENAMES FILE:/out/dir/**").allow("PROVIDES FILE:/new/**").allow("PROVIDES FILE:/other/**")
                .allow("RENAMES FILE:/new/dir/**").start();
        f.does(Op.MAKE_DIRECTORY, () -> f.hooks.name(Op.MAKE_DIRECTORY.code(), f.at("/other"), 0), () -> Files.createDirectory(w.resolve("other")));
        f.does(Op.CREATE, () -> f.hooks.name(Op.CREATE.code(), f.at("/other/y"), 0), () -> Files.createFile(w.resolve("other/y")));
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/other"), f.at("/new")), () -> Files.move(w.resolve("other"), w.resolve("new")));
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/new/y"), 0))).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/other/y"), 0))).isTrue();
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/out/dir"), f.at("/new/dir")),
                () -> Files.move(w.resolve("out/dir"), w.resolve("new/dir")));
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/new/dir/x"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), f.at("/new/dir/x"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/out/dir/x"), 0))).isTrue();
        // nor by the name of a directory around it
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/new"), f.at("/other")), () -> Files.move(w.resolve("new"), w.resolve("other")));
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/other/dir/x"), 0))).isTrue();
    }

    @Test
    void a_copy_names_the_side_at_fault() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.begin(Op.COPY.code(), Fixture.bytes("/etc/passwd"), f.bytesAt("/out/p"), 0))).isTrue();
        assertThat(f.lastDenial().toString()).isEqualTo("CONSUMES FILE:/etc/passwd");
        assertThat(f.denied(() -> f.hooks.begin(Op.COPY.code(), f.bytesAt("/in/a"), f.bytesAt("/secret/n"), 0))).isTrue();
        assertThat(f.lastDenial().toString()).isEqualTo("PROVIDES FILE:" + w + "/secret/n");
    }

    @Test
    @Tag("C34")
    void a_replacing_copy_is_a_change_of_its_target_and_imaged_before_the_removal() {
        Fixture f = fixture().allow("CONSUMES FILE:/in/a").allow("MUTATES FILE:/out/a").start();
        byte[] from = f.bytesAt("/in/a");
        byte[] to = f.bytesAt("/out/a");
        f.hooks.begin(Op.COPY.code(), from, to, 1);
        f.hooks.path(Op.PROBE.code(), from, 0);
        f.hooks.path(Op.PROBE_NO_FOLLOW.code(), to, 0);
        f.does(Op.DELETE, () -> f.hooks.path(Op.DELETE.code(), to, 0), () -> Files.delete(w.resolve("out/a")));
        assertThat(f.images).containsExactly("/out/a");
        f.does(Op.OPEN_FLAGS, () -> f.hooks.path(Op.OPEN_FLAGS.code(), from, O_RDONLY), () -> { });
        f.does(Op.OPEN_FLAGS, () -> f.hooks.path(Op.OPEN_FLAGS.code(), to, O_WRONLY | O_CREAT | O_EXCL),
                () -> Files.createFile(w.resolve("out/a")));
        f.does(Op.CHANGE_ATTRIBUTES, () -> f.hooks.path(Op.CHANGE_ATTRIBUTES.code(), to, 0), () -> { });
        f.hooks.end(Op.COPY.code(), 0);
        assertThat(f.denials).isEmpty();
        assertThat(f.targets.file(f.at("/out/a")).isCreated()).isFalse();
        // the copy is over: its target is no more than changed
        assertThat(f.denied(() -> f.hooks.path(Op.DELETE.code(), to, 0))).isTrue();
    }

    @Test
    @Tag("C34")
    void an_interruptible_copy_may_go_on_in_another_thread() throws InterruptedException {
        Fixture f = fixture().allow("CONSUMES FILE:/in/a").allow("MUTATES FILE:/out/a").start();
        f.hooks.begin(Op.COPY.code(), f.bytesAt("/in/a"), f.bytesAt("/out/a"), 1);
        f.does(Op.DELETE, () -> f.hooks.path(Op.DELETE.code(), f.bytesAt("/out/a"), 0), () -> Files.delete(w.resolve("out/a")));
        Thread other = new Thread(() -> f.does(Op.OPEN_FLAGS,
                () -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/a"), O_WRONLY | O_CREAT | O_EXCL),
                () -> Files.createFile(w.resolve("out/a"))));
        other.start();
        other.join();
        f.hooks.end(Op.COPY.code(), 0);
        assertThat(f.denials).isEmpty();
        assertThat(f.targets.file(f.at("/out/a")).isCreated()).isFalse();
    }

    @Test
    void a_move_over_file_systems_is_one_decision() {
        Fixture f = fixture().allow("RENAMES FILE:/out/a").allow("PROVIDES FILE:/out/b").start();
        byte[] from = f.bytesAt("/out/a");
        byte[] to = f.bytesAt("/out/b");
        f.hooks.begin(Op.MOVE.code(), from, to, 0);
        f.hooks.paths(Op.RENAME.code(), from, to);
        f.hooks.end(Op.RENAME.code(), -1);
        f.does(Op.OPEN_FLAGS, () -> f.hooks.path(Op.OPEN_FLAGS.code(), from, O_RDONLY), () -> { });
        f.does(Op.OPEN_FLAGS, () -> f.hooks.path(Op.OPEN_FLAGS.code(), to, O_WRONLY | O_CREAT | O_EXCL),
                () -> Files.createFile(w.resolve("out/b")));
        f.does(Op.DELETE, () -> f.hooks.path(Op.DELETE.code(), from, 0), () -> Files.delete(w.resolve("out/a")));
        f.hooks.end(Op.MOVE.code(), 0);
        assertThat(f.denials).isEmpty();
        Fixture undeclared = fixture().allow("PROVIDES FILE:/out/b").start();
        assertThat(undeclared.denied(() -> undeclared.hooks.begin(Op.MOVE.code(), undeclared.bytesAt("/out/dir"),
                undeclared.bytesAt("/out/b"), 0))).isTrue();
    }

    @Test
    void an_atomic_move_onto_a_file_is_judged_at_its_rename() {
        Fixture f = fixture().allow("RENAMES FILE:/out/a").allow("DEPENDS_ON FILE:/secret/s").start();
        f.hooks.begin(Op.MOVE.code(), f.bytesAt("/out/a"), f.bytesAt("/secret/s"), 0);
        assertThat(f.denied(() -> f.hooks.paths(Op.RENAME.code(), f.bytesAt("/out/a"), f.bytesAt("/secret/s")))).isTrue();
        assertThat(f.lastDenial().toString()).isEqualTo("MUTATES FILE:" + w + "/secret/s");
        f.hooks.end(Op.MOVE.code(), -1);
        assertThat(f.observer.inMutation()).isZero();
    }

    @Test
    @Tag("C34")
    void imageio_write_removes_first_and_is_still_a_change_of_its_file() {
        Fixture f = fixture().allow("MUTATES FILE:/out/a").start();
        writeImage(new java.io.File(f.at("/out/a")) {
            @Override
            public boolean delete() {
                f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), getPath(), 0), () -> Files.delete(toPath()));
                f.does(Op.OPEN_RANDOM, () -> f.hooks.name(Op.OPEN_RANDOM.code(), getPath(), 2), () -> Files.createFile(toPath()));
                return true;
            }
        });
        assertThat(f.denials).isEmpty();
        assertThat(f.images).containsExactly("/out/a");
        assertThat(f.targets.file(f.at("/out/a")).isCreated()).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), f.at("/out/a"), 0))).isTrue();
    }

    @Test
    @Tag("C34")
    void a_programs_own_removal_within_imageio_write_is_a_removal() {
        Fixture f = fixture().allow("MUTATES FILE:/out/a").start();
        assertThat(f.denied(() -> writeImage(new ProgramFile(f.at("/out/a"),
                () -> f.hooks.name(Op.DELETE.code(), f.at("/out/a"), 0))))).isTrue();
    }

    private static void writeImage(java.io.File file) {
        try {
            javax.imageio.ImageIO.write(new java.awt.image.BufferedImage(1, 1, java.awt.image.BufferedImage.TYPE_INT_RGB), "png", file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    // images

    @Test
    @Tag("K6-8")
    void every_change_is_framed_by_its_image_and_its_end_however_many_threads() throws InterruptedException {
        Fixture f = fixture().m0().start();
        CountDownLatch go = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 32; i++) {
            Thread t = new Thread(() -> {
                try {
                    go.await();
                    f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
                    f.hooks.end(Op.OPEN_WRITE.code(), -1);
                } catch (Throwable e) {
                    errors.add(e);
                }
            });
            threads.add(t);
            t.start();
        }
        go.countDown();
        for (Thread t : threads) {
            t.join();
        }
        assertThat(errors).isEmpty();
        assertThat(f.images).containsExactly("/out/a");
        assertThat(f.allLeft()).isTrue();
        assertThat(f.left).hasSize(32);
        assertThat(f.targets.file(f.at("/out/a")).count(Predicate.MUTATES)).isEqualTo(32);
        assertThat(f.observer.inMutation()).isZero();
    }

    @Test
    void a_failed_image_is_the_apis_own_exception_where_it_has_one() {
        Fixture f = fixture().m0().allow("DELETES FILE:/out/a").start();
        f.unimageable.add("/out/a");
        assertThatThrownBy(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 0)).isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("disk full");
        assertThatThrownBy(() -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/out/a"), O_WRONLY)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> f.hooks.name(Op.DELETE.code(), f.at("/out/a"), 0)).isInstanceOf(ScopeViolationError.class);
        assertThat(f.observer.inMutation()).isZero();
        f.blocks = false;
        assertThatCode(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 0)).doesNotThrowAnyException();
    }

    @Test
    void a_closed_descriptor_tells_what_was_left() throws IOException {
        Fixture f = fixture().m0().start();
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), 900);
        f.hooks.closing(Op.CLOSE.code(), 899);
        assertThat(f.left).isEmpty();
        assertThat(f.allLeft()).isFalse();
        f.hooks.closing(Op.CLOSE.code(), 900);
        f.hooks.closing(Op.CLOSE.code(), 900);
        assertThat(f.left).containsExactly("/out/a");
        assertThat(f.allLeft()).isTrue();
    }

    @Test
    void a_file_open_twice_is_left_when_the_last_descriptor_closes() {
        Fixture f = fixture().m0().start();
        for (int fd = 900; fd < 902; fd++) {
            f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
            f.hooks.end(Op.OPEN_WRITE.code(), fd);
        }
        f.hooks.closing(Op.CLOSE.code(), 900);
        assertThat(f.allLeft()).isFalse();
        f.hooks.closing(Op.CLOSE.code(), 901);
        assertThat(f.allLeft()).isTrue();
    }

    @Test
    void a_file_renamed_while_it_is_open_is_changed_under_its_new_name() throws IOException {
        Files.writeString(w.resolve("out/dir/x"), "x");
        Fixture f = fixture().allow("MUTATES FILE:/out/**").allow("RENAMES FILE:/out/**").allow("PROVIDES FILE:/out/**").start();
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), 900);
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/dir/x"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), 901);
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/out/a"), f.at("/out/b")),
                () -> Files.move(w.resolve("out/a"), w.resolve("out/b")));
        f.does(Op.RENAME, () -> f.hooks.names(Op.RENAME.code(), f.at("/out/dir"), f.at("/out/dir2")),
                () -> Files.move(w.resolve("out/dir"), w.resolve("out/dir2")));
        assertThat(f.open).containsEntry("/out/a", 0).containsEntry("/out/b", 1).containsEntry("/out/dir/x", 0)
                .containsEntry("/out/dir2/x", 1);
        f.hooks.closing(Op.CLOSE.code(), 900);
        f.hooks.closing(Op.CLOSE.code(), 901);
        assertThat(f.allLeft()).isTrue();
    }

    @Test
    void a_descriptor_whose_closing_was_not_seen_is_left_when_its_number_returns() {
        Fixture f = fixture().m0().start();
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), 900);
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/b"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), 900);
        assertThat(f.left).containsExactly("/out/a");
        f.hooks.closing(Op.CLOSE.code(), 900);
        assertThat(f.allLeft()).isTrue();
    }

    @Test
    void a_change_that_fails_or_is_denied_half_way_is_over_too() {
        Fixture f = fixture().m0().allow("RENAMES FILE:/out/*").start();
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), -1);
        f.unimageable.add("/out/b");
        assertThat(f.denied(() -> f.hooks.names(Op.RENAME.code(), f.at("/out/a"), f.at("/out/b")))).isTrue();
        assertThat(f.left).containsOnly("/out/a");
        assertThat(f.allLeft()).isTrue();
    }

    @Test
    void a_descriptor_that_turns_out_to_be_of_another_file_is_a_violation_after_the_fact() throws IOException {
        Fixture f = fixture().m0().start();
        try (java.io.RandomAccessFile other = new java.io.RandomAccessFile(w.resolve("secret/s").toFile(), "rw")) {
            int fd = descriptor(w.resolve("secret/s"));
            f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 1);
            assertThatThrownBy(() -> f.hooks.end(Op.OPEN_WRITE.code(), fd)).isInstanceOf(ScopeViolationError.class);
            assertThat(f.lastDenial().isLate()).isTrue();
            assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/secret/s");
            assertThat(f.observer.inMutation()).isZero();
            assertThat(other.length()).isPositive();
        }
    }

    @Test
    void a_link_swapped_between_the_decision_and_the_open_is_found_at_the_end_of_the_open() throws Exception {
        Files.createSymbolicLink(w.resolve("l"), Path.of("out"));
        Fixture f = fixture().m0().allow("DELETES FILE:/l").allow("PROVIDES FILE:/l").start();
        String name = f.at("/l/a");
        f.hooks.name(Op.OPEN_WRITE.code(), name, 1);
        f.hooks.end(Op.OPEN_WRITE.code(), -1);
        Files.writeString(w.resolve("secret/a"), "secret");

        // the file is no longer new to the session, so that only the swap makes it look
        f.hooks.name(Op.OPEN_WRITE.code(), name, 1);
        Thread swap = new Thread(() -> {
            f.does(Op.DELETE, () -> f.hooks.path(Op.DELETE.code(), f.bytesAt("/l"), 0), () -> Files.delete(w.resolve("l")));
            f.does(Op.SYMLINK, () -> f.hooks.paths(Op.SYMLINK.code(), Fixture.bytes("secret"), f.bytesAt("/l")),
                    () -> Files.createSymbolicLink(w.resolve("l"), Path.of("secret")));
        });
        swap.start();
        swap.join();
        try (java.io.FileOutputStream out = new java.io.FileOutputStream(name, true)) {
            int fd = descriptor(w.resolve("secret/a"));
            assertThat(f.denied(() -> f.hooks.end(Op.OPEN_WRITE.code(), fd))).isTrue();
            assertThat(f.lastDenial().isLate()).isTrue();
            assertThat(out.getChannel().isOpen()).isTrue();
        }
    }

    @Test
    void a_link_whose_swap_has_begun_but_not_ended_is_found_too() throws Exception {
        Files.createSymbolicLink(w.resolve("l"), Path.of("out"));
        Fixture f = fixture().m0().allow("DELETES FILE:/l").start();
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/l/a"), 1);
        f.hooks.end(Op.OPEN_WRITE.code(), -1);
        Thread swap = new Thread(() -> f.hooks.path(Op.DELETE.code(), f.bytesAt("/l"), 0));
        f.hooks.name(Op.OPEN_WRITE.code(), f.at("/l/a"), 1);
        swap.start();
        swap.join();
        try (java.io.RandomAccessFile other = new java.io.RandomAccessFile(w.resolve("secret/s").toFile(), "rw")) {
            int fd = descriptor(w.resolve("secret/s"));
            assertThat(f.denied(() -> f.hooks.end(Op.OPEN_WRITE.code(), fd))).isTrue();
            assertThat(other.length()).isPositive();
        }
    }

    private static int descriptor(Path file) throws IOException {
        return descriptors(file).get(0);
    }

    @Test
    void attributes_through_a_descriptor_are_those_of_its_file() throws IOException {
        Fixture f = fixture().m0().start();
        try (java.io.RandomAccessFile in = new java.io.RandomAccessFile(w.resolve("in/a").toFile(), "r");
                java.io.RandomAccessFile out = new java.io.RandomAccessFile(w.resolve("out/a").toFile(), "r")) {
            int inFd = descriptor(w.resolve("in/a"));
            int outFd = descriptor(w.resolve("out/a"));
            assertThat(f.denied(() -> f.hooks.fd(Op.CHANGE_ATTRIBUTES.code(), inFd, 0))).isTrue();
            assertThat(f.denied(() -> f.hooks.fd(Op.READ_ATTRIBUTES.code(), inFd, 0))).isFalse();
            assertThat(f.denied(() -> f.hooks.fd(Op.CHANGE_ATTRIBUTES.code(), outFd, 0))).isFalse();
            f.hooks.end(Op.CHANGE_ATTRIBUTES.code(), 0);
            assertThat(f.images).containsExactly("/out/a");
            assertThat(in.length() + out.length()).isEqualTo(5);
        }
    }

    @Test
    void a_name_relative_to_a_handle_is_decided_where_the_handle_is() throws IOException {
        Fixture f = fixture().m0().start();
        try (var stream = Files.newDirectoryStream(w.resolve("out"))) {
            int fd = descriptor(w.resolve("out"));
            assertThat(f.denied(() -> f.hooks.at(Op.OPEN_FLAGS.code(), fd, Fixture.bytes("a"), O_WRONLY))).isFalse();
            f.hooks.end(Op.OPEN_FLAGS.code(), -1);
            assertThat(f.denied(() -> f.hooks.at(Op.OPEN_FLAGS.code(), fd, Fixture.bytes("../secret/s"), O_WRONLY))).isTrue();
            assertThat(f.denied(() -> f.hooks.at(Op.DELETE.code(), fd, Fixture.bytes("a"), 0))).isTrue();
            assertThat(f.denied(() -> f.hooks.ats(Op.RENAME.code(), fd, Fixture.bytes("a"), fd, Fixture.bytes("b")))).isTrue();
            assertThat(stream.iterator().hasNext()).isTrue();
        }
    }

    @Test
    void a_descriptor_that_cannot_be_seen_is_not_let_through() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.at(Op.OPEN_FLAGS.code(), 99_999, Fixture.bytes("a"), O_WRONLY))).isTrue();
        assertThat(f.denied(() -> f.hooks.fd(Op.CHANGE_ATTRIBUTES.code(), 99_999, 0))).isTrue();
        assertThat(f.failures).hasSize(2);
        f.blocks = false;
        f.hooks.at(Op.OPEN_FLAGS.code(), 99_999, Fixture.bytes("a"), O_WRONLY);
        f.hooks.end(Op.OPEN_FLAGS.code(), -1);
        assertThat(f.observer.inMutation()).isZero();
    }

    // files that have lost their names

    private static Stream<Row> changesOf(String door) {
        return Stream.of(
                row("FileOutputStream", Op.OPEN_WRITE, f -> f.hooks.name(Op.OPEN_WRITE.code(), door, 0)),
                row("RandomAccessFile", Op.OPEN_RANDOM, f -> f.hooks.name(Op.OPEN_RANDOM.code(), door, 2)),
                row("channel", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), Fixture.bytes(door), O_WRONLY | O_CREAT)),
                row("truncate", Op.OPEN_FLAGS, f -> f.hooks.path(Op.OPEN_FLAGS.code(), Fixture.bytes(door), O_TRUNC)),
                row("chmod", Op.CHANGE_ATTRIBUTES, f -> f.hooks.path(Op.CHANGE_ATTRIBUTES.code(), Fixture.bytes(door), 0)));
    }

    private static List<String> doors(int fd) {
        long pid = ProcessHandle.current().pid();
        return List.of("/proc/self/fd/" + fd, "/dev/fd/" + fd, "/proc/self/task/" + pid + "/fd/" + fd, "/proc/" + pid + "/fd/" + fd,
                "/proc/thread-self/fd/" + fd, "/proc/self/cwd/../../../../../../../../proc/self/fd/" + fd);
    }

    @Test
    void a_file_whose_name_was_removed_is_judged_by_that_name_before_a_change_through_its_descriptor() throws IOException {
        Files.createLink(w.resolve("in/b"), w.resolve("in/a"));
        Fixture f = fixture().allow("CONSUMES FILE:/**").allow("PROVIDES FILE:/out/*").start();
        try (java.io.RandomAccessFile in = new java.io.RandomAccessFile(w.resolve("in/a").toFile(), "r")) {
            int fd = descriptor(w.resolve("in/a"));
            Files.delete(w.resolve("in/a"));
            // a name that looks like what the kernel shows is another file
            Files.writeString(w.resolve("in/a (deleted)"), "decoy");
            for (String door : doors(fd)) {
                f.hooks.name(Op.OPEN_READ.code(), door, 0);
                f.hooks.path(Op.OPEN_FLAGS.code(), Fixture.bytes(door), O_RDONLY);
                for (Row row : changesOf(door).toList()) {
                    assertThat(f.denied(() -> row.hook.accept(f))).as(row + " " + door).isTrue();
                    assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/in/a");
                    assertThat(f.lastDenial().requested()).isEqualTo(door);
                }
            }
            assertThat(f.denied(() -> f.hooks.fd(Op.CHANGE_ATTRIBUTES.code(), fd, 0))).isTrue();
            assertThat(f.denied(() -> f.hooks.openedUnseen(doors(fd).get(0), true, new String[0]))).isTrue();
            assertThat(f.denied(() -> f.hooks.command(Op.VM_COMMAND.code(), "Compiler.perfmap " + doors(fd).get(0)))).isTrue();
            assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/in/a");
            assertThat(f.failures).isEmpty();
            assertThat(f.images).isEmpty();
            assertThat(f.observer.inMutation()).isZero();
            f.blocks = false;
            f.hooks.name(Op.OPEN_WRITE.code(), doors(fd).get(0), 0);
            f.hooks.end(Op.OPEN_WRITE.code(), -1);
            assertThat(f.failures).isEmpty();
            assertThat(f.allLeft()).isTrue();
            assertThat(in.length()).isEqualTo(2);
        }
    }

    @Test
    void what_may_be_done_to_the_name_that_was_removed_does_not_go_for_the_files_other_names() throws IOException {
        Files.createLink(w.resolve("in/b"), w.resolve("out/a"));
        Fixture f = fixture().m0().start();
        try (java.io.RandomAccessFile out = new java.io.RandomAccessFile(w.resolve("out/a").toFile(), "r")) {
            String door = "/proc/self/fd/" + descriptor(w.resolve("out/a"));
            Files.delete(w.resolve("out/a"));
            for (Row row : changesOf(door).toList()) {
                assertThat(f.denied(() -> row.hook.accept(f))).as(row.what).isTrue();
            }
            assertThat(f.failures).hasSize((int) changesOf(door).count());
            assertThat(f.images).isEmpty();
            assertThat(f.observer.inMutation()).isZero();
            f.blocks = false;
            f.hooks.name(Op.OPEN_WRITE.code(), door, 0);
            f.hooks.end(Op.OPEN_WRITE.code(), -1);
            assertThat(f.observer.inMutation()).isZero();
            assertThat(out.length()).isEqualTo(3);
        }
    }

    @Test
    void a_file_without_a_name_that_the_session_has_open_for_writing_may_be_opened_so_again() throws IOException {
        Fixture f = fixture().allow("PROVIDES FILE:/out/*").start();
        String name = f.at("/out/temporary");
        f.hooks.name(Op.OPEN_RANDOM.code(), name, 2);
        try (java.io.RandomAccessFile file = new java.io.RandomAccessFile(name, "rw")) {
            int fd = descriptor(Path.of(name));
            f.hooks.end(Op.OPEN_RANDOM.code(), fd);
            f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), name, 0), () -> Files.delete(Path.of(name)));
            for (String door : doors(fd)) {
                for (Row row : changesOf(door).toList()) {
                    assertThat(f.denied(() -> row.hook.accept(f))).as(row + " " + door).isFalse();
                    f.hooks.end(row.op.code(), -1);
                }
            }
            f.hooks.fd(Op.CHANGE_ATTRIBUTES.code(), fd, 0);
            f.hooks.end(Op.CHANGE_ATTRIBUTES.code(), 0);
            f.hooks.name(Op.OPEN_WRITE.code(), doors(fd).get(0), 1);
            try (FileOutputStream again = new FileOutputStream(doors(fd).get(0), true)) {
                int second = descriptors(Path.of(name + " (deleted)")).stream().filter(n -> n != fd).findFirst().orElseThrow();
                again.write(1);
                f.hooks.end(Op.OPEN_WRITE.code(), second);
                f.hooks.closing(Op.CLOSE.code(), fd);
                f.does(Op.OPEN_WRITE, () -> f.hooks.name(Op.OPEN_WRITE.code(), doors(second).get(0), 1), () -> { });
                // another file of that name is another file
                f.does(Op.CREATE, () -> f.hooks.name(Op.CREATE.code(), name, 0), () -> Files.createFile(Path.of(name)));
                f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), name, 0), () -> Files.delete(Path.of(name)));
                f.ended = true;
                assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), doors(second).get(0), 1))).isTrue();
                assertThat(f.denied(() -> f.hooks.fenced(Op.WRITE_DESCRIPTOR.code(), second))).isTrue();
                f.hooks.closing(Op.CLOSE.code(), second);
            }
            assertThat(f.denials).isEmpty();
            assertThat(f.failures).isEmpty();
            assertThat(f.allLeft()).isTrue();
            assertThat(f.observer.inMutation()).isZero();
            assertThat(file.length()).isEqualTo(1);
        }
    }

    @Test
    void a_descriptor_that_was_exchanged_for_one_of_another_file_without_a_name_is_found_at_the_end_of_the_open() throws IOException {
        Files.createLink(w.resolve("in/b"), w.resolve("in/a"));
        Fixture f = fixture().allow("PROVIDES FILE:/out/*").start();
        String name = f.at("/out/temporary");
        f.hooks.name(Op.OPEN_RANDOM.code(), name, 2);
        try (java.io.RandomAccessFile own = new java.io.RandomAccessFile(name, "rw");
                java.io.RandomAccessFile other = new java.io.RandomAccessFile(w.resolve("in/a").toFile(), "rw")) {
            int fd = descriptor(Path.of(name));
            int another = descriptor(w.resolve("in/a"));
            f.hooks.end(Op.OPEN_RANDOM.code(), fd);
            f.does(Op.DELETE, () -> f.hooks.name(Op.DELETE.code(), name, 0), () -> Files.delete(Path.of(name)));
            Files.delete(w.resolve("in/a"));
            f.hooks.name(Op.OPEN_WRITE.code(), "/proc/self/fd/" + fd, 0);
            assertThat(f.denied(() -> f.hooks.end(Op.OPEN_WRITE.code(), another))).isTrue();
            assertThat(f.lastDenial().isLate()).isTrue();
            assertThat(own.length() + other.length()).isEqualTo(2);
        }
    }

    static List<Integer> descriptors(Path file) throws IOException {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.filter(e -> {
                try {
                    return Files.readSymbolicLink(e).equals(file);
                } catch (IOException closed) {
                    return false;
                }
            }).map(e -> Integer.parseInt(e.getFileName().toString())).toList();
        }
    }

    // the fence

    @Test
    void after_the_end_files_opened_before_cannot_be_written_but_standard_output_can() throws IOException {
        Fixture f = fixture().m0().start();
        try (java.io.RandomAccessFile file = new java.io.RandomAccessFile(w.resolve("out/a").toFile(), "rw")) {
            int fd = descriptor(w.resolve("out/a"));
            f.hooks.name(Op.OPEN_RANDOM.code(), f.at("/out/a"), 2);
            f.hooks.end(Op.OPEN_RANDOM.code(), fd);
            f.ended = true;
            assertThat(f.denied(() -> f.hooks.fenced(Op.WRITE_DESCRIPTOR.code(), fd))).isTrue();
            assertThat(f.cutShort).containsExactly("FILE:" + w.resolve("out/a"));
            assertThat(f.denied(() -> f.hooks.fenced(Op.WRITE_DESCRIPTOR.code(), 1))).isFalse();
            assertThat(f.denied(() -> f.hooks.fenced(Op.WRITE_DESCRIPTOR.code(), 2))).isFalse();
            assertThat(file.length()).isEqualTo(3);
        }
        Process child = new ProcessBuilder("cat").start();
        try {
            int pipe = Stream.of(new java.io.File("/proc/self/fd").list()).mapToInt(Integer::parseInt).filter(n -> n > 2)
                    .filter(n -> {
                        byte[] link = f.files.readLink(Fixture.bytes("/proc/self/fd/" + n));
                        return link != null && new String(link).startsWith("pipe:");
                    }).findFirst().orElseThrow();
            assertThat(f.denied(() -> f.hooks.fenced(Op.WRITE_DESCRIPTOR.code(), pipe))).isFalse();
        } finally {
            child.destroyForcibly();
        }
    }

    // the JVM's own and klock's own

    @Test
    void what_the_jvm_reads_is_allowed_for_reading_only_even_after_the_end() throws IOException {
        TestHostFiles files = new TestHostFiles();
        Fixture f = fixture().baseline(Baseline.ofThisJvm(new Resolver(files), new Names("UTF-8"))).start();
        f.ended = true;
        String home = System.getProperty("java.home");
        for (String name : List.of(home + "/lib/modules", home + "/lib/tzdb.dat", home + "/conf/security/java.security",
                home + "/lib/security/cacerts", "/dev/urandom", "/proc/self/cgroup", "/etc/localtime", "/sys/fs/cgroup/cgroup.controllers")) {
            assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), name, 0))).as(name).isFalse();
            assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), name, 0))).as(name).isTrue();
            assertThat(f.denied(() -> f.hooks.name(Op.DELETE.code(), name, 0))).as(name).isEqualTo(Files.exists(Path.of(name)));
        }
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), "/proc/self/environ", 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), "/etc/passwd", 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), home + "/../../../../etc/passwd", 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), "/dev/null", 1))).isFalse();
        f.hooks.end(Op.OPEN_WRITE.code(), -1);
        assertThat(f.denied(() -> f.hooks.name(Op.CHANGE_ATTRIBUTES.code(), "/dev/null", 1))).isTrue();
    }

    @Test
    void klocks_own_files_are_out_of_reach_in_every_mode() throws IOException {
        Files.createDirectories(w.resolve(".klock/backups"));
        Fixture f = fixture().allow("MUTATES FILE:/**").allow("PROVIDES FILE:/**").allow("RENAMES FILE:/**").allow("DELETES FILE:/**")
                .own(new Own(w + "/.klock", w + "/klock.yaml")).start();
        f.blocks = false;
        Files.writeString(w.resolve("klock.yaml"), "x");
        assertThatThrownBy(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/.klock/backups/x"), 0))
                .isInstanceOf(FileNotFoundException.class).hasMessage(f.at("/.klock/backups/x") + " (No such file or directory)");
        assertThatThrownBy(() -> f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/.klock/backups/x"), O_RDONLY))
                .isInstanceOf(NoSuchFileException.class);
        assertThat(f.denials).isEmpty();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/.klock/key"), 0))).isTrue();
        assertThat(f.lastDenial().isProtected()).isTrue();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/klock.yaml"), 0))).isFalse();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/klock.yaml"), 0))).isTrue();
        assertThat(f.denied(() -> f.hooks.names(Op.RENAME.code(), f.at("/klock.yaml"), f.at("/k")))).isTrue();
        assertThat(f.denied(() -> f.hooks.names(Op.RENAME.code(), f.at(""), f.at("-gone")))).isTrue();
    }

    // the hook itself

    @Test
    void klocks_own_calls_are_not_judged() {
        Fixture f = fixture().start();
        f.hooks.enter();
        try {
            f.hooks.name(Op.OPEN_WRITE.code(), f.at("/secret/s"), 0);
            f.hooks.end(Op.OPEN_WRITE.code(), 5);
        } finally {
            f.hooks.leave();
        }
        assertThat(f.denials).isEmpty();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/secret/s"), 0))).isTrue();
    }

    @Test
    void a_denial_leaves_the_thread_as_it_was_a_thousand_times() {
        Fixture f = fixture().m0().start();
        for (int i = 0; i < 1000; i++) {
            assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/secret/s"), 0))).isTrue();
        }
        assertThat(f.denials).hasSize(1000);
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/out/a"), 0))).isFalse();
    }

    @Test
    void a_denial_storm_keeps_its_stacks_few() {
        Fixture f = fixture().start();
        int traced = 0;
        for (int i = 0; i < 100; i++) {
            try {
                f.hooks.name(Op.OPEN_WRITE.code(), f.at("/secret/s"), 0);
            } catch (ScopeViolationError e) {
                traced += e.getStackTrace().length > 0 ? 1 : 0;
            }
        }
        assertThat(traced).isEqualTo(20);
    }

    @Test
    @Tag("K6-2")
    void a_denial_names_attempted_resolved_and_declared() {
        Fixture f = fixture().m0().start();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_WRITE.code(), f.at("/in/../in/a"), 0))).isTrue();
        assertThat(f.lastDenial().predicate()).isEqualTo(Predicate.MUTATES);
        assertThat(f.lastDenial().resource()).isEqualTo("FILE:" + w + "/in/a");
        assertThat(f.lastDenial().requested()).isEqualTo(f.at("/in/../in/a"));
        assertThat(f.lastDenial().target().declared()).isEqualTo(Predicate.CONSUMES.bit());
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), "/etc/passwd", 0))).isTrue();
        assertThat(f.lastDenial().target().declared()).isZero();
    }

    @Test
    void an_allowed_access_is_told_once_and_counted() {
        Fixture f = fixture().m0().start();
        for (int i = 0; i < 5; i++) {
            f.hooks.name(Op.OPEN_READ.code(), f.at("/in/a"), 0);
            f.hooks.path(Op.OPEN_FLAGS.code(), f.bytesAt("/in/a"), O_RDONLY);
            f.hooks.end(Op.OPEN_FLAGS.code(), -1);
        }
        assertThat(f.trail).containsExactly("CONSUMES FILE:/in/a 0");
        assertThat(f.targets.file(f.at("/in/a")).count(Predicate.CONSUMES)).isEqualTo(10);
    }

    @Test
    void a_deny_line_beats_the_scope() {
        Fixture f = fixture().allow("CONSUMES FILE:/in/**").deny("CONSUMES FILE:/in/a").start();
        assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), f.at("/in/a"), 0))).isTrue();
        assertThat(Scope.denyLine(f.lastDenial().decision())).isZero();
    }

    @Test
    void a_pipe_a_socket_or_the_terminal_is_no_file() throws IOException {
        Fixture f = fixture().start();
        Process child = new ProcessBuilder("cat").start();
        try {
            assertThat(f.denied(() -> f.hooks.name(Op.OPEN_READ.code(), "/proc/" + child.pid() + "/fd/0", 0))).isFalse();
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void the_end_of_the_jvm_is_told() {
        Fixture f = fixture().start();
        f.hooks.halting(3);
        f.hooks.ending();
        assertThat(f.trail).containsExactly("halting 3", "ending");
    }

    @Test
    void a_target_met_by_a_java_io_name_and_by_bytes_is_the_same() {
        Fixture f = fixture().m0().start();
        f.hooks.name(Op.OPEN_READ.code(), f.at("/in/a"), 0);
        Target target = f.targets.file(f.at("/in/a"));
        f.hooks.path(Op.PROBE.code(), f.bytesAt("/in/./a"), 0);
        assertThat(target.count(Predicate.DEPENDS_ON)).isEqualTo(1);
    }

    @Test
    @Tag("FIELD-C07")
    void class_changed_by_an_agent_is_looked_at_on_klocks_own_threads_too() {
        Fixture f = new Fixture(w).start();
        f.hooks.changed(null, "java/io/A", new byte[0], new byte[1]);
        f.hooks.enter();
        f.hooks.changed(null, "java/io/B", new byte[0], new byte[1]);
        f.hooks.leave();
        assertThat(f.trail).containsExactly("rewritten java/io/A true", "rewritten java/io/B true");
        assertThat(f.hooks.isEntered()).isFalse();
    }
}
