package dev.klock.kernel;

import java.util.ArrayList;
import java.util.List;

/**
 * The view over everything (K7-12): who is blocked, what is hot, and which agents are ghosts. Immutable; as of {@code nowMs}.
 *
 * @param sessions all sessions that are remembered, oldest first
 * @param hotSpots the resources that are fought over most, hottest first
 * @param agents each agent once, with its sessions added up, by name
 */
public record Overview(long nowMs, List<SessionView> sessions, List<HotSpot> hotSpots, List<Agent> agents) {
    /** Fewer leases than this that ran out are bad luck, not a ghost. */
    public static final int GHOST_MIN_EXPIRIES = 3;

    /** A ghost loses at least this part of what it is granted to time. */
    public static final double GHOST_RATE = 0.5;

    public Overview {
        sessions = List.copyOf(sessions);
        hotSpots = List.copyOf(hotSpots);
        agents = List.copyOf(agents);
    }

    /** One agent, over all its sessions that are remembered. */
    public record Agent(String namespace, String agentId, int sessions, SessionView.Counts counts) {
        /** Whether it takes leases and is then not heard of again, more often than not. */
        public boolean isGhost() {
            return counts.expiries() >= GHOST_MIN_EXPIRIES && counts.timeoutRate() >= GHOST_RATE;
        }
    }

    /** The sessions that wait for somebody. */
    public List<SessionView> blocked() {
        ArrayList<SessionView> list = new ArrayList<>();
        for (SessionView s : sessions) {
            if (s.place() > 0) {
                list.add(s);
            }
        }
        return list;
    }

    /** The agents whose leases mostly run out. */
    public List<Agent> ghosts() {
        ArrayList<Agent> list = new ArrayList<>();
        for (Agent a : agents) {
            if (a.isGhost()) {
                list.add(a);
            }
        }
        return list;
    }
}
