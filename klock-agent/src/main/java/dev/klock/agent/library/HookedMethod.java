package dev.klock.agent.library;

import java.util.List;

/** Which methods a hook is woven into, and which of their calls then count. Immutable. */
final class HookedMethod {
    /** The hook that judges the calls. */
    final Hook hook;
    /** The hook's own number of it. */
    final int kind;
    /** The binary name of the class or interface that what is called must be. */
    final String type;
    final String method;
    /** As in {@link dev.klock.manifest.LibraryHook#parameters}. */
    final List<String> parameters;
    private final Kinds kinds = new Kinds();

    HookedMethod(Hook hook, int kind, String type, String method, List<String> parameters) {
        this.hook = hook;
        this.kind = kind;
        this.type = type;
        this.method = method;
        this.parameters = parameters;
    }

    /**
     * Whether a call counts. Classes are woven by the look of their methods, since what a class extends is not known when it is loaded
     * without loading that; what it is shows here.
     */
    boolean applies(String declaring, Object self) {
        return self == null ? declaring.equals(type) : kinds.get(self.getClass());
    }

    /** By class, whether it is of the type. By name: the type may exist in several class loaders. */
    private final class Kinds extends ClassValue<Boolean> {
        @Override
        protected Boolean computeValue(Class<?> c) {
            return is(c);
        }

        private boolean is(Class<?> c) {
            for (Class<?> up = c; up != null; up = up.getSuperclass()) {
                if (up.getName().equals(type)) {
                    return true;
                }
                Class<?>[] interfaces = up.getInterfaces();
                for (int i = 0; i < interfaces.length; i++) {
                    if (is(interfaces[i])) {
                        return true;
                    }
                }
            }
            return false;
        }
    }
}
