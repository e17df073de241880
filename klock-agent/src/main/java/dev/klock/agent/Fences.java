package dev.klock.agent;

import dev.klock.bridge.Fence;
import java.util.ArrayList;
import java.util.List;

/**
 * The one fence that woven writes look at, up as soon as that of any session is: whose write it is, and whether that one may go on, is asked
 * behind it ({@link dev.klock.agent.observe.Subjects#fenced}).
 */
final class Fences {
    private final Fence first = new Fence();
    private final List<Fence> all = new ArrayList<>();

    /** The one that woven code knows. */
    Fence first() {
        return first;
    }

    synchronized void add(Fence fence) {
        all.add(fence);
        look();
    }

    /** Of a session that is over, and has nothing open. */
    synchronized void remove(Fence fence) {
        all.remove(fence);
        look();
    }

    synchronized void raise(Fence fence) {
        fence.raised = true;
        look();
    }

    synchronized void until(Fence fence, long nanos) {
        fence.until = nanos;
        look();
    }

    private void look() {
        boolean raised = false;
        long until = System.nanoTime() + Fence.FOR_EVER;
        for (int i = 0; i < all.size(); i++) {
            raised |= all.get(i).raised;
            until = all.get(i).until - until < 0 ? all.get(i).until : until;
        }
        first.until = until;
        first.raised = raised;
    }
}
