package sun.nio.fs;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URL;
import java.nio.file.CopyOption;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.access.JavaIOFileDescriptorAccess;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;
import sun.nio.ch.Net;

/**
 * The one class that woven JDK methods call. It lives inside java.base, in the package of the JDK's own file calls, because only there
 * the real arguments can be seen: a UnixPath's bytes, a File's path field, a descriptor's number. It takes them out and hands them to
 * klock's loader through {@link Hooks}; it decides nothing.
 *
 * <p>Both references are final before the first woven method runs, so compiled code folds the calls away to klock's own. Reflection
 * does not list its members ({@code Reflection.registerFieldsToFilter}).
 */
public final class KlockBridge {
    /** The directory that klock keeps its own files in, wherever it is. */
    private static final String HOME = ".klock";
    private static final Hooks HOOKS;
    private static final Fence FENCE;
    private static final JavaIOFileDescriptorAccess DESCRIPTORS = SharedSecrets.getJavaIOFileDescriptorAccess();
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** See {@link #holdReads}; never false again. */
    private static volatile boolean held;
    /** Texts of errors, by number. */
    private static final byte[][] TEXTS = new byte[134][];
    /** A File's own path field: what natives open on 17, whatever an overridden getPath() answers. */
    private static final long FILE_PATH = UNSAFE.objectFieldOffset(File.class, "path");

    static {
        HOOKS = KlockPort.hooks;
        FENCE = KlockPort.fence;
        KlockPort.hooks = null;
        KlockPort.fence = null;
    }

    private KlockBridge() {
    }

    public static void name(int op, String name, int arg) {
        HOOKS.name(op, name, arg);
    }

    public static void append(int op, String name, boolean append) {
        HOOKS.name(op, name, append ? 1 : 0);
    }

    public static void file(int op, File file, int arg) {
        HOOKS.name(op, nameOf(file), arg);
    }

    public static void files(int op, File from, File to) {
        HOOKS.names(op, nameOf(from), nameOf(to));
    }

    public static void path(int op, Path path, int arg) {
        HOOKS.path(op, bytesOf(path), arg);
    }

    public static void bytes(int op, byte[] name, int arg) {
        HOOKS.path(op, name, arg);
    }

    public static void paths(int op, Path from, Path to) {
        HOOKS.paths(op, bytesOf(from), bytesOf(to));
    }

    public static void symlink(int op, byte[] text, Path link) {
        HOOKS.paths(op, text, bytesOf(link));
    }

    public static void at(int op, int directory, byte[] name, int arg) {
        HOOKS.at(op, directory, name, arg);
    }

    /** On 25 some handle-relative calls take a path; it is relative to the handle unless absolute. */
    public static void atPath(int op, int directory, Path name, int arg) {
        HOOKS.at(op, directory, name == null ? null : ((UnixPath) name).asByteArray(), arg);
    }

    public static void ats(int op, int fromDirectory, byte[] from, int toDirectory, byte[] to) {
        HOOKS.ats(op, fromDirectory, from, toDirectory, to);
    }

    public static void fd(int op, int fd, int arg) {
        HOOKS.fd(op, fd, arg);
    }

    public static void write(int op, FileDescriptor descriptor) {
        if (FENCE.isUp()) {
            HOOKS.fenced(op, descriptor == null ? -1 : DESCRIPTORS.get(descriptor));
        }
    }

    public static void map(int op, FileDescriptor descriptor) {
        int fd = descriptor == null ? -1 : DESCRIPTORS.get(descriptor);
        if (FENCE.isUp()) {
            HOOKS.fenced(op, fd);
        }
        HOOKS.mapping(op, fd);
    }

    public static void writeFd(int op, int fd) {
        if (FENCE.isUp()) {
            HOOKS.fenced(op, fd);
        }
    }

    public static void close(int op, FileDescriptor descriptor) {
        HOOKS.closing(op, descriptor == null ? -1 : DESCRIPTORS.get(descriptor));
    }

    public static void closeFd(int op, int fd) {
        HOOKS.closing(op, fd);
    }

    public static void start(int op, byte[] program, byte[] arguments, int argumentCount, byte[] environment, int environmentCount,
                             byte[] directory, int[] fds) {
        HOOKS.start(op, program, arguments, argumentCount, environment, environmentCount, directory, fds);
    }

    public static void signal(int op, long pid, long startTime, boolean force) {
        HOOKS.signal(op, pid, startTime, force);
    }

    /** Argument bits: 1 REPLACE_EXISTING, 2 NOFOLLOW_LINKS, 4 ATOMIC_MOVE. */
    public static void begin(int op, Path from, Path to, CopyOption[] options) {
        int arg = 0;
        if (options != null) {
            for (CopyOption option : options) {
                if (option == StandardCopyOption.REPLACE_EXISTING) {
                    arg |= 1;
                } else if (option == StandardCopyOption.ATOMIC_MOVE) {
                    arg |= 4;
                } else if (option == LinkOption.NOFOLLOW_LINKS) {
                    arg |= 2;
                }
            }
        }
        HOOKS.begin(op, bytesOf(from), bytesOf(to), arg);
    }

    public static void connect(int op, InetAddress address, int port) {
        if (address != null) {
            HOOKS.endPoint(op, address.getAddress(), hostOf(address), port, -1);
        }
    }

    public static void sendTo(int op, SocketAddress target) {
        if (target instanceof InetSocketAddress) {
            InetSocketAddress to = (InetSocketAddress) target;
            connect(op, to.getAddress(), to.getPort());
        }
    }

    public static void send(int op, InetSocketAddress target) {
        sendTo(op, target);
    }

    public static void packet(int op, DatagramPacket packet) {
        if (packet != null) {
            connect(op, packet.getAddress(), packet.getPort());
        }
    }

    public static void bind(int op, FileDescriptor socket, InetAddress address, int port) {
        if (address != null) {
            HOOKS.endPoint(op, address.getAddress(), hostOf(address), port, socket == null ? -1 : DESCRIPTORS.get(socket));
        }
    }

    public static void bindAll(int op, InetAddress[] addresses, int port) {
        if (addresses != null) {
            for (int i = 0; i < addresses.length; i++) {
                bind(op, null, addresses[i], port);
            }
        }
    }

    public static void listen(int op, FileDescriptor socket) {
        InetSocketAddress local;
        try {
            local = Net.localAddress(socket);
        } catch (IOException unbound) {
            return;
        }
        bind(op, socket, local.getAddress(), local.getPort());
    }

    /** The port is the one that the socket is bound to. */
    public static void join(int op, InetAddress group, FileDescriptor socket) {
        if (group == null) {
            return;
        }
        int port = 0;
        try {
            port = Net.localAddress(socket).getPort();
        } catch (IOException unbound) {
            port = 0;
        }
        HOOKS.endPoint(op, group.getAddress(), null, port, -1);
    }

    public static void joinAddress(int op, SocketAddress group, FileDescriptor socket) {
        if (group instanceof InetSocketAddress) {
            join(op, ((InetSocketAddress) group).getAddress(), socket);
        }
    }

    public static void reach(int op, InetAddress address) {
        connect(op, address, 7);
    }

    public static void datagram(int op) {
        HOOKS.datagram(false);
    }

    public static void rebind(int op) {
        HOOKS.datagram(true);
    }

    public static void host(int op, String host) {
        HOOKS.lookUp(op, host, null);
    }

    public static void address(int op, byte[] address) {
        HOOKS.lookUp(op, null, address);
    }

    public static void received(InetSocketAddress from, int fd) {
        if (from != null) {
            HOOKS.received(fd, from.getAddress().getAddress(), from.getPort());
        }
    }

    public static void resolved(InetAddress[] result, String host) {
        if (result == null || host == null) {
            return;
        }
        byte[][] addresses = new byte[result.length][];
        for (int i = 0; i < result.length; i++) {
            addresses[i] = result[i].getAddress();
        }
        HOOKS.resolved(host, addresses);
    }

    public static void named(String host) {
        HOOKS.named(host);
    }

    /** A look-up was stopped by an error: the JDK takes its note that one is under way back for an UnknownHostException only. */
    public static void forget(ConcurrentMap<String, ?> notes, String host, Object note) {
        notes.remove(host, note);
    }

    public static void url(int op, URL url, String method) {
        if (url != null && url.getHost() != null) {
            HOOKS.request(op, method, url.getProtocol(), url.getHost(), url.getPort(), url.getPath());
        }
    }

    public static void uri(int op, URI uri, String method) {
        if (uri != null && uri.getHost() != null) {
            HOOKS.request(op, method, uri.getScheme(), uri.getHost(), uri.getPort(), uri.getRawPath());
        }
    }

    /** What {@code System.getenv} and the maps of the environment answer; what is not set tells nothing. */
    public static void variable(String value, Object name, int op) {
        if (value != null && name instanceof String) {
            HOOKS.variable(op, (String) name, value);
        }
    }

    /** What {@code put} and {@code remove} of an environment answer: null in place of what is not the program's to know. */
    public static String replaced(String value, Object name) {
        return value != null && name instanceof String && HOOKS.keeps((String) name, value) ? null : value;
    }

    /** Whether the flight recorder's event {@code name} is enabled, where {@code enabled} is asked for. */
    public static boolean event(int op, String name, boolean enabled) {
        return enabled && HOOKS.event(op, name);
    }

    public static void entry(int op, String name) {
        HOOKS.variable(op, name, null);
    }

    public static void variables(int op) {
        HOOKS.variable(op, null, null);
    }

    public static void library(int op, String name, boolean builtIn) {
        if (!builtIn) {
            HOOKS.library(op, name);
        }
    }

    public static void rawLibrary(int op, String name) {
        HOOKS.library(op, name);
    }

    public static void link(int op) {
        HOOKS.library(op, null);
    }

    /** A segment of memory is made of an address. */
    public static void memory(int op) {
        HOOKS.service(op, "ffm");
    }

    /** {@code setAccessible} has been found to be allowed. */
    public static void accessible(int op, AccessibleObject object, boolean flag) {
        if (!flag) {
            return;
        }
        if (object instanceof Constructor) {
            instance(op, ((Constructor<?>) object).getDeclaringClass());
        }
        if (object instanceof Method) {
            member(op, (Method) object);
        } else if (object instanceof Member && ((Member) object).getDeclaringClass() == MethodHandles.Lookup.class
                && (object instanceof Constructor || ((Member) object).getName().equals("IMPL_LOOKUP"))) {
            HOOKS.reached(op, MethodHandles.Lookup.class.getName(), "IMPL_LOOKUP");
        }
    }

    /** What a thread throws that is stopped may leave klock's note that it is at work itself standing. */
    public static void stop(int op) {
        HOOKS.service(op, "java.lang.Thread.stop");
    }

    public static void suspend(int op) {
        HOOKS.service(op, "java.lang.Thread.suspend");
    }

    /** Code of the program is about to be asked by the JDK's own, wherever that does something: also where klock has it do something. */
    @SuppressWarnings("removal")
    public static void manager(int op, SecurityManager manager) {
        if (manager != null) {
            HOOKS.service(op, "java.lang.System.setSecurityManager");
        }
    }

    /** The same for what system properties are looked up in, unless it is a plain table, with a plain one for what is not in it. */
    public static void properties(int op, Properties properties) {
        Unsafe unsafe = Unsafe.getUnsafe();
        long defaults = unsafe.objectFieldOffset(Properties.class, "defaults");
        for (Properties one = properties; one != null; one = (Properties) unsafe.getReference(one, defaults)) {
            if (one.getClass() != Properties.class) {
                HOOKS.service(op, "java.lang.System.setProperties");
                return;
            }
        }
    }

    /** Serialization's way to objects without their constructors, or by any constructor, which is open to everybody: not to klock's own. */
    public static void instance(int op, Class<?> type) {
        String module = type.getModule().getName();
        if ("dev.klock".equals(module) || "dev.klock.boot".equals(module) || type.getName().startsWith("sun.nio.fs.Klock")) {
            HOOKS.service(op, "jdk.internal.reflect.ReflectionFactory.generateConstructor");
        }
    }

    /** Modules are about to be opened: klock's own, or the package of java.base that this class is in. */
    public static void opens(int op, Module module, Map<String, Set<Module>> opened) {
        String name = module == null ? null : module.getName();
        if ("dev.klock".equals(name) || "dev.klock.boot".equals(name) || "java.base".equals(name) && opened != null && opened.containsKey("sun.nio.fs")) {
            HOOKS.service(op, "java.lang.instrument.Instrumentation.redefineModule");
        }
    }

    /** A method handle of {@code member} is about to be made, or it is about to be made accessible. Most are settled by the first line. */
    public static void member(int op, Member member) {
        int modifiers = member.getModifiers();
        if ((modifiers & (Modifier.NATIVE | Modifier.ABSTRACT)) == 0) {
            return;
        }
        Class<?> owner = member.getDeclaringClass();
        if (!isOfTheJdk(owner)) {
            return;
        }
        String pack = owner.getPackageName();
        // an abstract method leads to the native that implements it: on 17 in these two packages
        if ((modifiers & Modifier.NATIVE) == 0 && (Modifier.isPublic(owner.getModifiers()) || !pack.equals("java.io") && !pack.equals("java.net"))) {
            return;
        }
        if (Modifier.isPublic(modifiers) && Modifier.isPublic(owner.getModifiers()) && owner.getModule().isExported(pack)) {
            return;
        }
        HOOKS.reached(op, owner.getName(), member.getName());
    }

    /** A class is about to be defined in {@code lookup}'s package. */
    public static void define(int op, MethodHandles.Lookup lookup) {
        if (isOfTheJdk(lookup.lookupClass())) {
            HOOKS.reached(op, lookup.lookupClass().getPackageName(), null);
        }
    }

    private static boolean isOfTheJdk(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    public static void agent(int op) {
        HOOKS.agent(op);
    }

    public static void attach(int op, String pid) {
        HOOKS.attach(op, pid);
    }

    /** Another JVM's counters, or its memory; 0 is this one. */
    public static void inspect(int op, int pid) {
        if (pid != 0) {
            HOOKS.attach(op, Integer.toString(pid));
        }
    }

    public static void desktop(int op) {
        HOOKS.service(op, "desktop");
    }

    public static void printing(int op) {
        HOOKS.service(op, "cups");
    }

    /** The system's configuration of fonts, or the desktop's toolkit, is read by native code. */
    public static void fonts(int op) {
        HOOKS.service(op, "fontconfig");
    }

    public static void toolkit(int op) {
        HOOKS.service(op, "gtk");
    }

    /** Devices that play and record are looked for, through whatever their configuration loads. */
    public static void sound(int op) {
        HOOKS.service(op, "sound");
    }

    public static void command(int op, String command) {
        HOOKS.command(op, command);
    }

    /** Those flags of a running VM that make it write files, then or later, by names that lead anywhere by then. */
    public static void flag(int op, String name, String value) {
        String flag = beforeZero(name);
        if ("HeapDumpPath".equals(flag) && value != null) {
            HOOKS.name(op, beforeZero(value), 0);
            HOOKS.service(op, "vm");
        } else if (flag != null && flag.startsWith("HeapDump") && value != null && !value.equalsIgnoreCase("false")) {
            HOOKS.service(op, "vm");
        }
    }

    /** A file that the VM itself opens. */
    public static void vmFile(int op, String name, int argument) {
        HOOKS.name(op, beforeZero(name), argument);
        // all that is in the process's memory, the environment among it
        HOOKS.service(op, "vm");
    }

    /** As far as the VM, which is written in C, reads {@code text}. */
    private static String beforeZero(String text) {
        int zero = text == null ? -1 : text.indexOf(0);
        return zero < 0 ? text : text.substring(0, zero);
    }

    public static void halt(int op, int status) {
        HOOKS.halting(status);
    }

    public static void end(int op) {
        HOOKS.end(op, 0);
    }

    /** A child process was started. */
    public static void started(Process process, int op) {
        HOOKS.started(op, process);
    }

    /** A look by name is over, which {@link #holdReads} may have made one to be told of. */
    public static void probed(int op) {
        if (held) {
            HOOKS.end(op, 0);
        }
    }

    /** {@link #probed} of one that failed: until links change, nothing comes behind it that could need the error's text. */
    public static void probedThrown(Throwable thrown, int op) {
        if (held) {
            endThrown(thrown, op);
        }
    }

    /** From here on the end of each look by name is told. */
    static void holdReads() {
        held = true;
    }

    public static void endInt(int result, int op) {
        HOOKS.end(op, result);
    }

    public static void endBoolean(boolean result, int op) {
        HOOKS.end(op, result ? 0 : -1);
    }

    public static void endStream(FileOutputStream stream, int op) {
        int fd = -1;
        try {
            fd = DESCRIPTORS.get(stream.getFD());
        } catch (IOException impossibleRightAfterOpen) {
            fd = -1;
        }
        HOOKS.end(op, fd);
    }

    public static void endRandom(RandomAccessFile file, int op) {
        int fd = -1;
        try {
            fd = DESCRIPTORS.get(file.getFD());
        } catch (IOException impossibleRightAfterOpen) {
            fd = -1;
        }
        HOOKS.end(op, fd);
    }

    public static void endThrown(Throwable thrown, int op) {
        if (thrown instanceof UnixException) {
            keepText(((UnixException) thrown).errno());
        }
        HOOKS.end(op, -1);
    }

    /**
     * The JDK asks for an error's text when it builds the message, and its native answers with the text of the thread's last error, whatever
     * number it is given; what klock looks at when a call has failed would be that.
     */
    private static void keepText(int errno) {
        if (errno > 0 && errno < TEXTS.length && TEXTS[errno] == null) {
            byte[] text = UnixNativeDispatcher.strerror(errno);
            UNSAFE.storeFence();
            TEXTS[errno] = text;
        }
    }

    /** The text of {@code e}'s own error, where klock has met it; else {@code text}, what the JDK has found. */
    public static byte[] text(byte[] text, UnixException e) {
        int errno = e.errno();
        byte[] kept = errno > 0 && errno < TEXTS.length ? TEXTS[errno] : null;
        return kept != null ? kept : text;
    }

    public static void ended(int op) {
        HOOKS.ending();
    }

    /** An agent's transformers were shown a class; {@code after} is null if they leave it as it is. Called for every class that is loaded. */
    public static void changed(byte[] after, ClassLoader loader, String name, byte[] before) {
        if (after != null && after != before) {
            HOOKS.changed(loader, name, before, after);
        }
    }

    /** Listings leave klock's own directory out. */
    public static boolean hides(boolean selfOrParent, byte[] name) {
        return selfOrParent || isHome(name);
    }

    /** The same for java.io; the array is the caller's to keep. */
    public static String[] without(String[] names, int op) {
        probed(op);
        if (names == null) {
            return null;
        }
        for (int i = 0; i < names.length; i++) {
            if (HOME.equals(names[i])) {
                String[] rest = new String[names.length - 1];
                System.arraycopy(names, 0, rest, 0, i);
                System.arraycopy(names, i + 1, rest, i, rest.length - i);
                return rest;
            }
        }
        return names;
    }

    private static boolean isHome(byte[] name) {
        if (name.length != HOME.length()) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if (name[i] != HOME.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The name the program asked for this address by, whatever an attached canonical name says; null if by number. */
    private static String hostOf(InetAddress address) {
        return SharedSecrets.getJavaNetInetAddressAccess().getOriginalHostName(address);
    }

    private static String nameOf(File file) {
        return file == null ? null : (String) UNSAFE.getReference(file, FILE_PATH);
    }

    private static byte[] bytesOf(Path path) {
        return path instanceof UnixPath ? ((UnixPath) path).getByteArrayForSysCalls() : null;
    }
}
