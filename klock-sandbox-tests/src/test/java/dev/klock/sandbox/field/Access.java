package dev.klock.sandbox.field;

import java.util.ArrayList;
import java.util.List;

/** One access of a case, and what must come of it. */
final class Access {
    /** Does it in the child, or makes ready for it in the test. */
    @FunctionalInterface
    interface Body {
        void at(Site site) throws Throwable;
    }

    private final Case owner;
    private final int number;
    private final String what;
    private final Body body;
    private final List<String> denied;
    private final List<String> scope = new ArrayList<>();
    private final List<String> forbidden = new ArrayList<>();
    private final List<String> further = new ArrayList<>();
    private final List<String> jvm = new ArrayList<>();
    private Body given = site -> { };
    private int since;
    private int until = Integer.MAX_VALUE;
    private String world = "";
    private boolean always;
    private boolean changesOut;
    private boolean swallowed;
    private boolean ends;
    private boolean withoutFrame;

    Access(Case owner, int number, String what, Body body, List<String> denied) {
        this.owner = owner;
        this.number = number;
        this.what = what;
        this.body = body;
        this.denied = denied;
    }

    Case owner() {
        return owner;
    }

    /** The name of its directory. */
    String site() {
        return owner.id() + "-" + number;
    }

    Body body() {
        return body;
    }

    Body given() {
        return given;
    }

    /** Whether klock must stop it. */
    boolean blocked() {
        return !denied.isEmpty();
    }

    /** The triples that it is stopped for: regular expressions, {@code W} its directory, the first one in the error. */
    List<String> denied() {
        return denied;
    }

    /** Triples that explain a further denial or warning: regular expressions. */
    List<String> further() {
        return further;
    }

    /** Lines of the manifest beside the usual ones. */
    List<String> scope() {
        return scope;
    }

    /** Lines of the manifest that forbid. */
    List<String> forbidden() {
        return forbidden;
    }

    /** Arguments for its JVM. */
    List<String> jvm() {
        return jvm;
    }

    boolean isOn(int feature) {
        return feature >= since && feature <= until;
    }

    /** Accesses of the same world are made in one JVM. */
    String world() {
        return world;
    }

    /** Whether strict is shown in every run, not only in the long one. */
    boolean always() {
        return always;
    }

    boolean changesOut() {
        return changesOut;
    }

    boolean swallowed() {
        return swallowed;
    }

    boolean withoutFrame() {
        return withoutFrame;
    }

    void given(Body body) {
        given = body;
    }

    void since(int feature) {
        since = feature;
    }

    void until(int feature) {
        until = feature;
    }

    void in(String name) {
        world = name;
    }

    void markAlways() {
        always = true;
    }

    void markChangesOut() {
        changesOut = true;
    }

    /** Whether its denial ends the session in block, too. */
    boolean ends() {
        return ends;
    }

    void markEnds() {
        ends = true;
    }

    void markSwallowed() {
        swallowed = true;
    }

    void markWithoutFrame() {
        withoutFrame = true;
    }

    @Override
    public String toString() {
        return site() + " " + what;
    }
}
