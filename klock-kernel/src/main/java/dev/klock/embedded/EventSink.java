package dev.klock.embedded;

import dev.klock.kernel.Event;

/** Sees everything that happens in the kernel (K7-14). Called on the kernel's thread, in order, without its lock. */
public interface EventSink {
    void event(Event event);
}
