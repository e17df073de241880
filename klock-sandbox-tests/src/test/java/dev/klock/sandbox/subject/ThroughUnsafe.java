package dev.klock.sandbox.subject;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import sun.misc.Unsafe;

/** Removes the file that its argument names by calling the JDK's native method itself, with the lookup that may do everything. */
public final class ThroughUnsafe {
    private ThroughUnsafe() {
    }

    @SuppressWarnings({"deprecation", "removal"})
    public static void main(String[] arguments) throws Throwable {
        Field instance = Unsafe.class.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Unsafe unsafe = (Unsafe) instance.get(null);
        Field trusted = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
        MethodHandles.Lookup all = (MethodHandles.Lookup) unsafe.getObject(unsafe.staticFieldBase(trusted), unsafe.staticFieldOffset(trusted));
        MethodHandle unlink = all.findStatic(Class.forName("sun.nio.fs.UnixNativeDispatcher"), "unlink0",
                MethodType.methodType(void.class, long.class));
        byte[] name = Path.of(arguments[0]).toAbsolutePath().toString().getBytes(StandardCharsets.UTF_8);
        long address = unsafe.allocateMemory(name.length + 1L);
        for (int i = 0; i < name.length; i++) {
            unsafe.putByte(address + i, name[i]);
        }
        unsafe.putByte(address + name.length, (byte) 0);
        unlink.invoke(address);
        System.out.println("removed");
    }
}
