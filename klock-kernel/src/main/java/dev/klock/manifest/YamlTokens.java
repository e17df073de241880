package dev.klock.manifest;

import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.AliasEvent;
import org.yaml.snakeyaml.events.CollectionStartEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.ScalarEvent;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;

/**
 * The tokens of YAML 1.1, without what makes two values one or hides what a value is: aliases, anchors and tags. A key is always text,
 * whatever it looks like.
 */
final class YamlTokens implements Tokens {
    private static final String REMEDY = "indent with spaces, and quote a value that holds ': ' or ' #' or starts with a special character";
    /** A longer plain scalar is text, whatever it looks like. */
    private static final int MAX_NUMBER = 1024;

    private final ParserImpl parser;
    /** Whether what is open is a mapping; index 0 is the whole text, which is none. */
    private final boolean[] mapping;
    private int depth;
    private Event event;
    private Token token;

    YamlTokens(ManifestText text, int maxNesting) {
        LoaderOptions limits = new LoaderOptions();
        // the size was judged in bytes already; this counts code points
        limits.setCodePointLimit(Integer.MAX_VALUE);
        parser = new ParserImpl(new StreamReader(new String(text.chars(), text.start(), text.length())), limits);
        mapping = new boolean[maxNesting + 1];
    }

    @Override
    public Token next() throws Problem {
        boolean key = mapping[depth] && token != Token.KEY;
        Event.ID id;
        do {
            event = event();
            id = event.getEventId();
        } while (id == Event.ID.StreamStart || id == Event.ID.DocumentStart || id == Event.ID.DocumentEnd);
        token = token(id, key);
        return token;
    }

    private Event event() throws Problem {
        try {
            return parser.getEvent();
        } catch (RuntimeException e) {
            throw problem(e);
        }
    }

    private Token token(Event.ID id, boolean key) throws Problem {
        if (id == Event.ID.StreamEnd) {
            return null;
        }
        if (id == Event.ID.MappingEnd || id == Event.ID.SequenceEnd) {
            depth--;
            return id == Event.ID.MappingEnd ? Token.MAPPING_END : Token.LIST_END;
        }
        if (key && id != Event.ID.Scalar) {
            Mark end = event.getEndMark();
            throw new Problem(end.getLine() + 1, end.getColumn() + 1, "is not YAML: a key is " + (id == Event.ID.MappingStart ? "a mapping"
                    : id == Event.ID.SequenceStart ? "a list" : "not a text"), REMEDY);
        }
        if (id == Event.ID.Alias) {
            throw here("uses the YAML alias *" + ManifestParse.shorten(((AliasEvent) event).getAnchor()), "write the value itself");
        }
        if (id == Event.ID.Scalar) {
            ScalarEvent scalar = (ScalarEvent) event;
            judge(scalar.getAnchor(), scalar.getTag());
            return key ? Token.KEY : scalar.isPlain() ? plain(scalar.getValue()) : Token.TEXT;
        }
        if (++depth == mapping.length) {
            throw new Problem(0, 0, "is not YAML: Document nesting depth (" + depth + ") exceeds the maximum allowed (" + (depth - 1) + ")", REMEDY);
        }
        mapping[depth] = id == Event.ID.MappingStart;
        CollectionStartEvent start = (CollectionStartEvent) event;
        judge(start.getAnchor(), start.getTag());
        return mapping[depth] ? Token.MAPPING : Token.LIST;
    }

    private void judge(String anchor, String tag) throws Problem {
        if (anchor != null) {
            throw here("has the YAML anchor &" + ManifestParse.shorten(anchor), "leave it out: values are not shared");
        }
        if (tag != null) {
            throw here("has a YAML tag", "leave it out: a value's type is plain to see");
        }
    }

    /** What a scalar without quotes is: by YAML 1.1, but that a number to the base of 60 without a fraction is text. */
    static Token plain(String text) {
        switch (text) {
            case "":
            case "~":
            case "null":
            case "Null":
            case "NULL":
                return Token.NULL;
            case "yes":
            case "Yes":
            case "YES":
            case "true":
            case "True":
            case "TRUE":
            case "on":
            case "On":
            case "ON":
                return Token.TRUE;
            case "no":
            case "No":
            case "NO":
            case "false":
            case "False":
            case "FALSE":
            case "off":
            case "Off":
            case "OFF":
                return Token.FALSE;
            default:
                char first = text.charAt(0);
                return (first >= '0' && first <= '9' || first == '-' || first == '+' || first == '.') && text.length() <= MAX_NUMBER
                        ? number(text, first == '-' || first == '+' ? 1 : 0) : Token.TEXT;
        }
    }

    /** What {@code text} is, whose sign ends at {@code from}. */
    private static Token number(String text, int from) {
        char first = at(text, from);
        char second = at(text, from + 1);
        if (first == '.') {
            switch (text.substring(from + 1)) {
                case "inf":
                case "Inf":
                case "INF":
                    return Token.FRACTION;
                case "nan":
                case "NaN":
                case "NAN":
                    return from == 0 ? Token.FRACTION : Token.TEXT;
                default:
                    return isDigit(second) || second == '_' ? fraction(text, digits(text, from + 1)) : Token.TEXT;
            }
        }
        if (!isDigit(first)) {
            return Token.TEXT;
        }
        if (first == '0' && (second == 'x' || second == 'b')) {
            return isWhole(text, from + 2, second == 'x' ? 16 : 2) ? Token.INTEGER : Token.TEXT;
        }
        int end = digits(text, from);
        if (end == text.length()) {
            return first != '0' || end == from + 1 || isWhole(text, from + 1, 8) ? Token.INTEGER : Token.TEXT;
        }
        if (text.charAt(end) == '.') {
            return fraction(text, digits(text, end + 1));
        }
        return text.charAt(end) == ':' ? sexagesimal(text, end) : fraction(text, end);
    }

    /** A number before whose end at {@code from} an exponent may be. */
    private static Token fraction(String text, int from) {
        int i = from;
        if (at(text, i) == 'e' || at(text, i) == 'E') {
            i += at(text, i + 1) == '-' || at(text, i + 1) == '+' ? 2 : 1;
            int digits = i;
            while (isDigit(at(text, i))) {
                i++;
            }
            if (i == digits) {
                return Token.TEXT;
            }
        }
        return i == text.length() ? Token.FRACTION : Token.TEXT;
    }

    /** {@code 1:30.5}, whose first colon is at {@code from}. */
    private static Token sexagesimal(String text, int from) {
        int i = from;
        while (at(text, i) == ':') {
            if (!isDigit(at(text, i + 1))) {
                return Token.TEXT;
            }
            i += at(text, i + 1) <= '5' && isDigit(at(text, i + 2)) ? 3 : 2;
        }
        return at(text, i) == '.' && digits(text, i + 1) == text.length() ? Token.FRACTION : Token.TEXT;
    }

    /** Whether all from {@code from} on are digits of {@code base}, at least one, or underscores. */
    private static boolean isWhole(String text, int from, int base) {
        boolean digit = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '_') {
                int value = isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : base;
                if (value >= base) {
                    return false;
                }
                digit = true;
            }
        }
        return digit;
    }

    /** Where the digits and underscores that start at {@code from} end. */
    private static int digits(String text, int from) {
        int i = from;
        while (isDigit(at(text, i)) || at(text, i) == '_') {
            i++;
        }
        return i;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static char at(String text, int index) {
        return index < text.length() ? text.charAt(index) : 0;
    }

    @Override
    public String text() {
        return ((ScalarEvent) event).getValue();
    }

    @Override
    public int line() {
        return event.getStartMark().getLine() + 1;
    }

    @Override
    public int column() {
        return event.getStartMark().getColumn() + 1;
    }

    @Override
    public int endLine() {
        return event.getEndMark().getLine() + 1;
    }

    private Problem here(String problem, String remedy) {
        return new Problem(line(), column(), problem, remedy);
    }

    /** What SnakeYAML found wrong, if it is that; otherwise {@code e} is thrown on. */
    private Problem problem(RuntimeException e) {
        Mark mark = event == null ? null : event.getEndMark();
        String problem = e.getMessage();
        if (e instanceof MarkedYAMLException) {
            MarkedYAMLException marked = (MarkedYAMLException) e;
            mark = marked.getProblemMark() == null ? marked.getContextMark() : marked.getProblemMark();
            problem = marked.getProblem() == null ? marked.getContext() : marked.getProblem();
        } else if (e instanceof NumberFormatException) {
            // in a directive
            problem = "Malformed Number token: failed to tokenize due to (" + e.getClass().getName() + "): " + problem;
        } else if (!(e instanceof YAMLException)) {
            throw e;
        }
        return new Problem(mark == null ? 0 : mark.getLine() + 1, mark == null ? 0 : mark.getColumn() + 1, "is not YAML: " + problem, REMEDY);
    }
}
