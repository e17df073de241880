package dev.klock.agent.audit;

import dev.klock.agent.weave.Hook;
import dev.klock.agent.weave.HookTable;
import dev.klock.agent.weave.WovenImage;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rows of the hook table against the classes they name, woven but not loaded: which ones match a method of this JVM's modules. */
public final class RowCheck {
    private final List<Hook> matched = new ArrayList<>();
    private final List<Hook> absent = new ArrayList<>();
    private final List<String> unmatched = new ArrayList<>();
    private int classes;

    private RowCheck() {
    }

    /** Checks the rows of {@code table}. @throws IOException if a class cannot be read */
    public static RowCheck ofThisJvm(HookTable table) throws IOException {
        RowCheck check = new RowCheck();
        WovenImage woven = new WovenImage(table);
        Set<String> seen = new HashSet<>();
        for (Hook hook : table.hooks()) {
            Optional<Module> module = moduleOf(hook.owner);
            if (module.isEmpty()) {
                check.absent.add(hook);
                continue;
            }
            if (seen.add(hook.owner)) {
                try (InputStream in = module.get().getResourceAsStream(hook.owner.concat(".class"))) {
                    if (in != null) {
                        woven.weave(hook.owner, in.readAllBytes());
                        check.classes++;
                    }
                }
            }
            if (woven.isWoven(hook)) {
                check.matched.add(hook);
            } else {
                check.unmatched.add(hook.toString());
            }
        }
        return check;
    }

    private static Optional<Module> moduleOf(String className) {
        String packageName = className.substring(0, className.lastIndexOf('/')).replace('/', '.');
        for (Module module : ModuleLayer.boot().modules()) {
            if (module.getPackages().contains(packageName)) {
                return Optional.of(module);
            }
        }
        return Optional.empty();
    }

    /** Rows that match a method. */
    public List<Hook> matched() {
        return matched;
    }

    /** Rows of modules that this JVM does not have. */
    public List<Hook> absent() {
        return absent;
    }

    /** Rows that match nothing although their module is there. */
    public List<String> unmatched() {
        return unmatched;
    }

    /** How many classes have rows. */
    public int classes() {
        return classes;
    }
}
