package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;

/** Random sessions of which a part is undone, and another, and then all. */
class PartialUndoTest {
    private static final int FILES = 10;

    @Property(tries = 400)
    @Tag("K6-5")
    void undo_ofParts_losesNoFileFromTheTreeAndAllIsAsItWasInTheEnd(@ForAll long seed, @ForAll @IntRange(min = 1, max = 20) int steps,
            @ForAll boolean force) throws IOException {
        Path dir = Files.createTempDirectory(Files.isWritable(Path.of("/dev/shm")) ? Path.of("/dev/shm") : Path.of("/tmp"), "klock-part").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Random random = new Random(seed);
            for (int i = 0; i < FILES; i++) {
                Path in = Files.createDirectories(root.resolve(new String[] {"", "a", "a/b", "c"}[random.nextInt(4)]));
                Files.writeString(in.resolve("f" + i), "original " + i);
            }
            Map<String, String> before = tree(root);
            List<String> done = new ArrayList<>();
            PastSession.done(home, "s", work -> {
                for (int i = 0; i < steps; i++) {
                    try {
                        done.add(step(work, root, random));
                    } catch (FileSystemException refused) {
                        done.add("refused: " + refused);
                    }
                }
            });
            for (int i = 0; i < 3; i++) {
                Set<String> originals = originals(root);
                try (Backups b = Backups.reopen(home, "s", Work.FILES)) {
                    List<Backups.Image> images = b.images().stream().filter(Backups.Image::touched).collect(Collectors.toList());
                    if (images.isEmpty()) {
                        return;
                    }
                    byte[] part = images.get(random.nextInt(images.size())).path();
                    done.add("undo " + new String(part));
                    done.add(b.rollback(new Undo(part, force, false, null)).toString());
                }
                assertThat(originals(root)).as("seed %s: %s", seed, done).containsAll(originals);
            }
            try (Backups b = Backups.reopen(home, "s", Work.FILES)) {
                done.add(b.rollback(new Undo(null, force, false, null)).toString());
            }
            assertThat(tree(root)).as("seed %s: %s", seed, done).isEqualTo(before);
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    private static String step(Work work, Path root, Random random) throws IOException {
        List<Path> all = all(root);
        Path p = all.get(random.nextInt(all.size()));
        Path q = root.resolve(new String[] {"", "a", "a/b", "c", "d"}[random.nextInt(5)]).resolve("g" + random.nextInt(6));
        switch (random.nextInt(8)) {
            case 0:
                work.write(q, "new " + random.nextInt());
                return "write " + q;
            case 1:
                if (Files.isRegularFile(p)) {
                    work.append(p, "more");
                }
                return "append " + p;
            case 2:
                work.delete(p);
                return "delete " + p;
            case 3:
                work.mkdir(root.resolve("d"));
                return "mkdir d";
            default:
                work.rename(p, q);
                return "rename " + p + " " + q;
        }
    }

    private static List<Path> all(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(p -> !p.equals(root)).sorted().collect(Collectors.toList());
        }
    }

    /** What is left in the tree of what was there at the start, by content; appended to or not. */
    private static Set<String> originals(Path root) throws IOException {
        Set<String> found = new TreeSet<>();
        for (String content : tree(root).values()) {
            if (content.startsWith("original ")) {
                found.add(content.replace("more", ""));
            }
        }
        return found;
    }

    private static Map<String, String> tree(Path root) throws IOException {
        Map<String, String> tree = new TreeMap<>();
        for (Path p : all(root)) {
            tree.put(root.relativize(p).toString(), Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS) ? "directory" : Files.readString(p));
        }
        return tree;
    }
}
