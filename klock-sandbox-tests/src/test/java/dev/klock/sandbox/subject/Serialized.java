package dev.klock.sandbox.subject;

import java.lang.reflect.Constructor;
import sun.reflect.ReflectionFactory;

/** Makes objects as serialization does: of klock's classes, by no constructor of theirs and by their own, and of another. */
public final class Serialized {
    private Serialized() {
    }

    public static void main(String[] arguments) throws Exception {
        ClassLoader loader = null;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            loader = thread.getName().equals("klock") ? thread.getClass().getClassLoader() : loader;
        }
        Class<?> entrance = Class.forName("dev.klock.agent.Entrance", false, loader);
        make(entrance, Object.class.getConstructor());
        Class<?> files = Class.forName("sun.nio.fs.KlockFiles");
        make(files, files.getConstructor());
        make(java.util.ArrayList.class, Object.class.getConstructor());
    }

    private static void make(Class<?> type, Constructor<?> constructor) throws Exception {
        try {
            ReflectionFactory.getReflectionFactory().newConstructorForSerialization(type, constructor).newInstance();
            System.out.println(type.getName() + " made");
        } catch (Error refused) {
            System.out.println(type.getName() + " refused");
        }
    }
}
