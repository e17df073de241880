package dev.klock.sandbox.subject;

import dev.klock.Klock;
import dev.klock.KlockSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Hands three pieces of work to the builder's own executor, of which the first strays. Says of each how it ended. */
public final class Late {
    private static final long PATIENCE_S = 20;

    private Late() {
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try (KlockSession builder = Klock.open(null, "builder", Duration.ofSeconds(PATIENCE_S))) {
            Executor own = builder.wrap((Executor) pool);
            // what comes later than the violation would be refused at once
            CountDownLatch handedIn = new CountDownLatch(1);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (String file : new String[] {"w/x", "w/a/f", "w/a/f"}) {
                all.add(CompletableFuture.runAsync(() -> write(handedIn, Path.of(file)), own));
            }
            handedIn.countDown();
            for (CompletableFuture<Void> one : all) {
                System.out.println(end(one));
            }
        }
        pool.shutdown();
        System.out.println("pool " + (pool.awaitTermination(PATIENCE_S, TimeUnit.SECONDS) ? "ended" : "goes on"));
    }

    private static void write(CountDownLatch handedIn, Path file) {
        try {
            handedIn.await();
            Files.writeString(file, "late\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String end(CompletableFuture<Void> work) {
        try {
            work.orTimeout(PATIENCE_S, TimeUnit.SECONDS).join();
            return "done";
        } catch (CompletionException e) {
            return e.getCause() instanceof TimeoutException ? "never ends" : "failed by " + e.getCause().getClass().getSimpleName();
        }
    }
}
