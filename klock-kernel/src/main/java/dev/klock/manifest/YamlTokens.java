package dev.klock.manifest;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/** All that is special to YAML, apart so that a JSON manifest loads none of it. */
final class YamlTokens {
    private YamlTokens() {
    }

    static JsonParser open(ManifestText text, StreamReadConstraints constraints) throws IOException {
        LoaderOptions limits = new LoaderOptions();
        // the size was judged in bytes already; this counts code points
        limits.setCodePointLimit(Integer.MAX_VALUE);
        YAMLFactory factory = YAMLFactory.builder().enable(YAMLParser.Feature.EMPTY_STRING_AS_NULL).streamReadConstraints(constraints)
                .loaderOptions(limits).build();
        return factory.createParser(text.chars(), text.start(), text.length());
    }

    static boolean isAlias(JsonParser parser) {
        return ((YAMLParser) parser).isCurrentAlias();
    }

    /** What the YAML parser found wrong, null when {@code e} does not come from it. */
    static ManifestException syntaxError(String file, Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof MarkedYAMLException) {
                MarkedYAMLException marked = (MarkedYAMLException) t;
                Mark mark = marked.getProblemMark() == null ? marked.getContextMark() : marked.getProblemMark();
                String problem = marked.getProblem() == null ? marked.getContext() : marked.getProblem();
                return new ManifestException(file, mark == null ? 0 : mark.getLine() + 1, mark == null ? 0 : mark.getColumn() + 1,
                        "is not YAML: ".concat(String.valueOf(ManifestParse.oneLine(problem))), null);
            }
        }
        return null;
    }
}
