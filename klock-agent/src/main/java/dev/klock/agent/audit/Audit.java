package dev.klock.agent.audit;

import dev.klock.agent.weave.Hook;
import dev.klock.agent.weave.HookTable;
import dev.klock.agent.weave.WovenImage;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;

/**
 * Reads every class of the run-time image, the hooked ones as the weaver makes them, and checks that no direct Java call of a door passes
 * no hook, that somebody has judged every native, and that every row of the hook table matches a method (K6-1).
 *
 * <p>Why direct callers and not paths from public entry points: more than 8000 public methods reach some door, whatever one hooks, so a
 * count of them proves nothing; that each native has only hooked callers does.
 *
 * <p>A call counts for every native that it may land in: one on an ancestor or an interface of the native's class, one on a descendant
 * that inherits it, and a method handle or a constant on any of these. It passes a hook if its method starts with the bridge call of a row,
 * if the bridge call of a row for this very call stands directly before it, or if a row that is woven elsewhere names the caller as what
 * it stands for. A door that a program could call itself, being public in an exported package, is an unhooked caller too. What the audit
 * cannot see: native code that does more than its name says (the ledger's reasons are a person's word), and natives called by reflection
 * with packages opened on the command line.
 */
public final class Audit {
    private final HookTable table;
    private final Ledger ledger;
    private final WovenImage woven;
    private final AuditResult result = new AuditResult();
    private final Map<String, ClassFacts> classes = new HashMap<>(1 << 16);
    private final Set<String> packages = new HashSet<>();
    private final Set<String> exported = new HashSet<>();
    private final List<DoorCalls.Call> calls = new ArrayList<>();

    private Audit(HookTable table, Ledger ledger) throws IOException {
        this.table = table;
        this.ledger = ledger;
        woven = new WovenImage(table);
    }

    /**
     * Audits the running JDK against the tables for its release (or the nearest older one); takes some seconds.
     *
     * @throws IOException if the run-time image cannot be read
     */
    public static AuditResult ofThisJdk() throws IOException {
        return ofThisJdk(HookTable.forRelease(Runtime.version().feature()));
    }

    static AuditResult ofThisJdk(HookTable table) throws IOException {
        return new Audit(table, Ledger.forRelease(table.release())).run();
    }

    private AuditResult run() throws IOException {
        long started = System.nanoTime();
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (DirectoryStream<Path> all = Files.newDirectoryStream(modules)) {
            for (Path module : all) {
                read(module, "");
            }
        }
        readExports();
        result.release = table.release();
        result.rows = table.hooks().size();
        result.classes = classes.size();
        checkRows();
        checkCalls(checkNatives());
        result.tookMs = (System.nanoTime() - started) / 1_000_000;
        return result;
    }

    private void readExports() {
        for (ModuleReference module : ModuleFinder.ofSystem().findAll()) {
            for (ModuleDescriptor.Exports exports : module.descriptor().exports()) {
                if (!exports.isQualified()) {
                    exported.add(exports.source().replace('.', '/'));
                }
            }
        }
    }

    private void read(Path directory, String packageName) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                String file = entry.getFileName().toString();
                if (file.endsWith(".class")) {
                    if (!file.equals("module-info.class")) {
                        packages.add(packageName);
                        read(Files.readAllBytes(entry));
                    }
                } else if (!file.contains(".") && !file.equals("META-INF") && Files.isDirectory(entry)) {
                    read(entry, packageName.isEmpty() ? file : packageName.concat("/").concat(file));
                }
            }
        }
    }

    private void read(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassFacts facts = new ClassFacts(reader, ledger.doorMethods());
        classes.put(facts.name, facts);
        List<Hook> hooks = table.hooksOf(facts.name);
        if (hooks != null) {
            reader = new ClassReader(woven.weave(facts.name, bytes));
        }
        if (facts.mentions) {
            reader.accept(new DoorCalls(hooks, ledger.doorMethods(), calls), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        }
    }

    /** A row whose package is nowhere in the image is of a module that was left out; any other must have been woven. */
    private void checkRows() {
        for (Hook hook : table.hooks()) {
            if (!packages.contains(hook.owner.substring(0, hook.owner.lastIndexOf('/')))) {
                result.absentRows++;
            } else if (!woven.isWoven(hook)) {
                result.unmatchedRows.add(hook.toString());
            }
        }
        result.unmatchedRows.addAll(woven.failures());
    }

    /** Answers the doors: owners by {@code name(descriptor)}. */
    private Map<String, List<String>> checkNatives() {
        Map<String, List<String>> doors = new HashMap<>();
        Set<String> unclassified = new TreeSet<>();
        for (ClassFacts facts : classes.values()) {
            for (ClassFacts.Member member : facts.members) {
                if (!member.isNative()) {
                    continue;
                }
                result.natives++;
                Ledger.Entry entry = ledger.judge(facts.name, member.name, member.descriptor);
                if (entry == null) {
                    unclassified.add(facts.name.replace('/', '.') + "." + member.name + member.descriptor);
                } else if (entry.door) {
                    result.doors++;
                    String key = member.name.concat(member.descriptor);
                    List<String> owners = doors.get(key);
                    if (owners == null) {
                        owners = new ArrayList<>(1);
                        doors.put(key, owners);
                    }
                    owners.add(facts.name);
                    if (isOpenToPrograms(facts, member)) {
                        result.unhookedCallers.add("any program calls " + facts.name.replace('/', '.') + "." + key);
                    }
                }
            }
        }
        result.unclassifiedNatives.addAll(unclassified);
        return doors;
    }

    private boolean isOpenToPrograms(ClassFacts type, ClassFacts.Member member) {
        return (type.access & Opcodes.ACC_PUBLIC) != 0 && (member.access & (Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED)) != 0
                && exported.contains(type.name.substring(0, type.name.lastIndexOf('/')));
    }

    private void checkCalls(Map<String, List<String>> doors) {
        Set<String> callers = new HashSet<>();
        Set<String> unhooked = new TreeSet<>();
        for (DoorCalls.Call call : calls) {
            List<String> owners = doors.get(call.member);
            if (owners == null) {
                continue;
            }
            for (String owner : owners) {
                if (reaches(call.owner, owner, call.member)) {
                    callers.add(call.caller);
                    if (!call.hooked && !isStoodFor(call.caller)) {
                        unhooked.add(dotted(call.caller) + " calls " + owner.replace('/', '.') + "." + call.member);
                    }
                }
            }
        }
        result.callers = callers.size();
        result.unhookedCallers.addAll(unhooked);
    }

    /** With dots in the class's name, but not in the descriptor. */
    private static String dotted(String method) {
        int parenthesis = method.indexOf('(');
        return method.substring(0, parenthesis).replace('/', '.').concat(method.substring(parenthesis));
    }

    private boolean isStoodFor(String caller) {
        String method = caller.substring(0, caller.indexOf('('));
        for (Hook hook : table.hooks()) {
            if (hook.standsFor.equals(method) && hook.door && woven.isWoven(hook)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a call of {@code member} on the static type {@code called} may land in the one of {@code owner}. */
    private boolean reaches(String called, String owner, String member) {
        if (isAncestor(called, owner)) {
            return true;
        }
        // or it names a descendant that inherits it
        ClassFacts type = classes.get(called);
        while (type != null && type.supertypes.length > 0) {
            if (declares(type, member)) {
                return false;
            }
            String next = type.supertypes[type.supertypes.length - 1];
            if (next.equals(owner)) {
                return true;
            }
            type = classes.get(next);
        }
        return false;
    }

    private boolean isAncestor(String ancestor, String type) {
        if (ancestor.equals(type)) {
            return true;
        }
        ClassFacts facts = classes.get(type);
        if (facts != null) {
            for (String supertype : facts.supertypes) {
                if (isAncestor(ancestor, supertype)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean declares(ClassFacts type, String member) {
        for (ClassFacts.Member declared : type.members) {
            if (member.length() == declared.name.length() + declared.descriptor.length() && member.startsWith(declared.name)
                    && member.endsWith(declared.descriptor)) {
                return true;
            }
        }
        return false;
    }
}
