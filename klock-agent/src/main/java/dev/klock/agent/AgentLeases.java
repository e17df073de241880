package dev.klock.agent;

import dev.klock.Answer;
import dev.klock.KlockSession;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.observe.Observer;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.local.Enforcement;
import dev.klock.local.LocalSession;
import dev.klock.manifest.Ids;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An agent's session as its program has it: it asks for leases, as often as it dies of that, gives them back, and asks again. Each time that they
 * are granted an {@link AgentSession} begins, which holds the agent to its manifest; it is over, and all it did undone if need be, before they go.
 */
final class AgentLeases implements Enforcement {
    /** A dash and the digits of a long. */
    private static final int MAX_SUFFIX = 17;
    private static final long NS_A_MS = 1_000_000;
    /** The most violations that its program is told. */
    private static final int MAX_VIOLATIONS = 100;

    final Long number;
    private final Tools tools;
    private final EmbeddedKernel kernel;
    /** Null where the kernel is this JVM's alone. */
    private final LostLeases lost;
    private final DeclaredAgent declared;
    private final Manifest manifest;
    private final LocalSession held;
    private final AtomicLong numbers = new AtomicLong();
    /** What was granted, by number, for who gives it back. */
    private final ConcurrentHashMap<Long, Answer> granted = new ConcurrentHashMap<>();
    /** What was told last, which is asked for again and again, and by what number. */
    private Object toldLast;
    private Long lastHandle;
    /** What was not declared, a message each, whichever grant it happened under. Guarded by itself. */
    private final Set<String> violations = new LinkedHashSet<>();
    /** Null before the first grant. */
    private volatile AgentSession session;
    private volatile long untilNanos;
    private volatile boolean isUntilKnown;
    /** Since when its manifest's leases are asked for, {@link System#nanoTime}. Guarded by this object, as what follows. */
    private long askedNanos = System.nanoTime();
    /** How often that was in vain, and why last. */
    private int refusals;
    private String refusal;

    AgentLeases(Tools tools, EmbeddedKernel kernel, LostLeases lost, DeclaredAgent declared, Long number, long priorityMs) {
        this.tools = tools;
        this.kernel = kernel;
        this.lost = lost;
        this.declared = declared;
        this.manifest = declared.manifest;
        this.number = number;
        held = new LocalSession(kernel, key(kernel, manifest, number), priorityMs, declared.wanted,
                tools.launch.options().leaseTtlMs(), this);
    }

    /** The manifest's id, or one that nobody of the agent's has. */
    private static SessionKey key(EmbeddedKernel kernel, Manifest manifest, Long number) {
        String base = manifest.sessionId() == null ? manifest.agentId() : manifest.sessionId();
        SessionKey key = SessionKey.of(manifest.agentId(), base);
        if (manifest.sessionId() != null && kernel.state(key) == null) {
            return key;
        }
        String unique = Long.toHexString(System.currentTimeMillis()) + '-' + number;
        return SessionKey.of(manifest.agentId(), Ids.shortened(base, Manifest.MAX_ID_BYTES - MAX_SUFFIX * 2) + '-' + unique);
    }

    LocalSession held() {
        return held;
    }

    /** Whom its threads work for. @throws IllegalStateException it may not work */
    Observer observer() {
        AgentSession now = session;
        if (now != null && !now.isOver() && held.isValid() && held.holdsManifest()) {
            return now.observer();
        }
        Answer answer = held.answer();
        if (now == null || now.isOver() || !held.isValid() || !answer.isGranted()) {
            String over = now == null ? null : why(now);
            throw new IllegalStateException("session " + held.agentId() + "/" + held.sessionId() + " may not work: "
                    + (over != null ? over : answer.isGranted() ? "its leases were not renewed in time" : answer.reason()));
        }
        return now.observer();
    }

    /** Why it does not come back, though its leases are not gone yet: it was stopped, and is being wound up; null as a rule. */
    private String condemned() {
        AgentSession now = session;
        String over = now == null ? null : why(now);
        return over != null && (now.isStoppedFor(Session.ABORTED) || now.isStoppedFor(Session.LEASE_LOST)) ? over : null;
    }

    /** {@link AgentSession#why}, be this thread the first to see that its leases were not renewed in time. */
    private static String why(AgentSession session) {
        session.hasEnded();
        return session.why();
    }

    /** What there is of its manifest's leases. */
    Answer answer() {
        String over = condemned();
        return over == null ? held.answer() : held.gone(over);
    }

    /** Asks for its manifest's leases again. */
    Answer retry(Duration wait) throws InterruptedException {
        String over = condemned();
        if (over != null) {
            return held.gone(over);
        }
        asks();
        Answer answer = held.retry(wait);
        answered(answer);
        return answer;
    }

    /** The name of its state; null if it was closed for long. */
    String state() {
        return condemned() != null ? KlockSession.State.ABORTED.name() : held.state() == null ? null : held.state().name();
    }

    /** As {@link #observer}, whether it may work or not; null if it was never granted. */
    Observer subject() {
        AgentSession now = session;
        return now == null ? null : now.observer();
    }

    /** As {@link #observer} of work that came to it before it was over: what that would change fails. @throws IllegalStateException it was never granted */
    Observer late() {
        AgentSession now = session;
        return now == null ? observer() : now.observer();
    }

    /** Whether it may act: it holds what it needs, and was not ended. */
    boolean isValid() {
        AgentSession now = session;
        return now != null && !now.isOver() && held.isValid();
    }

    boolean isOf(Observer observer) {
        AgentSession now = session;
        return now != null && now.observer() == observer;
    }

    /** {@code answer} in types of the JDK's. */
    synchronized Object[] told(Answer answer) {
        Long handle = null;
        if (answer.handle() != null && answer.handle() == toldLast) {
            handle = lastHandle;
        } else if (answer.handle() != null && answer.isGranted()) {
            handle = numbers.incrementAndGet();
            granted.put(handle, answer);
            toldLast = answer.handle();
            lastHandle = handle;
        }
        return new Object[] {answer.verdict().name(), answer.leases().toArray(new String[0]), answer.conflicts().toArray(new String[0]),
            answer.changes().toArray(new String[0]), answer.retryAfterMs(), answer.reason(), handle, answer.waits(), answer.deaths()};
    }

    /** Asks for more leases, on what it declares: a lease on anything else would be of no use. */
    Answer acquire(Duration wait, String[] intents) throws InterruptedException {
        String over = condemned();
        if (over != null) {
            return held.gone(over);
        }
        for (int i = 0; i < intents.length; i++) {
            if (!declared.declares(intents[i], tools.resolver)) {
                return held.refused(intents[i] + " is more than " + manifest.agentId() + " declares: declare it in " + manifest.file());
            }
        }
        Answer answer = held.acquire(wait, intents);
        if (answer.isGranted()) {
            try {
                settleOthers();
            } catch (IOException e) {
                held.release(answer);
                return held.refused(e.getMessage());
            }
        }
        return answer;
    }

    /** Others' work on what was granted: see {@link LostLeases}. */
    private void settleOthers() throws IOException {
        if (lost != null) {
            lost.settle();
        }
    }

    private List<SessionKey> actsUnder() {
        return declared.wanted.isEmpty() ? List.of() : List.of(SessionKey.of(held.agentId(), held.sessionId()));
    }

    boolean release(Object handle) {
        Answer answer = handle instanceof Long ? granted.remove(handle) : null;
        AgentSession now = session;
        if (answer != null && now != null && !Collections.disjoint(answer.leases(), held.answer().leases())) {
            // without those of its manifest it does not work on
            now.end();
        }
        return answer != null && held.release(answer);
    }

    void violated(String message) {
        synchronized (violations) {
            if (violations.size() < MAX_VIOLATIONS) {
                violations.add(message);
            }
        }
    }

    /** Each denial that stopped a thread by now is among them, be it another thread's. */
    String[] violations() {
        AgentSession now = session;
        if (now != null) {
            now.awaitTold();
        }
        synchronized (violations) {
            return violations.toArray(new String[0]);
        }
    }

    boolean renew() {
        return held.renew();
    }

    boolean amend(Predicate predicate, Resource resource) {
        try {
            return held.acquire(Duration.ZERO, predicate + " " + resource).isGranted();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The program has had enough: what it did is undone, and it does not come back. */
    void abort(String reason) {
        AgentSession now = session;
        if (now != null) {
            now.rollBack(Session.ABORTED);
        }
        held.abort(reason);
    }

    /** Its session was wound up after a violation. */
    void failed() {
        try {
            held.abort("scope violation");
        } catch (IllegalStateException lost) {
            // with the kernel went all that there was to give back
        }
    }

    /** Its session was wound up since it has lost its leases: what it holds still goes, too. */
    void letGo() {
        try {
            held.releaseAll();
        } catch (IllegalStateException lost) {
            // as above
        }
    }

    // ---- what the leases do to the session

    @Override
    public void begin() throws IOException {
        if (session != null) {
            // some of its leases were lost, and its mode went on
            session.end();
        }
        long waitedMs = waitedMs();
        settleOthers();
        try {
            Tools.Records records = tools.records(manifest, manifest.agentId());
            AgentSession next = new AgentSession(tools.sessions, tools.launch.options(), manifest, records, this);
            Images images = tools.equip(next, manifest, declared.scope);
            next.actsUnder(kernel, actsUnder());
            images.preflight(manifest);
            tools.sessions.add(next);
            session = next;
            next.lease("granted", waitedMs, wanted(), refusals());
            if (isUntilKnown) {
                next.validUntil(untilNanos);
            }
        } catch (UsageException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Its manifest's leases are about to be asked for: what is waited for from here on is told when they are granted. */
    synchronized void asks() {
        if (refusals == 0) {
            askedNanos = System.nanoTime();
        }
    }

    /** What came of asking. What was not granted is told by the log of the process: the agent may never have one of its own. */
    void answered(Answer answer) {
        if (answer.verdict() == Answer.Verdict.DIE || answer.verdict() == Answer.Verdict.PAUSED) {
            synchronized (this) {
                refusals++;
                refusal = answer.reason();
            }
            tools.sessions.process().lease("agent refused", waitedMs(), new ArrayList<>(), manifest.agentId() + ": " + answer.reason());
        }
    }

    private synchronized long waitedMs() {
        long ms = (System.nanoTime() - askedNanos) / NS_A_MS;
        return ms < Start.WORTH_TELLING_MS ? 0 : ms;
    }

    private List<String> wanted() {
        List<String> wanted = new ArrayList<>();
        for (int i = 0; i < declared.wanted.size(); i++) {
            wanted.add(declared.wanted.get(i).toString());
        }
        return wanted;
    }

    /** What came before the grant; null if nothing did. */
    private synchronized String refusals() {
        String told = refusals == 0 ? null : "in vain " + refusals + (refusals == 1 ? " time before: " : " times before, at last: ") + refusal;
        refusals = 0;
        return told;
    }

    @Override
    public void rollBack() {
        AgentSession now = session;
        if (now != null) {
            if (now.state.get() == Session.OPEN) {
                now.lease("died", 0, new ArrayList<>(), null);
            }
            now.rollBack(AgentSession.DIED);
        }
    }

    @Override
    public void lost(String why) {
        AgentSession now = session;
        if (now != null) {
            now.leaseLost(why);
        }
    }

    @Override
    public void validUntil(long nanos) {
        untilNanos = nanos;
        isUntilKnown = true;
        AgentSession now = session;
        if (now != null) {
            now.validUntil(nanos);
        }
    }

    @Override
    public void end() {
        AgentSession now = session;
        if (now != null) {
            now.end();
        }
    }
}
