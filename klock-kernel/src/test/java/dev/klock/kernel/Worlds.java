package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

/** A kernel to play with: short ways to say things. {@code "MUTATES /a/**"} is a triple on files. */
final class Worlds {
    final Kernel kernel;
    long now;

    Worlds() {
        this(KernelOptions.standard());
    }

    Worlds(KernelOptions options) {
        this(new Kernel(options, 0));
    }

    Worlds(Kernel kernel) {
        this.kernel = kernel;
    }

    /** A session that retries and does not roll back. */
    SessionKey session(String agent, long priority) {
        return session(SessionKey.of(agent, "s"), priority, false);
    }

    SessionKey rollingBack(String agent, long priority) {
        return session(SessionKey.of(agent, "s"), priority, true);
    }

    SessionKey session(SessionKey key, long priority, boolean rollsBack) {
        Outcome out = kernel.apply(new Command.Register(key, priority, true, 0, false, rollsBack, true), now);
        assertThat(out.refusal()).isNull();
        return key;
    }

    static List<Triple> triples(String... texts) {
        List<Triple> list = new ArrayList<>();
        for (String text : texts) {
            String[] parts = text.split(" ");
            list.add(Triple.of(Predicate.valueOf(parts[0]), KernelModelTest.resource(parts[1])));
        }
        return list;
    }

    Outcome submit(SessionKey key, String... triples) {
        return kernel.apply(new Command.Submit(key, triples(triples), 0, 30_000, false), now);
    }

    Outcome submitFor(SessionKey key, long ttlMs, String... triples) {
        return kernel.apply(new Command.Submit(key, triples(triples), ttlMs, 30_000, false), now);
    }

    Outcome dry(SessionKey key, String... triples) {
        return kernel.apply(new Command.DryRun(key, triples(triples)), now);
    }

    Outcome release(SessionKey key) {
        return kernel.apply(new Command.Release(key, null), now);
    }

    Outcome heartbeat(SessionKey key, Lease... leases) {
        return kernel.apply(new Command.Heartbeat(key, tokens(leases)), now);
    }

    Outcome at(long ms) {
        now = ms;
        return kernel.apply(new Command.Expire(), ms);
    }

    Outcome apply(Command command) {
        return kernel.apply(command, now);
    }

    LifeCycle state(SessionKey key) {
        return kernel.state(key);
    }

    static long[] tokens(Lease... leases) {
        long[] tokens = new long[leases.length];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = leases[i].fencingToken();
        }
        return tokens;
    }

    static List<Event.Kind> kinds(Outcome out) {
        List<Event.Kind> kinds = new ArrayList<>();
        for (Event e : out.events()) {
            if (e.kind() != Event.Kind.STATE_CHANGED) {
                kinds.add(e.kind());
            }
        }
        return kinds;
    }

    static Event event(Outcome out, Event.Kind kind) {
        for (Event e : out.events()) {
            if (e.kind() == kind) {
                return e;
            }
        }
        throw new AssertionError("no " + kind + " in " + out.events());
    }
}
