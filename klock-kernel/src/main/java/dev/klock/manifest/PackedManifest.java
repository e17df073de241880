package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * A judged manifest as bytes, to be kept between runs: reading YAML loads some seventy classes of a parser before {@code main}, this
 * none of them. The source stands in it whole and is compared whole, so nothing depends on a hash being hard to forge.
 */
final class PackedManifest {
    /** Grows whenever the layout or what the reader accepts changes. */
    private static final int FORMAT = 0x4B4C4D04;
    private static final int NULL = -1;
    private static final Predicate[] PREDICATES = Predicate.values();
    private static final Resource.Form[] FORMS = Resource.Form.values();

    private PackedManifest() {
    }

    static byte[] pack(Manifest m, byte[] source, ReadOptions options) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(source.length + 4096);
        try {
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(FORMAT);
            write(out, m.file());
            write(out, options.fingerprint());
            out.writeInt(source.length);
            out.write(source);
            out.writeInt(m.consulted().length);
            for (int i = 0; i < m.consulted().length; i++) {
                write(out, m.consulted()[i]);
            }
            write(out, m.sessionId());
            write(out, m.agentId());
            out.writeLong(m.priorityTimestamp());
            writeLines(out, m.scope());
            writeLines(out, m.deny());
            writeLines(out, m.testAllows());
            writeLines(out, m.testDenies());
            writeHooks(out, m.hooks());
            out.writeInt(m.settings().size());
            for (int i = 0; i < m.settings().size(); i++) {
                Setting s = m.settings().get(i);
                write(out, s.key());
                write(out, s.value());
                out.writeInt(s.line());
                out.writeInt(s.column());
            }
            out.writeInt(m.warnings().size());
            for (int i = 0; i < m.warnings().size(); i++) {
                write(out, m.warnings().get(i));
            }
            out.writeInt(m.agents().size());
            for (int i = 0; i < m.agents().size(); i++) {
                Manifest agent = m.agents().get(i);
                write(out, agent.sessionId());
                write(out, agent.agentId());
                out.writeLong(agent.priorityTimestamp());
                writeLines(out, agent.scope());
                writeLines(out, agent.deny());
            }
            CRC32 sum = new CRC32();
            sum.update(bytes.toByteArray());
            out.writeLong(sum.getValue());
        } catch (IOException e) {
            throw new AssertionError("memory does not fail to be written", e);
        }
        return bytes.toByteArray();
    }

    /** Null when {@code packed} is damaged, of another format, or not what reading {@code source} now would give. */
    static Manifest unpack(String file, byte[] source, byte[] packed, Variables variables, ReadOptions options) {
        if (packed.length < 12) {
            return null;
        }
        CRC32 sum = new CRC32();
        sum.update(packed, 0, packed.length - 8);
        try {
            ByteBuffer in = ByteBuffer.wrap(packed);
            if (in.getLong(packed.length - 8) != sum.getValue()) {
                return null;
            }
            in.limit(packed.length - 8);
            if (in.getInt() != FORMAT || !ManifestException.oneLine(file).equals(read(in)) || !options.fingerprint().equals(read(in))) {
                return null;
            }
            int length = in.getInt();
            int from = in.position();
            if (length != source.length || length > in.remaining() || !Arrays.equals(packed, from, from + length, source, 0, length)) {
                return null;
            }
            in.position(from + length);
            String[] consulted = new String[count(in)];
            for (int i = 0; i < consulted.length; i++) {
                consulted[i] = read(in);
            }
            if (!Consulted.isStillTrue(consulted, variables, options.programs)) {
                return null;
            }
            String sessionId = read(in);
            String agentId = read(in);
            long timestamp = in.getLong();
            List<Line> scope = readLines(in);
            List<Line> deny = readLines(in);
            List<Line> testAllows = readLines(in);
            List<Line> testDenies = readLines(in);
            List<LibraryHook> hooks = readHooks(in);
            List<Setting> settings = new ArrayList<>();
            for (int n = count(in); n > 0; n--) {
                settings.add(new Setting(read(in), read(in), in.getInt(), in.getInt()));
            }
            List<String> warnings = new ArrayList<>();
            for (int n = count(in); n > 0; n--) {
                warnings.add(read(in));
            }
            String shown = ManifestException.oneLine(file);
            List<Manifest> agents = new ArrayList<>();
            for (int n = count(in); n > 0; n--) {
                agents.add(new Manifest(shown, read(in), read(in), in.getLong(), readLines(in), readLines(in), List.of(), List.of(), List.of(), List.of(),
                        List.of(), List.of(), new String[0]));
            }
            return new Manifest(shown, sessionId, agentId, timestamp, scope, deny, testAllows, testDenies, hooks, settings, warnings, agents, consulted);
        } catch (IOException | RuntimeException e) {
            // whatever is in it, it is not ours: the caller reads the source instead
            return null;
        }
    }

    private static void writeLines(DataOutputStream out, List<Line> lines) throws IOException {
        out.writeInt(lines == null ? NULL : lines.size());
        for (int i = 0; lines != null && i < lines.size(); i++) {
            Line l = lines.get(i);
            out.writeByte(l.predicate().ordinal());
            write(out, l.resource().scheme());
            write(out, l.resource().path());
            out.writeByte(l.resource().form().ordinal());
            out.writeDouble(l.confidence());
            out.writeInt(l.line());
            out.writeInt(l.column());
            write(out, l.text());
            writeLines(out, l.effects());
        }
    }

    private static List<Line> readLines(ByteBuffer in) throws IOException {
        int n = in.getInt();
        if (n == NULL) {
            return null;
        }
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Predicate predicate = PREDICATES[in.get()];
            Resource resource = Resource.of(read(in), read(in), FORMS[in.get()]);
            lines.add(new Line(predicate, resource, in.getDouble(), in.getInt(), in.getInt(), read(in), readLines(in)));
        }
        return lines;
    }

    private static void writeHooks(DataOutputStream out, List<LibraryHook> hooks) throws IOException {
        out.writeInt(hooks.size());
        for (int i = 0; i < hooks.size(); i++) {
            LibraryHook h = hooks.get(i);
            write(out, h.name());
            write(out, h.preset());
            out.writeInt(h.line());
            out.writeInt(h.column());
            if (h.preset() != null) {
                continue;
            }
            write(out, h.type());
            write(out, h.method());
            out.writeInt(h.parameters() == null ? NULL : h.parameters().size());
            for (int k = 0; h.parameters() != null && k < h.parameters().size(); k++) {
                write(out, h.parameters().get(k));
            }
            out.writeByte(h.predicate().ordinal());
            write(out, h.scheme());
            out.writeInt(h.parts());
            for (int k = 0; k < h.parts(); k++) {
                write(out, h.literal(k));
                out.writeInt(h.part(k));
            }
            write(out, h.literal(h.parts()));
        }
    }

    private static List<LibraryHook> readHooks(ByteBuffer in) throws IOException {
        List<LibraryHook> hooks = new ArrayList<>();
        for (int n = count(in); n > 0; n--) {
            String name = read(in);
            String preset = read(in);
            int line = in.getInt();
            int column = in.getInt();
            if (preset != null) {
                hooks.add(new LibraryHook(name, preset, null, null, null, null, null, List.of(), new int[0], line, column));
                continue;
            }
            String type = read(in);
            String method = read(in);
            int parameters = in.getInt();
            List<String> types = parameters == NULL ? null : new ArrayList<>();
            for (int k = 0; k < parameters; k++) {
                types.add(read(in));
            }
            Predicate predicate = PREDICATES[in.get()];
            String scheme = read(in);
            int[] parts = new int[count(in)];
            List<String> literals = new ArrayList<>();
            for (int k = 0; k < parts.length; k++) {
                literals.add(read(in));
                parts[k] = in.getInt();
            }
            literals.add(read(in));
            hooks.add(new LibraryHook(name, null, type, method, types, predicate, scheme, literals, parts, line, column));
        }
        return hooks;
    }

    private static int count(ByteBuffer in) throws IOException {
        int n = in.getInt();
        if (n < 0 || n > in.remaining()) {
            throw new IOException("count " + n);
        }
        return n;
    }

    private static void write(DataOutputStream out, String s) throws IOException {
        if (s == null) {
            out.writeInt(NULL);
            return;
        }
        byte[] bytes = s.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String read(ByteBuffer in) throws IOException {
        int length = in.getInt();
        if (length == NULL) {
            return null;
        }
        if (length < 0 || length > in.remaining()) {
            throw new IOException("length " + length);
        }
        String text = new String(in.array(), in.position(), length, StandardCharsets.UTF_8);
        in.position(in.position() + length);
        return text;
    }
}
