package dev.klock.sandbox.subject;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Calls {@code com.acme.Flags.raise(flag)}: with {@code loader DIR FLAG…} of a class loader that, as OSGi's do, has nothing from others but
 * {@code java.*}; with {@code module FLAG…} of a named module.
 */
public final class Isolated {
    private Isolated() {
    }

    public static void main(String[] arguments) throws ReflectiveOperationException {
        boolean loader = arguments[0].equals("loader");
        Class<?> flags = loader ? new Bundle(Path.of(arguments[1])).loadClass("com.acme.Flags") : Class.forName("com.acme.Flags");
        System.out.println(flags.getModule().isNamed() ? "named" : "unnamed");
        for (int i = loader ? 2 : 1; i < arguments.length; i++) {
            try {
                flags.getMethod("raise", String.class).invoke(null, arguments[i]);
            } catch (InvocationTargetException e) {
                System.out.println("caught " + e.getCause().getClass().getName());
            }
        }
    }

    private static final class Bundle extends ClassLoader {
        private final Path directory;

        Bundle(Path directory) {
            super(null);
            this.directory = directory;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            if (name.startsWith("java.")) {
                return getPlatformClassLoader().loadClass(name);
            }
            try {
                byte[] bytes = Files.readAllBytes(directory.resolve(name.replace('.', '/') + ".class"));
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
