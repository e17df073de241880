package dev.klock.shared;

import dev.klock.embedded.CommandOrder;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EventSink;
import dev.klock.embedded.KernelLostException;
import dev.klock.embedded.Undertaker;
import dev.klock.kernel.KernelOptions;
import java.io.File;
import java.io.IOException;

/** Opens the kernel that all JVMs of a machine with the same home have in common. */
public final class SharedKernel {
    /** Of a home: where what the kernels have in common is. */
    public static final String DIRECTORY = "kernel";

    /** What the agents of a home tell their kernel; whoever looks at it must say the same. A lease that ran out blocks for 2 s still (C46). */
    public static final KernelOptions OPTIONS = KernelOptions.standard().withLockDelayMs(2_000);

    private SharedKernel() {
    }

    /**
     * The kernel of {@code home}. What the others hold is known when this returns.
     *
     * @param home the directory of {@code .klock}; what the kernels have in common is in its {@code kernel}, made if it is not there
     * @param options what all of them are told; their kernel id and first fencing token do not count
     * @param version of klock: all must have the same
     * @param undertaker undoes what sessions have left whose processes have ended; {@code null} where they leave nothing
     * @param sink is told everything that happens from now on, whoever did it; may be {@code null}
     * @throws IOException it cannot be read or made; another version of klock is at work there
     */
    public static EmbeddedKernel open(File home, KernelOptions options, String version, Undertaker undertaker, EventSink sink) throws IOException {
        CommandOrder order = order(home, version);
        boolean done = false;
        try {
            EmbeddedKernel kernel = new EmbeddedKernel(options, order, undertaker, sink);
            done = true;
            return kernel;
        } catch (KernelLostException e) {
            throw new IOException(e.getMessage(), e);
        } finally {
            if (!done) {
                order.close();
            }
        }
    }

    /**
     * The order that the kernels of {@code home} follow, for whoever makes one of it.
     *
     * @throws IOException as for {@link #open}
     */
    public static CommandOrder order(File home, String version) throws IOException {
        return LogOrder.open(new File(home, DIRECTORY), version);
    }
}
