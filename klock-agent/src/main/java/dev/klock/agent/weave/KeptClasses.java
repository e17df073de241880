package dev.klock.agent.weave;

import dev.klock.agent.cache.UserCache;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Woven classes from one start to the next: each with the bytes it was woven from, whole, and the numbers of its rows. A class is taken
 * only for exactly those bytes, so nothing depends on a hash, and another agent's change, another JDK or another patch of it weaves anew.
 *
 * <p>Not thread-safe: guarded by the weaver.
 */
final class KeptClasses {
    private static final class Kept {
        final byte[] original;
        final byte[] woven;
        final int[] rows;

        Kept(byte[] original, byte[] woven, int[] rows) {
            this.original = original;
            this.woven = woven;
            this.rows = rows;
        }
    }

    /** More than one JVM setup and one other agent make. */
    private static final int MAX_VARIANTS = 4;

    private final UserCache cache;
    private final String key;
    private final HookTable table;
    private Map<String, List<Kept>> classes = new HashMap<>();
    private boolean changed;

    private KeptClasses(UserCache cache, String key, HookTable table) {
        this.cache = cache;
        this.key = key;
        this.table = table;
    }

    /** What {@code cache} holds for the running JVM and {@code table}; null without a cache. */
    static KeptClasses of(UserCache cache, HookTable table) {
        if (cache == null) {
            return null;
        }
        String key = System.getProperty("java.home").concat("\n").concat(System.getProperty("java.vm.version")).concat("\n")
                .concat(System.getProperty("java.vm.name"));
        KeptClasses kept = new KeptClasses(cache, key, table);
        byte[] content = cache.get(cache.name("woven", key));
        if (content != null) {
            try {
                kept.read(content);
            } catch (IOException | RuntimeException e) {
                kept.classes.clear();
            }
        }
        return kept;
    }

    /**
     * The woven bytes of the class {@code name} if it was woven from exactly {@code original}: its rows, which must be all of
     * {@code hooks}, are then added to {@code done}. Else null.
     */
    byte[] woven(String name, byte[] original, List<Hook> hooks, Set<Hook> done) {
        List<Kept> variants = classes.get(name);
        for (int i = 0; variants != null && i < variants.size(); i++) {
            Kept kept = variants.get(i);
            if (Arrays.equals(kept.original, original) && areRows(kept.rows, hooks)) {
                done.addAll(hooks);
                return kept.woven;
            }
        }
        return null;
    }

    private static boolean areRows(int[] rows, List<Hook> hooks) {
        if (rows.length != hooks.size()) {
            return false;
        }
        for (int i = 0; i < rows.length; i++) {
            if (hooks.get(i).number != rows[i]) {
                return false;
            }
        }
        return true;
    }

    /** A class that has been woven now, with all its rows. */
    void add(String name, byte[] original, byte[] woven) {
        List<Hook> inOrder = table.hooksOf(name);
        int[] rows = new int[inOrder.size()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = inOrder.get(i).number;
        }
        keep(name, new Kept(original, woven, rows));
        changed = true;
    }

    /** Leaves what has been added for the next start; only after it has been proven to be in force. */
    void save() {
        if (!changed || classes == null) {
            return;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 19);
        try {
            DataOutputStream out = new DataOutputStream(bytes);
            write(out, key.getBytes(StandardCharsets.UTF_8));
            int count = 0;
            for (List<Kept> variants : classes.values()) {
                count += variants.size();
            }
            out.writeInt(count);
            for (Map.Entry<String, List<Kept>> entry : classes.entrySet()) {
                for (Kept kept : entry.getValue()) {
                    write(out, entry.getKey().getBytes(StandardCharsets.UTF_8));
                    write(out, kept.original);
                    write(out, kept.woven);
                    out.writeInt(kept.rows.length);
                    for (int i = 0; i < kept.rows.length; i++) {
                        out.writeInt(kept.rows[i]);
                    }
                }
            }
        } catch (IOException e) {
            throw new AssertionError("memory does not fail to be written", e);
        }
        cache.put(cache.name("woven", key), bytes.toByteArray());
    }

    /** From here on everything is woven anew; what was kept is not held in memory. */
    void forget() {
        classes = new HashMap<>();
        changed = false;
    }

    private void read(byte[] content) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        if (!new String(bytes(in), StandardCharsets.UTF_8).equals(key)) {
            return;
        }
        for (int n = in.getInt(); n > 0; n--) {
            String name = new String(bytes(in), StandardCharsets.UTF_8);
            byte[] original = bytes(in);
            byte[] woven = bytes(in);
            int[] rows = new int[count(in)];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = in.getInt();
            }
            keep(name, new Kept(original, woven, rows));
        }
    }

    private void keep(String name, Kept kept) {
        List<Kept> variants = classes.get(name);
        if (variants == null) {
            variants = new ArrayList<>(1);
            classes.put(name, variants);
        }
        if (variants.size() == MAX_VARIANTS) {
            variants.remove(0);
        }
        variants.add(kept);
    }

    private static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static byte[] bytes(ByteBuffer in) throws IOException {
        byte[] bytes = new byte[count(in)];
        in.get(bytes);
        return bytes;
    }

    private static int count(ByteBuffer in) throws IOException {
        int n = in.getInt();
        if (n < 0 || n > in.remaining()) {
            throw new IOException("count " + n);
        }
        return n;
    }
}
