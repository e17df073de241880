package dev.klock.agent.audit;

import dev.klock.agent.cache.UserCache;
import dev.klock.agent.log.Release;
import dev.klock.agent.weave.HookTable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Audits a JDK whose release the hook table does not list, once for each build of it: a pass is kept as the
 * hash of the build, of this klock and of its tables. A fault is not kept.
 */
public final class PassedAudits {
    private static final String[] TABLES = {"hooks.tsv", Ledger.TABLES[0], Ledger.TABLES[1]};

    private PassedAudits() {
    }

    /**
     * Null if the running JDK passes with {@code table}, now or when it was last asked; else the first thing wrong with it. Takes some
     * seconds the first time. {@code cache} is where passes are kept, null for nowhere.
     */
    public static String fault(HookTable table, UserCache cache) {
        try {
            byte[] build = build();
            String name = cache == null ? null : cache.name("audit", System.getProperty("java.home"));
            if (cache != null && Arrays.equals(cache.get(name), build)) {
                return null;
            }
            AuditResult result = Audit.ofThisJdk(table);
            if (result.passed() && cache != null) {
                cache.put(name, build);
            }
            return result.firstFault();
        } catch (IOException e) {
            return "it cannot be audited: ".concat(e.toString());
        }
    }

    /** What a pass holds for: another build of the JDK, another klock or other tables have another. */
    private static byte[] build() throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        File image = new File(System.getProperty("java.home"), "lib/modules").getCanonicalFile();
        StringBuilder text = new StringBuilder(Release.VERSION).append('\n').append(System.getProperty("java.vm.version")).append('\n')
                .append(System.getProperty("java.vm.vendor")).append('\n').append(image).append('\n').append(image.length()).append('\n')
                .append(image.lastModified()).append('\n');
        digest.update(text.toString().getBytes(StandardCharsets.UTF_8));
        for (String table : TABLES) {
            try (InputStream in = HookTable.open(table)) {
                digest.update(in.readAllBytes());
            }
        }
        return digest.digest();
    }
}
