package dev.klock.sandbox.subject;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** {@code load CLASS DO}: loads a class of the JDK where a thread's stack ends, then does something with it. {@code write FILE}: writes there. */
public final class DeepStack {
    private static final int STACK_BYTES = 180_000;
    private static volatile boolean done;
    private static String what;

    private interface Step {
        void run() throws IOException, ClassNotFoundException;
    }

    private DeepStack() {
    }

    public static void main(String[] arguments) throws Exception {
        what = arguments[1];
        if (arguments[0].equals("write")) {
            atTheEnd(DeepStack::write);
            done = false;
            write();
            System.out.println("written");
            return;
        }
        // what Class.forName itself needs is there
        Class.forName("java.util.zip.GZIPInputStream", false, null);
        atTheEnd(DeepStack::load);
        switch (arguments[2]) {
            case "dump":
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(new File("w/x.hprof").getAbsolutePath(), true);
                break;
            case "wait":
                Thread.sleep(60_000);
                break;
            default:
                break;
        }
        System.out.println("through");
    }

    private static void atTheEnd(Step step) throws InterruptedException {
        Thread thread = new Thread(null, () -> down(step), "deep", STACK_BYTES);
        thread.start();
        thread.join();
    }

    /** Tries on the way up until there was stack enough. */
    private static void down(Step step) {
        try {
            down(step);
        } catch (StackOverflowError end) {
            return;
        } finally {
            attempt(step);
        }
    }

    private static void attempt(Step step) {
        if (!done) {
            try {
                step.run();
                done = true;
            } catch (StackOverflowError | LinkageError end) {
                done = false;
            } catch (IOException | ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void load() throws ClassNotFoundException {
        Class.forName(what, false, null);
    }

    private static void write() throws IOException {
        try (FileOutputStream out = new FileOutputStream(what)) {
            out.write('#');
        }
    }
}
