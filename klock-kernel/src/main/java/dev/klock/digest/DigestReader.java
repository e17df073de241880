package dev.klock.digest;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import dev.klock.kernel.Limits;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Reads digests, in KLIS-8's form or in KLIS-5's alone (C6), and refuses what may not be used. Immutable and safe for all threads. Never
 * throws for anything that bytes can contain.
 *
 * <p>What is read is believed only so far as the reader was told to: with a key, only a signature by it vouches for a timestamp (K8-9,
 * K8-10). A digest that was copied and comes a second time is not found out here: {@code STALE_EPOCH} of the kernel, or
 * {@link #knowing}, does that.
 */
public final class DigestReader {
    /** A clock may be this far ahead of another, milliseconds. */
    public static final long MAX_SKEW_MS = 5_000;

    private static final long UNKNOWN = -1;

    private final DigestKey key;
    private final boolean trustsPlace;
    private final long lifeMs;
    private final long knownPriorityMs;
    private final long knownEpoch;

    private DigestReader(DigestKey key, boolean trustsPlace, long lifeMs, long knownPriorityMs, long knownEpoch) {
        this.key = key;
        this.trustsPlace = trustsPlace;
        this.lifeMs = lifeMs;
        this.knownPriorityMs = knownPriorityMs;
        this.knownEpoch = knownEpoch;
    }

    /**
     * Believes only what {@code key} has signed.
     *
     * @throws IllegalArgumentException if the key cannot verify
     */
    public static DigestReader verifying(DigestKey key) {
        if (!key.canVerify()) {
            throw new IllegalArgumentException("a private key cannot verify; give its public key");
        }
        return new DigestReader(key, false, StateDigest.DEFAULT_LIFE_MS, UNKNOWN, UNKNOWN);
    }

    /** Believes every digest: for a place where agents cannot write (K8-9). */
    public static DigestReader trustingThePlace() {
        return new DigestReader(null, true, StateDigest.DEFAULT_LIFE_MS, UNKNOWN, UNKNOWN);
    }

    /** Reads, but vouches for nothing: the kernel then accepts the timestamp only if it is not older than now. */
    public static DigestReader trustingNobody() {
        return new DigestReader(null, false, StateDigest.DEFAULT_LIFE_MS, UNKNOWN, UNKNOWN);
    }

    /** With another life than {@link StateDigest#DEFAULT_LIFE_MS} (K8-6), milliseconds; {@link Long#MAX_VALUE} for ever. */
    public DigestReader withLife(long ms) {
        return new DigestReader(key, trustsPlace, ms, knownPriorityMs, knownEpoch);
    }

    /** With what is remembered of the agent: an older timestamp or an earlier epoch than these is refused (K8-10, C38). */
    public DigestReader knowing(long priorityMs, long epoch) {
        return new DigestReader(key, trustsPlace, lifeMs, priorityMs, epoch);
    }

    /**
     * The digest in {@code bytes}, or why it is not used.
     *
     * @param bytes {@code null} or empty: there is none. Read at most one more than {@link StateDigest#MAX_BYTES} of a file
     * @param agentId who asks; a digest of somebody else is refused
     * @param nowMs the wall clock, milliseconds since 1970
     */
    public Restored read(byte[] bytes, String agentId, long nowMs) {
        if (bytes == null || bytes.length == 0) {
            return Restored.refused(DigestRefusal.Code.ABSENT, "there is no digest");
        }
        if (bytes.length > StateDigest.MAX_BYTES) {
            return Restored.refused(DigestRefusal.Code.OVERSIZE, "the digest is larger than " + StateDigest.MAX_BYTES + " bytes");
        }
        Document d;
        try {
            String text = DigestFormat.decode(bytes);
            if (text == null) {
                throw new Refused(DigestRefusal.Code.MALFORMED, "the digest is not UTF-8");
            }
            d = new Document();
            try (JsonParser parser = DigestFormat.JSON.createParser(text)) {
                d.read(parser);
            }
            return judge(d, agentId, nowMs);
        } catch (Refused e) {
            return Restored.refused(e.code, e.getMessage());
        } catch (JsonEOFException e) {
            return Restored.refused(DigestRefusal.Code.TRUNCATED, "the digest ends in the middle");
        } catch (StreamConstraintsException e) {
            return Restored.refused(DigestRefusal.Code.OVERSIZE, "the digest is nested too deeply or has too long a text: " + problem(e));
        } catch (JsonParseException e) {
            if (problem(e).startsWith("Unexpected end-of-input")) {
                return Restored.refused(DigestRefusal.Code.TRUNCATED, "the digest ends in the middle");
            }
            boolean twice = problem(e).startsWith("Duplicate field");
            return Restored.refused(
                    twice ? DigestRefusal.Code.DUPLICATE_KEY : DigestRefusal.Code.MALFORMED,
                    "the digest is not well-formed JSON: " + problem(e));
        } catch (IOException e) {
            return Restored.refused(DigestRefusal.Code.MALFORMED, "the digest cannot be read: " + problem(e));
        } catch (IllegalArgumentException e) {
            return Restored.refused(DigestRefusal.Code.BAD_VALUE, "the digest has a value that cannot be: " + e.getMessage());
        }
    }

    private Restored judge(Document d, String agentId, long nowMs) throws Refused {
        StateDigest digest = d.digest();
        boolean vouched = trustsPlace;
        if (key != null) {
            // before anything else is believed
            verify(d, digest);
            vouched = true;
        }
        if (digest.hasIdentity() && !digest.agentId().equals(agentId)) {
            throw new Refused(DigestRefusal.Code.FOREIGN_AGENT, "the digest is of agent " + digest.agentId() + ", not of " + agentId);
        }
        if (digest.createdAtMs() - MAX_SKEW_MS > nowMs) {
            throw new Refused(
                    DigestRefusal.Code.FROM_THE_FUTURE,
                    "the digest was made at " + digest.createdAtMs() + ", which is later than now, " + nowMs);
        }
        if (digest.priorityMs() - MAX_SKEW_MS > nowMs) {
            throw new Refused(
                    DigestRefusal.Code.FROM_THE_FUTURE,
                    "the digest's priority timestamp " + digest.priorityMs() + " is later than now, " + nowMs);
        }
        if (digest.createdAtMs() == 0 && lifeMs != Long.MAX_VALUE) {
            throw new Refused(DigestRefusal.Code.EXPIRED, "the digest does not say when it was made, so it counts as expired");
        }
        if (nowMs - digest.createdAtMs() >= lifeMs) {
            throw new Refused(
                    DigestRefusal.Code.EXPIRED,
                    "the digest was made " + (nowMs - digest.createdAtMs()) + " ms ago; it counts for " + lifeMs + " ms");
        }
        if (digest.hasIdentity() && knownPriorityMs != UNKNOWN && digest.priorityMs() < knownPriorityMs) {
            throw new Refused(
                    DigestRefusal.Code.OLDER_TIMESTAMP,
                    "the digest claims priority timestamp " + digest.priorityMs() + ", older than the first one, " + knownPriorityMs);
        }
        if (digest.hasIdentity() && knownEpoch != UNKNOWN && digest.epoch() < knownEpoch) {
            throw new Refused(
                    DigestRefusal.Code.STALE_EPOCH, "the digest is of epoch " + digest.epoch() + "; the agent is at " + knownEpoch);
        }
        return new Restored(digest, vouched, null);
    }

    private void verify(Document d, StateDigest digest) throws Refused {
        if (d.algorithm == null || d.signature == null) {
            throw new Refused(DigestRefusal.Code.UNSIGNED, "the digest is not signed");
        }
        if (!d.algorithm.equals(key.algorithm())) {
            throw new Refused(
                    DigestRefusal.Code.FORGED, "the digest is signed with " + d.algorithm + "; expected is " + key.algorithm());
        }
        byte[] signature;
        try {
            signature = Base64.getUrlDecoder().decode(d.signature);
        } catch (IllegalArgumentException e) {
            throw new Refused(DigestRefusal.Code.FORGED, "the digest's signature is not base64url");
        }
        if (!key.verifies(DigestFormat.write(digest), signature)) {
            throw new Refused(DigestRefusal.Code.FORGED, "the digest's signature does not match: it was changed, or signed with another key");
        }
    }

    /** What Jackson says is wrong, without its excerpt of the source. */
    static String problem(IOException e) {
        String text = e instanceof JsonProcessingException ? ((JsonProcessingException) e).getOriginalMessage() : e.getMessage();
        return text == null ? e.getClass().getSimpleName() : text;
    }

    /** Without line breaks and control characters, and not too long: it quotes what somebody else wrote. */
    static String oneLine(String text) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < text.length() && i < 400; i++) {
            char c = text.charAt(i);
            b.append(c < ' ' || c >= 0x7f && c <= 0x9f || c == '\u2028' || c == '\u2029' || Character.isSurrogate(c) ? '?' : c);
        }
        return text.length() > 400 ? b.append("...").toString() : b.toString();
    }

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;
        final transient DigestRefusal.Code code;

        Refused(DigestRefusal.Code code, String message) {
            super(message, null, false, false);
            this.code = code;
        }
    }

    /** One document as it is read, field by field. */
    private static final class Document {
        private String version;
        private boolean identity;
        private boolean recovery;
        private String agentId;
        private String namespace;
        private String sessionId;
        private Long priorityMs;
        private Long epoch;
        private String lastPhase;
        private List<String> pending;
        private long createdAtMs;
        private long retryAfterMs;
        private boolean checkpoint;
        /** KLIS-5's fields stand at the top. */
        private boolean bare;
        private String checkpointId;
        private String resumePoint;
        private String context;
        private List<Triple> backlog;
        private String resolution;
        String algorithm;
        String signature;

        void read(JsonParser p) throws IOException, Refused {
            JsonToken first = p.nextToken();
            if (first == null) {
                throw new Refused(DigestRefusal.Code.ABSENT, "there is nothing in the digest");
            }
            if (first != JsonToken.START_OBJECT) {
                throw new Refused(DigestRefusal.Code.MALFORMED, "the digest is not a JSON object");
            }
            while (p.nextToken() != JsonToken.END_OBJECT) {
                top(p, p.currentName());
            }
            if (p.nextToken() != null) {
                throw new Refused(DigestRefusal.Code.MALFORMED, "something follows the digest");
            }
        }

        private void top(JsonParser p, String field) throws IOException, Refused {
            p.nextToken();
            switch (field) {
                case "version":
                    version = text(p, field);
                    break;
                case "identity":
                    identity = true;
                    for (object(p, field); p.nextToken() != JsonToken.END_OBJECT; ) {
                        identity(p, p.currentName());
                    }
                    break;
                case "recovery":
                    recovery = true;
                    for (object(p, field); p.nextToken() != JsonToken.END_OBJECT; ) {
                        recovery(p, p.currentName());
                    }
                    break;
                case "timestamps":
                    for (object(p, field); p.nextToken() != JsonToken.END_OBJECT; ) {
                        timestamps(p, p.currentName());
                    }
                    break;
                case "checkpoint":
                    checkpoint = true;
                    for (object(p, field); p.nextToken() != JsonToken.END_OBJECT; ) {
                        String name = p.currentName();
                        p.nextToken();
                        if (!klis5(p, name, "checkpoint.")) {
                            throw unknown("checkpoint." + name);
                        }
                    }
                    break;
                case "signature":
                    for (object(p, field); p.nextToken() != JsonToken.END_OBJECT; ) {
                        String name = p.currentName();
                        p.nextToken();
                        if (name.equals("algorithm")) {
                            algorithm = text(p, "signature.algorithm");
                        } else if (name.equals("value")) {
                            signature = text(p, "signature.value");
                        } else {
                            throw unknown("signature." + name);
                        }
                    }
                    break;
                default:
                    if (!klis5(p, field, "")) {
                        throw unknown(field);
                    }
                    bare = true;
            }
        }

        private void identity(JsonParser p, String field) throws IOException, Refused {
            p.nextToken();
            switch (field) {
                case "agent_id":
                    agentId = text(p, "identity.agent_id");
                    break;
                case "namespace":
                    namespace = text(p, "identity.namespace");
                    break;
                case "session_id":
                    sessionId = text(p, "identity.session_id");
                    break;
                case "priority_timestamp":
                    priorityMs = number(p, "identity.priority_timestamp");
                    break;
                case "epoch":
                    epoch = number(p, "identity.epoch");
                    break;
                default:
                    throw unknown("identity." + field);
            }
        }

        private void recovery(JsonParser p, String field) throws IOException, Refused {
            p.nextToken();
            switch (field) {
                case "last_phase":
                    lastPhase = text(p, "recovery.last_phase");
                    break;
                case "pending_intents":
                    pending = new ArrayList<>();
                    for (array(p, "recovery.pending_intents"); p.nextToken() != JsonToken.END_ARRAY; ) {
                        String uri = text(p, "recovery.pending_intents");
                        limit(pending.size(), "recovery.pending_intents");
                        pending.add(resource(uri).toString());
                    }
                    break;
                default:
                    throw unknown("recovery." + field);
            }
        }

        private void timestamps(JsonParser p, String field) throws IOException, Refused {
            p.nextToken();
            switch (field) {
                case "created_at":
                    createdAtMs = number(p, "timestamps.created_at");
                    break;
                case "retry_after":
                    retryAfterMs = number(p, "timestamps.retry_after");
                    break;
                default:
                    throw unknown("timestamps." + field);
            }
        }

        private boolean klis5(JsonParser p, String field, String where) throws IOException, Refused {
            switch (field) {
                case "checkpoint_id":
                    checkpointId = text(p, where + field);
                    return true;
                case "resume_point":
                    resumePoint = p.currentToken() == JsonToken.VALUE_NULL ? null : text(p, where + field);
                    return true;
                case "context":
                    object(p, where + field);
                    context = DigestFormat.copyObject(p);
                    return true;
                case "intent_backlog":
                    backlog = new ArrayList<>();
                    for (array(p, where + field); p.nextToken() != JsonToken.END_ARRAY; ) {
                        limit(backlog.size(), where + field);
                        backlog.add(triple(p, where + field));
                    }
                    return true;
                case "resolution_strategy":
                    resolution = text(p, where + field);
                    return true;
                default:
                    return false;
            }
        }

        /** {@code {"predicate": …, "resource": …}}, or the short form of a manifest. */
        private Triple triple(JsonParser p, String where) throws IOException, Refused {
            if (p.currentToken() == JsonToken.VALUE_STRING) {
                String line = p.getText();
                int space = line.indexOf(' ');
                if (space < 0) {
                    throw bad(where, line, "a line such as MUTATES FILE:/w/a");
                }
                return new Triple(null, predicate(line.substring(0, space)), resource(line.substring(space + 1)), Triple.HIGH, 0);
            }
            object(p, where);
            Predicate predicate = null;
            Resource resource = null;
            double confidence = Triple.HIGH;
            long timestampMs = 0;
            while (p.nextToken() != JsonToken.END_OBJECT) {
                String field = p.currentName();
                p.nextToken();
                switch (field) {
                    case "predicate":
                        predicate = predicate(text(p, where + ".predicate"));
                        break;
                    case "resource":
                        resource = resource(text(p, where + ".resource"));
                        break;
                    case "confidence":
                        if (!p.currentToken().isNumeric()) {
                            throw bad(where + ".confidence", p.getText(), "a number from 0 to 1");
                        }
                        confidence = p.getDoubleValue();
                        break;
                    case "timestamp":
                        timestampMs = number(p, where + ".timestamp");
                        break;
                    default:
                        throw unknown(where + "." + field);
                }
            }
            if (predicate == null || resource == null) {
                throw new Refused(DigestRefusal.Code.MISSING_FIELD, "a triple of " + where + " needs predicate and resource");
            }
            return new Triple(null, predicate, resource, confidence, timestampMs);
        }

        StateDigest digest() throws Refused {
            if (version != null && !version.equals(StateDigest.VERSION)) {
                throw new Refused(
                        DigestRefusal.Code.WRONG_VERSION, "the digest has version " + version + "; known is " + StateDigest.VERSION);
            }
            if (bare) {
                if (identity || recovery || checkpoint) {
                    throw new Refused(
                            DigestRefusal.Code.UNKNOWN_FIELD, "the digest has checkpoint fields at the top beside identity, recovery or checkpoint");
                }
                Checkpoint only = checkpoint();
                return new StateDigest(
                        null, null, StateDigest.NO_TIMESTAMP, 0, Phase.REQUESTING, StateDigest.uris(only.intentBacklog()), createdAtMs, retryAfterMs, only);
            }
            need(version, "version");
            need(agentId, "identity.agent_id");
            need(priorityMs, "identity.priority_timestamp");
            need(epoch, "identity.epoch");
            need(lastPhase, "recovery.last_phase");
            need(pending, "recovery.pending_intents");
            Checkpoint more = checkpoint ? checkpoint() : null;
            return new StateDigest(
                    agentId,
                    session(),
                    priorityMs,
                    epoch,
                    constant(Phase.class, lastPhase, "recovery.last_phase"),
                    pending,
                    createdAtMs,
                    retryAfterMs,
                    more);
        }

        /** Both or neither: a session is one of a namespace (K7-10). */
        private SessionKey session() throws Refused {
            if (namespace == null && sessionId == null) {
                return null;
            }
            need(namespace, "identity.namespace");
            need(sessionId, "identity.session_id");
            return new SessionKey(namespace, agentId, sessionId);
        }

        private Checkpoint checkpoint() throws Refused {
            String at = bare ? "" : "checkpoint.";
            need(checkpointId, at + "checkpoint_id");
            need(backlog, at + "intent_backlog");
            need(resolution, at + "resolution_strategy");
            return new Checkpoint(
                    checkpointId,
                    resumePoint,
                    context,
                    backlog,
                    constant(Resolution.class, resolution, at + "resolution_strategy"));
        }

        private static <E extends Enum<E>> E constant(Class<E> type, String name, String where) throws Refused {
            for (E e : type.getEnumConstants()) {
                if (e.name().equals(name)) {
                    return e;
                }
            }
            throw bad(where, name, "one of " + List.of(type.getEnumConstants()));
        }

        private static Predicate predicate(String name) throws Refused {
            return constant(Predicate.class, name, "a predicate");
        }

        private static Resource resource(String text) throws Refused {
            try {
                return Resource.parse(text);
            } catch (ResourceSyntaxException e) {
                throw new Refused(DigestRefusal.Code.BAD_VALUE, "the digest has a bad resource: " + e.getMessage());
            }
        }

        private static void limit(int size, String where) throws Refused {
            if (size >= Limits.MAX_TRIPLES) {
                throw new Refused(DigestRefusal.Code.OVERSIZE, where + " has more than " + Limits.MAX_TRIPLES + " entries");
            }
        }

        private static void need(Object value, String field) throws Refused {
            if (value == null) {
                throw new Refused(DigestRefusal.Code.MISSING_FIELD, "the digest has no " + field);
            }
        }

        private static void object(JsonParser p, String field) throws IOException, Refused {
            if (p.currentToken() != JsonToken.START_OBJECT) {
                throw bad(field, p.getText(), "an object");
            }
        }

        private static void array(JsonParser p, String field) throws IOException, Refused {
            if (p.currentToken() != JsonToken.START_ARRAY) {
                throw bad(field, p.getText(), "a list");
            }
        }

        private static String text(JsonParser p, String field) throws IOException, Refused {
            if (p.currentToken() != JsonToken.VALUE_STRING) {
                throw bad(field, p.getText(), "a text");
            }
            String text = p.getText();
            if (Texts.hasHalfCharacter(text)) {
                throw bad(field, text, "a text without half characters");
            }
            return text;
        }

        private static long number(JsonParser p, String field) throws IOException, Refused {
            String text = p.getText();
            boolean whole = p.currentToken() == JsonToken.VALUE_NUMBER_INT && text.length() < 18 && text.charAt(0) != '-';
            if (!whole) {
                throw bad(field, text, "a whole number that is not negative");
            }
            return p.getLongValue();
        }

        private static Refused bad(String field, String value, String right) {
            String shown = value == null ? "nothing" : value.length() > 80 ? value.substring(0, 80) + "..." : value;
            return new Refused(DigestRefusal.Code.BAD_VALUE, field + " is " + shown + "; it must be " + right);
        }

        private static Refused unknown(String field) {
            return new Refused(DigestRefusal.Code.UNKNOWN_FIELD, "the digest has an unknown field " + field);
        }
    }
}
