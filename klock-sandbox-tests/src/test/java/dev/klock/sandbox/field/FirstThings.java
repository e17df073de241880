package dev.klock.sandbox.field;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/** Programs whose first action is the one that others have broken. */
final class FirstThings {
    private FirstThings() {
    }

    /** A read. */
    public static final class Reads {
        private Reads() {
        }

        public static void main(String[] arguments) throws Exception {
            try (FileInputStream in = new FileInputStream("w/in/a")) {
                System.out.println(in.read());
            }
        }
    }

    /** A URL. */
    public static final class OpensAUrl {
        private OpensAUrl() {
        }

        public static void main(String[] arguments) throws Exception {
            try (InputStream in = new URL("file:w/in/a").openStream()) {
                System.out.println(in.read());
            }
        }
    }

    /** A lambda that reads. */
    public static final class RunsALambda {
        private RunsALambda() {
        }

        public static void main(String[] arguments) {
            List.of("w/in/a").forEach(name -> System.out.println(new File(name).length()));
        }
    }

    /** Asks where each class of its stack is from, while it reads. */
    public static final class AsksForDomains {
        private AsksForDomains() {
        }

        public static void main(String[] arguments) throws Exception {
            try (FileInputStream in = new FileInputStream("w/in/a")) {
                System.out.println(in.read() + " " + (AsksForDomains.class.getProtectionDomain().getCodeSource() != null)
                        + " " + StackWalker.getInstance().walk(frames -> frames.count()));
            }
        }
    }

    /** Changes what is outside. */
    public static final class Strays {
        private Strays() {
        }

        public static void main(String[] arguments) throws Exception {
            Files.writeString(Path.of("w/x"), "strayed");
        }
    }

    /** A manager of its own, as some servers have. */
    public static final class OwnLogManager extends LogManager {
    }

    /** Logs on one thread and opens connections on another, both first. */
    public static final class LogsAndOpensUrls {
        private LogsAndOpensUrls() {
        }

        public static void main(String[] arguments) throws Exception {
            Thread opens = new Thread(() -> {
                try (InputStream in = new URL("file:w/in/a").openStream()) {
                    in.read();
                } catch (IOException e) {
                    System.out.println(e);
                }
            });
            opens.start();
            Logger.getLogger("first").fine("nothing");
            opens.join();
            System.out.println(LogManager.getLogManager().getClass().getSimpleName());
        }
    }

    /** Has a thread that makes paths and looks at files while the JVM goes on starting. */
    public static final class BusyAgent {
        private BusyAgent() {
        }

        public static void premain(String arguments, Instrumentation instrumentation) {
            Thread busy = new Thread(() -> {
                for (int i = 0; i < 2000; i++) {
                    new File("w/in/a").toPath().toAbsolutePath();
                    new File("w/in/a").exists();
                }
            }, "busy");
            busy.setDaemon(true);
            busy.start();
        }
    }

    /** An agent that changes what is declared, and then what is not, before there is a program. */
    public static final class StrayingAgent {
        private StrayingAgent() {
        }

        public static void premain(String arguments, Instrumentation instrumentation) throws IOException {
            Files.writeString(Path.of("w/out/a"), "by the agent");
            Files.writeString(Path.of("w/x"), "stray");
        }
    }
}
