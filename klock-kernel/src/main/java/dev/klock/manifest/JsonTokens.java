package dev.klock.manifest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.JsonTokenId;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;

/** The tokens of JSON. */
final class JsonTokens implements Tokens {
    private static final int MAX_STRING = 64 * 1024;
    private static final int MAX_NUMBER = 100;

    private final JsonParser parser;
    private int line;
    private int column;

    JsonTokens(ManifestText text, int maxNesting) throws Problem {
        StreamReadConstraints constraints = StreamReadConstraints.builder().maxNestingDepth(maxNesting).maxStringLength(MAX_STRING)
                .maxNameLength(MAX_STRING).maxNumberLength(MAX_NUMBER).build();
        try {
            parser = JsonFactory.builder().streamReadConstraints(constraints).build().createParser(text.chars(), text.start(), text.length());
        } catch (IOException e) {
            throw problem(e);
        }
    }

    @Override
    public Token next() throws Problem {
        try {
            JsonToken token = parser.nextToken();
            JsonLocation at = parser.currentTokenLocation();
            line = at.getLineNr();
            column = at.getColumnNr();
            return token == null ? null : token(token.id());
        } catch (IOException e) {
            throw problem(e);
        }
    }

    private static Token token(int id) {
        switch (id) {
            case JsonTokenId.ID_START_OBJECT:
                return Token.MAPPING;
            case JsonTokenId.ID_END_OBJECT:
                return Token.MAPPING_END;
            case JsonTokenId.ID_START_ARRAY:
                return Token.LIST;
            case JsonTokenId.ID_END_ARRAY:
                return Token.LIST_END;
            case JsonTokenId.ID_FIELD_NAME:
                return Token.KEY;
            case JsonTokenId.ID_NUMBER_INT:
                return Token.INTEGER;
            case JsonTokenId.ID_NUMBER_FLOAT:
                return Token.FRACTION;
            case JsonTokenId.ID_TRUE:
                return Token.TRUE;
            case JsonTokenId.ID_FALSE:
                return Token.FALSE;
            case JsonTokenId.ID_NULL:
                return Token.NULL;
            default:
                return Token.TEXT;
        }
    }

    @Override
    public String text() throws Problem {
        try {
            return parser.getText();
        } catch (IOException e) {
            throw problem(e);
        }
    }

    @Override
    public int line() {
        return line;
    }

    @Override
    public int column() {
        return column;
    }

    @Override
    public int endLine() {
        return line;
    }

    private static Problem problem(IOException e) {
        String problem = e.getMessage();
        JsonLocation at = null;
        if (e instanceof JsonProcessingException) {
            problem = ((JsonProcessingException) e).getOriginalMessage().replaceAll("\\[Source: [^;]*; line: (\\d+), column: (\\d+)\\]", "line $1, column $2");
            at = ((JsonProcessingException) e).getLocation();
        }
        return new Problem(at == null ? 0 : at.getLineNr(), at == null ? 0 : at.getColumnNr(), "is not JSON: " + problem,
                "see what stands there and just before: quotes, commas, brackets");
    }
}
