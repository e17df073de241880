package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;

/**
 * What lines about URLs say (C49). A program is seen at three levels, and one line may count at each:
 *
 * <ul>
 *   <li>looking a name up, {@code dns://host}: allowed by any line that names the host;
 *   <li>an end point, {@code tcp://host:port} or {@code udp://host:port}: besides a line of just that, a line of any protocol over TCP
 *       with that host and port allows to connect (CONSUMES) and, if it is a PROVIDES line, to listen;
 *   <li>a request, {@code https://host/path}: lines of its path, and a {@code tcp://host:port} line, which covers every method there.
 * </ul>
 *
 * <p>{@code ws} and {@code wss} are {@code http} and {@code https}: a WebSocket begins as a request of those. PROVIDES on
 * {@code tcp://0.0.0.0:port} covers listening on each of the machine's addresses. Denying CONSUMES of a whole host ({@code
 * https://host/**}) or of an end point stops connecting to it; denying only a path stops requests.
 *
 * <p>Immutable. Looks at every URL line, a few dozen at most; who asks keeps the answer.
 */
final class UrlRules {
    private static final int PREDICATES = 6;
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int PROVIDES = Predicate.PROVIDES.ordinal();
    private static final int LISTEN = 1 << PROVIDES;
    private static final String WILDCARD = "0.0.0.0";

    private final Parts[] allows;
    private final Parts[] denies;

    private UrlRules(Parts[] allows, Parts[] denies) {
        this.allows = allows;
        this.denies = denies;
    }

    /** The rules about URLs among {@code allows} and {@code denies}; null if there are none. */
    static UrlRules of(Scope.Rule[] allows, Scope.Rule[] denies) {
        Parts[] allowed = parts(allows);
        Parts[] denied = parts(denies);
        return allowed.length == 0 && denied.length == 0 ? null : new UrlRules(allowed, denied);
    }

    private static Parts[] parts(Scope.Rule[] rules) {
        int n = 0;
        for (int i = 0; i < rules.length; i++) {
            n += rules[i].resource.scheme().equals(Scope.URL) ? 1 : 0;
        }
        Parts[] parts = new Parts[n];
        n = 0;
        for (int i = 0; i < rules.length; i++) {
            if (rules[i].resource.scheme().equals(Scope.URL)) {
                parts[n++] = new Parts(rules[i].resource, rules[i]);
            }
        }
        return parts;
    }

    /** What is said about the URL {@code path}, as {@link Grant} keeps it. */
    Grant grant(String path) {
        Parts asked = new Parts(Resource.of(Scope.URL, path, Resource.Form.EXACT), null);
        int[] decisions = new int[Grant.SIZE];
        for (int i = 0; i < 2 * PREDICATES; i++) {
            decisions[i] = Scope.NONE;
        }
        boolean[] direct = new boolean[PREDICATES];
        int[] length = new int[PREDICATES];
        for (int i = 0; i < allows.length; i++) {
            Parts line = allows[i];
            int covered = covered(line, asked, false);
            int made = covered | covered(line, asked, true);
            if (covered != 0) {
                decisions[Grant.SIZE - 1] |= line.rule.predicate.bit();
            }
            for (int p = 0; p < PREDICATES; p++) {
                boolean names = line.rule.predicate.ordinal() == p;
                if ((covered & 1 << p) != 0 && (decisions[p] == Scope.NONE || names && !direct[p]
                        || names == direct[p] && line.path.length() > length[p])) {
                    decisions[p] = line.rule.line;
                    direct[p] = names;
                    length[p] = line.path.length();
                }
                if ((made & 1 << p) != 0 && decisions[PREDICATES + p] == Scope.NONE) {
                    decisions[PREDICATES + p] = line.rule.line;
                }
            }
        }
        for (int i = 0; i < denies.length; i++) {
            int stopped = stopped(denies[i], asked);
            for (int p = 0; p < PREDICATES; p++) {
                if ((stopped & 1 << p) != 0 && !Scope.isDenied(decisions[p])) {
                    decisions[p] = Scope.FIRST_DENY - denies[i].rule.line;
                    decisions[PREDICATES + p] = decisions[p];
                }
            }
        }
        return new Grant(decisions, 0);
    }

    /** Whether any scope line names {@code host}. */
    boolean names(String host) {
        for (int i = 0; i < allows.length; i++) {
            if (allows[i].host.equals(host)) {
                return true;
            }
        }
        return false;
    }

    private static int covered(Parts line, Parts asked, boolean created) {
        int full = Cover.allows(line.rule.predicate, created);
        boolean sameHost = line.host.equals(asked.host);
        if (asked.protocol.equals("dns")) {
            return sameHost ? line.protocol.equals("dns") ? full : Cover.allows(Predicate.CONSUMES, created) : 0;
        }
        if (line.protocol.equals("dns") || line.port != asked.port) {
            return 0;
        }
        if (line.protocol.equals(asked.protocol) && sameHost) {
            return line.covers(asked.path) ? full : 0;
        }
        if (asked.isEndPoint()) {
            boolean carried = line.protocol.equals(asked.protocol) || asked.protocol.equals("tcp") && !line.protocol.equals("udp");
            boolean everywhere = line.host.equals(WILDCARD) && line.rule.predicate == Predicate.PROVIDES;
            if (!carried || !sameHost && !everywhere) {
                return 0;
            }
            return line.rule.predicate == Predicate.PROVIDES ? created ? full : LISTEN : Cover.allows(Predicate.CONSUMES, created);
        }
        // a request to an end point that is declared as such
        boolean tcp = line.protocol.equals("tcp") && sameHost;
        return !tcp ? 0 : line.rule.predicate == Predicate.PROVIDES ? created ? full : 0 : Cover.ALL & ~LISTEN;
    }

    private static int stopped(Parts line, Parts asked) {
        if (!line.host.equals(asked.host)) {
            return 0;
        }
        int full = Cover.stops(line.rule.predicate);
        if (line.protocol.equals(asked.protocol) && line.port == asked.port && line.covers(asked.path)) {
            return full;
        }
        if (line.protocol.equals("dns") || asked.protocol.equals("dns") || line.port != asked.port) {
            return 0;
        }
        if (line.protocol.equals("tcp") && !asked.isEndPoint()) {
            return line.rule.predicate == Predicate.CONSUMES ? Cover.ALL & ~LISTEN : full;
        }
        boolean wholeHost = line.subtree && line.path.isEmpty();
        return asked.protocol.equals("tcp") && wholeHost ? full & (1 << CONSUMES | LISTEN) : 0;
    }

    /** A URL taken apart. */
    private static final class Parts {
        final Scope.Rule rule;
        final String protocol;
        final String host;
        /** The protocol's own where none is given; -1 where there is none. */
        final int port;
        /** Of a pattern without the slash at its end. */
        final String path;
        final boolean subtree;

        Parts(Resource resource, Scope.Rule rule) {
            this.rule = rule;
            String text = resource.path();
            int colon = text.indexOf("://");
            String given = colon < 0 ? "" : text.substring(0, colon);
            protocol = given.equals("ws") ? "http" : given.equals("wss") ? "https" : given;
            int from = colon + 3;
            int slash = text.indexOf('/', from);
            int end = slash < 0 ? text.length() : slash;
            int portColon = text.lastIndexOf(':', end);
            boolean hasPort = portColon > from && text.indexOf(']', portColon) < 0 && portColon < end;
            host = text.substring(from, hasPort ? portColon : end);
            port = hasPort ? number(text, portColon + 1, end) : Resource.defaultPort(protocol);
            path = text.substring(end);
            subtree = resource.form() == Resource.Form.SUBTREE;
        }

        private static int number(String text, int from, int end) {
            int value = 0;
            for (int i = from; i < end; i++) {
                value = value * 10 + text.charAt(i) - '0';
            }
            return value;
        }

        boolean isEndPoint() {
            return protocol.equals("tcp") || protocol.equals("udp");
        }

        boolean covers(String other) {
            if (path.equals(other)) {
                return true;
            }
            return subtree && other.startsWith(path) && (path.isEmpty() || other.charAt(path.length()) == '/');
        }
    }
}
