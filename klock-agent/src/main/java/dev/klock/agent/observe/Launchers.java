package dev.klock.agent.observe;

import dev.klock.agent.decide.Own;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;

/**
 * Programs whose own line in a manifest says little: those that run whatever they are told (E05, E16), and JVMs, which could have been
 * watched and are not (C11). They start where they are declared; what they are is said.
 *
 * <p>Thread-safe. Does I/O; callers have exempted themselves.
 */
final class Launchers {
    /** By file name, without the version behind it. Reviewed; a program that is not here may run others all the same. */
    private static final String[] OPEN_ENDED = {"sh", "bash", "dash", "ash", "rbash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "busybox",
        "toybox", "coreutils", "env", "xargs", "find", "nice", "nohup", "setsid", "timeout", "time", "stdbuf", "ionice", "chrt", "taskset", "sudo", "su",
        "doas", "ssh", "awk", "gawk", "mawk", "perl", "python", "pypy", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit",
        "tclsh", "expect", "make", "gmake", "ninja", "script", "parallel", "watch", "strace", "ltrace", "gdb", "chroot", "unshare",
        "nsenter", "systemd-run", "docker", "podman"};
    /** What a JDK or JRE has beside {@code bin}; {@code /usr/lib/modules} is the kernel's. */
    private static final String[] OF_A_JVM = {"lib/jvm.cfg", "lib/rt.jar", "jre/lib/rt.jar"};
    private static final String[] AGENT_OPTIONS = {"-javaagent:", "-agentlib:instrument="};

    private final HostFiles files;
    private final Resolver resolver;
    private final Own own;

    Launchers(HostFiles files, Resolver resolver, Own own) {
        this.files = files;
        this.resolver = resolver;
        this.own = own;
    }

    /** Whether the program with this real name runs what its arguments or its input tell it to. */
    static boolean isOpenEnded(String real) {
        String name = real.substring(real.lastIndexOf('/') + 1);
        int end = name.length();
        while (end > 1 && isOfVersion(name.charAt(end - 1))) {
            end--;
        }
        String plain = name.substring(0, end);
        for (int i = 0; i < OPEN_ENDED.length; i++) {
            if (OPEN_ENDED[i].equals(plain)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOfVersion(char c) {
        return c >= '0' && c <= '9' || c == '.' || c == '-';
    }

    /**
     * Whether the program with this real name is a JVM's launcher that is not told to load klock.
     *
     * @param arguments what it is given, NUL-terminated one by one; null if nothing
     * @param environment the variables it gets, likewise; null if it inherits this process's
     * @param directory the real name of the directory it starts in
     */
    boolean isJvmWithoutKlock(String real, byte[] arguments, byte[] environment, String directory) {
        return isJvm(real) && !loadsKlock(arguments, directory)
                && !(real.endsWith("/java") && loadsKlock(environment == null ? own() : environment, directory));
    }

    private boolean isJvm(String real) {
        int slash = real.lastIndexOf('/');
        if (slash < 0 || !real.startsWith("/bin", slash - 4)) {
            return false;
        }
        String home = real.substring(0, slash - 3);
        for (int i = 0; i < OF_A_JVM.length; i++) {
            if (files.mode(Names.bytes(home.concat(OF_A_JVM[i]))) != 0) {
                return true;
            }
        }
        return false;
    }

    /** This process's environment, for those options only. */
    private static byte[] own() {
        String options = System.getenv("JAVA_TOOL_OPTIONS");
        return options == null ? new byte[0] : Names.bytes(Names.ofText(options));
    }

    private boolean loadsKlock(byte[] block, String directory) {
        if (block == null) {
            return false;
        }
        String text = Names.real(block);
        for (int i = 0; i < AGENT_OPTIONS.length; i++) {
            for (int at = text.indexOf(AGENT_OPTIONS[i]); at >= 0; at = text.indexOf(AGENT_OPTIONS[i], at + 1)) {
                int from = at + AGENT_OPTIONS[i].length();
                int to = from;
                while (to < text.length() && "=\0 \t\n\"'".indexOf(text.charAt(to)) < 0) {
                    to++;
                }
                Resolved jar = to == from ? null : resolver.resolve(text.substring(from, to), directory, true);
                if (jar != null && jar.path() != null && own.forbidden(jar.path()) != 0) {
                    return true;
                }
            }
        }
        return false;
    }
}
