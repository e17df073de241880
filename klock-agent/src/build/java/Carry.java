import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Build step: packs every class that klock.jar carries into one entry, {@code META-INF/klock/classes} (and what only hooks
 * on libraries need into another, {@code META-INF/klock/library}), which the isolated loader reads by
 * position. A thousand entries would cost the JVM 20 ms CPU to index before it could load the first class, and inflating each another 40 µs;
 * so the classes that an ordinary start needs are stored as they are, and the others deflated.
 *
 * <p>Run as {@code java Carry.java CARRIED.jar BRIDGE_CLASSES OUT.zip TIMESTAMP}; all entries are of that time's day. The entry's layout is told in {@code IsolatedLoader}.
 */
public final class Carry {
    private static final String PREFIX = "META-INF/klock/";
    /** Only hooks on libraries need them; an entry of their own, so that without hooks not even their names are read. */
    private static final List<String> LIBRARY = List.of("dev.klock.library.", "dev.klock.agent.library.");
    private static final int MAGIC = 0x4B4C4F01;
    private static final int IDENTITY_BYTES = 16;
    private static final int SLOT_BYTES = 20;
    /** Not needed by a start whose caches are warm. */
    private static final List<String> SELDOM = List.of("dev.klock.carried.", "dev.klock.cli.", "dev.klock.agent.audit.", "dev.klock.library.",
            "dev.klock.agent.library.");

    private static LocalDateTime made;

    private Carry() {
    }

    public static void main(String[] arguments) throws Exception {
        made = OffsetDateTime.parse(arguments[3]).toLocalDate().atStartOfDay();
        TreeMap<String, byte[]> classes = new TreeMap<>();
        TreeMap<String, byte[]> resources = new TreeMap<>();
        try (ZipFile carried = new ZipFile(arguments[0])) {
            for (Enumeration<? extends ZipEntry> entries = carried.entries(); entries.hasMoreElements();) {
                ZipEntry entry = entries.nextElement();
                if (!entry.isDirectory() && !entry.getName().startsWith("dev/klock/boot/")) {
                    try (InputStream in = carried.getInputStream(entry)) {
                        sort(entry.getName(), in.readAllBytes(), classes, resources);
                    }
                }
            }
        }
        Path bridge = Path.of(arguments[1]);
        try (Stream<Path> found = Files.walk(bridge)) {
            for (Path file : found.filter(Files::isRegularFile).collect(Collectors.toList())) {
                sort(bridge.relativize(file).toString().replace(File.separatorChar, '/'), Files.readAllBytes(file), classes, resources);
            }
        }
        byte[] identity = identity(classes, resources);
        TreeMap<String, byte[]> library = new TreeMap<>(classes);
        library.keySet().removeIf(name -> LIBRARY.stream().noneMatch(name::startsWith));
        classes.keySet().removeAll(library.keySet());
        try (OutputStream file = Files.newOutputStream(Path.of(arguments[2])); ZipOutputStream out = new ZipOutputStream(file)) {
            store(out, "classes", archive(classes, identity));
            store(out, "library", archive(library, identity));
            for (Map.Entry<String, byte[]> resource : resources.entrySet()) {
                out.putNextEntry(entry(resource.getKey()));
                out.write(resource.getValue());
            }
        }
    }

    private static void store(ZipOutputStream out, String name, byte[] archive) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(archive);
        ZipEntry stored = entry(name);
        stored.setMethod(ZipEntry.STORED);
        stored.setSize(archive.length);
        stored.setCrc(crc.getValue());
        out.putNextEntry(stored);
        out.write(archive);
    }

    private static void sort(String name, byte[] bytes, Map<String, byte[]> classes, Map<String, byte[]> resources) {
        if (name.endsWith(".class")) {
            if (!name.endsWith("package-info.class")) {
                classes.put(name.substring(0, name.length() - 6).replace('/', '.'), bytes);
            }
        } else {
            resources.put(name, bytes);
        }
    }

    private static ZipEntry entry(String name) {
        ZipEntry entry = new ZipEntry(PREFIX + name);
        entry.setTimeLocal(made);
        return entry;
    }

    /** Tells one build's content from another's: what was cached by one is never taken by another. */
    private static byte[] identity(Map<String, byte[]> classes, Map<String, byte[]> resources) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (Map<String, byte[]> part : List.of(classes, resources)) {
            for (Map.Entry<String, byte[]> one : part.entrySet()) {
                digest.update((one.getKey() + "\0" + one.getValue().length + "\0").getBytes(StandardCharsets.UTF_8));
                digest.update(one.getValue());
            }
        }
        return java.util.Arrays.copyOf(digest.digest(), IDENTITY_BYTES);
    }

    private static byte[] archive(Map<String, byte[]> classes, byte[] identity) throws IOException {
        int slots = Integer.highestOneBit(classes.size() * 2) * 2;
        int[][] table = new int[slots][];
        int namesAt = 4 + IDENTITY_BYTES + 8 + slots * SLOT_BYTES;
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        for (Map.Entry<String, byte[]> one : classes.entrySet()) {
            byte[] name = one.getKey().getBytes(StandardCharsets.ISO_8859_1);
            byte[] body = one.getValue();
            boolean seldom = SELDOM.stream().anyMatch(one.getKey()::startsWith);
            byte[] kept = seldom ? deflated(body) : body;
            int slot = one.getKey().hashCode() & slots - 1;
            while (table[slot] != null) {
                slot = slot + 1 & slots - 1;
            }
            table[slot] = new int[] {one.getKey().hashCode(), namesAt + names.size(), data.size(), kept.length, body.length};
            names.write(name.length);
            names.write(name);
            data.write(kept);
        }
        int dataAt = namesAt + names.size();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(MAGIC);
        out.write(identity);
        out.writeInt(slots);
        out.writeInt(dataAt);
        for (int[] slot : table) {
            for (int i = 0; i < SLOT_BYTES / 4; i++) {
                out.writeInt(slot == null ? 0 : i == 2 ? slot[i] + dataAt : slot[i]);
            }
        }
        names.writeTo(out);
        data.writeTo(out);
        return bytes.toByteArray();
    }

    private static byte[] deflated(byte[] body) {
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        deflater.setInput(body);
        deflater.finish();
        byte[] kept = new byte[body.length + 64];
        int length = deflater.deflate(kept);
        deflater.end();
        // one as long as its original would be taken for stored
        return length < body.length ? java.util.Arrays.copyOf(kept, length) : body;
    }
}
