package dev.klock.agent.audit;

import dev.klock.agent.log.Release;
import dev.klock.agent.weave.HookTable;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Audits a JDK whose release the hook table does not list, once for each build of it: a pass is remembered as an empty file whose name is
 * the hash of the build, of this klock and of its tables. A fault is not remembered.
 */
public final class PassedAudits {
    private static final String[] TABLES = {"hooks.tsv", Ledger.TABLES[0], Ledger.TABLES[1]};
    private static final String HEX = "0123456789abcdef";

    private PassedAudits() {
    }

    /**
     * Null if the running JDK passes with {@code table}, now or when it was last asked; else the first thing wrong with it. Takes some
     * seconds the first time. {@code cache} is where passes are kept, null for nowhere.
     */
    public static String fault(HookTable table, File cache) {
        try {
            File pass = cache == null ? null : new File(cache, "audit-".concat(build()));
            if (pass != null && Files.isRegularFile(pass.toPath(), LinkOption.NOFOLLOW_LINKS)) {
                return null;
            }
            AuditResult result = Audit.ofThisJdk(table);
            if (result.passed() && pass != null) {
                remember(pass);
            }
            return result.firstFault();
        } catch (IOException e) {
            return "it cannot be audited: ".concat(e.toString());
        }
    }

    /** Without the file the next start audits again; that is all. */
    private static void remember(File pass) {
        try {
            new FileOutputStream(pass).close();
        } catch (IOException e) {
            return;
        }
    }

    /** What a pass holds for: another build of the JDK, another klock or other tables have another. */
    private static String build() throws IOException {
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
            try (InputStream in = HookTable.class.getResourceAsStream(table)) {
                digest.update(in.readAllBytes());
            }
        }
        StringBuilder hash = new StringBuilder();
        for (byte b : digest.digest()) {
            hash.append(HEX.charAt(b >> 4 & 15)).append(HEX.charAt(b & 15));
        }
        return hash.toString();
    }
}
