package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Scope;
import dev.klock.resource.Host;
import dev.klock.resource.Resource;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Judges what goes over the network (C49): names that are looked up, end points, requests.
 *
 * <p>Which host is meant (F06). A packet goes to an address, so the address decides; a name that lines declare stands for the addresses
 * which the JVM resolved for that very name in this run. The name an {@link InetAddress} carries counts only if it was resolved to that
 * address: a program can make one up ({@code InetAddress.getByAddress(name, bytes)}). {@code localhost} stands for 127.0.0.1 and ::1. To
 * connect, send or listen is allowed if the address or one of its names is declared, and denied if a deny line names any of them; to
 * listen on every address only by a line of its own. Spellings are {@link Host}'s business.
 *
 * <p>What is the JVM's own: looking up {@code localhost}, this machine's name and a name that the JDK itself just got for an address; a
 * local port that the kernel chooses for a client. Who listens may connect there: PROVIDES covers what one made (C34).
 *
 * <p>Thread-safe. Works that are passed belong to the calling thread, which has exempted itself.
 */
final class Network {
    private static final int PROVIDES = Predicate.PROVIDES.ordinal();
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int MUTATES = Predicate.MUTATES.ordinal();
    private static final int DELETES = Predicate.DELETES.ordinal();

    private static final int BIND = Op.BIND.code();
    private static final int LISTEN = Op.LISTEN.code();
    private static final int BIND_DATAGRAM = Op.BIND_DATAGRAM.code();
    private static final int CONNECT = Op.CONNECT.code();
    private static final int JOIN_GROUP = Op.JOIN_GROUP.code();
    private static final int REACH = Op.REACH.code();

    private static final String URL = "URL";
    private static final String WILDCARD = "0.0.0.0";
    /** The same, as a manifest may write it. */
    private static final String WILDCARD_6 = "[::]";
    private static final String LOCALHOST = "localhost";
    /** The two addresses that it stands for. */
    private static final String[] HERE = {"127.0.0.1", "[::1]"};
    /** Names of one address that are remembered, and addresses of one name. */
    private static final int REMEMBERED = 256;
    /** Others that are remembered until there are more. */
    private static final int MOST_ASKERS = 10_000;

    private final HostFiles files;
    private final Targets targets;
    private final Judge judge;
    private final Verdicts verdicts;
    /** Where the JVM was told at its start to look names up, null for the operating system; a program may set this later. */
    private final String hostsFile = System.getProperty("jdk.net.hosts.file");
    /** Canonical name to the canonical addresses it was resolved to in this run, and the reverse. */
    private final ConcurrentHashMap<String, String[]> addresses = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, String[]> names = new ConcurrentHashMap<>();
    /** Canonical address and port to the end point on which this session listens there. */
    private final ConcurrentHashMap<String, Target> listening = new ConcurrentHashMap<>();
    /** Descriptor to the end point at which this session takes datagrams, and who has sent one there to what it was sent to: it may be answered. */
    private final ConcurrentHashMap<Integer, Target> serving = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Target> askers = new ConcurrentHashMap<>();
    /** Descriptor to its key in {@code listening}. */
    private final ConcurrentHashMap<Integer, String> sockets = new ConcurrentHashMap<>();
    private volatile String ownName;

    Network(HostFiles files, Targets targets, Judge judge, Verdicts verdicts) {
        this.files = files;
        this.targets = targets;
        this.judge = judge;
        this.verdicts = verdicts;
    }

    void endPoint(Work work, int op, byte[] address, String carried, int port, int fd) {
        boolean datagram = work.datagram || op != BIND && op != LISTEN && op != CONNECT && op != REACH;
        boolean again = work.rebind;
        work.datagram = false;
        work.rebind = false;
        if (again && op == BIND) {
            return;
        }
        String protocol = datagram ? "udp" : "tcp";
        boolean nowhere = isZero(address);
        if (op == BIND || op == BIND_DATAGRAM || op == LISTEN) {
            String host = nowhere ? WILDCARD : Host.ofAddress(address);
            if (op == LISTEN) {
                boolean bySystem = work.ephemeral == fd && fd >= 0;
                work.ephemeral = -1;
                listen(work, op, host, bySystem ? 0 : port, port, fd);
            } else if (port == 0) {
                // whether it matters shows when it listens; a client's own port does not
                work.ephemeral = datagram ? -1 : fd;
            } else {
                Target named = byAnyName(protocol, host, port, PROVIDES, null);
                Target bound = named == null ? target(protocol, host, port) : named;
                judge.access(work, op, bound, PROVIDES, null, null);
                if (datagram && fd >= 0) {
                    serving.put(fd, targets.made(bound));
                }
            }
        } else {
            // the kernel takes the address of nowhere for this machine; joining a group without asking for a port is joining on any
            String literal = nowhere ? address.length == 4 ? "127.0.0.1" : "[::1]" : Host.ofAddress(address);
            connect(work, op, protocol, literal, carried, port);
        }
        if (verdicts.ended()) {
            throw Judge.over();
        }
    }

    private void listen(Work work, int op, String host, int declared, int actual, int fd) {
        Target target = byAnyName("tcp", host, declared, PROVIDES, null);
        if (declared == 0) {
            target = byAnyName("tcp", host, actual, PROVIDES, target);
        }
        if (target == null) {
            target = target("tcp", host, declared);
        }
        judge.access(work, op, target, PROVIDES, null, null);
        String key = host + ':' + actual;
        listening.put(key, targets.made(target));
        String before = sockets.put(fd, key);
        if (before != null && !before.equals(key)) {
            listening.remove(before);
        }
    }

    private void connect(Work work, int op, String protocol, String literal, String carried, int port) {
        String name = carried == null ? null : Host.canonical(carried);
        if (name != null && (name.equals(literal) || !isNameOf(name, literal, carried))) {
            name = null;
        }
        Target shown = target(protocol, name == null ? literal : name, port);
        Target allowed = byAnyName(protocol, literal, port, CONSUMES, candidate(shown, null, CONSUMES));
        if (op == JOIN_GROUP) {
            allowed = candidate(target(protocol, literal, 0), allowed, CONSUMES);
        }
        if (allowed == null) {
            Target own = protocol.equals("tcp") ? own(literal, port) : askers.get(literal + ':' + port);
            allowed = own == null ? shown : own;
        }
        judge.access(work, op, allowed, CONSUMES, requested(name, literal, port), null);
    }

    /** What was {@code found} so far, or, of the end point by its address and all its names, what decides; null if none is declared. */
    private Target byAnyName(String protocol, String literal, int port, int predicate, Target found) {
        Target best = candidate(target(protocol, literal, port), found, predicate);
        if (literal.equals(WILDCARD)) {
            return candidate(target(protocol, WILDCARD_6, port), best, predicate);
        }
        String[] others = names.get(literal);
        for (int i = 0; others != null && i < others.length; i++) {
            best = candidate(target(protocol, others[i], port), best, predicate);
        }
        return isHere(literal) ? candidate(target(protocol, LOCALHOST, port), best, predicate) : best;
    }

    /** {@code target} if it is denied by a line, which beats all; else what was found so far or, if it is allowed, {@code target}. */
    private static Target candidate(Target target, Target found, int predicate) {
        Predicate asked = Targets.predicate(predicate);
        if (found != null && Scope.isDenied(found.decide(asked))) {
            return found;
        }
        boolean denied = Scope.isDenied(target.decide(asked));
        return denied || found == null && (target.allowed() & 1 << predicate) != 0 ? target : found;
    }

    /** Whether the JVM resolved {@code name} to {@code literal}; asks it again if it did so before klock listened or by other means. */
    private boolean isNameOf(String name, String literal, String carried) {
        if (name.equals(LOCALHOST)) {
            return isHere(literal);
        }
        if (contains(addresses.get(name), literal)) {
            return true;
        }
        if (!targets.scope().namesHost(name)) {
            return false;
        }
        if (!files.resolvesNames(hostsFile)) {
            return false;
        }
        try {
            InetAddress[] all = InetAddress.getAllByName(carried);
            for (int i = 0; i < all.length; i++) {
                remember(name, Host.ofAddress(all[i].getAddress()));
            }
        } catch (UnknownHostException unknown) {
            return false;
        }
        return contains(addresses.get(name), literal);
    }

    void lookUp(Work work, int op, String host, byte[] address) {
        if (host != null) {
            String name = Host.canonical(host);
            boolean own = name.equals(LOCALHOST) || name.equals(work.named) || Host.isAddress(name);
            work.named = null;
            if (own) {
                return;
            }
            Target target = targets.other(URL, "dns://".concat(name));
            if ((target.allowed() & 1 << CONSUMES) == 0 && name.equals(ownName())) {
                target.allowCause(1 << CONSUMES);
            }
            judge.access(work, op, target, CONSUMES, host.equals(name) ? null : host, null);
            return;
        }
        String literal = Host.ofAddress(address);
        Target target = targets.other(URL, "dns://".concat(literal));
        if ((target.allowed() & 1 << CONSUMES) == 0 && (isZero(address) || names.containsKey(literal) || isOfThisMachine(literal))) {
            target.allowCause(1 << CONSUMES);
        }
        judge.access(work, op, target, CONSUMES, null, null);
    }

    void received(int fd, byte[] address, int port) {
        Target served = serving.isEmpty() ? null : serving.get(fd);
        if (served != null) {
            if (askers.size() >= MOST_ASKERS) {
                askers.clear();
            }
            askers.put(Host.ofAddress(address) + ':' + port, served);
        }
    }

    void resolved(String host, byte[][] found) {
        String name = Host.canonical(host);
        for (int i = 0; i < found.length; i++) {
            remember(name, Host.ofAddress(found[i]));
        }
    }

    void named(Work work, String host) {
        work.named = host == null ? null : Host.canonical(host);
    }

    void request(Work work, int op, String method, String protocol, String host, int port, String path) {
        if (method.equals("CONNECT")) {
            // a proxy is asked to connect there
            hosts(work, op, "tcp", host, port, null, CONSUMES);
        } else {
            String asked = path == null ? "" : path;
            String otherwise = Resource.readOtherwise(asked);
            if (otherwise != null) {
                hosts(work, op, protocol, host, port, otherwise, predicate(method));
            }
            hosts(work, op, protocol, host, port, asked, predicate(method));
        }
        if (verdicts.ended()) {
            throw Judge.over();
        }
    }

    /** C49; what is not known may change something. */
    private static int predicate(String method) {
        switch (method) {
            case "GET":
            case "HEAD":
            case "OPTIONS":
            case "TRACE":
                return CONSUMES;
            case "DELETE":
                return DELETES;
            default:
                return MUTATES;
        }
    }

    private void hosts(Work work, int op, String protocol, String host, int port, String path, int predicate) {
        String given = Host.canonical(host);
        Target shown = url(protocol, given, port, path);
        Target best = candidate(shown, null, predicate);
        String[] others = Host.isAddress(given) ? names.get(given) : addresses.get(given);
        for (int i = 0; others != null && i < others.length; i++) {
            best = candidate(url(protocol, others[i], port, path), best, predicate);
        }
        if (isHere(given)) {
            best = candidate(url(protocol, LOCALHOST, port, path), best, predicate);
        }
        if (given.equals(LOCALHOST)) {
            best = candidate(url(protocol, HERE[0], port, path), best, predicate);
            best = candidate(url(protocol, HERE[1], port, path), best, predicate);
        }
        if (best == null) {
            Target own = own(given, port);
            best = own == null ? shown : own;
        }
        judge.access(work, op, best, predicate, null, null);
    }

    /** {@code fd}, which may be anything's, is about to be closed: who listens there next may be anybody. */
    void closing(int fd) {
        if (!serving.isEmpty()) {
            Target served = serving.remove(fd);
            for (Iterator<Target> i = askers.values().iterator(); served != null && i.hasNext();) {
                if (i.next() == served) {
                    i.remove();
                }
            }
        }
        if (!sockets.isEmpty()) {
            String key = sockets.remove(fd);
            if (key != null) {
                listening.remove(key);
            }
        }
    }

    /** The end point on which this session itself listens there; null if it does not. */
    private Target own(String host, int port) {
        Target own = listening.get(WILDCARD + ':' + port);
        if (own != null && isOfThisMachine(host)) {
            return own;
        }
        own = listening.get(host + ':' + port);
        // a name is any of its addresses: where it leads shows when it is connected to
        String[] others = host.equals(LOCALHOST) ? HERE : addresses.get(host);
        for (int i = 0; own == null && others != null && i < others.length; i++) {
            own = listening.get(others[i] + ':' + port);
        }
        return own;
    }

    private Target url(String protocol, String host, int port, String path) {
        return targets.other(URL, path == null ? protocol + "://" + host + ':' + port : Resource.url(protocol, host, port, path).path());
    }

    private Target target(String protocol, String host, int port) {
        return targets.other(URL, protocol + "://" + host + ':' + port);
    }

    private void remember(String name, String literal) {
        add(addresses, name, literal);
        add(names, literal, name);
    }

    private static void add(ConcurrentHashMap<String, String[]> map, String key, String value) {
        while (true) {
            String[] old = map.get(key);
            if (old == null) {
                if (map.putIfAbsent(key, new String[] {value}) == null) {
                    return;
                }
            } else if (contains(old, value)) {
                return;
            } else {
                int keep = Math.min(old.length, REMEMBERED - 1);
                String[] next = new String[keep + 1];
                System.arraycopy(old, old.length - keep, next, 0, keep);
                next[keep] = value;
                if (map.replace(key, old, next)) {
                    return;
                }
            }
        }
    }

    private static boolean contains(String[] values, String value) {
        for (int i = 0; values != null && i < values.length; i++) {
            if (values[i].equals(value)) {
                return true;
            }
        }
        return false;
    }

    private static String requested(String name, String literal, int port) {
        return name == null ? null : literal + ':' + port;
    }

    private static boolean isZero(byte[] address) {
        for (int i = 0; i < address.length; i++) {
            if (address[i] != 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isHere(String host) {
        return contains(HERE, host);
    }

    private boolean isOfThisMachine(String host) {
        if (Host.isLoopback(host)) {
            return true;
        }
        String[] found = Host.isAddress(host) ? new String[] {host} : addresses.get(host);
        for (int i = 0; found != null && i < found.length; i++) {
            try {
                InetAddress address = InetAddress.getByName(found[i]);
                if (NetworkInterface.getByInetAddress(address) != null) {
                    return true;
                }
            } catch (UnknownHostException | SocketException notOurs) {
                continue;
            }
        }
        return false;
    }

    private String ownName() {
        String name = ownName;
        if (name == null) {
            try (FileInputStream in = new FileInputStream("/proc/sys/kernel/hostname")) {
                name = Host.canonical(new String(in.readAllBytes(), StandardCharsets.US_ASCII).trim());
            } catch (IOException unknown) {
                name = "";
            }
            ownName = name;
        }
        return name;
    }
}
