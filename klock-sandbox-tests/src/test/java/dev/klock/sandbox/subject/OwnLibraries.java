package dev.klock.sandbox.subject;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.ClassFileVersion;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.matcher.ElementMatchers;

/** A program with a Jackson and a Byte Buddy of its own, much older than klock's. */
public final class OwnLibraries {
    private OwnLibraries() {
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("jackson " + new JsonFactory().version());
        System.out.println(new ObjectMapper().writeValueAsString(Map.of("read", new ObjectMapper().readTree("[1, {\"a\": null}]"))));
        Class<?> made = new ByteBuddy(ClassFileVersion.JAVA_V17).subclass(Object.class).method(ElementMatchers.named("toString"))
                .intercept(FixedValue.value("made by byte buddy")).make()
                .load(OwnLibraries.class.getClassLoader(), ClassLoadingStrategy.Default.WRAPPER).getLoaded();
        System.out.println(made.getDeclaredConstructor().newInstance());
        System.out.println("byte buddy reads up to " + ClassFileVersion.ofThisVm(ClassFileVersion.JAVA_V17).isAtLeast(ClassFileVersion.JAVA_V17));
        for (String type : new String[] {"dev.klock.agent.Agent", "dev.klock.carried.asm.ClassReader", "org.objectweb.asm.ClassReader"}) {
            try {
                System.out.println(Class.forName(type));
            } catch (ClassNotFoundException e) {
                System.out.println("no " + type);
            }
        }
    }
}
