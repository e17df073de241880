package dev.klock.agent.weave;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import dev.klock.bridge.Tasks;
import java.lang.module.ModuleDescriptor;
import java.util.Set;
import jdk.internal.access.SharedSecrets;
import jdk.internal.reflect.Reflection;
import sun.nio.fs.KlockFiles;
import sun.nio.fs.KlockPort;
import sun.nio.fs.KlockTasksPort;

/**
 * {@link JavaBase} by plain calls: compiled against java.base's own packages, which {@link SharedTypes} exports to klock's loader before
 * this class is loaded.
 */
final class ByLinking implements JavaBase {
    static {
        SharedTypes.javaBase = new ByLinking();
    }

    private ByLinking() {
    }

    @Override
    public Class<?> define(String name, byte[] bytes) {
        return SharedSecrets.getJavaLangAccess().defineClass(null, name, bytes, null, null);
    }

    @Override
    public Module module(ClassLoader loader, String name, Set<String> packages) {
        return SharedSecrets.getJavaLangAccess().defineModule(loader, ModuleDescriptor.newModule(name).packages(packages).build(), null);
    }

    @Override
    public void read(Module module, Module other) {
        SharedSecrets.getJavaLangAccess().addReads(module, other);
    }

    @Override
    public void readAll(Module module) {
        for (Module other : ModuleLayer.boot().modules()) {
            SharedSecrets.getJavaLangAccess().addReads(module, other);
        }
        SharedSecrets.getJavaLangAccess().addReadsAllUnnamed(module);
    }

    @Override
    public void export(Module module, String packageName, Module other) {
        SharedSecrets.getJavaLangAccess().addExports(module, packageName, other);
    }

    @Override
    public void hide(Class<?> type) {
        Set<String> all = Set.of("*");
        Reflection.registerFieldsToFilter(type, all);
        Reflection.registerMethodsToFilter(type, all);
    }

    @Override
    public Object files() {
        return new KlockFiles();
    }

    @Override
    public void hand(Object hooks, Object fence) {
        new KlockPort().accept((Hooks) hooks, (Fence) fence);
    }

    @Override
    public void handTasks(Object tasks) {
        KlockTasksPort.leave((Tasks) tasks);
    }
}
