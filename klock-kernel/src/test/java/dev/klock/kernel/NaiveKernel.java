package dev.klock.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The protocol written down as plainly as possible: lists, loops, and everything looked at again after every step. It uses nothing of the
 * kernel but its enums. A pattern is the set of all paths of a small world that it stands for.
 */
final class NaiveKernel {
    /** Which predicates can coexist; everything else conflicts (K2-3, RS-2). */
    private static final String COMPATIBLE =
            " PROVIDES-CONSUMES CONSUMES-PROVIDES CONSUMES-CONSUMES PROVIDES-DEPENDS_ON DEPENDS_ON-PROVIDES"
                    + " CONSUMES-DEPENDS_ON DEPENDS_ON-CONSUMES DEPENDS_ON-DEPENDS_ON ";

    private static final List<Predicate> SEVERITY = List.of(
            Predicate.DEPENDS_ON,
            Predicate.CONSUMES,
            Predicate.PROVIDES,
            Predicate.MUTATES,
            Predicate.RENAMES,
            Predicate.DELETES);

    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final List<String> WORLD = world();

    static final class T {
        final Predicate predicate;
        final String pattern;

        T(Predicate predicate, String pattern) {
            this.predicate = predicate;
            this.pattern = pattern;
        }
    }

    static final class L {
        long token;
        S session;
        Predicate predicate;
        String pattern;
        LeaseState state;
        LeaseState before;
        long expires;
        long ttl;

        @Override
        public String toString() {
            return token + " " + session.name + " " + predicate + " " + pattern + " " + state + " until " + expires;
        }
    }

    static final class R {
        S session;
        List<T> triples;
        long deadline;
        long ttl;
        boolean reserve;
    }

    static final class S {
        String name;
        long priority;
        boolean rollsBack;
        boolean retries;
        boolean restarting;
        boolean suspended;
        /** Whether it was paused and has not worked since. */
        boolean stale;
        boolean lostWhilePaused;
        LifeCycle state = LifeCycle.PLANNING;
    }

    final Map<String, S> sessions = new LinkedHashMap<>();
    final List<L> leases = new ArrayList<>();
    final List<R> queue = new ArrayList<>();
    long lockDelay;
    private long tokens;
    private long now;

    private static List<String> world() {
        List<String> all = new ArrayList<>(List.of("/"));
        List<String> level = List.of("");
        for (int depth = 0; depth < 5; depth++) {
            List<String> next = new ArrayList<>();
            for (String dir : level) {
                for (String name : NAMES) {
                    next.add(dir + "/" + name);
                }
            }
            all.addAll(next);
            level = next;
        }
        return all;
    }

    private static final Map<String, Set<String>> MEANING = new HashMap<>();

    private static Set<String> meaning(String pattern) {
        return MEANING.computeIfAbsent(pattern, p -> {
            Set<String> set = new HashSet<>();
            for (String path : WORLD) {
                if (p.endsWith("/**")) {
                    String dir = p.equals("/**") ? "/" : p.substring(0, p.length() - 3);
                    if (path.equals(dir) || path.startsWith(dir.equals("/") ? "/" : dir + "/")) {
                        set.add(path);
                    }
                } else if (p.endsWith("/*")) {
                    String dir = p.substring(0, p.length() - 1);
                    if (path.startsWith(dir) && path.length() > dir.length() && path.indexOf('/', dir.length()) < 0) {
                        set.add(path);
                    }
                } else if (path.equals(p)) {
                    set.add(path);
                }
            }
            return set;
        });
    }

    static boolean overlap(String a, String b) {
        for (String path : meaning(a)) {
            if (meaning(b).contains(path)) {
                return true;
            }
        }
        return false;
    }

    static boolean conflict(Predicate a, Predicate b) {
        return !COMPATIBLE.contains(" " + a + "-" + b + " ");
    }

    private static boolean excludesAllOf(Predicate strong, Predicate weak) {
        for (Predicate p : Predicate.values()) {
            if (conflict(weak, p) && !conflict(strong, p)) {
                return false;
            }
        }
        return true;
    }

    static boolean writes(Predicate p) {
        return p != Predicate.CONSUMES && p != Predicate.DEPENDS_ON;
    }

    boolean older(S a, S b) {
        return a.priority != b.priority ? a.priority < b.priority : a.name.compareTo(b.name) < 0;
    }

    private List<L> of(S s) {
        List<L> list = new ArrayList<>();
        for (L l : leases) {
            if (l.session == s) {
                list.add(l);
            }
        }
        return list;
    }

    /** Those that are not over: what a session still has. */
    private List<L> held(S s) {
        List<L> list = of(s);
        list.removeIf(l -> l.state == LeaseState.LOCK_DELAY);
        return list;
    }

    private R waiting(S s) {
        for (R r : queue) {
            if (r.session == s) {
                return r;
            }
        }
        return null;
    }

    private boolean rollingBack(S s) {
        for (L l : of(s)) {
            if (isRollingBack(l)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRollingBack(L l) {
        return l.state == LeaseState.ROLLING_BACK || l.state == LeaseState.GRACE && l.before == LeaseState.ROLLING_BACK;
    }

    /** Who is in the way of {@code triples}: holders, and whoever waits in {@code ahead}. */
    private List<S> inTheWay(S s, List<T> triples, List<R> ahead) {
        List<S> who = new ArrayList<>();
        for (T t : triples) {
            boolean owned = false;
            for (L l : held(s)) {
                owned |= excludesAllOf(l.predicate, t.predicate) && meaning(l.pattern).containsAll(meaning(t.pattern));
            }
            if (owned) {
                continue;
            }
            for (L l : leases) {
                if (l.session != s && conflict(l.predicate, t.predicate) && overlap(l.pattern, t.pattern)) {
                    who.add(l.session);
                }
            }
            for (R r : ahead) {
                for (T other : merged(r.triples)) {
                    if (r.session != s && conflict(other.predicate, t.predicate) && overlap(other.pattern, t.pattern)) {
                        who.add(r.session);
                    }
                }
            }
        }
        return who;
    }

    private Verdict judge(S s, List<T> triples, List<R> ahead) {
        Verdict verdict = Verdict.GRANTED;
        for (S holder : inTheWay(s, triples, ahead)) {
            if (older(holder, s)) {
                return Verdict.DIE;
            }
            verdict = Verdict.WAIT;
        }
        return verdict;
    }

    private static List<T> merged(List<T> triples) {
        Map<String, T> byPattern = new LinkedHashMap<>();
        for (T t : triples) {
            T other = byPattern.get(t.pattern);
            if (other == null || SEVERITY.indexOf(t.predicate) > SEVERITY.indexOf(other.predicate)) {
                byPattern.put(t.pattern, t);
            }
        }
        return new ArrayList<>(byPattern.values());
    }

    private void grant(S s, List<T> triples, long ttl, boolean reserve) {
        if (triples.isEmpty()) {
            s.restarting = false;
            if (s.state == LifeCycle.PAUSED) {
                s.state = LifeCycle.ACQUIRING;
            }
            afterRelease(s);
            return;
        }
        for (T t : merged(triples)) {
            L l = new L();
            l.token = ++tokens;
            l.session = s;
            l.predicate = t.predicate;
            l.pattern = t.pattern;
            l.state = reserve ? LeaseState.PENDING : LeaseState.ACTIVE;
            l.ttl = ttl;
            l.expires = now + ttl;
            leases.add(l);
        }
        s.restarting = false;
        s.lostWhilePaused = false;
        s.state = LifeCycle.ACQUIRING;
        if (noneOf(s, LeaseState.PENDING)) {
            execute(s);
        }
    }

    private void execute(S s) {
        s.state = LifeCycle.EXECUTING;
        s.stale = false;
    }

    private boolean noneOf(S s, LeaseState state) {
        for (L l : of(s)) {
            if (l.state == state) {
                return false;
            }
        }
        return true;
    }

    private void fail(S s) {
        drop(s);
        if (s.retries) {
            s.restarting = true;
            pauseState(s);
        } else {
            s.state = LifeCycle.ABORTED;
        }
    }

    private void pauseState(S s) {
        if (!s.stale) {
            s.lostWhilePaused = false;
            s.stale = true;
        }
        s.state = LifeCycle.PAUSED;
    }

    private void drop(S s) {
        queue.remove(waiting(s));
        for (L l : of(s)) {
            LeaseState state = l.state == LeaseState.GRACE ? l.before : l.state;
            if (state == LeaseState.ROLLING_BACK || state == LeaseState.LOCK_DELAY) {
                continue;
            }
            if (s.rollsBack && state == LeaseState.ACTIVE && writes(l.predicate)) {
                if (l.state == LeaseState.GRACE) {
                    l.before = LeaseState.ROLLING_BACK;
                } else {
                    l.state = LeaseState.ROLLING_BACK;
                }
            } else {
                leases.remove(l);
            }
        }
    }

    private void settle() {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = 0; i < queue.size() && !changed; i++) {
                R r = queue.get(i);
                Verdict v = judge(r.session, merged(r.triples), queue.subList(0, i));
                if (v == Verdict.GRANTED) {
                    queue.remove(r);
                    grant(r.session, r.triples, r.ttl, r.reserve);
                    changed = true;
                } else if (v == Verdict.DIE) {
                    fail(r.session);
                    changed = true;
                }
            }
        }
    }

    private void afterLoss(S s) {
        s.lostWhilePaused = s.stale;
        if (s.state.isTerminal()) {
            return;
        }
        if (!held(s).isEmpty()) {
            afterRelease(s);
            return;
        }
        if (s.state == LifeCycle.PAUSED && waiting(s) == null && s.restarting) {
            return;
        }
        queue.remove(waiting(s));
        s.state = LifeCycle.ABORTED;
    }

    private void afterRelease(S s) {
        if (held(s).isEmpty()) {
            if (s.state == LifeCycle.EXECUTING || s.state == LifeCycle.ACQUIRING || s.state == LifeCycle.VERIFYING) {
                s.state = LifeCycle.PLANNING;
                s.stale = false;
                s.lostWhilePaused = false;
            }
        } else if (s.state == LifeCycle.ACQUIRING && noneOf(s, LeaseState.PENDING) && !s.lostWhilePaused) {
            execute(s);
        }
    }

    private void runOut(L l) {
        LeaseState state = l.state == LeaseState.GRACE ? l.before : l.state;
        if (now < l.expires + lockDelay && state != LeaseState.PENDING && writes(l.predicate)) {
            l.state = LeaseState.LOCK_DELAY;
        } else {
            leases.remove(l);
        }
    }

    void time(long to) {
        now = to;
        Set<S> poorer = new HashSet<>();
        for (L l : new ArrayList<>(leases)) {
            if (l.state == LeaseState.LOCK_DELAY) {
                if (now >= l.expires + lockDelay) {
                    leases.remove(l);
                }
                continue;
            }
            long end = l.state == LeaseState.GRACE ? l.expires + 15_000 : l.expires;
            if (now < end) {
                continue;
            }
            if (l.session.restarting && now < l.expires + 15_000) {
                l.before = l.state;
                l.state = LeaseState.GRACE;
            } else {
                runOut(l);
                poorer.add(l.session);
            }
        }
        for (S s : poorer) {
            afterLoss(s);
        }
        for (R r : new ArrayList<>(queue)) {
            if (now >= r.deadline && queue.contains(r)) {
                fail(r.session);
            }
        }
        settle();
    }

    void register(String name, long priority, boolean rollsBack, boolean retries) {
        S s = new S();
        s.name = name;
        s.priority = priority;
        s.rollsBack = rollsBack;
        s.retries = retries;
        sessions.put(name, s);
    }

    /** {@code null} when refused. */
    Verdict submit(String name, List<T> triples, long ttl, long wait, boolean reserve, boolean dry) {
        S s = sessions.get(name);
        if (s.state.isTerminal() || waiting(s) != null || rollingBack(s)) {
            return null;
        }
        if (s.suspended) {
            return Verdict.PAUSED;
        }
        Verdict v = judge(s, triples, queue);
        if (dry) {
            return v;
        }
        if (v == Verdict.WAIT && wait == 0) {
            v = Verdict.PAUSED;
        }
        if (v == Verdict.GRANTED) {
            grant(s, triples, ttl, reserve);
        } else if (v == Verdict.WAIT) {
            R r = new R();
            r.session = s;
            r.triples = triples;
            r.deadline = now + wait;
            r.ttl = ttl;
            r.reserve = reserve;
            queue.add(r);
            pauseState(s);
        } else if (v == Verdict.DIE) {
            fail(s);
        }
        settle();
        return v;
    }

    private L own(String name, long token) {
        for (L l : leases) {
            if (l.token == token) {
                return l.session.name.equals(name) ? l : null;
            }
        }
        return null;
    }

    boolean release(String name, long token) {
        L l = own(name, token);
        if (l == null) {
            return false;
        }
        leases.remove(l);
        afterRelease(l.session);
        settle();
        return true;
    }

    boolean heartbeat(String name, long token) {
        L l = own(name, token);
        if (l == null || l.state == LeaseState.GRACE || l.state == LeaseState.LOCK_DELAY) {
            return false;
        }
        l.expires = now + l.ttl;
        return true;
    }

    boolean confirm(String name, long token) {
        L l = own(name, token);
        if (l == null || sessions.get(name).state.isTerminal()) {
            return false;
        }
        if (l.state == LeaseState.PENDING) {
            l.state = LeaseState.ACTIVE;
        }
        if (l.state == LeaseState.ACTIVE) {
            afterRelease(l.session);
        }
        return l.state == LeaseState.ACTIVE;
    }

    boolean revoke(long token) {
        for (L l : leases) {
            if (l.token == token) {
                leases.remove(l);
                if (l.state != LeaseState.LOCK_DELAY) {
                    afterLoss(l.session);
                }
                settle();
                return true;
            }
        }
        return false;
    }

    boolean abort(String name) {
        S s = sessions.get(name);
        if (s.state.isTerminal()) {
            return false;
        }
        drop(s);
        s.state = LifeCycle.ABORTED;
        settle();
        return true;
    }

    boolean complete(String name) {
        S s = sessions.get(name);
        boolean idle = s.state == LifeCycle.PLANNING || s.state == LifeCycle.ACQUIRING && held(s).isEmpty();
        if (rollingBack(s) || s.state != LifeCycle.EXECUTING && s.state != LifeCycle.VERIFYING && !idle) {
            return false;
        }
        leases.removeAll(of(s));
        s.state = LifeCycle.COMPLETED;
        settle();
        return true;
    }

    boolean verify(String name) {
        S s = sessions.get(name);
        if (s.state != LifeCycle.EXECUTING && s.state != LifeCycle.VERIFYING) {
            return false;
        }
        s.state = LifeCycle.VERIFYING;
        return true;
    }

    boolean rolledBack(String name) {
        boolean any = false;
        for (L l : of(sessions.get(name))) {
            if (isRollingBack(l)) {
                leases.remove(l);
                any = true;
            }
        }
        settle();
        return any;
    }

    boolean announceRestart(String name) {
        S s = sessions.get(name);
        if (s.state.isTerminal()) {
            return false;
        }
        s.restarting = true;
        return true;
    }

    /** Whether the lease is still valid. */
    boolean reconcile(String name, long token) {
        S s = sessions.get(name);
        L l = own(name, token);
        boolean valid = false;
        if (l != null && l.state != LeaseState.LOCK_DELAY) {
            boolean inGrace = l.state == LeaseState.GRACE;
            if (inGrace) {
                l.state = l.before;
            }
            valid = l.state != LeaseState.ROLLING_BACK;
            if (valid || inGrace) {
                l.expires = now + l.ttl;
            }
        }
        s.restarting = false;
        boolean lost = false;
        for (L other : of(s)) {
            if (other.state == LeaseState.GRACE) {
                runOut(other);
                lost = true;
            }
        }
        if (lost) {
            afterLoss(s);
        }
        settle();
        return valid;
    }

    boolean withdraw(String name) {
        S s = sessions.get(name);
        if (s.state.isTerminal() || waiting(s) == null) {
            return false;
        }
        queue.remove(waiting(s));
        s.state = LifeCycle.ACQUIRING;
        afterRelease(s);
        settle();
        return true;
    }

    boolean pause(String name) {
        S s = sessions.get(name);
        if (s.state.isTerminal()) {
            return false;
        }
        queue.remove(waiting(s));
        s.suspended = true;
        pauseState(s);
        settle();
        return true;
    }

    boolean resume(String name) {
        S s = sessions.get(name);
        if (s.state.isTerminal() || !s.suspended) {
            return false;
        }
        s.suspended = false;
        s.state = LifeCycle.ACQUIRING;
        if (!held(s).isEmpty()) {
            afterRelease(s);
        }
        return true;
    }

    /** Everything that can be seen, in one form for both. */
    Set<String> seen() {
        Set<String> all = new TreeSet<>();
        for (L l : leases) {
            all.add("lease " + l);
        }
        for (int i = 0; i < queue.size(); i++) {
            all.add("queue " + i + " " + queue.get(i).session.name);
        }
        for (S s : sessions.values()) {
            all.add("session " + s.name + " " + s.state);
        }
        return all;
    }

    /** Nobody holds what conflicts with what another holds; nobody waits for somebody older. */
    void checkInvariants() {
        for (L a : leases) {
            for (L b : leases) {
                if (a.session != b.session && conflict(a.predicate, b.predicate) && overlap(a.pattern, b.pattern)) {
                    throw new AssertionError("both hold: " + a + " and " + b);
                }
            }
        }
        for (int i = 0; i < queue.size(); i++) {
            S s = queue.get(i).session;
            if (s.suspended) {
                throw new AssertionError(s.name + " waits though it is suspended");
            }
            List<S> who = inTheWay(s, merged(queue.get(i).triples), queue.subList(0, i));
            if (who.isEmpty()) {
                throw new AssertionError(s.name + " waits for nobody");
            }
            for (S holder : who) {
                if (older(holder, s)) {
                    throw new AssertionError(s.name + " waits for the older " + holder.name);
                }
            }
        }
    }
}
