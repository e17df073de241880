package dev.klock.sandbox.net;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.awt.GraphicsEnvironment;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.ref.Cleaner;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.sound.midi.MidiSystem;
import javax.sound.sampled.AudioSystem;
import jdk.jfr.Recording;

/** Goes through doors of the environment and round the JDK, as {@link NetSteps} does through those of the network. */
public final class NativeSteps {
    private NativeSteps() {
    }

    /** As a reference to the method, which a cleaner calls: no frame of the program's is on the stack but one that the JVM hides. */
    private static void loadByTheJdk(String library) throws Exception {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle load = lookup.findStatic(System.class, "load", MethodType.methodType(void.class, String.class));
        Runnable reference;
        try {
            reference = (Runnable) LambdaMetafactory.metafactory(lookup, "run", MethodType.methodType(Runnable.class, String.class), MethodType.methodType(void.class), load,
                    MethodType.methodType(void.class)).getTarget().invoke(library);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        Cleaner.create().register(new Object(), reference).clean();
    }

    public static void main(String[] steps) {
        for (String step : steps) {
            System.out.println(step + ": " + Attempt.of(() -> run(List.of(step.split(" ")))));
        }
        System.exit(0);
    }

    private static String run(List<String> words) throws Exception {
        String first = words.size() > 1 ? words.get(1) : null;
        switch (words.get(0)) {
            case "getenv":
                return System.getenv(first);
            case "reference":
                return Stream.of(first).map(System::getenv).toList().get(0);
            case "map":
                return System.getenv().get(first);
            case "builder":
                return new ProcessBuilder("x").environment().get(first);
            case "entry":
                return Optional.ofNullable(entry(System.getenv(), first)).map(Map.Entry::getValue).orElse(null);
            case "builder-entry":
                return entry(new ProcessBuilder("x").environment(), first).getValue();
            case "copy":
                return "copied " + new HashMap<>(System.getenv()).containsKey(first);
            case "values":
                return "some " + new ArrayList<>(System.getenv().values()).isEmpty();
            case "has-value":
                return "asked " + System.getenv().containsValue("no such value");
            case "names":
                return "named " + System.getenv().keySet().contains(first) + " " + System.getenv().containsKey(first);
            case "put":
                ProcessBuilder own = new ProcessBuilder("x");
                own.environment().put("MADE_UP", "mine");
                own.environment().put("MADE_UP", own.environment().get("MADE_UP") + " again");
                return own.environment().remove("MADE_UP");
            case "replace":
                return new ProcessBuilder("x").environment().put(first, "mine");
            case "remove":
                return new ProcessBuilder("x").environment().remove(first);
            case "entry-set":
                return entry(new ProcessBuilder("x").environment(), first).setValue("mine");
            case "entry-hash":
                return "hashed " + (entry(System.getenv(), first).hashCode() != 0);
            case "entry-equals":
                return "equal " + entry(new ProcessBuilder("x").environment(), first).equals(entry(new ProcessBuilder("y").environment(), first));
            case "guess":
                return "guessed " + new ProcessBuilder("x").environment().entrySet().contains(Map.entry(first, "no such value"));
            case "values-contain":
                return "asked " + new ProcessBuilder("x").environment().values().contains("no such value");
            case "values-remove":
                return "asked " + new ProcessBuilder("x").environment().values().remove("no such value");
            case "values-equal":
                return "asked " + new ProcessBuilder("x").environment().values().equals(new ProcessBuilder("y").environment().values());
            case "values-hash":
                return "hashed " + (new ProcessBuilder("x").environment().values().hashCode() != 0);
            case "entries-remove":
                return "asked " + new ProcessBuilder("x").environment().entrySet().remove(Map.entry(first, "no such value"));
            case "entries-equal":
                return "equal " + new ProcessBuilder("x").environment().entrySet().equals(new ProcessBuilder("y").environment().entrySet());
            case "entries-hash":
                return "hashed " + (new ProcessBuilder("x").environment().entrySet().hashCode() != 0);
            case "proc":
                return "read " + (Files.readAllBytes(Path.of("/proc/self/environ")).length > 0);
            case "child": {
                ProcessBuilder builder = new ProcessBuilder("/usr/bin/env");
                if (first != null) {
                    builder.environment().put(first, words.get(2));
                }
                String all = new String(builder.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                return "ran " + !all.isEmpty();
            }
            case "jdk-reads":
                new Properties().store(new StringWriter(), "");
                return "asked " + (ImageIO.getReaderFormatNames().length > 0) + " " + (GraphicsEnvironment.isHeadless() || true);
            case "properties":
                System.setProperties(first.equals("own") ? new Properties(System.getProperties()) {
                    private static final long serialVersionUID = 1L;
                } : first.equals("beside") ? new Properties(new Properties() {
                    private static final long serialVersionUID = 1L;
                }) : new Properties(System.getProperties()));
                return "set";
            case "manager":
                System.class.getMethod("setSecurityManager", Class.forName("java.lang.SecurityManager")).invoke(null, Class.forName("java.lang.SecurityManager").getConstructor().newInstance());
                return "set";
            case "draw":
                new BufferedImage(9, 9, BufferedImage.TYPE_INT_RGB).createGraphics().drawString("x", 1, 8);
                return "drawn";
            case "load":
                System.load(first);
                return "loaded";
            case "load-by-the-jdk":
                loadByTheJdk(first);
                return "loaded";
            case "runtime-load":
                Runtime.getRuntime().load(first);
                return "loaded";
            case "load-library":
                System.loadLibrary(first);
                return "loaded";
            case "heap":
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(first, true);
                return "dumped " + Files.exists(Path.of(first));
            case "threads":
                return threads(first);
            case "flag":
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).setVMOption(first, words.get(2));
                return "set";
            case "command":
                return command(first, words.subList(2, words.size()).toArray(new String[0]));
            case "plain-command":
                return "answered " + !server().invoke(commands(), first, null, null).toString().isEmpty();
            case "describe":
                return "some " + (server().getMBeanInfo(commands()).getOperations().length > 10);
            case "record":
                return record(first, false);
            case "record-to":
                return record(first, true);
            case "attach": {
                VirtualMachine other = VirtualMachine.attach(first == null ? Long.toString(ProcessHandle.current().pid()) : first);
                other.detach();
                return "attached";
            }
            case "late-agent": {
                Process attacher = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path"),
                        LateAgent.class.getName(), Long.toString(ProcessHandle.current().pid()), first)
                        .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
                boolean ended = attacher.waitFor(30, TimeUnit.SECONDS);
                return "attacher ended " + ended + ", agent " + System.getProperty("late.agent");
            }
            case "link":
                return link();
            case "symbols":
                return symbols(first);
            case "reinterpret":
                return reinterpret();
            case "target-layout":
                return targetLayout();
            case "file":
                try (var in = Files.newInputStream(Path.of(first))) {
                    return "read " + (in.read() >= 0);
                }
            case "sound":
                return "looked " + (AudioSystem.getMixerInfo().length + MidiSystem.getMidiDeviceInfo().length >= 0);
            case "stop":
                return stop(words.size() > 1);
            default:
                throw new IllegalArgumentException(words.toString());
        }
    }

    private static Map.Entry<String, String> entry(Map<String, String> environment, String name) {
        for (Map.Entry<String, String> entry : environment.entrySet()) {
            if (entry.getKey().equals(name)) {
                return entry;
            }
        }
        return null;
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    private static ObjectName commands() throws Exception {
        return new ObjectName("com.sun.management:type=DiagnosticCommand");
    }

    private static String command(String name, String[] arguments) throws Exception {
        Object answer = server().invoke(commands(), name, new Object[] {arguments}, new String[] {String[].class.getName()});
        return "answered " + !answer.toString().isEmpty();
    }

    private static String record(String target, boolean destination) throws IOException {
        try (Recording recording = new Recording()) {
            if (destination) {
                recording.setDestination(Path.of(target));
            }
            recording.start();
            recording.stop();
            if (!destination) {
                recording.dump(Path.of(target));
            }
        }
        return "recorded " + Files.exists(Path.of(target));
    }

    /** Since 21. */
    private static String threads(String file) throws Exception {
        Class<?> format = Class.forName("com.sun.management.HotSpotDiagnosticMXBean$ThreadDumpFormat");
        invoke(HotSpotDiagnosticMXBean.class.getMethod("dumpThreads", String.class, format),
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class), file, format.getEnumConstants()[0]);
        return "dumped " + Files.exists(Path.of(file));
    }

    /** Since 22. */
    private static String link() throws Exception {
        Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
        Class<?> descriptorType = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> layouts = Class.forName("java.lang.foreign.MemoryLayout");
        Class<?> options = Class.forName("[Ljava.lang.foreign.Linker$Option;");
        Object linker = linkerType.getMethod("nativeLinker").invoke(null);
        Object descriptor = descriptorType.getMethod("ofVoid", layouts.arrayType()).invoke(null,
                java.lang.reflect.Array.newInstance(layouts, 0));
        invoke(linkerType.getMethod("downcallHandle", descriptorType, options), linker, descriptor,
                java.lang.reflect.Array.newInstance(options.getComponentType(), 0));
        return "linked";
    }

    /** Since 22. */
    private static String symbols(String library) throws Exception {
        Class<?> arenaType = Class.forName("java.lang.foreign.Arena");
        Object arena = arenaType.getMethod("global").invoke(null);
        Class<?> symbols = Class.forName("java.lang.foreign.SymbolLookup");
        if (library.startsWith("/")) {
            invoke(symbols.getMethod("libraryLookup", Path.class, arenaType), null, Path.of(library), arena);
        } else {
            invoke(symbols.getMethod("libraryLookup", String.class, arenaType), null, library, arena);
        }
        return "found";
    }

    /** Since 22. */
    private static String reinterpret() throws Exception {
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        Class<?> arenaType = Class.forName("java.lang.foreign.Arena");
        Object segment = segments.getMethod("ofAddress", long.class).invoke(null, 0L);
        Object arena = arenaType.getMethod("global").invoke(null);
        invoke(segments.getMethod("reinterpret", long.class), segment, 1L);
        invoke(segments.getMethod("reinterpret", arenaType, Consumer.class), segment, arena, null);
        invoke(segments.getMethod("reinterpret", long.class, arenaType, Consumer.class), segment, 1L, arena, null);
        return "reinterpreted";
    }

    /** Since 22. */
    private static String targetLayout() throws Exception {
        Class<?> layouts = Class.forName("java.lang.foreign.ValueLayout");
        Class<?> addressLayouts = Class.forName("java.lang.foreign.AddressLayout");
        invoke(addressLayouts.getMethod("withTargetLayout", Class.forName("java.lang.foreign.MemoryLayout")), layouts.getField("ADDRESS").get(null),
                layouts.getField("JAVA_BYTE").get(null));
        return "laid out";
    }

    /** On 17; later the JDK refuses it. */
    @SuppressWarnings({"deprecation", "removal"})
    private static String stop(boolean onlySuspended) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                return;
            }
        });
        thread.start();
        if (onlySuspended) {
            thread.suspend();
            thread.resume();
            thread.interrupt();
        } else {
            thread.stop();
        }
        thread.join();
        return "over";
    }

    private static void invoke(Method method, Object on, Object... arguments) throws Exception {
        try {
            method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) e.getCause();
        }
    }
}
