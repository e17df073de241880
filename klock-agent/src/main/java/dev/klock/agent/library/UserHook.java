package dev.klock.agent.library;

import dev.klock.manifest.LibraryHook;
import dev.klock.resource.Resource;
import java.util.List;

/** A hook whose type, method and template stand in the manifest. */
final class UserHook extends Hook {
    UserHook(LibraryHook declared, int index) {
        super(declared, index);
    }

    @Override
    void addTo(List<HookedMethod> sites) {
        sites.add(new HookedMethod(this, 0, declared.type(), declared.method(), declared.parameters()));
    }

    @Override
    void judge(HookedMethod site, String type, String method, Object self, Object[] arguments, Calling calling) {
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < declared.parts(); i++) {
            path.append(declared.literal(i));
            int part = declared.part(i);
            if (part >= arguments.length) {
                throw new IllegalStateException(declared + " has " + arguments.length + " arguments and no ${arg:" + part + "}");
            }
            path.append(part == LibraryHook.TYPE ? type : part == LibraryHook.METHOD ? method : text(arguments[part]));
        }
        path.append(declared.literal(declared.parts()));
        calling.access(declared.predicate(), declared.scheme(), bounded(path.toString()));
    }

    /** An argument's text; that of an object which cannot say it is its class's name. */
    private static String text(Object argument) {
        try {
            String text = argument instanceof Class ? ((Class<?>) argument).getName()
                    : argument instanceof Enum ? ((Enum<?>) argument).name() : String.valueOf(argument);
            return text == null ? "null" : text;
        } catch (Throwable e) {
            // some throw what is checked, or never end
            return argument.getClass().getName();
        }
    }

    /**
     * What no manifest can name is made longer than a manifest's names can be, so that no line means it by chance, and no longer than that;
     * half a surrogate pair is not a character.
     */
    static String bounded(String text) {
        StringBuilder b = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean pair = Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
            if (pair) {
                i++;
            } else if (Character.isSurrogate(c)) {
                b = b == null ? new StringBuilder(text) : b;
                b.setCharAt(i, '\uFFFD');
            }
        }
        String whole = b == null ? text : b.toString();
        return whole.length() <= Resource.MAX_PATH_BYTES ? whole
                : whole.substring(0, Resource.MAX_PATH_BYTES) + "... (" + whole.length() + " characters)";
    }
}
