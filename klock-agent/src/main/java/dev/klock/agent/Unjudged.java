package dev.klock.agent;

import dev.klock.agent.observe.Observer;
import dev.klock.embedded.CommandOrder;
import dev.klock.embedded.KernelLostException;
import dev.klock.kernel.Command;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.SessionKey;

/** The order that JVMs have in common, whose files are klock's business on whatever thread they are read and written: no hook judges that. */
final class Unjudged implements CommandOrder {
    private final CommandOrder order;
    private final Observer observer;

    Unjudged(CommandOrder order, Observer observer) {
        this.order = order;
        this.observer = observer;
    }

    @Override
    public Beginning beginning() {
        return order.beginning();
    }

    @Override
    public void begin(Replica replica) throws KernelLostException {
        observer.enter();
        try {
            order.begin(replica);
        } finally {
            observer.leave();
        }
    }

    @Override
    public Outcome put(Command command, long timeMs, Replica replica) throws KernelLostException {
        observer.enter();
        try {
            return order.put(command, timeMs, replica);
        } finally {
            observer.leave();
        }
    }

    @Override
    public boolean follow(Replica replica) throws KernelLostException {
        observer.enter();
        try {
            return order.follow(replica);
        } finally {
            observer.leave();
        }
    }

    @Override
    public boolean isGone(SessionKey session) {
        observer.enter();
        try {
            return order.isGone(session);
        } finally {
            observer.leave();
        }
    }

    @Override
    public String processOf(SessionKey session) {
        observer.enter();
        try {
            return order.processOf(session);
        } finally {
            observer.leave();
        }
    }

    @Override
    public void close() {
        observer.enter();
        try {
            order.close();
        } finally {
            observer.leave();
        }
    }
}
