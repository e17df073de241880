package dev.klock.sandbox.subject;

import java.io.File;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import sun.misc.Unsafe;

/** What can be done with the lookup that may do everything, which {@code Unsafe} hands out. */
public final class ThroughUnsafe {
    private ThroughUnsafe() {
    }

    /** Tells klock that what this thread does is klock's own, and then removes the file that the argument names. */
    public static void main(String[] arguments) throws Throwable {
        Object hooks = lookup().findStaticGetter(Class.forName("sun.nio.fs.KlockBridge"), "HOOKS", Class.forName("dev.klock.bridge.Hooks")).invoke();
        lookup().findVirtual(hooks.getClass(), "enter", MethodType.methodType(void.class)).bindTo(hooks).invoke();
        System.out.println(new File(arguments[0]).delete() ? "removed" : "still there");
    }

    /** The lookup. */
    @SuppressWarnings({"deprecation", "removal"})
    public static MethodHandles.Lookup lookup() throws ReflectiveOperationException {
        Field trusted = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
        return (MethodHandles.Lookup) unsafe().getObject(unsafe().staticFieldBase(trusted), unsafe().staticFieldOffset(trusted));
    }

    /** Removes a file by the JDK's native method itself. */
    @SuppressWarnings({"deprecation", "removal"})
    public static void remove(String file) throws Throwable {
        byte[] name = Path.of(file).toAbsolutePath().toString().getBytes(StandardCharsets.UTF_8);
        Unsafe unsafe = unsafe();
        long address = unsafe.allocateMemory(name.length + 1L);
        for (int i = 0; i < name.length; i++) {
            unsafe.putByte(address + i, name[i]);
        }
        unsafe.putByte(address + name.length, (byte) 0);
        lookup().findStatic(Class.forName("sun.nio.fs.UnixNativeDispatcher"), "unlink0", MethodType.methodType(void.class, long.class)).invoke(address);
    }

    private static Unsafe unsafe() throws ReflectiveOperationException {
        Field instance = Unsafe.class.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        return (Unsafe) instance.get(null);
    }
}
