package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Files that the session maps, removes and forgets: what others make then may get their inode numbers, and is theirs all the same. */
@Tag("C32")
@Tag("K6-8")
class MappingsTest {
    private static final int TRIES = 500;

    @TempDir
    Path directory;

    static Stream<Arguments> cases() {
        return Jdks.all().stream().flatMap(jdk -> Stream.of("append w/out/b late", "delete w/out/b", "try move w/out/b w/out/full").map(last -> Arguments.of(jdk, last)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void file_thatOthersMadeWithTheNumberOfAMappedOne_isTheirs(Jdk jdk, String last) throws IOException, InterruptedException {
        Workspace workspace = Workspace.in(directory);
        Path root = workspace.root();
        Files.createDirectories(root.resolve("w/out/full/of"));
        long number = number(root.resolve("w/out/a"));
        Child.Running session = workspace.watched(jdk, "", "append w/out/b mine", "map w/out/a", "delete w/out/a", "write w/out/ready now", "await w/in/mapped", "collect",
                "write w/out/collected now", "await w/in/go", "sleep 100", last, "write w/x astray").begin().until(root.resolve("w/out/ready"));

        assertThat(get(number, root)).as("while it is mapped, its number is its own").isNull();
        Files.createFile(root.resolve("w/in/mapped"));
        session.until(root.resolve("w/out/collected"));
        Path theirs = null;
        for (int i = 0; i < 100 && theirs == null; i++) {
            Thread.sleep(50);
            theirs = get(number, root);
        }
        if (theirs == null) {
            // this file system gives numbers once
            theirs = Files.createFile(root.resolve("w/private/theirs"));
        }
        Files.writeString(theirs, "theirs");
        Files.move(theirs, root.resolve("w/out/b"), StandardCopyOption.ATOMIC_MOVE);
        Files.createFile(root.resolve("w/in/go"));
        Outcome outcome = session.await();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(root.resolve("w/out/b")).as(outcome.toString()).hasContent("theirs");
        assertThat(root.resolve("w/out/a")).hasContent("first of w/out/a");
    }

    private static long number(Path file) throws IOException {
        return (Long) Files.getAttribute(file, "unix:ino");
    }

    /** A file that others make and that gets the number; null if none of many does. */
    private static Path get(long number, Path root) throws IOException {
        List<Path> others = new ArrayList<>();
        Path got = null;
        for (int i = 0; i < TRIES && got == null; i++) {
            Path other = Files.createFile(root.resolve("w/private/other" + i));
            if (number(other) == number) {
                got = other;
            } else {
                others.add(other);
            }
        }
        for (Path other : others) {
            Files.delete(other);
        }
        return got;
    }
}
