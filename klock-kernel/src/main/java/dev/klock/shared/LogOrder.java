package dev.klock.shared;

import dev.klock.embedded.CommandOrder;
import dev.klock.embedded.KernelLostException;
import dev.klock.kernel.Command;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.SessionKey;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The order that a {@link CommandLog} gives the commands of all JVMs of one home. Its file is named by the machine's boot, since no lease
 * outlives that, and a number.
 *
 * <p>When a log has grown and nobody holds anything, whoever comes next puts a seal on it, an entry without bytes. It counts where it comes
 * upon a kernel that is idle, which is so for all of them or none; then all go on with the next number, and whoever finds its command behind
 * the seal puts it there once more. A process that slept through several of them goes on with the highest.
 */
final class LogOrder implements CommandOrder {
    /** From this size on it is worth to begin a new log: to carry out what ten sessions did takes 3 ms of a start. */
    private static final long SEALED_FROM = 1 << 12;
    private static final byte[] SEAL = {};
    private static final int ATTEMPTS = 100;
    /** So often an append is tried, for two seconds in all: much less than any lease lasts. */
    private static final int APPENDS = 40;
    private static final long APPEND_AGAIN_NANOS = 50_000_000;
    /** So often the file of the name is looked into: it may be another that has become as long. */
    private static final long COMPARED_NANOS = 900_000_000;
    private static final int MIN_REGISTRARS = 1000;
    private static final int MAX_DIGITS = 18;

    private final File directory;
    private final String boot;
    private final String version;
    private final long writer;
    private long number;
    private long generation;
    private final Presence presence;
    /** Who has registered each session that the kernel knows; some that it does not know any more are among them. */
    private final Map<SessionKey, Long> registrars = new HashMap<>();
    private int mostRegistrars = MIN_REGISTRARS;
    private CommandLog log;
    /** {@link System#nanoTime} of the last {@link CommandLog#isSame}. */
    private long comparedNanos = System.nanoTime();
    private Beginning beginning;

    private LogOrder(File directory, String boot, String version, long writer) throws IOException {
        this.directory = directory;
        this.boot = boot;
        this.version = version;
        this.writer = writer;
        this.presence = Presence.of(writer, directory, boot);
    }

    /**
     * Opens the log of a home, or begins one.
     *
     * @param directory where it is; made with its parents if it is not there
     * @throws IOException it cannot be read or made, or belongs to another version of klock
     */
    static LogOrder open(File directory, String version) throws IOException {
        Path path = directory.toPath();
        if (!Files.isDirectory(path)) {
            Files.createDirectories(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        LogOrder order = new LogOrder(directory, Machine.bootId(), version, Machine.random());
        boolean done = false;
        try {
            order.openFrom(0, 1, System.currentTimeMillis());
            done = true;
            return order;
        } finally {
            if (!done) {
                order.presence.close();
            }
        }
    }

    @Override
    public Beginning beginning() {
        return beginning;
    }

    @Override
    public void begin(Replica replica) throws KernelLostException {
        follow(replica);
        try {
            if (log.size() >= SEALED_FROM) {
                put(SEAL, replica.timeMs(), replica);
            }
            presence.tidy(registrars.values());
        } catch (IOException e) {
            throw lost(e);
        }
    }

    @Override
    public Outcome put(Command command, long timeMs, Replica replica) throws KernelLostException {
        try {
            return put(CommandCodec.encode(command), timeMs, replica);
        } catch (IOException e) {
            throw lost(e);
        }
    }

    private static KernelLostException lost(IOException why) {
        return new KernelLostException(why.getMessage(), why);
    }

    private Outcome put(byte[] bytes, long timeMs, Replica replica) throws IOException {
        long own = ++number;
        append(own, timeMs, bytes);
        while (true) {
            CommandLog.Entry entry = log.next();
            if (entry == null) {
                throw new IOException("what was written to " + log.file() + " is not in it: somebody else than klock has changed it");
            }
            boolean isOwn = entry.writer == writer && entry.number == own;
            if (entry.bytes.length == 0) {
                if (replica.isIdle(entry.timeMs)) {
                    beginAnew(replica);
                    if (bytes.length > 0) {
                        append(own, timeMs, bytes);
                        continue;
                    }
                    return null;
                }
                if (isOwn) {
                    return null;
                }
                continue;
            }
            Outcome out = carryOut(entry, replica, isOwn);
            if (isOwn) {
                requireInPlace(replica, true);
                return out;
            }
        }
    }

    /** What could not be appended whole nobody has read: a disk that is full may be so for a moment only. */
    private void append(long own, long timeMs, byte[] bytes) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                log.append(writer, own, timeMs, bytes);
                return;
            } catch (IOException full) {
                if (attempt == APPENDS) {
                    throw full;
                }
                LockSupport.parkNanos(APPEND_AGAIN_NANOS);
            }
        }
    }

    @Override
    public boolean follow(Replica replica) throws KernelLostException {
        try {
            long now = System.nanoTime();
            if (now - comparedNanos >= COMPARED_NANOS) {
                comparedNanos = now;
                // before more of it is read: that may be what others have put behind what is left of it
                requireInPlace(replica, log.isSame());
            }
            boolean any = read(replica);
            requireInPlace(replica, true);
            return any;
        } catch (IOException e) {
            throw lost(e);
        }
    }

    /** Whoever comes would begin another log if this one were not there any more, and nobody would know of the other. */
    private void requireInPlace(Replica replica, boolean isSame) throws IOException {
        CommandLog before = log;
        if (isSame && log.isInPlace()) {
            return;
        }
        // else it was sealed, and whoever saw that first has removed it
        read(replica);
        if (log == before) {
            throw new IOException(log.file() + " is not there any more, or was cut: somebody else than klock has removed it");
        }
    }

    private boolean read(Replica replica) throws IOException {
        boolean any = false;
        for (CommandLog.Entry entry = log.next(); entry != null; entry = log.next()) {
            any = true;
            if (entry.bytes.length > 0) {
                carryOut(entry, replica, false);
            } else if (replica.isIdle(entry.timeMs)) {
                beginAnew(replica);
            }
        }
        return any;
    }

    private Outcome carryOut(CommandLog.Entry entry, Replica replica, boolean own) throws IOException {
        Command command;
        try {
            command = CommandCodec.decode(ByteBuffer.wrap(entry.bytes));
        } catch (IOException e) {
            throw new IOException(log.file() + " holds something that is no command: " + e.getMessage(), e);
        }
        Outcome out = replica.carryOut(command, entry.timeMs, own);
        if (command instanceof Command.Register && !out.isRefused()) {
            registered(((Command.Register) command).session(), entry.writer, replica);
        }
        return out;
    }

    private void registered(SessionKey session, long by, Replica replica) {
        if (registrars.size() >= mostRegistrars) {
            registrars.keySet().removeIf(known -> !replica.isKnown(known));
            mostRegistrars = Math.max(MIN_REGISTRARS, 2 * registrars.size());
        }
        registrars.put(session, by);
    }

    private void beginAnew(Replica replica) throws IOException {
        CommandLog before = log;
        openFrom(generation + 1, replica.nextFencingToken(), replica.timeMs());
        before.close();
        Files.deleteIfExists(before.file().toPath());
        registrars.clear();
        replica.beginAnew();
    }

    /** Opens the newest log, which has the number {@code least} or a higher one; begins that one if there is none. */
    private void openFrom(long least, long firstFencingToken, long timeMs) throws IOException {
        for (int attempt = 1; ; attempt++) {
            long newest = newest();
            if (newest < least) {
                newest = least;
                create(file(newest), firstFencingToken, timeMs);
            }
            try {
                open(newest);
                return;
            } catch (FileNotFoundException gone) {
                // sealed, and followed by another, just then
                if (attempt == ATTEMPTS) {
                    throw gone;
                }
            }
        }
    }

    private void open(long newest) throws IOException {
        CommandLog opened = CommandLog.open(file(newest));
        LogHeader header = opened.header();
        if (!header.version().equals(version)) {
            opened.close();
            throw new IOException("klock " + header.version() + " is at work with this home, and this is klock " + version + ": use the same, or wait until it has ended");
        }
        log = opened;
        generation = newest;
        beginning = new Beginning(header.kernelId(), header.firstFencingToken(), header.startMs(), Machine.began(header));
    }

    private File file(long of) {
        return new File(directory, boot + '.' + of);
    }

    /** The highest number that there is a log of; -1 for none. */
    private long newest() {
        long newest = -1;
        String[] names = directory.list();
        for (int i = 0; names != null && i < names.length; i++) {
            if (names[i].startsWith(boot + '.')) {
                newest = Math.max(newest, number(names[i].substring(boot.length() + 1)));
            }
        }
        return newest;
    }

    /** The number that {@code digits} are; -1 if that is another name. */
    private static long number(String digits) {
        for (int i = 0; i < digits.length(); i++) {
            if (digits.charAt(i) < '0' || digits.charAt(i) > '9') {
                return -1;
            }
        }
        return digits.isEmpty() || digits.length() > MAX_DIGITS ? -1 : Long.parseLong(digits);
    }

    /** Whole under its name at once, by whoever is first. */
    private void create(File file, long firstFencingToken, long timeMs) throws IOException {
        LogHeader header = new LogHeader(Machine.random(), Long.toHexString(Machine.random()), firstFencingToken, timeMs, System.nanoTime(), Machine.uptimeMs(), version);
        Path temporary = new File(directory, file.getName() + '.' + Long.toHexString(writer) + ".tmp").toPath();
        Files.createFile(temporary, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.write(temporary, header.encode());
            Files.createLink(file.toPath(), temporary);
        } catch (FileAlreadyExistsException another) {
            // theirs is as good
        } finally {
            Files.delete(temporary);
        }
    }

    @Override
    public boolean isGone(SessionKey session) {
        Long of = registrars.get(session);
        return of != null && of != writer && presence.isGone(of);
    }

    @Override
    public String processOf(SessionKey session) {
        Long of = registrars.get(session);
        return of == null || of == writer ? null : presence.processOf(of);
    }

    @Override
    public void close() {
        try {
            log.close();
        } catch (IOException e) {
            // nothing of it is wanted any more
        }
        presence.close();
    }
}
