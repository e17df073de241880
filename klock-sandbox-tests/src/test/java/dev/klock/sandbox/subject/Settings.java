package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A library of settings, and a program that uses it as its arguments say:
 *
 * <pre>
 *  set KEY VALUE     wrapped KEY VALUE (through a store that calls another)     get KEY     clear
 *  number N          flag KEY (static)      object KEY (an object's text)       control     print TEXT
 *  overflow KEY      at the end of the stack      deep KEY  by a class that is loaded there      try STEP      file NAME (an argument whose text reads a file)
 *  nested KEY (an argument whose text gets another)
 * </pre>
 */
public final class Settings {
    private Settings() {
    }

    /** What hooks name. */
    public interface Store {
        void set(String key, String value);

        String get(Object key);

        default void clear() {
            set("all", null);
        }
    }

    /** Has the methods' bodies for a class that is a Store only further down. */
    public static class Base {
        final Map<String, String> values = new HashMap<>();

        public void set(String key, String value) {
            System.out.println("set " + key);
            values.put(key, value);
        }
    }

    public static final class Memory extends Base implements Store {
        @Override
        public void set(String key, String value) {
            super.set(key, value);
        }

        @Override
        public String get(Object key) {
            return values.get(key.toString());
        }

        public void set(long key) {
            set(Long.toString(key), "");
        }
    }

    /** Inherits what the interface asks for from a class that does not know the interface. */
    public static final class Late extends Base implements Store {
        @Override
        public String get(Object key) {
            return null;
        }
    }

    public record Wrapped(Store store) implements Store {
        @Override
        public void set(String key, String value) {
            store.set("inner-" + key, value);
        }

        @Override
        public String get(Object key) {
            return store.get(key);
        }
    }

    /** Is first used where a stack ends. */
    public static final class Deep extends Base implements Store {
        @Override
        public String get(Object key) {
            return null;
        }
    }

    /** Of {@link Deep}, without loading it. */
    private static final class Dive {
        static final int STACK_BYTES = 300_000;
        static volatile String came;

        private Dive() {
        }

        static void down(String key) {
            try {
                down(key);
            } catch (StackOverflowError end) {
                if (came == null) {
                    try {
                        new Deep().set(key, "v");
                        came = "went through";
                    } catch (StackOverflowError again) {
                        throw again;
                    } catch (Throwable e) {
                        came = "caught " + e.getClass().getName();
                    }
                }
            }
        }
    }

    /** Is no Store. */
    public static final class Other {
        public void set(String key, String value) {
            System.out.println("other " + key);
        }
    }

    public static final class Flags {
        private Flags() {
        }

        public static boolean raise(String flag) {
            System.out.println("raised " + flag);
            return true;
        }
    }

    private static final class ReadsWhenShown {
        private final String file;

        ReadsWhenShown(String file) {
            this.file = file;
        }

        @Override
        public String toString() {
            try {
                return java.nio.file.Files.readString(java.nio.file.Path.of(file)).trim();
            } catch (java.io.IOException e) {
                return "none";
            }
        }
    }

    private record GetsWhenShown(Store store, String key) {
        @Override
        public String toString() {
            System.out.println("meanwhile " + store.get(key));
            return "a";
        }
    }

    public static void main(String[] steps) {
        Memory store = new Memory();
        System.out.println("main begins");
        for (String step : steps) {
            run(store, List.of(step.split(" ")));
        }
        System.out.println("main ends");
    }

    /** The class is defined by its bytes alone: the JVM tells agents no name of it then. */
    private static void nameless(String key) {
        try (InputStream in = Settings.class.getResourceAsStream("Settings$Late.class")) {
            byte[] bytes = in.readAllBytes();
            Class<?> late = new ClassLoader(Settings.class.getClassLoader()) {
                Class<?> define() {
                    return defineClass(null, bytes, 0, bytes.length);
                }
            }.define();
            ((Store) late.getDeclaredConstructor().newInstance()).set(key, "v");
        } catch (IOException | ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Says nothing of itself, by an error that is no exception. */
    private static final class Untold {
        @Override
        public String toString() {
            throw new AssertionError("not to be shown");
        }
    }

    private static void run(Memory store, List<String> words) {
        String first = words.size() > 1 ? words.get(1) : "";
        switch (words.get(0)) {
            case "set" -> store.set(first, "v");
            case "wrapped" -> new Wrapped(store).set(first, "v");
            case "late" -> new Late().set(first, "v");
            case "nameless" -> nameless(first);
            case "untold" -> System.out.println("got " + store.get(new Untold()));
            case "other" -> new Other().set(first, "v");
            case "get" -> System.out.println("got " + store.get(first));
            case "object" -> System.out.println("got " + store.get(new StringBuilder(first)));
            case "nested" -> System.out.println("got " + store.get(new GetsWhenShown(store, first)));
            case "file" -> System.out.println("got " + store.get(new ReadsWhenShown(first)));
            case "clear" -> store.clear();
            case "number" -> store.set(Long.parseLong(first));
            case "control" -> store.set("a\nb*\\", "v");
            case "flag" -> Flags.raise(first);
            case "thread" -> join(new Thread(() -> run(store, words.subList(1, words.size()))));
            case "write" -> write(first);
            case "overflow" -> overflow(store, first);
            case "deep" -> {
                join(new Thread(null, () -> Dive.down(first), "deep", Dive.STACK_BYTES));
                System.out.println(Dive.came);
                new Deep().set(first, "v");
            }
            case "print" -> System.out.println(String.join(" ", words.subList(1, words.size())));
            case "try" -> {
                try {
                    run(store, words.subList(1, words.size()));
                } catch (Throwable e) {
                    System.out.println("caught " + e.getClass().getName());
                }
            }
            default -> throw new IllegalArgumentException(words.toString());
        }
    }

    private static void join(Thread thread) {
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(String file) {
        try {
            java.nio.file.Files.writeString(java.nio.file.Path.of(file), "changed\n");
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Calls at every depth of the stack down to its end. */
    private static void overflow(Store store, String key) {
        try {
            overflow(store, key);
        } catch (StackOverflowError e) {
            try {
                store.get(key);
            } catch (StackOverflowError again) {
                throw again;
            }
        }
    }
}
