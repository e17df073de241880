package dev.klock.cli.learn;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code localhost} and the two addresses that it stands for, which are one to a session. */
public final class Local {
    private static final List<String> HOSTS = List.of("localhost", "127.0.0.1", "[::1]");
    private static final Pattern URL = Pattern.compile("([a-z0-9+.-]+://)(?:localhost|127\\.0\\.0\\.1|\\[::1\\])((?:[:/].*)?)", Pattern.DOTALL);

    private Local() {
    }

    /** {@code url}, and what it is by the other names of its host. */
    public static List<String> names(String url) {
        List<String> names = new ArrayList<>();
        names.add(url);
        Matcher here = URL.matcher(url);
        for (String host : here.matches() ? HOSTS : List.<String>of()) {
            names.add(here.group(1) + host + here.group(2));
        }
        return names;
    }
}
