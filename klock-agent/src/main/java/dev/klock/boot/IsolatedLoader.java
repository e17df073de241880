package dev.klock.boot;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Enumeration;
import java.util.Collections;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.jar.JarFile;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipEntry;

/**
 * Defines klock's own classes from the data that klock.jar carries. Its parent is the boot loader: nothing on the program's class path
 * is visible to klock, and nothing of klock to the program.
 *
 * <p>This class is on the program's class path, where the program can get at all of it by reflection. So klock itself is loaded by another
 * copy of it, which {@code weave.Walls} defines where that cannot be.
 *
 * <p>The jar stays open for the life of the JVM, because a class may be needed while a hook decides, when nothing may be opened.
 *
 * <p>All classes stand in one entry that is stored, not compressed, and read by position (a jar of a thousand entries costs 20 ms CPU to
 * index, before {@code main}). Its layout, integers big-endian: magic number; 16 bytes that tell this build from every other; number of
 * slots, a power of two; where the data begins. Then the slots, a hash table with linear probing by {@link String#hashCode} of the class
 * name: hash, position of the name, position of the bytes, how many there are, how many they are inflated; the last is 0 in an empty
 * slot, and equals the one before where the bytes are not deflated. Then the names, each behind its length in one byte, then the data.
 *
 * <p>What only hooks on libraries need, four times as much as all the rest, stands in a second entry of the same layout, whose index is not
 * read before one of its classes is asked for.
 */
public final class IsolatedLoader extends ClassLoader implements Consumer<Object> {
    private static final String PREFIX = "META-INF/klock/";
    /** Types that java.base links to; they must come from the boot loader once they are there. */
    private static final String SHARED = "dev.klock.bridge.";
    private static final String CLASSES = PREFIX.concat("classes");
    private static final String CLASSES_OF_LIBRARY = PREFIX.concat("library");
    /** Packages of what stands there. */
    private static final String LIBRARY = "dev.klock.library.";
    private static final String LIBRARY_HOOKS = "dev.klock.agent.library.";
    private static final int MAGIC = 0x4B4C4F01;
    private static final int IDENTITY_AT = 4;
    private static final int IDENTITY_BYTES = 16;
    private static final int HEAD_BYTES = IDENTITY_AT + IDENTITY_BYTES + 8;
    private static final int SLOT_BYTES = 20;
    /** What {@link #getResourceAsStream} gives the identity of this build for. */
    private static final String IDENTITY = "identity";
    private static final String ERROR = "dev.klock.ScopeViolationError";

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private final Archive classes;
    private volatile Archive library;
    private volatile boolean standalone;
    private Object handed;

    /** @throws IOException if {@code jar} is not a whole klock.jar */
    public IsolatedLoader(JarFile jar) throws IOException {
        super("klock", null);
        this.jar = jar;
        classes = new Archive(jar, CLASSES);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.startsWith(SHARED) || name.equals(ERROR)) {
            // the boot loader was asked first and does not have it: the command line runs without weaving
            if (!standalone) {
                throw new ClassNotFoundException(name);
            }
        }
        byte[] bytes = bytesOf(name);
        if (bytes == null) {
            if (name.startsWith("java.")) {
                // java.sql and others of the JDK that the boot loader does not have
                return getPlatformClassLoader().loadClass(name);
            }
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    /** What the class {@code name} hands over when it is initialised: it takes the launch, and gives what it failed with or null. */
    @SuppressWarnings("unchecked")
    public Function<Object[], Throwable> entrance(String name) throws ClassNotFoundException {
        Class.forName(name, true, this);
        Function<Object[], Throwable> entrance = (Function<Object[], Throwable>) handed;
        handed = null;
        return entrance;
    }

    /** Called by the entrance when it is initialised. */
    @Override
    public void accept(Object entrance) {
        handed = entrance;
    }

    /** For the command line, where no class is defined into the boot loader. */
    void standalone() {
        standalone = true;
    }

    @Override
    public InputStream getResourceAsStream(String name) {
        byte[] bytes;
        if (name.endsWith(".class")) {
            bytes = bytesOf(name.substring(0, name.length() - 6).replace('/', '.'));
        } else if (name.equals(IDENTITY)) {
            return new java.io.ByteArrayInputStream(classes.index, IDENTITY_AT, IDENTITY_BYTES);
        } else {
            bytes = read(PREFIX.concat(name));
        }
        return bytes == null ? null : new java.io.ByteArrayInputStream(bytes);
    }

    @Override
    protected URL findResource(String name) {
        ZipEntry entry = jar.getEntry(PREFIX.concat(name));
        if (entry == null) {
            return null;
        }
        try {
            return new URL("jar:" + new java.io.File(jar.getName()).toURI() + "!/" + PREFIX + name);
        } catch (java.net.MalformedURLException e) {
            return null;
        }
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL url = findResource(name);
        return url == null ? Collections.emptyEnumeration() : Collections.enumeration(Collections.singleton(url));
    }

    private byte[] bytesOf(String name) {
        if (!name.startsWith(LIBRARY) && !name.startsWith(LIBRARY_HOOKS)) {
            return classes.bytesOf(name);
        }
        Archive archive = library;
        if (archive == null) {
            try {
                archive = new Archive(jar, CLASSES_OF_LIBRARY);
            } catch (IOException e) {
                return null;
            }
            library = archive;
        }
        return archive.bytesOf(name);
    }

    private static int int4(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 24 | (bytes[at + 1] & 0xFF) << 16 | (bytes[at + 2] & 0xFF) << 8 | bytes[at + 3] & 0xFF;
    }

    private byte[] read(String name) {
        ZipEntry entry = jar.getEntry(name);
        if (entry == null) {
            return null;
        }
        try (InputStream in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        } catch (IOException e) {
            return null;
        }
    }

    /** One of the entries that hold classes. */
    private static final class Archive {
        private final JarFile jar;
        private final ZipEntry classes;
        /** Head, slots and names. */
        private final byte[] index;
        private final int slots;

        Archive(JarFile jar, String entry) throws IOException {
            this.jar = jar;
            classes = jar.getEntry(entry);
            if (classes == null) {
                throw new IOException(jar.getName().concat(" has no entry ").concat(entry));
            }
            try (InputStream in = jar.getInputStream(classes)) {
                byte[] head = in.readNBytes(HEAD_BYTES);
                if (head.length < HEAD_BYTES || int4(head, 0) != MAGIC) {
                    throw new IOException(jar.getName().concat(" is damaged"));
                }
                slots = int4(head, HEAD_BYTES - 8);
                index = new byte[int4(head, HEAD_BYTES - 4)];
                System.arraycopy(head, 0, index, 0, HEAD_BYTES);
                if (in.readNBytes(index, HEAD_BYTES, index.length - HEAD_BYTES) < index.length - HEAD_BYTES) {
                    throw new IOException(jar.getName().concat(" is cut short"));
                }
            }
        }

        /** The class file of {@code name}, null if klock.jar carries none. */
        byte[] bytesOf(String name) {
            int hash = name.hashCode();
            for (int slot = hash & slots - 1;; slot = slot + 1 & slots - 1) {
                int at = HEAD_BYTES + slot * SLOT_BYTES;
                int whole = int4(index, at + 16);
                if (whole == 0) {
                    return null;
                }
                if (int4(index, at) == hash && isNamed(name, int4(index, at + 4))) {
                    return bytes(int4(index, at + 8), int4(index, at + 12), whole);
                }
            }
        }

        private boolean isNamed(String name, int at) {
            if ((index[at] & 0xFF) != name.length()) {
                return false;
            }
            for (int i = 0; i < name.length(); i++) {
                if (name.charAt(i) != (index[at + 1 + i] & 0xFF)) {
                    return false;
                }
            }
            return true;
        }

        private byte[] bytes(int at, int length, int whole) {
            byte[] bytes = new byte[length];
            try (InputStream in = jar.getInputStream(classes)) {
                in.skipNBytes(at);
                if (in.readNBytes(bytes, 0, length) < length) {
                    return null;
                }
            } catch (IOException e) {
                return null;
            }
            if (length == whole) {
                return bytes;
            }
            Inflater inflater = new Inflater(true);
            try {
                byte[] inflated = new byte[whole];
                inflater.setInput(bytes);
                return inflater.inflate(inflated) == whole ? inflated : null;
            } catch (DataFormatException e) {
                return null;
            } finally {
                inflater.end();
            }
        }
    }
}
