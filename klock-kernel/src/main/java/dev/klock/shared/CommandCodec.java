package dev.klock.shared;

import dev.klock.kernel.Command;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands as bytes. What is read is equal to what was written, whatever is in it: it is the kernel's to refuse what makes no sense, and every
 * JVM's kernel must refuse the same.
 */
final class CommandCodec {
    private static final int NULL = -1;
    private static final Predicate[] PREDICATES = Predicate.values();
    private static final Resource.Form[] FORMS = Resource.Form.values();

    private static final int REGISTER = 1;
    private static final int SUBMIT = 2;
    private static final int WITHDRAW = 3;
    private static final int CONFIRM = 4;
    private static final int HEARTBEAT = 5;
    private static final int RELEASE = 6;
    private static final int REVOKE = 7;
    private static final int RECONCILE = 8;
    private static final int ANNOUNCE_RESTART = 9;
    private static final int EXPIRE = 10;
    private static final int PAUSE = 11;
    private static final int RESUME = 12;
    private static final int VERIFY = 13;
    private static final int COMPLETE = 14;
    private static final int ABORT = 15;
    private static final int ROLLED_BACK = 16;

    private CommandCodec() {
    }

    /** Bytes that are put together; a {@code DataOutputStream} would bring in twenty classes of the JDK's before a program's main. */
    private static final class Out extends ByteArrayOutputStream {
        Out() {
            super(128);
        }

        void writeByte(int value) {
            write(value);
        }

        void writeBoolean(boolean value) {
            write(value ? 1 : 0);
        }

        void writeInt(int value) {
            for (int shift = Integer.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
                write(value >>> shift);
            }
        }

        void writeNarrow(String text) {
            for (int i = 0; i < text.length(); i++) {
                write(text.charAt(i));
            }
        }

        void writeDouble(double value) {
            writeLong(Double.doubleToRawLongBits(value));
        }

        /** Each char, be it half of a character. */
        void writeChars(String text) {
            for (int i = 0; i < text.length(); i++) {
                write(text.charAt(i) >>> Byte.SIZE);
                write(text.charAt(i));
            }
        }

        void writeLong(long value) {
            writeInt((int) (value >>> Integer.SIZE));
            writeInt((int) value);
        }
    }

    /** @throws IllegalArgumentException for a {@link Command.DryRun}, which changes nothing and is nobody else's business */
    static byte[] encode(Command command) {
        Out bytes = new Out();
        write(bytes, command);
        return bytes.toByteArray();
    }

    /** Those first that most sessions ask for: a class that is asked about is loaded. */
    private static void write(Out out, Command command) {
        if (command instanceof Command.Register) {
            Command.Register c = (Command.Register) command;
            head(out, REGISTER, c.session());
            out.writeLong(c.priorityMs());
            out.writeBoolean(c.vouched());
            out.writeLong(c.epoch());
            out.writeBoolean(c.resumed());
            out.writeBoolean(c.rollsBack());
            out.writeBoolean(c.retries());
        } else if (command instanceof Command.Submit) {
            Command.Submit c = (Command.Submit) command;
            head(out, SUBMIT, c.session());
            out.writeLong(c.ttlMs());
            out.writeLong(c.waitMs());
            out.writeBoolean(c.reserve());
            out.writeInt(c.triples().size());
            for (int i = 0; i < c.triples().size(); i++) {
                write(out, c.triples().get(i));
            }
        } else if (command instanceof Command.Confirm) {
            Command.Confirm c = (Command.Confirm) command;
            numbers(out, CONFIRM, c.session(), c.leases());
        } else if (command instanceof Command.Heartbeat) {
            Command.Heartbeat c = (Command.Heartbeat) command;
            numbers(out, HEARTBEAT, c.session(), c.leases());
        } else if (command instanceof Command.Complete) {
            head(out, COMPLETE, ((Command.Complete) command).session());
        } else if (command instanceof Command.Release) {
            Command.Release c = (Command.Release) command;
            numbers(out, RELEASE, c.session(), c.leases());
        } else if (command instanceof Command.Expire) {
            out.writeByte(EXPIRE);
        } else if (command instanceof Command.Abort) {
            head(out, ABORT, ((Command.Abort) command).session());
            write(out, ((Command.Abort) command).reason());
        } else if (command instanceof Command.RolledBack) {
            head(out, ROLLED_BACK, ((Command.RolledBack) command).session());
        } else if (command instanceof Command.Resume) {
            head(out, RESUME, ((Command.Resume) command).session());
        } else if (command instanceof Command.Withdraw) {
            head(out, WITHDRAW, ((Command.Withdraw) command).session());
        } else if (command instanceof Command.Reconcile) {
            Command.Reconcile c = (Command.Reconcile) command;
            numbers(out, RECONCILE, c.session(), c.leases());
        } else if (command instanceof Command.Revoke) {
            out.writeByte(REVOKE);
            out.writeLong(((Command.Revoke) command).lease());
        } else if (command instanceof Command.AnnounceRestart) {
            head(out, ANNOUNCE_RESTART, ((Command.AnnounceRestart) command).session());
        } else if (command instanceof Command.Pause) {
            head(out, PAUSE, ((Command.Pause) command).session());
        } else if (command instanceof Command.Verify) {
            head(out, VERIFY, ((Command.Verify) command).session());
        } else {
            throw new IllegalArgumentException("not for the log: " + command);
        }
    }

    /** @throws IOException what it holds is no command, or there is more behind it */
    static Command decode(ByteBuffer in) throws IOException {
        Command command;
        try {
            command = read(in);
        } catch (RuntimeException e) {
            throw new IOException("no command: " + e, e);
        }
        if (in.hasRemaining()) {
            throw new IOException(in.remaining() + " bytes behind a command");
        }
        return command;
    }

    private static Command read(ByteBuffer in) throws IOException {
        int kind = in.get();
        if (kind == EXPIRE) {
            return new Command.Expire();
        }
        if (kind == REVOKE) {
            return new Command.Revoke(in.getLong());
        }
        SessionKey session = new SessionKey(text(in), text(in), text(in));
        switch (kind) {
            case REGISTER:
                return new Command.Register(session, in.getLong(), is(in), in.getLong(), is(in), is(in), is(in));
            case SUBMIT:
                return submit(session, in);
            case WITHDRAW:
                return new Command.Withdraw(session);
            case CONFIRM:
                return new Command.Confirm(session, numbers(in));
            case HEARTBEAT:
                return new Command.Heartbeat(session, numbers(in));
            case RELEASE:
                return new Command.Release(session, numbers(in));
            case RECONCILE:
                return new Command.Reconcile(session, numbers(in));
            case ANNOUNCE_RESTART:
                return new Command.AnnounceRestart(session);
            case PAUSE:
                return new Command.Pause(session);
            case RESUME:
                return new Command.Resume(session);
            case VERIFY:
                return new Command.Verify(session);
            case COMPLETE:
                return new Command.Complete(session);
            case ABORT:
                return new Command.Abort(session, text(in));
            case ROLLED_BACK:
                return new Command.RolledBack(session);
            default:
                throw new IOException("no command has the number " + kind);
        }
    }

    private static Command.Submit submit(SessionKey session, ByteBuffer in) throws IOException {
        long ttlMs = in.getLong();
        long waitMs = in.getLong();
        boolean reserve = is(in);
        int count = count(in);
        List<Triple> triples = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String subject = text(in);
            Predicate predicate = PREDICATES[in.get()];
            Resource object = Resource.of(text(in), text(in), FORMS[in.get()]);
            triples.add(new Triple(subject, predicate, object, in.getDouble(), in.getLong()));
        }
        return new Command.Submit(session, triples, ttlMs, waitMs, reserve);
    }

    private static void write(Out out, Triple t) {
        write(out, t.subject());
        out.writeByte(t.predicate().ordinal());
        write(out, t.object().scheme());
        write(out, t.object().path());
        out.writeByte(t.object().form().ordinal());
        out.writeDouble(t.confidence());
        out.writeLong(t.timestampMs());
    }

    private static void head(Out out, int kind, SessionKey session) {
        out.writeByte(kind);
        write(out, session.namespace());
        write(out, session.agentId());
        write(out, session.sessionId());
    }

    private static void numbers(Out out, int kind, SessionKey session, long[] numbers) {
        head(out, kind, session);
        if (numbers == null) {
            out.writeInt(NULL);
            return;
        }
        out.writeInt(numbers.length);
        for (int i = 0; i < numbers.length; i++) {
            out.writeLong(numbers[i]);
        }
    }

    private static long[] numbers(ByteBuffer in) throws IOException {
        if (in.getInt(in.position()) == NULL) {
            in.getInt();
            return null;
        }
        long[] numbers = new long[count(in)];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = in.getLong();
        }
        return numbers;
    }

    /** Char by char, so that half of a surrogate pair stays what it is. */
    private static void write(Out out, String text) {
        if (text == null) {
            out.writeInt(NULL);
            return;
        }
        boolean narrow = true;
        for (int i = 0; i < text.length(); i++) {
            narrow &= text.charAt(i) < 0x80;
        }
        out.writeInt(text.length());
        out.writeBoolean(narrow);
        if (narrow) {
            out.writeNarrow(text);
        } else {
            out.writeChars(text);
        }
    }

    private static String text(ByteBuffer in) throws IOException {
        if (in.getInt(in.position()) == NULL) {
            in.getInt();
            return null;
        }
        int length = count(in);
        boolean narrow = is(in);
        char[] chars = new char[length];
        for (int i = 0; i < length; i++) {
            chars[i] = narrow ? (char) in.get() : in.getChar();
        }
        return new String(chars);
    }

    private static boolean is(ByteBuffer in) {
        return in.get() != 0;
    }

    private static int count(ByteBuffer in) throws IOException {
        int n = in.getInt();
        if (n < 0 || n > in.remaining()) {
            throw new IOException("count " + n);
        }
        return n;
    }
}
