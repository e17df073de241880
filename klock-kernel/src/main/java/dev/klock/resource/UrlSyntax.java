package dev.klock.resource;

/**
 * The canonical form of a URL resource: {@code protocol://host[:port][/path]}, protocol in lower case, {@link Host}'s spelling of the
 * host, no default port, no dot segments, a path of at least {@code /} for http and https, none for tcp, udp and dns (C16, C49). No
 * query: it is never compared and may hold secrets.
 */
final class UrlSyntax {
    private static final String EXAMPLE = "write URL:protocol://host[:port][/path], such as URL:https://example.com/api or URL:tcp://localhost:5432";

    private UrlSyntax() {
    }

    /** {@link #canonical} of what stands before a pattern's {@code /**}: without the slash that ends it. */
    static String canonicalTree(String url) {
        String whole = canonical(url.concat("/"));
        if (!whole.endsWith("/")) {
            throw wrong(url.concat("/**"), "has a path", "write URL:" + whole);
        }
        return whole.substring(0, whole.length() - 1);
    }

    static String canonical(String url) {
        int colon = url.indexOf("://");
        if (colon <= 0) {
            throw wrong(url, "has no protocol://", EXAMPLE);
        }
        String protocol = Host.lower(url.substring(0, colon));
        for (int i = 0; i < protocol.length(); i++) {
            char c = protocol.charAt(i);
            if (!(c >= 'a' && c <= 'z') && (i == 0 || !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.')) {
                throw wrong(url, "has no protocol://", EXAMPLE);
            }
        }
        int hash = url.indexOf('#');
        if (hash >= 0) {
            throw wrong(url, "has a fragment, which is never sent", "write URL:" + url.substring(0, hash));
        }
        int from = colon + 3;
        int end = from;
        while (end < url.length() && url.charAt(end) != '/' && url.charAt(end) != '?') {
            end++;
        }
        String authority = url.substring(from, end);
        String rest = url.substring(end);
        if (authority.indexOf('@') >= 0) {
            // the value is left out of the message: it may hold a password
            throw new ResourceSyntaxException("a URL holds a user name or password before @", "leave it out: URL:" + protocol + "://"
                    + authority.substring(authority.lastIndexOf('@') + 1) + rest);
        }
        int portColon = authority.lastIndexOf(':');
        if (portColon >= 0 && authority.indexOf(']', portColon) >= 0) {
            portColon = -1;
        }
        String host = Host.lower(portColon < 0 ? authority : authority.substring(0, portColon));
        String port = portColon < 0 ? "" : authority.substring(portColon + 1);
        if (host.isEmpty()) {
            throw wrong(url, "has no host", EXAMPLE);
        }
        refuseInHost(url, host);
        host = Host.canonical(host);
        String canonicalPort = port(url, port, protocol);
        boolean dns = protocol.equals("dns");
        boolean pathless = dns || protocol.equals("tcp") || protocol.equals("udp");
        if (dns && !canonicalPort.isEmpty()) {
            throw wrong(url, "has a port, but a name is looked up whatever the port", "write URL:dns://" + host);
        }
        if (pathless && (canonicalPort.isEmpty() && !dns || !rest.isEmpty() && !rest.equals("/"))) {
            throw wrong(url, canonicalPort.isEmpty() && !dns ? "has no port" : "has a path", "write URL:" + protocol + "://" + host
                    + (dns ? "" : canonicalPort.isEmpty() ? ":PORT" : ":" + canonicalPort));
        }
        StringBuilder b = new StringBuilder(url.length() + 1).append(protocol).append("://").append(host);
        if (!canonicalPort.isEmpty()) {
            b.append(':').append(canonicalPort);
        }
        if (pathless) {
            return b.toString();
        }
        int question = rest.indexOf('?');
        if (question >= 0) {
            throw wrong(url.substring(0, end + question), "has a query, which is never compared", "leave it out: URL:" + b
                    + (question == 0 ? "/" : rest.substring(0, question)));
        }
        if (rest.isEmpty() && isWeb(protocol)) {
            rest = "/";
        }
        return b.append(withoutDots(decoded(rest))).toString();
    }

    private static void refuseInHost(String url, String host) {
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            if (c > 0x7E) {
                throw wrong(url, "has a host outside ASCII", "write the host's xn-- form");
            }
            boolean ipv6 = host.charAt(0) == '[';
            boolean fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
                    || (ipv6 && (c == ':' || c == '%' || (c == '[' && i == 0) || (c == ']' && i == host.length() - 1)));
            if (!fine) {
                throw wrong(url, "has the character " + ResourceSyntax.quote(String.valueOf(c)) + " in its host", EXAMPLE);
            }
        }
    }

    private static String port(String url, String port, String protocol) {
        int value = 0;
        for (int i = 0; i < port.length(); i++) {
            char c = port.charAt(i);
            if (c < '0' || c > '9' || i == 5) {
                throw wrong(url, "has the port " + ResourceSyntax.quote(port), "write a number from 0 to 65535");
            }
            value = value * 10 + (c - '0');
        }
        if (value > 65535) {
            throw wrong(url, "has the port " + ResourceSyntax.quote(port), "write a number from 0 to 65535");
        }
        if (port.isEmpty() || value == defaultPort(protocol)) {
            return "";
        }
        return Integer.toString(value);
    }

    /** The port that {@code protocol} means when none is given; -1 if it has none. */
    static int defaultPort(String protocol) {
        switch (protocol) {
            case "http":
            case "ws":
                return 80;
            case "https":
            case "wss":
                return 443;
            case "ftp":
                return 21;
            case "ldap":
                return 389;
            case "ldaps":
                return 636;
            case "rmi":
                return 1099;
            default:
                return -1;
        }
    }

    static boolean isWeb(String protocol) {
        return protocol.equals("http") || protocol.equals("https") || protocol.equals("ws") || protocol.equals("wss");
    }

    /**
     * A path with every {@code %XX} resolved that servers may resolve: letters, digits, {@code - . _ ~} and both slashes. A backslash is
     * a slash, as many servers have it. So {@code /a/..%2fb} cannot be below {@code /a}.
     */
    static String decoded(String path) {
        if (path.indexOf('%') < 0 && path.indexOf('\\') < 0) {
            return path;
        }
        StringBuilder b = new StringBuilder(path.length());
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c == '%' && i + 2 < path.length()) {
                int high = Character.digit(path.charAt(i + 1), 16);
                int low = Character.digit(path.charAt(i + 2), 16);
                char real = (char) (high << 4 | low);
                if (high >= 0 && low >= 0 && (real >= 'a' && real <= 'z' || real >= 'A' && real <= 'Z' || real >= '0' && real <= '9'
                        || real == '-' || real == '.' || real == '_' || real == '~' || real == '/' || real == '\\')) {
                    c = real;
                    i += 2;
                }
            }
            b.append(c == '\\' ? '/' : c);
        }
        return b.toString();
    }

    /** RFC 3986's removal of dot segments; doubled and trailing slashes mean something in a URL and stay. */
    static String withoutDots(String path) {
        if (path.indexOf("/.") < 0) {
            return path;
        }
        StringBuilder b = new StringBuilder(path.length());
        int from = 0;
        while (from < path.length()) {
            int next = path.indexOf('/', from + 1);
            int to = next < 0 ? path.length() : next;
            boolean last = to == path.length();
            // many servers drop parameters before they look for dots
            int parameters = path.indexOf(';', from);
            String segment = path.substring(from, to);
            String bare = parameters < 0 || parameters >= to ? segment : path.substring(from, parameters);
            if (bare.equals("/..")) {
                b.setLength(Math.max(0, b.lastIndexOf("/")));
                if (last) {
                    b.append('/');
                }
            } else if (bare.equals("/.")) {
                if (last) {
                    b.append('/');
                }
            } else {
                b.append(segment);
            }
            from = to;
        }
        return b.length() == 0 ? "/" : b.toString();
    }

    /**
     * The path as servers read it that drop parameters and doubled slashes before they look for dots: {@code /a//../b} as {@code /b}; null if there
     * are no dots for which that could matter.
     */
    static String collapsed(String path) {
        String decoded = decoded(path);
        if (decoded.indexOf("/.") < 0 || decoded.indexOf("//") < 0 && decoded.indexOf(';') < 0) {
            return null;
        }
        StringBuilder b = new StringBuilder(decoded.length());
        int from = 0;
        while (from < decoded.length()) {
            int next = decoded.indexOf('/', from + 1);
            int to = next < 0 ? decoded.length() : next;
            int parameters = decoded.indexOf(';', from);
            String segment = decoded.substring(from, parameters < 0 || parameters > to ? to : parameters);
            if (!segment.equals("/") || to == decoded.length()) {
                b.append(segment);
            }
            from = to;
        }
        String collapsed = withoutDots(b.toString());
        return collapsed.equals(withoutDots(decoded)) ? null : collapsed;
    }

    private static ResourceSyntaxException wrong(String url, String problem, String remedy) {
        return new ResourceSyntaxException(ResourceSyntax.quote("URL:" + url) + " " + problem, remedy);
    }
}
