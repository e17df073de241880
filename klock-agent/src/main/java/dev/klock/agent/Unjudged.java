package dev.klock.agent;

import dev.klock.agent.observe.Subjects;
import dev.klock.embedded.CommandOrder;
import dev.klock.embedded.KernelLostException;
import dev.klock.kernel.Command;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.SessionKey;

/** The order that JVMs have in common, whose files are klock's business on whatever thread they are read and written: no hook judges that. */
final class Unjudged implements CommandOrder {
    private final CommandOrder order;
    private final Subjects subjects;

    Unjudged(CommandOrder order, Subjects subjects) {
        this.order = order;
        this.subjects = subjects;
    }

    @Override
    public Beginning beginning() {
        return order.beginning();
    }

    @Override
    public void begin(Replica replica) throws KernelLostException {
        subjects.enter();
        try {
            order.begin(replica);
        } finally {
            subjects.leave();
        }
    }

    @Override
    public Outcome put(Command command, long timeMs, Replica replica) throws KernelLostException {
        subjects.enter();
        try {
            return order.put(command, timeMs, replica);
        } finally {
            subjects.leave();
        }
    }

    @Override
    public boolean follow(Replica replica) throws KernelLostException {
        subjects.enter();
        try {
            return order.follow(replica);
        } finally {
            subjects.leave();
        }
    }

    @Override
    public boolean isGone(SessionKey session) {
        subjects.enter();
        try {
            return order.isGone(session);
        } finally {
            subjects.leave();
        }
    }

    @Override
    public String processOf(SessionKey session) {
        subjects.enter();
        try {
            return order.processOf(session);
        } finally {
            subjects.leave();
        }
    }

    @Override
    public void close() {
        subjects.enter();
        try {
            order.close();
        } finally {
            subjects.leave();
        }
    }
}
