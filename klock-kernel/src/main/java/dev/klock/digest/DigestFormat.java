package dev.klock.digest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.klock.kernel.Triple;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Writes digests as JSON, canonically: fields in the order of KLIS-8, no white space, whole numbers in decimal, so that one digest has one
 * text, and a signature can be over that text. The signature stands last and is over all before it.
 */
public final class DigestFormat {
    /** Deepest nesting of an agent's own context. */
    static final int MAX_NESTING = 32;

    static final int MAX_STRING = 1 << 20;

    /** Without symbol tables that outlive one document: it is read once in a process. */
    static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_NESTING)
                    .maxStringLength(MAX_STRING)
                    .maxNameLength(1024)
                    .maxNumberLength(100)
                    .build())
            .build();

    private DigestFormat() {}

    /**
     * The digest's text, not signed: for a place that only the trusted can write to.
     *
     * @throws IllegalStateException if it would be larger than {@link StateDigest#MAX_BYTES}
     */
    public static byte[] write(StateDigest digest) {
        return write(digest, null);
    }

    /**
     * The digest's text with its signature.
     *
     * @throws IllegalStateException if {@code key} cannot sign, or the text would be larger than {@link StateDigest#MAX_BYTES}
     */
    public static byte[] sign(StateDigest digest, DigestKey key) {
        byte[] signature = key.sign(write(digest));
        return write(digest, new String[] {
            key.algorithm(), Base64.getUrlEncoder().withoutPadding().encodeToString(signature),
        });
    }

    private static byte[] write(StateDigest digest, String[] signature) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(512);
        try (JsonGenerator g = JSON.createGenerator(out)) {
            g.writeStartObject();
            if (digest.hasIdentity()) {
                writeEnvelope(g, digest);
            } else {
                writeFields(g, digest.checkpoint());
            }
            if (digest.createdAtMs() != 0 || digest.retryAfterMs() != 0) {
                g.writeObjectFieldStart("timestamps");
                if (digest.createdAtMs() != 0) {
                    g.writeNumberField("created_at", digest.createdAtMs());
                }
                if (digest.retryAfterMs() != 0) {
                    g.writeNumberField("retry_after", digest.retryAfterMs());
                }
                g.writeEndObject();
            }
            if (digest.hasIdentity() && digest.checkpoint() != null) {
                g.writeObjectFieldStart("checkpoint");
                writeFields(g, digest.checkpoint());
                g.writeEndObject();
            }
            if (signature != null) {
                g.writeObjectFieldStart("signature");
                g.writeStringField("algorithm", signature[0]);
                g.writeStringField("value", signature[1]);
                g.writeEndObject();
            }
            g.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (out.size() > StateDigest.MAX_BYTES) {
            throw new IllegalStateException(
                    "a digest of " + out.size() + " bytes could not be read back; at most " + StateDigest.MAX_BYTES + " are allowed");
        }
        return out.toByteArray();
    }

    private static void writeEnvelope(JsonGenerator g, StateDigest digest) throws IOException {
        g.writeStringField("version", StateDigest.VERSION);
        g.writeObjectFieldStart("identity");
        g.writeStringField("agent_id", digest.agentId());
        if (digest.session() != null) {
            g.writeStringField("namespace", digest.session().namespace());
            g.writeStringField("session_id", digest.session().sessionId());
        }
        g.writeNumberField("priority_timestamp", digest.priorityMs());
        g.writeNumberField("epoch", digest.epoch());
        g.writeEndObject();
        g.writeObjectFieldStart("recovery");
        g.writeStringField("last_phase", digest.lastPhase().name());
        g.writeArrayFieldStart("pending_intents");
        for (String uri : digest.pendingIntents()) {
            g.writeString(uri);
        }
        g.writeEndArray();
        g.writeEndObject();
    }

    private static void writeFields(JsonGenerator g, Checkpoint c) throws IOException {
        g.writeStringField("checkpoint_id", c.checkpointId());
        if (c.resumePoint() != null) {
            g.writeStringField("resume_point", c.resumePoint());
        }
        g.writeFieldName("context");
        g.writeRawValue(c.contextJson());
        g.writeArrayFieldStart("intent_backlog");
        for (Triple t : c.intentBacklog()) {
            g.writeStartObject();
            g.writeStringField("predicate", t.predicate().name());
            g.writeStringField("resource", t.object().toString());
            g.writeFieldName("confidence");
            g.writeRawValue(decimal(t.confidence()));
            if (t.timestampMs() != 0) {
                g.writeNumberField("timestamp", t.timestampMs());
            }
            g.writeEndObject();
        }
        g.writeEndArray();
        g.writeStringField("resolution_strategy", c.resolution().name());
    }

    /** From 0 to 1 with at most six decimals, without the digits that differ between versions of Java. */
    private static String decimal(double confidence) {
        long millionths = Math.round(confidence * 1e6);
        if (millionths % 1_000_000 == 0) {
            return millionths == 0 ? "0" : "1";
        }
        String digits = Long.toString(1_000_000 + millionths).substring(1);
        int end = digits.length();
        while (digits.charAt(end - 1) == '0') {
            end--;
        }
        return "0." + digits.substring(0, end);
    }

    /** {@code json}, which must be one object, without white space; numbers stay as they are written. */
    static String canonicalObject(String json) {
        try (JsonParser p = JSON.createParser(json)) {
            if (p.nextToken() != JsonToken.START_OBJECT) {
                throw new IllegalArgumentException("the context must be one JSON object");
            }
            String text = copyObject(p);
            if (p.nextToken() != null) {
                throw new IllegalArgumentException("something follows the context's JSON object");
            }
            return text;
        } catch (IOException e) {
            throw new IllegalArgumentException("the context is not JSON: " + DigestReader.problem(e), e);
        }
    }

    /** The object whose opening brace was read, as canonical text. */
    static String copyObject(JsonParser p) throws IOException {
        StringWriter out = new StringWriter();
        try (JsonGenerator g = JSON.createGenerator(out)) {
            g.writeStartObject();
            for (int depth = 1; depth > 0; ) {
                JsonToken token = p.nextToken();
                if (token == null) {
                    throw new IOException("it ends in the middle");
                }
                switch (token) {
                    case START_OBJECT:
                        g.writeStartObject();
                        depth++;
                        break;
                    case START_ARRAY:
                        g.writeStartArray();
                        depth++;
                        break;
                    case END_OBJECT:
                        g.writeEndObject();
                        depth--;
                        break;
                    case END_ARRAY:
                        g.writeEndArray();
                        depth--;
                        break;
                    case FIELD_NAME:
                        g.writeFieldName(whole(p.currentName()));
                        break;
                    case VALUE_STRING:
                        g.writeString(whole(p.getText()));
                        break;
                    default:
                        // numbers, true, false and null are written one way only
                        g.writeRawValue(p.getText());
                }
            }
        }
        return out.toString();
    }

    private static String whole(String text) {
        if (Texts.hasHalfCharacter(text)) {
            throw new IllegalArgumentException("the context has half of a surrogate pair");
        }
        return text;
    }

    /** Strictly UTF-8, or {@code null}: what is signed must not depend on how a bad byte is replaced. */
    static String decode(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(bytes)).toString();
        } catch (java.nio.charset.CharacterCodingException e) {
            return null;
        }
    }
}
