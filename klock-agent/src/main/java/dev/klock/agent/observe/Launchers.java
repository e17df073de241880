package dev.klock.agent.observe;

import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.Mode;
import dev.klock.agent.config.Option;
import dev.klock.agent.decide.Own;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import java.util.List;

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
    private static final String PROPERTY = "-D";
    private static final String OF_A_TOOL = "-J";

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
     * Whether the program with this real name is a JVM's launcher that is not told to load klock, or only to switch it off.
     *
     * @param arguments what it is given, NUL-terminated one by one; null if nothing
     * @param environment the variables it gets, likewise; null if it inherits this process's
     * @param directory the real name of the directory it starts in
     */
    boolean isJvmWithoutKlock(String real, byte[] arguments, byte[] environment, String directory) {
        return isJvm(real) && !loadsKlock(options(real.endsWith("/java"), arguments, environment, directory), environment, directory);
    }

    private List<String> options(boolean java, byte[] arguments, byte[] environment, String directory) {
        JvmOptions options = new JvmOptions(files, resolver, directory);
        if (java) {
            options.ofTheVm(variable(environment, "JAVA_TOOL_OPTIONS"));
            options.ofTheLauncher(variable(environment, "JDK_JAVA_OPTIONS"));
        }
        String[] words = arguments == null ? new String[0] : Names.real(arguments).split("\0");
        for (int i = 0; i < words.length; i++) {
            if (java) {
                options.given(words[i]);
            } else if (words[i].startsWith(OF_A_TOOL)) {
                // a tool of the JDK has its main class built in, and takes no notice of those variables' agents
                options.given(words[i].substring(OF_A_TOOL.length()));
            }
        }
        if (java) {
            options.ofTheVm(variable(environment, "_JAVA_OPTIONS"));
        }
        return options.all();
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

    /** The value in {@code environment} or, if that is null, in this process's; null if it is not set. */
    private static String variable(byte[] environment, String name) {
        if (environment == null) {
            String value = System.getenv(name);
            return value == null ? null : Names.ofText(value);
        }
        String[] entries = Names.real(environment).split("\0");
        for (int i = 0; i < entries.length; i++) {
            if (entries[i].startsWith(name) && entries[i].startsWith("=", name.length())) {
                return entries[i].substring(name.length() + 1);
            }
        }
        return null;
    }

    private boolean loadsKlock(List<String> options, byte[] environment, String directory) {
        String given = variable(environment, Option.MODE.variable());
        for (int i = 0; i < options.size(); i++) {
            if (options.get(i).startsWith(PROPERTY) && options.get(i).startsWith(Option.MODE.property().concat("="), PROPERTY.length())) {
                given = options.get(i).substring(PROPERTY.length() + Option.MODE.property().length() + 1);
            }
        }
        for (int i = 0; i < options.size(); i++) {
            for (int j = 0; j < AGENT_OPTIONS.length; j++) {
                String option = options.get(i);
                if (option.startsWith(AGENT_OPTIONS[j])) {
                    int equals = option.indexOf('=', AGENT_OPTIONS[j].length());
                    String jar = option.substring(AGENT_OPTIONS[j].length(), equals < 0 ? option.length() : equals);
                    String mode = equals < 0 ? null : LaunchOptions.given(Option.MODE, option.substring(equals + 1));
                    if (isKlock(jar, directory) && !Mode.OFF.word().equals(mode == null ? given : mode)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private boolean isKlock(String jar, String directory) {
        Resolved found = jar.isEmpty() ? null : resolver.resolve(jar, directory, true);
        return found != null && found.path() != null && own.forbidden(found.path()) != 0;
    }
}
