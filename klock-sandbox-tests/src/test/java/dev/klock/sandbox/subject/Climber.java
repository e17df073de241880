package dev.klock.sandbox.subject;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Tries to get into klock by plain reflection, from its threads, which the JVM shows to anybody, up to the loaders of their classes. */
public final class Climber {
    private static int tried;

    private Climber() {
    }

    /** {@code CLASS...}: public classes of klock's to try besides. */
    public static void main(String[] names) throws Exception {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("klock")) {
                climb(thread);
                ClassLoader loader = thread.getClass().getClassLoader();
                climb(loader);
                for (String name : names) {
                    tryAll(loader.loadClass(name));
                }
                for (Object above = loader.getClass().getClassLoader(); above != null; above = above.getClass().getClassLoader()) {
                    climb(above);
                }
            }
        }
        System.out.println("tried " + (tried > 100 ? "many" : tried));
    }

    private static void climb(Object object) {
        for (Class<?> c = object.getClass(); c != null; c = c.getSuperclass()) {
            tryAll(c);
        }
    }

    private static void tryAll(Class<?> c) {
        List<AccessibleObject> all = new ArrayList<>(Arrays.asList(c.getDeclaredFields()));
        all.addAll(Arrays.asList(c.getDeclaredMethods()));
        all.addAll(Arrays.asList(c.getDeclaredConstructors()));
        boolean ofKlock = c.getName().startsWith("dev.klock.");
        for (AccessibleObject one : all) {
            tried++;
            if (ofKlock && one.trySetAccessible()) {
                System.out.println("accessible: " + one);
            }
        }
        if (!ofKlock) {
            return;
        }
        try {
            MethodHandles.privateLookupIn(c, MethodHandles.lookup());
            System.out.println("looked into: " + c);
        } catch (IllegalAccessException e) {
            tried++;
        }
        for (AccessibleObject one : all) {
            if (one instanceof Method && Modifier.isStatic(((Method) one).getModifiers()) && ((Method) one).getParameterCount() == 0) {
                called(() -> ((Method) one).invoke(null), one);
            } else if (one instanceof Constructor && ((Constructor<?>) one).getParameterCount() == 0) {
                called(() -> ((Constructor<?>) one).newInstance(), one);
            }
        }
    }

    private static void called(java.util.concurrent.Callable<?> call, Object what) {
        try {
            call.call();
            System.out.println("called: " + what);
        } catch (IllegalAccessException e) {
            tried++;
        } catch (Exception e) {
            System.out.println("called: " + what + ": " + e);
        }
    }
}
