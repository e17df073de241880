package dev.klock.shared;

import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.util.List;

/** A process that says GRANTED once it holds MUTATES on a file, and holds it. */
public final class Holder {
    private Holder() {
    }

    public static void main(String[] arguments) throws Exception {
        EmbeddedKernel kernel = SharedKernel.open(new java.io.File(arguments[0]), KernelOptions.standard(), "1", null, null);
        EmbeddedSession session = kernel.open(SessionKey.of("holder", "s"), Long.parseLong(arguments[1]), null, null);
        System.out.println(session.acquire(List.of(Triple.of(Predicate.MUTATES, Resource.file(arguments[2]))), 0, 0, false).verdict());
        Thread.sleep(Long.MAX_VALUE);
    }
}
