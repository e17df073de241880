package dev.klock.cli.learn;

import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Changes the scope in a manifest's text, line by line, and leaves all else as somebody has written it. Immutable. */
public final class ScopeText {
    private static final Pattern ITEM = Pattern.compile("(\\s*)-(\\s.*)?");
    private static final Pattern SCOPE = Pattern.compile("\\s*[\"']?scope[\"']?\\s*:.*");
    private static final Pattern EMPTY = Pattern.compile("(\\s*)scope:\\s*\\[\\s*\\]\\s*(#.*)?");

    /** The text cannot be changed in this way. */
    public static final class FlowStyle extends Exception {
        private static final long serialVersionUID = 1L;

        FlowStyle(String message) {
            super(message);
        }
    }

    private final List<String> text;
    private final Manifest manifest;

    /** @param text what {@code manifest} was read from, by lines */
    public ScopeText(List<String> text, Manifest manifest) {
        this.text = List.copyOf(text);
        this.manifest = manifest;
    }

    /** With {@code items}, as of {@link ManifestWriter#items}, behind the last line of the scope. */
    public List<String> with(List<String> items) throws FlowStyle {
        List<String> changed = new ArrayList<>(text);
        List<Line> scope = manifest.scope();
        int at;
        String indent;
        if (scope.isEmpty()) {
            at = empty();
            Matcher empty = EMPTY.matcher(text.get(at));
            empty.matches();
            indent = empty.group(1) + "  ";
            changed.set(at, empty.group(1) + "scope:" + (empty.group(2) == null ? "" : " " + empty.group(2)));
            at++;
        } else {
            int last = 0;
            for (int i = 0; i < scope.size(); i++) {
                last = Math.max(last, dash(scope.get(i)));
            }
            at = end(last);
            indent = indent(last);
        }
        for (String item : items) {
            changed.add(at++, indent + item);
        }
        return changed;
    }

    /** Without these lines of the scope, and the comments right above them. */
    public List<String> without(Set<Line> lines) throws FlowStyle {
        Set<Integer> gone = new HashSet<>();
        for (Line line : lines) {
            int from = dash(line);
            String indent = indent(from);
            for (int i = from; i < end(from); i++) {
                gone.add(i);
            }
            for (int i = from - 1; i >= 0 && text.get(i).startsWith(indent + "#"); i--) {
                gone.add(i);
            }
        }
        boolean none = lines.size() == manifest.scope().size();
        List<String> changed = new ArrayList<>();
        for (int i = 0; i < text.size(); i++) {
            if (!gone.contains(i)) {
                changed.add(none && text.get(i).matches("\\s*scope:\\s*(#.*)?") ? text.get(i).replaceFirst("scope:", "scope: []") : text.get(i));
            }
        }
        return changed;
    }

    private int empty() throws FlowStyle {
        for (int i = 0; i < text.size(); i++) {
            if (EMPTY.matcher(text.get(i)).matches()) {
                return i;
            }
        }
        throw flow();
    }

    /** Where the item begins, from 0. */
    private int dash(Line line) throws FlowStyle {
        for (int at = line.line() - 1; at >= 0 && at < text.size() && !SCOPE.matcher(text.get(at)).matches(); at--) {
            Matcher item = ITEM.matcher(text.get(at));
            if (item.matches() && (at == line.line() - 1 || item.group(1).length() < leading(text.get(line.line() - 1)))) {
                return at;
            }
        }
        throw flow();
    }

    private static int leading(String line) {
        int in = 0;
        while (in < line.length() && line.charAt(in) == ' ') {
            in++;
        }
        return in;
    }

    private String indent(int dash) {
        String line = text.get(dash);
        return line.substring(0, line.indexOf('-'));
    }

    /** Behind the item that begins at {@code dash}: its lines are further in. */
    private int end(int dash) {
        int indent = indent(dash).length();
        int end = dash + 1;
        for (int i = dash + 1; i < text.size(); i++) {
            String line = text.get(i);
            int in = leading(line);
            if (in <= indent && in < line.length()) {
                break;
            }
            end = in == line.length() ? end : i + 1;
        }
        return end;
    }

    private FlowStyle flow() {
        return new FlowStyle("the scope of " + manifest.file() + (manifest.file().endsWith(".json") ? " is JSON, which is not changed here" : " is not written one item a line, so it is not changed here"));
    }
}
