package dev.klock.boot;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Enumeration;
import java.util.Collections;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * Defines klock's own classes from the data that klock.jar carries. Its parent is the boot loader: nothing on the program's class path
 * is visible to klock, and nothing of klock to the program.
 *
 * <p>The jar stays open for the life of the JVM, because a class may be needed while a hook decides, when nothing may be opened.
 */
final class IsolatedLoader extends ClassLoader {
    private static final String PREFIX = "META-INF/klock/";
    /** Types that java.base links to; they must come from the boot loader once they are there. */
    private static final String SHARED = "dev.klock.bridge.";
    private static final String ERROR = "dev.klock.ScopeViolationError";

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private volatile boolean standalone;

    IsolatedLoader(JarFile jar) {
        super("klock", null);
        this.jar = jar;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.startsWith(SHARED) || name.equals(ERROR)) {
            // the boot loader was asked first and does not have it: the command line runs without weaving
            if (!standalone) {
                throw new ClassNotFoundException(name);
            }
        }
        byte[] bytes = read(PREFIX.concat(name.replace('.', '/')).concat(".klass"));
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    /** For the command line, where no class is defined into the boot loader. */
    void standalone() {
        standalone = true;
    }

    @Override
    public InputStream getResourceAsStream(String name) {
        String entry = name.endsWith(".class") ? name.substring(0, name.length() - 6).concat(".klass") : name;
        byte[] bytes = read(PREFIX.concat(entry));
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
}
