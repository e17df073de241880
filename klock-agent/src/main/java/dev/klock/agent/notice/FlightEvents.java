package dev.klock.agent.notice;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Notices as events of Flight Recorder, {@code klock.*}. Not loaded before there is a recorder: an image may lack its module, and Flight Recorder must see
 * its events' classes when they are loaded, or it would rewrite them later, which klock's own classes must not be.
 *
 * <p>They are written by the thread that tells notices, so they have no stack: the log has it. A recording is handed around, so that there is no message
 * in them, which may have secrets of URLs.
 */
final class FlightEvents {
    private FlightEvents() {
    }

    @Name("klock.Violation")
    @Label("Violation")
    @Category("klock")
    @Description("Something was done or tried that the manifest does not declare; the log counts its repeats")
    @StackTrace(false)
    static final class ViolationEvent extends Event {
        @Label("Agent")
        String agent;
        @Label("Session")
        String session;
        @Label("Decision")
        @Description("deny, warn, or allow where amend has added a lease")
        String decision;
        @Label("Predicate")
        String predicate;
        @Label("Resource")
        String resource;
        @Label("Operation")
        String operation;
        @Label("Decided By")
        String decidedBy;
        @Label("Caller")
        String caller;
        @Label("Thread")
        String thread;
    }

    @Name("klock.Lease")
    @Label("Lease")
    @Category("klock")
    @Description("What became of a session's leases")
    @StackTrace(false)
    static final class LeaseEvent extends Event {
        @Label("Agent")
        String agent;
        @Label("Session")
        String session;
        @Label("State")
        String state;
        @Label("Waited")
        @Timespan(Timespan.MILLISECONDS)
        long waited;
        @Label("Detail")
        String detail;
    }

    @Name("klock.Rollback")
    @Label("Rollback")
    @Category("klock")
    @Description("What a session has changed was undone")
    @StackTrace(false)
    static final class RollbackEvent extends Event {
        @Label("Agent")
        String agent;
        @Label("Session")
        String session;
        @Label("Reason")
        String reason;
        @Label("Restored")
        int restored;
        @Label("Not Restored")
        int notRestored;
    }

    /** Nothing where nobody records. */
    static void write(Notice notice) {
        if (!FlightRecorder.isInitialized()) {
            return;
        }
        if (notice instanceof Notice.Violation) {
            Notice.Violation violation = (Notice.Violation) notice;
            ViolationEvent event = new ViolationEvent();
            event.agent = violation.agentId;
            event.session = violation.sessionId;
            event.decision = violation.decision;
            event.predicate = violation.predicate;
            event.resource = violation.resource;
            event.operation = violation.operation;
            event.decidedBy = violation.decidedBy;
            event.caller = violation.caller;
            event.thread = violation.thread;
            event.commit();
        } else if (notice instanceof Notice.Lease) {
            Notice.Lease lease = (Notice.Lease) notice;
            LeaseEvent event = new LeaseEvent();
            event.agent = lease.agentId;
            event.session = lease.sessionId;
            event.state = lease.state;
            event.waited = lease.waitedMs;
            event.detail = lease.detail;
            event.commit();
        } else {
            Notice.Rollback rollback = (Notice.Rollback) notice;
            RollbackEvent event = new RollbackEvent();
            event.agent = rollback.agentId;
            event.session = rollback.sessionId;
            event.reason = rollback.reason;
            event.restored = rollback.restored;
            event.notRestored = rollback.notRestored;
            event.commit();
        }
    }
}
