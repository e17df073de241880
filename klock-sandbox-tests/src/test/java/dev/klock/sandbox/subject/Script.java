package dev.klock.sandbox.subject;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Does what its arguments say, one step each, words separated by blanks:
 *
 * <pre>
 *  print TEXT              write FILE TEXT        append FILE TEXT      read FILE          delete FILE
 *  symlink NAME TO
 *  move FROM TO            mkdir DIR, mkdirs DIR  list DIR              run PROGRAM ARGS…
 *  sleep MS                await FILE             exit N                hoard FILE: opens it until nothing more can be opened
 *  hold FILE               opens it for appending; put TEXT appends to it
 *  map FILE                stores to it through a mapping; collect: until that is gone
 *  try STEP                print what it throws, whatever it is, and go on
 *  thread STEP             on a thread of its own that nobody joins
 *  times N STEP
 * </pre>
 */
public final class Script {
    /** Stands for a blank in a word of a step: in an argument of a program that is run. */
    public static final char BLANK = '\u00a0';
    private static final List<InputStream> HOARD = new ArrayList<>();
    private static OutputStream held;

    private Script() {
    }

    public static void main(String[] steps) throws Exception {
        System.out.println("main begins");
        for (String step : steps) {
            run(words(step));
        }
        System.out.println("main ends");
    }

    static List<String> words(String step) {
        return Arrays.stream(step.split(" ")).map(word -> word.replace(BLANK, ' ')).toList();
    }

    /** One step, in words. */
    static void run(List<String> words) throws Exception {
        List<String> rest = words.subList(1, words.size());
        switch (words.get(0)) {
            case "print" -> System.out.println(String.join(" ", rest));
            case "write" -> Files.writeString(Path.of(rest.get(0)), text(rest));
            case "append" -> Files.writeString(Path.of(rest.get(0)), text(rest), StandardOpenOption.APPEND);
            case "read" -> System.out.print(Files.readString(Path.of(rest.get(0))));
            case "delete" -> Files.delete(Path.of(rest.get(0)));
            case "move" -> Files.move(Path.of(rest.get(0)), Path.of(rest.get(1)));
            case "symlink" -> Files.createSymbolicLink(Path.of(rest.get(0)), Path.of(rest.get(1)));
            case "list" -> {
                try (Stream<Path> entries = Files.list(Path.of(rest.get(0)))) {
                    System.out.println(entries.map(Path::getFileName).sorted().toList());
                }
            }
            case "mkdirs" -> Files.createDirectories(Path.of(rest.get(0)));
            case "mkdir" -> Files.createDirectory(Path.of(rest.get(0)));
            case "run" -> runProgram(rest);
            case "run-to" -> new ProcessBuilder(rest.subList(1, rest.size())).redirectOutput(new File(rest.get(0))).start().waitFor();
            case "run-onto" -> new ProcessBuilder(rest.subList(1, rest.size())).redirectOutput(Redirect.appendTo(new File(rest.get(0)))).start().waitFor();
            case "await" -> {
                while (!Files.exists(Path.of(rest.get(0)))) {
                    Thread.sleep(20);
                }
            }
            case "sleep" -> Thread.sleep(Long.parseLong(rest.get(0)));
            case "hoard" -> {
                try {
                    while (true) {
                        HOARD.add(new FileInputStream(rest.get(0)));
                    }
                } catch (IOException full) {
                    System.out.println(full.getMessage());
                }
            }
            case "hold" -> held = new FileOutputStream(rest.get(0), true);
            case "map" -> map(Path.of(rest.get(0)));
            case "collect" -> {
                for (int i = 0; i < 20; i++) {
                    System.gc();
                    Thread.sleep(20);
                }
            }
            case "put" -> held.write((String.join(" ", rest) + "\n").getBytes(StandardCharsets.UTF_8));
            case "let-go" -> held.close();
            case "initialise" -> Initialised.touch(rest.get(0));
            case "threads" -> System.out.println("threads " + Thread.activeCount());
            case "exit" -> System.exit(Integer.parseInt(rest.get(0)));
            case "try" -> attempt(rest);
            case "thread" -> new Thread(() -> {
                try {
                    run(rest);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "script").start();
            case "times" -> {
                for (int i = Integer.parseInt(rest.get(0)); i > 0; i--) {
                    run(rest.subList(1, rest.size()));
                }
            }
            default -> throw new IllegalArgumentException(words.toString());
        }
    }

    private static void map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.map(FileChannel.MapMode.READ_WRITE, 0, 1).put(0, (byte) '!');
        }
    }

    private static String text(List<String> fileAndText) {
        return String.join(" ", fileAndText.subList(1, fileAndText.size())) + "\n";
    }

    private static void attempt(List<String> step) {
        try {
            run(step);
        } catch (Throwable thrown) {
            System.out.println("caught " + thrown.getClass().getName());
        }
    }

    private static void runProgram(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        System.out.print(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        System.out.println(Arrays.asList(command) + " ended with " + process.waitFor());
    }

    /** Reads a file when it is initialised. */
    private static final class Initialised {
        private static String file;

        static void touch(String name) throws IOException {
            file = name;
            Inner.use();
        }

        private static final class Inner {
            static {
                try {
                    System.out.print(Files.readString(Path.of(file)));
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }

            static void use() {
                System.out.println("initialised");
            }
        }
    }
}
