package dev.klock.cli.report;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Writes HTML or XML in which text stays text: there is no way to write any that is not escaped, but for what {@link #literal} takes, which is the
 * program's own. Not thread-safe.
 */
final class Markup {
    private final Writer out;
    private final Deque<String> open = new ArrayDeque<>();

    Markup(Writer out) {
        this.out = out;
    }

    /** Opens {@code element} with attributes, each a name and its value; one whose value is null is left out. */
    Markup open(String element, String... attributes) throws IOException {
        start(element, attributes);
        out.write('>');
        open.push(element);
        return this;
    }

    /** An element without content. */
    Markup empty(String element, String... attributes) throws IOException {
        start(element, attributes);
        out.write("/>");
        return this;
    }

    private void start(String element, String... attributes) throws IOException {
        out.write('<');
        out.write(element);
        for (int i = 0; i < attributes.length; i += 2) {
            if (attributes[i + 1] != null) {
                out.write(' ');
                out.write(attributes[i]);
                out.write("=\"");
                escape(Visible.of(attributes[i + 1], Integer.MAX_VALUE, false));
                out.write('"');
            }
        }
    }

    /** Closes what was opened last. */
    Markup close() throws IOException {
        out.write("</");
        out.write(open.pop());
        out.write('>');
        return this;
    }

    /** Text as {@link Visible#name}. */
    Markup text(String text) throws IOException {
        escape(Visible.name(text));
        return this;
    }

    /** Text as {@link Visible#line}. */
    Markup line(String text) throws IOException {
        escape(Visible.line(text));
        return this;
    }

    /** An element that holds text only. */
    Markup element(String element, String text, String... attributes) throws IOException {
        return open(element, attributes).text(text).close();
    }

    /** A line feed, where it means nothing, or is meant. */
    Markup feed() throws IOException {
        out.write('\n');
        return this;
    }

    /** What stands in this program. */
    Markup literal(String own) throws IOException {
        out.write(own);
        return this;
    }

    /** All of it is ASCII then, so that no encoding can spoil it. */
    private void escape(String text) throws IOException {
        for (int i = 0; i < text.length();) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            switch (c) {
                case '&': out.write("&amp;"); break;
                case '<': out.write("&lt;"); break;
                case '>': out.write("&gt;"); break;
                case '"': out.write("&quot;"); break;
                case '\'': out.write("&#39;"); break;
                default:
                    if (c < 0x7f) {
                        out.write(c);
                    } else {
                        out.write("&#x" + Integer.toHexString(c) + ';');
                    }
                    break;
            }
        }
    }
}
