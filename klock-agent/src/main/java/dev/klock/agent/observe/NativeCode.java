package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.Predicate;
import java.util.StringTokenizer;

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

    private static final String NATIVE = Judge.NATIVE;
    private static final String FFM = "ffm";
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
    /** Those that write or read only a file they are given the name of, or go on in Java code, where hooks see them. */
    private static final String[] NAMING = {"GC.heap_dump", "Compiler.directives_add", "Compiler.perfmap", "JFR.start", "JFR.dump",
        "JFR.stop", "JFR.configure", "ManagementAgent.start", "ManagementAgent.start_local", "System.dump_map", "Thread.dump_to_file",
        "VM.log", "VM.set_flag"};
    /** Words of such commands' arguments that name no file. */
    private static final String[] KEYS = {"filename", "output", "path", "repositorypath", "-F", "HeapDumpPath", "dumppath", "file"};

    private final HostFiles files;
    private final Resolver resolver;
    private final Targets targets;
    private final Judge judge;
    private final Doors doors;

    NativeCode(HostFiles files, Resolver resolver, Targets targets, Judge judge, Doors doors) {
        this.doors = doors;
        this.files = files;
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
        Resolved found = resolver.resolve(name, true);
        if (found.path() == null) {
            return;
        }
        boolean ofTheJdk = targets.baseline().isInJavaHome(name) || targets.baseline().isInJavaHome(found.path());
        // a class of the program may have the name of a JDK class, and with its library the natives that are hooked in the true one
        if (ofTheJdk && Causes.isLinkedByTheJdk()) {
            return;
        }
        judge.access(work, op, targets.other(NATIVE, Names.text(found.path())), CONSUMES, Names.text(name), null);
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

    /** The printing system or the desktop: its library speaks to it for the program, out of sight. */
    void service(Work work, int op, String name) {
        judge.access(work, op, targets.other(NATIVE, name), CONSUMES, null, null);
    }

    void attach(Work work, int op, String pid) {
        byte[] exe = files.readLink(Names.bytes("/proc/" + pid + "/exe"));
        judge.access(work, op, targets.process(exe == null ? "pid/" + pid : Names.real(exe)), MUTATES, "process ".concat(pid), null);
    }

    /** A frame has been pushed for it: what it writes is imaged before. */
    void command(Work work, Frame f, String command) {
        StringTokenizer words = new StringTokenizer(command, " ,\t\n");
        String name = words.hasMoreTokens() ? words.nextToken() : "";
        if (isOneOf(TELLING, name)) {
            return;
        }
        if (name.equals("JVMTI.agent_load")) {
            agent(work, Op.LOAD_AGENT.code());
            return;
        }
        if (!isOneOf(NAMING, name)) {
            judge.opaque(work, f, name);
            return;
        }
        boolean flag = name.equals("VM.set_flag");
        boolean pathIsNext = false;
        while (words.hasMoreTokens()) {
            String word = words.nextToken();
            int equals = word.indexOf('=');
            String key = equals < 0 ? "" : word.substring(0, equals);
            String file = equals < 0 ? word : word.substring(equals + 1);
            if (flag) {
                String plain = unquoted(word);
                if (pathIsNext) {
                    write(work, f, plain);
                    writesLater(work, plain);
                    pathIsNext = false;
                } else if (plain.equals("HeapDumpPath")) {
                    pathIsNext = true;
                } else if (plain.startsWith("HeapDump")) {
                    writesLater(work, plain);
                }
                continue;
            }
            boolean names = equals < 0 ? !word.startsWith("-") && !name.equals("VM.log") && !name.startsWith("ManagementAgent")
                    : isOneOf(KEYS, key);
            if (!names) {
                continue;
            }
            if (file.startsWith("file=")) {
                file = file.substring(5);
            }
            file = unquoted(file);
            if (!file.equals("stdout") && !file.equals("stderr") && !file.startsWith("#") && !file.isEmpty()) {
                write(work, f, file);
                if (name.equals("VM.log")) {
                    // it goes on writing, and opens the next file by name, for as long as the JVM runs
                    writesLater(work, file);
                }
            }
        }
        if (name.equals("Compiler.perfmap") && command.trim().equals(name)) {
            write(work, f, "/tmp/perf-" + ProcessHandle.current().pid() + ".map");
        }
    }

    private void writesLater(Work work, String requested) {
        judge.access(work, Op.VM_COMMAND.code(), targets.other(NATIVE, VM), CONSUMES, requested, null);
    }

    private void write(Work work, Frame f, String file) {
        // no other thread leads the name elsewhere before the VM has opened it
        judge.hold(work, f, false);
        Resolved found = resolver.resolve(Names.ofText(file), true);
        if (found.path() != null) {
            judge.written(work, f, targets.file(found.path()), file);
            if (f.waited && !found.path().equals(resolver.walk(Names.ofText(file), true).path())) {
                throw new IllegalStateException("what the name leads to has changed meanwhile");
            }
        }
    }

    private static String unquoted(String word) {
        char first = word.isEmpty() ? 0 : word.charAt(0);
        boolean quoted = word.length() > 1 && (first == '"' || first == '\'') && word.charAt(word.length() - 1) == first;
        return quoted ? word.substring(1, word.length() - 1) : word;
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
