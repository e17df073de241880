package dev.klock.agent;

import dev.klock.agent.audit.Ledger;
import dev.klock.agent.observe.Doors;
import java.util.HashSet;
import java.util.Set;

/** The doors of the ledger, which is read when the first such question comes: few programs ask one. Thread-safe. */
final class ReviewedDoors implements Doors {
    /** What is as good as any door: it makes classes of the JDK, or reaches all of its members. */
    private static final String[][] FURTHER = {{"java.lang.ClassLoader", "defineClass0"}, {"java.lang.ClassLoader", "defineClass1"},
        {"java.lang.ClassLoader", "defineClass2"}, {"java.lang.invoke.MethodHandles$Lookup", "IMPL_LOOKUP"}};

    private final int release;
    private Set<String> methods;
    private Set<String> packages;

    ReviewedDoors(int release) {
        this.release = release;
    }

    @Override
    public boolean isDoor(String owner, String method) {
        for (int i = 0; i < FURTHER.length; i++) {
            if (FURTHER[i][0].equals(owner) && FURTHER[i][1].equals(method)) {
                return true;
            }
        }
        read();
        return methods.contains(packageOf(owner).concat(" ").concat(method));
    }

    @Override
    public boolean isIn(String name) {
        read();
        return packages.contains(name);
    }

    /** By package and name: what a class inherits, or implements, is not to be found by another class's name. */
    private synchronized void read() {
        if (methods != null) {
            return;
        }
        Set<String> all = new HashSet<>();
        packages = new HashSet<>();
        for (String door : Ledger.forRelease(release).doors()) {
            int dot = door.lastIndexOf('.');
            String owner = door.substring(0, dot).replace('/', '.');
            all.add(packageOf(owner).concat(" ").concat(door.substring(dot + 1)));
            packages.add(packageOf(owner));
        }
        methods = all;
    }

    private static String packageOf(String className) {
        return className.substring(0, Math.max(0, className.lastIndexOf('.')));
    }
}
