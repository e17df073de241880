package dev.klock.sandbox.subject;

import dev.klock.Klock;
import dev.klock.KlockListener;
import dev.klock.KlockSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Listens, strays as the process ({@code process}) or as an agent ({@code agent}), and prints what it is told. */
public final class Listens implements KlockListener {
    private final CountDownLatch awaited;

    private Listens(int notices) {
        awaited = new CountDownLatch(notices);
    }

    public static void main(String[] arguments) throws Exception {
        boolean agent = arguments[0].equals("agent");
        Listens listener = new Listens(agent ? 3 : 2);
        if (agent) {
            try (KlockSession builder = Klock.open(null, "builder", Duration.ZERO)) {
                builder.run(() -> listen(listener));
            }
            try (KlockSession builder = Klock.open(null, "builder", Duration.ZERO)) {
                builder.run(() -> {
                    stray("w/a/x");
                    stray("w/b/x");
                });
            }
        } else {
            listen(listener);
            stray("w/b/x");
            stray("w/b/x");
            stray("w/b/y");
        }
        listener.awaited.await();
        System.out.println("fields " + Class.forName("dev.klock.bridge.Listeners", true, null).getDeclaredFields().length);
    }

    private static void listen(Listens listener) {
        try {
            System.out.println("told " + Klock.listen(listener).isTold());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void heard(Object notice) {
        System.out.println(notice.toString().replace('\n', '|') + " by " + Thread.currentThread().getName() + ", a " + Thread.currentThread().getClass().getName()
                + ", for " + (Klock.current() == null ? "the process" : Klock.current().agentId()));
        awaited.countDown();
        throw new IllegalStateException("it fails");
    }

    @Override
    public void violated(Violation violation) {
        heard(violation);
    }

    @Override
    public void leases(Leases leases) {
        heard(leases);
    }

    @Override
    public void rolledBack(Rollback rollback) {
        heard(rollback);
    }

    private static void stray(String file) {
        try {
            Files.writeString(Path.of(file), "strayed");
        } catch (IOException | Error swallowed) {
            System.out.println("caught " + swallowed.getClass().getName());
        }
    }
}
