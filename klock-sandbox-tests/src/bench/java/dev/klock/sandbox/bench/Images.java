package dev.klock.sandbox.bench;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * What it takes to keep a tree and to bring it back, by klock and by what people use instead, in one run: one after the other for each tree,
 * on the disk that {@code target} is on, everything read before and nothing left to be written. Medians.
 *
 * <p>klock keeps before a child starts that may change the tree; its way back is {@code undo} after that child has changed every file, with
 * the start of its JVM. What is not installed is said.
 */
final class Images {
    private static final int ROUNDS = Integer.getInteger("bench.images", 3);
    private static final long REST_MS = 90_000;

    private final Path work;
    private final Jdk jdk = Jdks.newest();
    private final BiConsumer<String, Object[]> say;

    Images(Path work, BiConsumer<String, Object[]> say) {
        this.work = work;
        this.say = say;
    }

    /** A way to keep a tree. {@code keep} and {@code back}: for the shell, in the work's directory, where the tree is {@code t}. */
    private record Way(String name, String needs, String keep, String back, String kept) {
    }

    private static final List<Way> OTHERS = List.of(
            new Way("cp -a, sync", "cp", "cp -a t kept && sync -f kept", "rm -rf t && cp -a kept t && sync -f t", "kept"),
            new Way("rsync -aHAX, sync", "rsync", "rsync -aHAX t/ kept/ && sync -f kept", "rsync -aHAX --delete kept/ t/ && sync -f t", "kept"),
            new Way("git add -A, write-tree", "git", "git init -q --bare kept && git --git-dir=kept --work-tree=t add -A . "
                    + "&& git --git-dir=kept --work-tree=t write-tree", "git --git-dir=kept --work-tree=t checkout-index -q -f -a && sync -f t", "kept"),
            new Way("restic backup", "restic", "export RESTIC_PASSWORD=x; restic -q -r kept init && restic -q -r kept backup t",
                    "export RESTIC_PASSWORD=x; restic -q -r kept restore latest --target . && sync -f t", "kept"));

    void run() throws Exception {
        say.accept("\n### Keeping a tree and bringing it back, medians of %d, JDK %d\n", new Object[] {ROUNDS, jdk.feature()});
        header(shell("df --output=fstype . | tail -1 > kind") < 0 ? "?" : Files.readString(work.resolve("kind")).trim());
        trees("20 000 files, 177 MB", 20_000, 8_850);
        trees("200 files of 4 KiB", 200, 4096);
        trees("one file of 4 KiB", 1, 4096);
        trees("one file of 1 GiB", 1, 1L << 30);
        again();
        say.accept("\nFirst change of a file of 4 KiB (read and written, 200 files), median: %d µs; without klock %d µs\n",
                new Object[] {touch(true), touch(false)});
        for (String type : List.of("btrfs", "xfs")) {
            onLoopDevice(type);
        }
    }

    private void header(String fileSystem) {
        say.accept("\n| %s: tree | by | keep ms | bring back ms | kept, KiB on disk |\n|---|---|---|---|---|\n", new Object[] {fileSystem});
    }

    /** The trees of which it matters that blocks can be shared, where such a file system can be made and mounted. */
    private void onLoopDevice(String type) throws Exception {
        String disk = type + "-disk";
        if (shell("truncate -s 8G " + type + " && mkfs." + type + " -q " + type + " && mkdir " + disk + " && mount -o loop " + type + ' ' + disk) < 0) {
            say.accept("\n%s cannot be made or mounted here: %s\n", new Object[] {type, Files.readString(work.resolve("errors")).trim()});
            return;
        }
        try {
            Images there = new Images(work.resolve(disk), say);
            there.header(type + " on a loop device");
            there.trees("20 000 files, 177 MB", 20_000, 8_850);
            there.trees("one file of 1 GiB", 1, 1L << 30);
        } finally {
            must("umount " + disk + " && rm " + type);
        }
    }

    /** One round after the other, in each of them every way: a disk is not as fast at the end of an hour's work as at its beginning. */
    private void trees(String name, int files, long size) throws Exception {
        List<Way> here = new ArrayList<>();
        for (Way way : OTHERS) {
            if (shell("command -v " + way.needs() + " > /dev/null") < 0) {
                say.accept("| %s | %s | not installed | | |\n", new Object[] {name, way.name()});
            } else {
                here.add(way);
            }
        }
        double[][] keep = new double[here.size() + 1][ROUNDS];
        double[][] back = new double[here.size() + 1][ROUNDS];
        long[] bytes = new long[here.size() + 1];
        int klock = here.size();
        for (int i = 0; i < ROUNDS; i++) {
            for (int w = 0; w < klock; w++) {
                Way way = here.get(w);
                plant(files, size);
                keep[w][i] = must(way.keep());
                bytes[w] = kibibytes(way.kept());
                must(CHANGE);
                back[w][i] = must(way.back());
            }
            plant(files, size);
            keep[klock][i] = Double.parseDouble(under("start", "sh", "-c", CHANGE));
            bytes[klock] = kibibytes(".klock");
            back[klock][i] = must(jdk.java() + " -jar " + KlockJar.path() + " undo > undone");
        }
        for (int w = 0; w < klock; w++) {
            row(name, here.get(w).name(), keep[w], back[w], bytes[w]);
        }
        row(name, "klock", keep[klock], back[klock], bytes[klock]);
    }

    /** A second session of the same tree, in which nothing has changed for longer than a mapped page may wait to be written back. */
    private void again() throws Exception {
        plant(20_000, 8_850);
        Thread.sleep(REST_MS);
        double first = Double.parseDouble(under("start", "sh", "-c", "true"));
        long kept = kibibytes(".klock");
        double[] keep = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            keep[i] = Double.parseDouble(under("start", "sh", "-c", "true"));
        }
        long more = (kibibytes(".klock") - kept) / ROUNDS;
        say.accept("\n20 000 files, 177 MB, a first time: %.0f ms, %d KiB; once more in a later session, unchanged: %.0f ms (best %.0f), %d KiB more\n",
                new Object[] {first, kept, median(keep), keep[0], more});
    }

    /** Every file gets another last byte; what is to be written is written then. */
    private static final String CHANGE = "find t -type f -exec sh -c 'for f; do printf x >> \"$f\"; done' sh {} + && sync -f t";

    private void row(String tree, String by, double[] keep, double[] back, long kibibytes) {
        say.accept("| %s | %s | %.0f | %.0f | %d |\n", new Object[] {tree, by, median(keep), median(back), kibibytes});
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private void plant(int files, long size) throws Exception {
        must("rm -rf t kept .klock");
        Random random = new Random(files + size);
        byte[] content = new byte[(int) Math.min(size, 1 << 20)];
        for (int i = 0; i < files; i++) {
            Path directory = Files.createDirectories(work.resolve("t/" + i / 100));
            try (OutputStream out = Files.newOutputStream(directory.resolve("f" + i))) {
                for (long left = size; left > 0; left -= content.length) {
                    random.nextBytes(content);
                    out.write(content, 0, (int) Math.min(left, content.length));
                }
            }
        }
        Files.writeString(work.resolve("klock.yaml"), String.format(Locale.ROOT, """
                ver: "1.0"
                agent_id: bench
                scope:
                  - CONSUMES FILE:%1$s/**
                  - MUTATES FILE:%1$s/t/**
                  - predicate: PROVIDES
                    resource: PROCESS:sh
                    effects: ["MUTATES FILE:%1$s/t/**"]
                """, work));
        must("sync -f t");
    }

    private long touch(boolean klock) throws Exception {
        plant(200, 4096);
        return Long.parseLong(klock ? under("write", "t") : output(command("write", "t")));
    }

    private List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(jdk.java().toString()));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), FirstChanges.class.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** What the program prints under klock. */
    private String under(String... arguments) throws Exception {
        List<String> command = command(arguments);
        command.add(1, "-javaagent:" + KlockJar.path());
        return output(command);
    }

    private String output(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).directory(work.toFile()).redirectError(work.resolve("errors").toFile()).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(command + ": " + Files.readString(work.resolve("errors")));
        }
        return said;
    }

    private long kibibytes(String of) throws Exception {
        return Long.parseLong(output(List.of("du", "-sk", of)).split("\\s")[0]);
    }

    private double must(String command) throws IOException, InterruptedException {
        double ms = shell(command);
        if (ms < 0) {
            throw new IllegalStateException(command + ": " + Files.readString(work.resolve("errors")));
        }
        return ms;
    }

    /** Milliseconds it took; negative if it failed. */
    private double shell(String command) throws IOException, InterruptedException {
        long begun = System.nanoTime();
        Process process = new ProcessBuilder("sh", "-c", command).directory(work.toFile()).redirectErrorStream(true)
                .redirectOutput(work.resolve("errors").toFile()).start();
        return process.waitFor() == 0 ? (System.nanoTime() - begun) / (double) TimeUnit.MILLISECONDS.toNanos(1) : -1;
    }
}
