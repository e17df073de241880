package dev.klock.agent.notice;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.Function;

/**
 * What listeners of the program's are to be told, until their threads come for it. The program is not trusted: it gets numbers and texts, each time others,
 * and whatever it does with its listeners keeps nobody waiting. Thread-safe.
 */
final class Listeners implements Function<Object[], Object> {
    /** The most that are there at a time. */
    static final int MAX_LISTENERS = 100;
    private static final Listener[] NONE = {};

    /** Replaced, not changed. */
    private volatile Listener[] all = NONE;
    private long numbers;

    /** One, and what it has not been told. Guarded by itself. */
    private static final class Listener {
        final Long number;
        final ArrayDeque<Object[]> waiting = new ArrayDeque<>();
        long dropped;
        boolean closed;

        Listener(Long number) {
            this.number = number;
        }
    }

    boolean areThere() {
        return all.length > 0;
    }

    void tell(Notice notice) {
        Listener[] now = all;
        for (int i = 0; i < now.length; i++) {
            synchronized (now[i]) {
                if (now[i].waiting.size() < Notices.MAX_WAITING) {
                    now[i].waiting.add(notice.told());
                } else {
                    now[i].dropped++;
                }
                now[i].notifyAll();
            }
        }
    }

    @Override
    public Object apply(Object[] request) {
        String what = (String) request[0];
        switch (what) {
            case "listen":
                return listen();
            case "next":
                return next((Long) request[1], (Long) request[2]);
            case "close":
                close((Long) request[1]);
                return null;
            default:
                throw new IllegalArgumentException("unknown: " + what);
        }
    }

    private synchronized Long listen() {
        if (all.length == MAX_LISTENERS) {
            throw new IllegalStateException("there are " + MAX_LISTENERS + " listeners, more cannot be told: close those that are not needed");
        }
        Listener[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = new Listener(++numbers);
        all = more;
        return numbers;
    }

    /** Null once it is closed; empty if nothing has come within {@code waitMs}. What was dropped is told once all is that was not. */
    private Object[] next(Long number, long waitMs) {
        Listener listener = of(number);
        if (listener == null) {
            return null;
        }
        synchronized (listener) {
            if (!listener.closed && listener.waiting.isEmpty() && waitMs > 0) {
                try {
                    listener.wait(waitMs);
                } catch (InterruptedException e) {
                    throw Listeners.<RuntimeException>sneak(e);
                }
            }
            if (listener.closed) {
                return null;
            }
            Object[] next = listener.waiting.poll();
            if (next == null && listener.dropped > 0) {
                next = new Object[] {"dropped", listener.dropped};
                listener.dropped = 0;
            }
            return next == null ? new Object[0] : next;
        }
    }

    private Listener of(Long number) {
        Listener[] now = all;
        for (int i = 0; i < now.length; i++) {
            if (now[i].number.equals(number)) {
                return now[i];
            }
        }
        return null;
    }

    private synchronized void close(Long number) {
        Listener listener = of(number);
        if (listener == null) {
            return;
        }
        Listener[] rest = new Listener[all.length - 1];
        int n = 0;
        for (int i = 0; i < all.length; i++) {
            if (all[i] != listener) {
                rest[n++] = all[i];
            }
        }
        all = rest;
        synchronized (listener) {
            listener.closed = true;
            listener.notifyAll();
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable e) throws T {
        throw (T) e;
    }
}
