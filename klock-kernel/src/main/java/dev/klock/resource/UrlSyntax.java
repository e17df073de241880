package dev.klock.resource;

/**
 * The canonical form of a URL resource: {@code protocol://host[:port][/path][?query]}, protocol and host in lower case, no default
 * port, no dot segments, a path of at least {@code /} for http and https, none for tcp and udp (C16, C49).
 */
final class UrlSyntax {
    private static final String EXAMPLE = "write URL:protocol://host[:port][/path], such as URL:https://example.com/api or URL:tcp://localhost:5432";

    private UrlSyntax() {
    }

    static String canonical(String url) {
        int colon = url.indexOf("://");
        if (colon <= 0) {
            throw wrong(url, "has no protocol://", EXAMPLE);
        }
        String protocol = lower(url.substring(0, colon));
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
        String host = lower(portColon < 0 ? authority : authority.substring(0, portColon));
        String port = portColon < 0 ? "" : authority.substring(portColon + 1);
        if (host.isEmpty()) {
            throw wrong(url, "has no host", EXAMPLE);
        }
        refuseInHost(url, host);
        String canonicalPort = port(url, port, protocol);
        boolean pathless = protocol.equals("tcp") || protocol.equals("udp");
        if (pathless && (canonicalPort.isEmpty() || !rest.isEmpty() && !rest.equals("/"))) {
            throw wrong(url, canonicalPort.isEmpty() ? "has no port" : "has a path", "write URL:" + protocol + "://" + host + ":"
                    + (canonicalPort.isEmpty() ? "PORT" : canonicalPort));
        }
        StringBuilder b = new StringBuilder(url.length() + 1).append(protocol).append("://").append(host);
        if (!canonicalPort.isEmpty()) {
            b.append(':').append(canonicalPort);
        }
        if (pathless) {
            return b.toString();
        }
        int question = rest.indexOf('?');
        String path = question < 0 ? rest : rest.substring(0, question);
        if (path.isEmpty() && (protocol.startsWith("http") || question >= 0)) {
            path = "/";
        }
        return b.append(withoutDots(path)).append(question < 0 ? "" : rest.substring(question)).toString();
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
        if (port.isEmpty() || (protocol.equals("http") && value == 80) || (protocol.equals("https") && value == 443)) {
            return "";
        }
        return Integer.toString(value);
    }

    /** RFC 3986's removal of dot segments; doubled and trailing slashes mean something in a URL and stay. */
    private static String withoutDots(String path) {
        if (path.indexOf("/.") < 0) {
            return path;
        }
        StringBuilder b = new StringBuilder(path.length());
        int from = 0;
        while (from < path.length()) {
            int next = path.indexOf('/', from + 1);
            int to = next < 0 ? path.length() : next;
            String segment = path.substring(from, to);
            boolean last = to == path.length();
            if (segment.equals("/..")) {
                b.setLength(Math.max(0, b.lastIndexOf("/")));
                if (last) {
                    b.append('/');
                }
            } else if (segment.equals("/.")) {
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

    private static String lower(String s) {
        StringBuilder b = new StringBuilder(s);
        for (int i = 0; i < b.length(); i++) {
            char c = b.charAt(i);
            if (c >= 'A' && c <= 'Z') {
                b.setCharAt(i, (char) (c + 32));
            }
        }
        return b.toString();
    }

    private static ResourceSyntaxException wrong(String url, String problem, String remedy) {
        return new ResourceSyntaxException(ResourceSyntax.quote("URL:" + url) + " " + problem, remedy);
    }
}
