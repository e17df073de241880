package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.log.ThisProcess;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.kernel.Predicate;
import java.io.ByteArrayOutputStream;
import java.util.Objects;

/**
 * Judges ways round the JDK: native libraries, code that is linked without JNI, agents that come after klock, other JVMs that are told
 * what to do, and commands by which the VM itself writes files or loads code. What such code does once it is in, no hook sees; so what is
 * judged is that it comes in (K6-7, C49).
 *
 * <p>The JDK's own libraries lie in {@code java.home} and are not the program's, where a class of the JDK loads them.
 *
 * <p>Thread-safe. Does I/O; callers have exempted themselves.
 */
final class NativeCode {
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int MUTATES = Predicate.MUTATES.ordinal();
    private static final int PROVIDES = Predicate.PROVIDES.ordinal();

    private static final String NATIVE = Judge.NATIVE;
    private static final String HEAP_DUMP = "GC.heap_dump";
    private static final String DUMP_MAP = "System.dump_map";
    private static final String FFM = "ffm";
    private static final String DESKTOP = "desktop";
    private static final String TOOLKIT = "gtk";
    private static final String FONTS = "fontconfig";
    private static final String CONFIG = ".config/";
    private static final String[] TOOLKIT_FILES = {".config/gtk-3.0/settings.ini", ".gtkrc-2.0", "/etc/gtk-3.0/settings.ini", "/etc/gtk-2.0/gtkrc"};
    private static final String[] FONT_FILES = {".config/fontconfig/fonts.conf", ".config/fontconfig/conf.d/any.conf", ".fonts.conf", ".fonts.conf.d/any.conf",
        "/etc/fonts/fonts.conf", "/etc/fonts/local.conf", "/etc/fonts/conf.d/any.conf"};
    private static final String AGENT = "agent";
    /** What the VM itself writes later, when it likes. */
    private static final String VM = "vm";

    /** Diagnostic commands that only tell something, or tidy up memory. Reviewed on 17 and 25. */
    private static final String[] TELLING = {"help", "Compiler.codecache", "Compiler.codelist", "Compiler.directives_clear",
        "Compiler.directives_print", "Compiler.directives_remove", "Compiler.memory", "Compiler.queue", "Compiler.CodeHeap_Analytics",
        "GC.class_histogram", "GC.class_stats", "GC.finalizer_info", "GC.heap_info", "GC.run", "GC.run_finalization", "JFR.check",
        "JFR.query", "JFR.view", "JVMTI.data_dump", "ManagementAgent.status", "ManagementAgent.stop", "System.map",
        "System.native_heap_info", "System.trim_native_heap", "Thread.print", "Thread.vthread_pollers", "Thread.vthread_scheduler",
        "VM.class_hierarchy", "VM.classes", "VM.classloader_stats", "VM.classloaders", "VM.command_line", "VM.dynlibs", "VM.events",
        "VM.flags", "VM.info", "VM.metaspace", "VM.native_memory", "VM.print_touched_methods", "VM.stringtable", "VM.symboltable",
        "VM.system_properties", "VM.systemdictionary", "VM.uptime", "VM.version"};
    /** Those that go on in Java code, where hooks see what they do. */
    private static final String[] IN_JAVA = {"JFR.start", "JFR.dump", "JFR.stop", "JFR.configure", "ManagementAgent.start", "ManagementAgent.start_local"};
    private static final String SET_FLAG = "VM.set_flag";
    private static final String LOG = "VM.log";
    private static final String ADD_DIRECTIVES = "Compiler.directives_add";
    private static final String PERFMAP = "Compiler.perfmap";
    /** Those that write or read only a file they are given the name of: the options by which they are, and those that name none. */
    private static final String[][] NAMING = {
        {HEAP_DUMP, "", "-all -gz -parallel -overwrite"}, {ADD_DIRECTIVES, "", "-r"}, {PERFMAP, "", ""}, {DUMP_MAP, "-F", "-H"},
        {"Thread.dump_to_file", "", "-overwrite -format"}, {LOG, "output", "output_options what decorators disable list rotate"}};

    /** Later releases put the process's id in the place of %p. */
    private static final boolean EXPANDS = Runtime.version().feature() > 17;

    private final Resolver resolver;
    private final Targets targets;
    private final Judge judge;
    private final Doors doors;

    NativeCode(Resolver resolver, Targets targets, Judge judge, Doors doors) {
        this.doors = doors;
        this.resolver = resolver;
        this.targets = targets;
        this.judge = judge;
    }

    /** {@code name}: the library's path as a real name, or a name that the system's loader searches; null: code that is linked. */
    void library(Work work, int op, String name) {
        if (name == null || name.indexOf('/') < 0) {
            Target ffm = targets.other(NATIVE, FFM);
            if ((ffm.allowed() & 1 << CONSUMES) == 0 && Causes.isLinkedByTheJdk()) {
                return;
            }
            judge.access(work, op, ffm, CONSUMES, name, null);
            return;
        }
        Resolved found = resolver.resolve(Names.beforeZero(name), true);
        // what was removed can be loaded as long as it is open somewhere
        String real = found.was() != null ? found.was() : found.path();
        if (real == null) {
            return;
        }
        boolean ofTheJdk = targets.baseline().isInJavaHome(name) || targets.baseline().isInJavaHome(real);
        // a class of the program may have the name of a JDK class, and with its library the natives that are hooked in the true one
        if (ofTheJdk && Causes.isLinkedByTheJdk()) {
            return;
        }
        judge.access(work, op, targets.other(NATIVE, Names.text(real)), CONSUMES, Names.text(name), null);
    }

    /** As {@link dev.klock.bridge.Hooks#reached}: by reflection, a method handle, or a class of its own in a package that was opened (C04). */
    void reached(Work work, int op, String owner, String member) {
        boolean door = member == null ? !Causes.isDefinedByTheJdk() && doors.isIn(owner) : doors.isDoor(owner, member);
        if (!door) {
            return;
        }
        Target target = targets.other(NATIVE, member == null ? owner : owner.concat(".").concat(member));
        if ((target.allowed() & 1 << CONSUMES) == 0 && Causes.isPremain()) {
            return;
        }
        judge.access(work, op, target, CONSUMES, null, null);
    }

    void agent(Work work, int op) {
        judge.access(work, op, targets.other(NATIVE, AGENT), CONSUMES, null, null);
    }

    /**
     * The printing system, the desktop or sound: its library does things for the program, out of sight. Or what is anywhere in the process's memory,
     * the environment and klock's own state among it. Fonts and the desktop's toolkit are the JDK's business, unless the program may write the files
     * that tell their libraries what to load and where to write.
     */
    void service(Work work, int op, String name) {
        boolean toolkit = name.equals(TOOLKIT);
        if (toolkit && !mayConfigure(TOOLKIT_FILES) || name.equals(FONTS) && !mayConfigure(FONT_FILES)) {
            return;
        }
        Target target = targets.other(NATIVE, toolkit ? DESKTOP : name);
        if (name.equals(FFM) && (target.allowed() & 1 << CONSUMES) == 0 && Causes.isMemoryOfTheJdk()) {
            return;
        }
        judge.access(work, op, target, CONSUMES, null, null);
    }

    /** @param files below the user's directory for configuration if they begin so, else below the home; as the libraries find them, from the environment */
    private boolean mayConfigure(String[] files) {
        String home = System.getenv("HOME");
        String config = System.getenv("XDG_CONFIG_HOME");
        for (int i = 0; i < files.length; i++) {
            boolean absolute = files[i].charAt(0) == '/';
            boolean configured = files[i].startsWith(CONFIG) && config != null && config.startsWith("/");
            if (!absolute && !configured && home == null) {
                continue;
            }
            String file = absolute ? files[i] : configured ? config.concat(files[i].substring(CONFIG.length() - 1)) : home.concat("/").concat(files[i]);
            String real = resolver.resolve(file, true).path();
            if (real != null && (targets.file(real).allowed() & (1 << MUTATES | 1 << PROVIDES)) != 0) {
                return true;
            }
        }
        return false;
    }

    void attach(Work work, int op, String pid) {
        judge.access(work, op, judge.programOf(pid), MUTATES, "process ".concat(pid), null);
    }

    /** A frame has been pushed for it: what it writes is imaged before. */
    void command(Work work, Frame f, String command) {
        CommandWords words = new CommandWords(command);
        String name = words.name();
        if (words.hasMoreLines()) {
            judge.opaque(work, f, name);
        }
        if (isOneOf(TELLING, name)) {
            return;
        }
        if (isOneOf(IN_JAVA, name)) {
            while (words.next()) {
                // the last is where the VM itself writes a recording if it crashes; the others are denied here since the command takes
                // an error of its own for its answer
                if (isAmong("filename repositorypath dumppath", words.key())) {
                    write(work, f, words.value());
                }
            }
            return;
        }
        if (name.equals("JVMTI.agent_load")) {
            agent(work, Op.LOAD_AGENT.code());
            return;
        }
        if (name.equals(SET_FLAG)) {
            flag(work, f, words.next() ? words.key() : "", words.next() ? words.key() : "");
            return;
        }
        String[] options = naming(name);
        if (options == null) {
            judge.opaque(work, f, name);
            return;
        }
        boolean named = false;
        while (words.next()) {
            if (isAmong(options[2], words.key())) {
                continue;
            }
            // to the VM, what it does not know as an option is the name itself, whatever stands behind it
            String file = isAmong(options[1], words.key()) ? words.value() : words.key();
            named = true;
            if (name.equals(LOG)) {
                log(work, f, file);
            } else if (name.equals(ADD_DIRECTIVES)) {
                Resolved found = resolver.resolve(name(file), true);
                if (found.path() != null) {
                    judge.access(work, Op.OPEN_READ.code(), targets.file(found.path()), CONSUMES, file, null);
                }
            } else {
                write(work, f, file);
                String expanded = EXPANDS ? expanded(file) : file;
                if (!expanded.equals(file)) {
                    write(work, f, expanded);
                }
            }
        }
        if (name.equals(HEAP_DUMP)) {
            service(work, f.op, "vm");
        }
        if (name.equals(DUMP_MAP) && !named) {
            write(work, f, "vm_memory_map_" + ThisProcess.pid() + ".txt");
        }
        if (name.equals(PERFMAP) && !named) {
            write(work, f, "/tmp/perf-" + ThisProcess.pid() + ".map");
        }
    }

    /** With the process's id for {@code %p} and one per cent sign for two. */
    private static String expanded(String file) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < file.length(); i++) {
            char c = file.charAt(i);
            char next = c == '%' && i + 1 < file.length() ? file.charAt(i + 1) : 0;
            if (next == 'p') {
                b.append(ThisProcess.pid());
                i++;
            } else {
                b.append(c);
                i += next == '%' ? 1 : 0;
            }
        }
        return b.toString();
    }

    private void flag(Work work, Frame f, String flag, String value) {
        if (flag.equals("HeapDumpPath")) {
            write(work, f, value);
            writesLater(work, value);
        } else if (flag.startsWith("HeapDump")) {
            writesLater(work, flag);
        }
    }

    /** An output of the VM's log: {@code stdout}, {@code #1}, {@code file=NAME} or a name, of which what stands in quotes counts. */
    private void log(Work work, Frame f, String output) {
        int from = output.indexOf('"') + 1;
        int to = output.indexOf('"', from);
        boolean quoted = from > 0 && to > 0;
        String file = quoted ? output.substring(from, to) : output.startsWith("file=") ? output.substring("file=".length()) : output;
        if (quoted || !output.isEmpty() && !output.equals("stdout") && !output.equals("stderr") && !output.startsWith("#")) {
            write(work, f, file);
            // it goes on writing, and opens the next file by name, for as long as the JVM runs
            writesLater(work, file);
        }
    }

    private static String[] naming(String command) {
        for (int i = 0; i < NAMING.length; i++) {
            if (NAMING[i][0].equals(command)) {
                return NAMING[i];
            }
        }
        return null;
    }

    /** {@code words} are separated by blanks. */
    private static boolean isAmong(String words, String word) {
        return !word.isEmpty() && word.indexOf(' ') < 0 && (" " + words + " ").contains(" " + word + " ");
    }

    private void writesLater(Work work, String requested) {
        judge.access(work, Op.VM_COMMAND.code(), targets.other(NATIVE, VM), CONSUMES, requested, null);
    }

    private void write(Work work, Frame f, String file) {
        // no other thread leads the name elsewhere before the VM has opened it
        judge.hold(work, f, false);
        String name = name(file);
        Resolved found = resolver.resolve(name, true);
        judge.written(work, f, found, file);
        if (f.waited && !Objects.equals(found.path(), resolver.walk(name, true).path())) {
            throw new IllegalStateException("what the name leads to has changed meanwhile");
        }
    }

    /** The VM gets a command in a form of its own, with two bytes for a zero and six for what Java has two characters for. */
    private static String name(String file) {
        boolean plain = true;
        for (int i = 0; i < file.length(); i++) {
            plain &= file.charAt(i) != 0 && !Character.isSurrogate(file.charAt(i));
        }
        if (plain) {
            return Names.ofText(file);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < file.length(); i++) {
            char c = file.charAt(i);
            if (c != 0 && c < 0x80) {
                bytes.write(c);
            } else if (c < 0x800) {
                bytes.write(0xC0 | c >> 6);
                bytes.write(0x80 | c & 0x3F);
            } else {
                bytes.write(0xE0 | c >> 12);
                bytes.write(0x80 | c >> 6 & 0x3F);
                bytes.write(0x80 | c & 0x3F);
            }
        }
        return Names.real(bytes.toByteArray());
    }

    private static boolean isOneOf(String[] words, String word) {
        for (int i = 0; i < words.length; i++) {
            if (words[i].equals(word)) {
                return true;
            }
        }
        return false;
    }
}
