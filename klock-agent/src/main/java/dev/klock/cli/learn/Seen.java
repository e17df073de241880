package dev.klock.cli.learn;

/** How often something was seen, and where. */
final class Seen {
    /** Accesses. */
    long events;
    /** Distinct names. */
    int names;
    /** In how many sessions; of several names, the most of any. */
    int sessions;
    /** The program's code that did it first; null if not known. */
    String caller;
    /** Something of it is only taken to be needed: the next run finds there what this one has made. */
    boolean implied;
    private int lastSession = -1;

    void add(long count, int session, String by) {
        names = 1;
        events += count;
        if (session != lastSession) {
            lastSession = session;
            sessions++;
        }
        caller = caller == null ? by : caller;
    }

    /** What {@code other} names is taken together with this. */
    void join(Seen other) {
        events += other.events;
        names += other.names;
        sessions = Math.max(sessions, other.sessions);
        caller = caller == null ? other.caller : caller;
        implied |= other.implied;
    }
}
