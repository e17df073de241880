package dev.klock.sandbox.field;

import dev.klock.sandbox.subject.ThroughUnsafe;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/** C: reflection, byte code, klock's own parts, and errors that get lost. */
final class FieldC {
    private static final int DENIALS = 1000;
    private static final int WRITERS = 32;
    /** What guards in this JVM, by the names that somebody who has read klock's sources would try. */
    private static final String[] GUARDS = {"sun.nio.fs.KlockBridge", "sun.nio.fs.KlockFiles", "sun.nio.fs.KlockPort", "dev.klock.bridge.HostFiles", "dev.klock.bridge.Hooks", "dev.klock.bridge.Fence", "dev.klock.bridge.Listeners",
        "dev.klock.agent.observe.Observer", "dev.klock.agent.observe.Judge", "dev.klock.agent.config.Mode",
        "dev.klock.agent.weave.Installation", "dev.klock.agent.weave.Bridge"};

    private static final String OPEN_IO = "--add-opens=java.base/java.io=ALL-UNNAMED";
    private static final String OPEN = "CONSUMES NATIVE:java.io.FileOutputStream.open0";

    private FieldC() {
    }

    static void cases(Cases c) {
        c.of("C01", "C", "forkAndExec through the trusted lookup")
                .blocks("undeclared", w -> {
                    for (Method method : Class.forName("java.lang.ProcessImpl").getDeclaredMethods()) {
                        if (method.getName().equals("forkAndExec")) {
                            ThroughUnsafe.lookup().findVirtual(method.getDeclaringClass(), "forkAndExec", MethodType.methodType(method.getReturnType(), method.getParameterTypes()));
                        }
                    }
                }, "CONSUMES NATIVE:java.lang.ProcessImpl.forkAndExec").provenBy("KnownLimitsTest.klockItself_switchedOffThroughUnsafe_isNotSeen");
        c.of("C02", "C", "open0 through the trusted lookup")
                .blocks("undeclared", w -> ThroughUnsafe.lookup().findVirtual(FileOutputStream.class, "open0", MethodType.methodType(void.class, String.class, boolean.class))
                        .invoke(new FileOutputStream(new FileDescriptor()), w.name("x"), false), OPEN)
                .blocks("by a class of its own beside it", w -> ThroughUnsafe.lookup().in(FileOutputStream.class).defineHiddenClass(beside("java/io/"), false), "CONSUMES NATIVE:java.io")
                .provenBy("KnownLimitsTest.klockItself_switchedOffThroughUnsafe_isNotSeen");
        c.of("C03", "C", "unlink0 through the trusted lookup")
                .blocks("undeclared", w -> ThroughUnsafe.remove(w.name("private/p")), "CONSUMES NATIVE:sun.nio.fs.UnixNativeDispatcher.unlink0")
                .provenBy("KnownLimitsTest.klockItself_switchedOffThroughUnsafe_isNotSeen");
        c.of("C04", "H", "no second name for what a hook guards")
                .allows("members of the woven classes are those of the JDK", FieldC::members)
                .blocks("the native itself, where the launcher opened its package", w -> open(w.name("x")), OPEN).in("natives opened", OPEN_IO).always()
                .blocks("by a method handle", w -> MethodHandles.privateLookupIn(FileOutputStream.class, MethodHandles.lookup())
                        .findVirtual(FileOutputStream.class, "open0", MethodType.methodType(void.class, String.class, boolean.class))
                        .invoke(new FileOutputStream(new FileDescriptor()), w.name("x"), false), OPEN).in("natives opened")
                .blocks("of all members at once", w -> AccessibleObject.setAccessible(FileOutputStream.class.getDeclaredMethods(), true), OPEN.replace("open0", "\\w+"))
                .andPermissive("CONSUMES NATIVE:java.io.*").in("natives opened")
                .blocks("by a class of its own beside it", w -> MethodHandles.privateLookupIn(FileOutputStream.class, MethodHandles.lookup()).defineClass(beside("java/io/")),
                        "CONSUMES NATIVE:java.io").in("natives opened")
                .blocks("by the abstract method that it implements", FieldC::makeDirectory, "CONSUMES NATIVE:java.io.FileSystem.createDirectory").until(17).in("natives opened")
                .blocks("by the abstract method above the one that calls it", FieldC::makeDirectory, "PROVIDES FILE:W/new").since(18).in("natives opened")
                .blocks("the native that defines classes of the JDK", w -> {
                    for (Method method : ClassLoader.class.getDeclaredMethods()) {
                        if (method.getName().equals("defineClass1")) {
                            method.setAccessible(true);
                        }
                    }
                }, "CONSUMES NATIVE:java.lang.ClassLoader.defineClass1").in("opened", "--add-opens=java.base/java.lang=ALL-UNNAMED")
                .blocks("the lookup that may do everything", w -> MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP").setAccessible(true),
                        "CONSUMES NATIVE:java.lang.invoke.MethodHandles\\$Lookup.IMPL_LOOKUP").in("lookup opened", "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED")
                .allows("others of the same class", w -> {
                    Method close = FileInputStream.class.getDeclaredMethod("available0");
                    close.setAccessible(true);
                    try (FileInputStream in = new FileInputStream(w.name("in/a"))) {
                        w.say(close.invoke(in));
                        w.say(MethodHandles.privateLookupIn(FileInputStream.class, MethodHandles.lookup())
                                .findVirtual(FileInputStream.class, "available0", MethodType.methodType(int.class)).invoke(in));
                    }
                    Field path = File.class.getDeclaredField("path");
                    path.setAccessible(true);
                    w.say(path.get(new File("name")));
                }).in("natives opened")
                .allows("declared", w -> open(w.name("out/a"))).declaring("CONSUMES NATIVE:java.io.FileOutputStream.open0").in("natives opened and declared", OPEN_IO);
        c.of("C05", "C", "ProcessImpl.start by reflection")
                .blocks("opened by the launcher", FieldC::startByReflection, "PROVIDES PROCESS:.*").andPermissive("MUTATES FILE:.*")
                .in("opened", "--add-opens=java.base/java.lang=ALL-UNNAMED")
                .allows("not opened", w -> {
                    try {
                        startByReflection(w);
                    } catch (InaccessibleObjectException e) {
                        w.say("kept out");
                    }
                });
        c.of("C06", "C", "klock's switch")
                .allows("no static field or method of it can be reached", FieldC::reachGuards)
                .allows("nor with java.base opened", FieldC::reachGuards).in("opened", "--add-opens=java.base/java.lang=ALL-UNNAMED",
                        "--add-opens=java.base/sun.nio.fs=ALL-UNNAMED")
                .blocks("properties that nobody asks", w -> {
                    System.setProperty("klock.mode", "off");
                    System.setProperty("klock.enabled", "false");
                    Files.writeString(w.path("x"), "changed");
                }, "MUTATES FILE:W/x").provenBy("ModesTest.klocksOwnFiles_evenWhenDeclared_cannotBeChanged");
        c.of("C07", "C", "a second agent that rewrites a woven class").provenBy("NativeDoorsTest.agentAfterKlock_undeclared_doesNotComeIn",
                "NativeDoorsTest.agentThatTakesTheHooksOut_endsTheSessionBeforeTheClassIsChanged").as("blocked");
        c.of("C08", "H", "code defined at run time")
                .blocks("hidden class", w -> writer(MethodHandles.lookup().defineHiddenClass(bytes(), true).lookupClass()).accept(w.name("x")), "MUTATES FILE:W/x")
                .blocks("class loader", w -> writer(new Definer().define(Writer.class.getName(), bytes())).accept(w.name("x")), "MUTATES FILE:W/x")
                .blocks("lambda", w -> {
                    Taker taker = FieldC::write;
                    taker.accept(w.name("x"));
                }, "MUTATES FILE:W/x")
                .blocks("proxy", w -> ((Taker) Proxy.newProxyInstance(FieldC.class.getClassLoader(), new Class<?>[] {Taker.class}, (proxy, method, arguments) -> {
                    write((String) arguments[0]);
                    return null;
                })).accept(w.name("x")), "MUTATES FILE:W/x")
                .allows("inside the scope", w -> writer(MethodHandles.lookup().defineHiddenClass(bytes(), true).lookupClass()).accept(w.name("out/a")));
        c.of("C09", "C", "a denied hook leaves no door open behind it")
                .blocks("the same thread again and again", FieldC::againAndAgain, "MUTATES FILE:W/x");
        c.of("C10", "H", "frames that carry the name of one that is trusted")
                .blocks("a class of the JDK's loader", w -> writer(named("jdk/internal/loader/BootLoader")).accept(w.name("x")), "MUTATES FILE:W/x").withoutFrame()
                .blocks("a class of klock", w -> writer(named("dev/klock/agent/observe/Work")).accept(w.name("x")), "MUTATES FILE:W/x").withoutFrame()
                .blocks("read", w -> reader(named("sun/nio/fs/UnixNative")).accept(w.name("private/p")), "CONSUMES FILE:W/private/p").withoutFrame();
        c.of("C11", "C", "a child JVM without an agent").provenBy("FieldStartTest.childJvm_thatStrays_isStoppedOrReportedAsUnmonitored")
                .as("blocked; where declared, reported as unmonitored");
        c.of("C12", "M", "tools of the JDK that pick the agent up from JAVA_TOOL_OPTIONS").provenBy("FieldStartTest.toolsOfTheJdk_underJavaToolOptions_workAndOpenNoSession")
                .as("allowed, without a session");
        c.of("C14", "M", "a violation in a static initialiser")
                .blocks("used twice", FieldC::initialise, "MUTATES FILE:W/x").in("initialiser").ends();
        c.of("C15", "C", "a violation on another thread, whose result nobody reads")
                .blocks("CompletableFuture", w -> {
                    CompletableFuture<Void> future = CompletableFuture.runAsync(() -> write(w.name("x")));
                    while (!future.isDone()) {
                        Thread.sleep(1);
                    }
                }, "MUTATES FILE:W/x").swallowed().always()
                .blocks("parallel stream", w -> IntStream.range(0, 8).parallel().forEach(i -> write(w.name("x"))), "MUTATES FILE:W/x").swallowed()
                .blocks("Timer", FieldC::onATimer, "MUTATES FILE:W/x").swallowed()
                .blocks("virtual thread", w -> ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, (Runnable) () -> quietly(() -> write(w.name("x"))))).join(), "MUTATES FILE:W/x").swallowed().since(21).always();
        c.of("C17", "H", "a command list that tells two stories")
                .blocks("toArray", w -> new ProcessBuilder(new Lying(w.name("new"))).start().waitFor(), "PROVIDES PROCESS:.*/(touch|coreutils|busybox)")
                .andPermissive("MUTATES FILE:.*").in("child");
        c.of("C18", "C", "many threads change the same file first")
                .allows("inside the scope", FieldC::manyWriters)
                .blocks("and then astray: what was there comes back", w -> {
                    manyWriters(w);
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").changesOut().always();
        c.of("C19", "H", "System.exit while the rollback runs").provenBy("StrictTest.exit_onAnotherThreadWhileRollingBack_stillEndsWith108",
                "StrictTest.exit_racingWithAViolation_endsWith108IfAnythingWasDenied").as("blocked");
        c.of("C20", "C", "a second agent loaded from inside").provenBy("NativeDoorsTest.agentAfterKlock_undeclared_doesNotComeIn").as("blocked");
    }

    /** Takes a name. */
    public interface Taker {
        void accept(String name);
    }

    /** Changes or reads a file; to be defined a second time, also under other names. */
    public static final class Writer {
        public static void write(String name) throws IOException {
            new FileOutputStream(name).close();
        }

        public static void read(String name) throws IOException {
            new FileInputStream(name).close();
        }
    }

    private static final class Initialised {
        private static String file;

        private static final class Late {
            static {
                write(file);
            }

            static void touch() {
            }
        }
    }

    private static final class Definer extends ClassLoader {
        Definer() {
            super(FieldC.class.getClassLoader());
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private static final class Lying extends ArrayList<String> {
        private static final long serialVersionUID = 1L;
        private final String file;

        Lying(String file) {
            super(List.of("echo"));
            this.file = file;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T[] toArray(T[] array) {
            return (T[]) new String[] {"touch", file};
        }
    }

    static void write(String name) {
        try {
            new FileOutputStream(name).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void quietly(Runnable work) {
        try {
            work.run();
        } catch (Error denied) {
            return;
        }
    }

    private static byte[] bytes() throws IOException {
        try (InputStream in = FieldC.class.getResourceAsStream("FieldC$Writer.class")) {
            return in.readAllBytes();
        }
    }

    private static Taker writer(Class<?> type) {
        return call(type, "write");
    }

    private static Taker reader(Class<?> type) {
        return call(type, "read");
    }

    private static Taker call(Class<?> type, String method) {
        return name -> {
            try {
                type.getMethod(method, String.class).invoke(null, name);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw new IllegalStateException(e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    /** The native itself, by reflection. */
    private static void open(String name) throws Throwable {
        Method open = FileOutputStream.class.getDeclaredMethod("open0", String.class, boolean.class);
        open.setAccessible(true);
        try {
            open.invoke(new FileOutputStream(new FileDescriptor()), name, false);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void makeDirectory(Site w) throws Throwable {
        Class<?> system = Class.forName("java.io.FileSystem");
        Field instance = Arrays.stream(File.class.getDeclaredFields()).filter(field -> field.getType() == system).findFirst().orElseThrow();
        instance.setAccessible(true);
        Method make = system.getDeclaredMethod("createDirectory", File.class);
        make.setAccessible(true);
        try {
            w.say(make.invoke(instance.get(null), w.file("new")));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The writer as a class of another package. */
    private static byte[] beside(String place) throws IOException {
        String own = Writer.class.getName().replace('.', '/');
        String text = new String(bytes(), StandardCharsets.ISO_8859_1);
        return text.replace(own, place + "X".repeat(own.length() - place.length())).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** The writer under a name as long as its own, in a loader of its own. */
    private static Class<?> named(String beginning) throws IOException {
        String own = Writer.class.getName().replace('.', '/');
        String other = beginning + "X".repeat(own.length() - beginning.length());
        String bytes = new String(bytes(), StandardCharsets.ISO_8859_1).replace(own, other);
        return new Definer().define(other.replace('/', '.'), bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void members(Site w) throws ClassNotFoundException {
        for (String name : new String[] {"java.io.FileOutputStream", "java.io.FileInputStream", "java.io.RandomAccessFile", "java.io.File",
            "java.lang.ProcessImpl", "java.lang.ProcessBuilder", "sun.nio.fs.UnixNativeDispatcher", "sun.nio.fs.UnixChannelFactory", "sun.nio.ch.Net"}) {
            Class<?> type = Class.forName(name, false, null);
            w.say(new TreeSet<>(Arrays.stream(type.getDeclaredMethods()).map(Method::toString).toList()));
            w.say(new TreeSet<>(Arrays.stream(type.getDeclaredFields()).map(Field::toString).toList()));
            w.say(new TreeSet<>(Arrays.stream(type.getDeclaredConstructors()).map(Constructor::toString).toList()));
        }
    }

    private static void startByReflection(Site w) throws Throwable {
        for (Method method : Class.forName("java.lang.ProcessImpl").getDeclaredMethods()) {
            if (method.getName().equals("start")) {
                method.setAccessible(true);
                ProcessBuilder.Redirect[] pipes = {ProcessBuilder.Redirect.PIPE, ProcessBuilder.Redirect.PIPE, ProcessBuilder.Redirect.PIPE};
                try {
                    w.say(((Process) method.invoke(null, new String[] {"/usr/bin/touch", w.name("new")}, null, null, pipes, false)).waitFor());
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            }
        }
    }

    private static void reachGuards(Site w) {
        for (String name : GUARDS) {
            for (ClassLoader loader : new ClassLoader[] {null, ClassLoader.getPlatformClassLoader(), ClassLoader.getSystemClassLoader()}) {
                try {
                    reach(w, Class.forName(name, false, loader));
                } catch (ClassNotFoundException | LinkageError absent) {
                    continue;
                }
            }
        }
    }

    private static void reach(Site w, Class<?> guard) {
        for (Field field : guard.getDeclaredFields()) {
            try {
                field.setAccessible(true);
                boolean number = field.getType().isPrimitive() && Modifier.isFinal(field.getModifiers());
                if (Modifier.isStatic(field.getModifiers()) && !number) {
                    w.say("could reach " + field);
                }
            } catch (RuntimeException keptOut) {
                continue;
            }
        }
        for (Method method : guard.getDeclaredMethods()) {
            try {
                method.setAccessible(true);
                if (Modifier.isStatic(method.getModifiers())) {
                    w.say("could call " + method);
                }
            } catch (RuntimeException keptOut) {
                continue;
            }
        }
    }

    private static void againAndAgain(Site w) {
        int denied = 0;
        Error last = null;
        for (int i = 0; i < DENIALS; i++) {
            try {
                write(w.name("x"));
            } catch (Error e) {
                denied++;
                last = e;
            }
        }
        if (denied > 0 && denied < DENIALS) {
            w.say("only " + denied + " of " + DENIALS);
        } else if (last != null) {
            throw last;
        }
    }

    private static void initialise(Site w) {
        Initialised.file = w.name("x");
        try {
            Initialised.Late.touch();
        } catch (Error first) {
            try {
                Initialised.Late.touch();
            } catch (NoClassDefFoundError second) {
                w.say("and then " + second.getClass().getSimpleName());
            }
            throw first;
        }
    }

    private static void onATimer(Site w) throws InterruptedException {
        Timer timer = new Timer(true);
        CountDownLatch over = new CountDownLatch(1);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                try {
                    quietly(() -> write(w.name("x")));
                } finally {
                    over.countDown();
                }
            }
        }, 0);
        over.await();
        timer.cancel();
    }

    private static void manyWriters(Site w) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            Thread thread = new Thread(() -> {
                try {
                    Files.writeString(w.path("out/a"), "x", StandardOpenOption.APPEND);
                } catch (IOException e) {
                    w.say(e);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
