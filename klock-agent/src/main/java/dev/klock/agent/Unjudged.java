package dev.klock.agent;

import dev.klock.agent.observe.Exemption;
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
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            order.begin(replica);
        } finally {
            own.depth--;
        }
    }

    @Override
    public Outcome put(Command command, long timeMs, Replica replica) throws KernelLostException {
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            return order.put(command, timeMs, replica);
        } finally {
            own.depth--;
        }
    }

    @Override
    public boolean follow(Replica replica) throws KernelLostException {
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            return order.follow(replica);
        } finally {
            own.depth--;
        }
    }

    @Override
    public boolean isGone(SessionKey session) {
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            return order.isGone(session);
        } finally {
            own.depth--;
        }
    }

    @Override
    public String processOf(SessionKey session) {
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            return order.processOf(session);
        } finally {
            own.depth--;
        }
    }

    @Override
    public void close() {
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            order.close();
        } finally {
            own.depth--;
        }
    }
}
