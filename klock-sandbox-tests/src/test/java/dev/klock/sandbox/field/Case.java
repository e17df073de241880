package dev.klock.sandbox.field;

import java.util.ArrayList;
import java.util.List;

/** A case of the field with its accesses. What is said after an access is about that one. */
final class Case {
    private final String id;
    private final String severity;
    private final String what;
    private final List<Access> accesses = new ArrayList<>();
    private final List<String> proofs = new ArrayList<>();
    private String verdict;
    private String permissive = "";

    Case(String id, String severity, String what) {
        this.id = id;
        this.severity = severity;
        this.what = what;
    }

    String id() {
        return id;
    }

    String severity() {
        return severity;
    }

    String what() {
        return what;
    }

    List<Access> accesses() {
        return accesses;
    }

    /** Tests elsewhere that prove it, {@code Class.method}. */
    List<String> proofs() {
        return proofs;
    }

    /** What is said in the place of "blocked" and "allowed"; null if nothing. */
    String verdict() {
        return verdict;
    }

    /** What the tests elsewhere show for permissive; empty if nothing. */
    String permissive() {
        return permissive;
    }

    /** An access that must be stopped for these triples: regular expressions, {@code W} its directory. */
    Case blocks(String what, Access.Body body, String... denied) {
        accesses.add(new Access(this, accesses.size() + 1, what, body, List.of(denied)));
        return this;
    }

    /** An access that must go on as without klock, with no violation. */
    Case allows(String what, Access.Body body) {
        accesses.add(new Access(this, accesses.size() + 1, what, body, List.of()));
        return this;
    }

    /** Makes ready for it, in the test and so without klock. */
    Case given(Access.Body body) {
        last().given(body);
        return this;
    }

    /** With these lines in the manifest beside the usual ones. */
    Case declaring(String... lines) {
        last().scope().addAll(List.of(lines));
        return this;
    }

    /** With these lines in the manifest's {@code deny}. */
    Case forbidding(String... lines) {
        last().forbidden().addAll(List.of(lines));
        return this;
    }

    /** With the right to look, so that it gets as far as what the case is about. */
    Case looking() {
        return declaring("DEPENDS_ON FILE:W/**");
    }

    /** In permissive, where it goes on, there are warnings of these triples, too: regular expressions. */
    Case andPermissive(String... triples) {
        last().further().addAll(List.of(triples));
        return this;
    }

    /** Is stopped where no frame of the program is to blame by its name. */
    Case withoutFrame() {
        last().markWithoutFrame();
        return this;
    }

    /** Not on older releases. */
    Case since(int feature) {
        last().since(feature);
        return this;
    }

    /** Not on newer releases. */
    Case until(int feature) {
        last().until(feature);
        return this;
    }

    /** In a JVM apart, with the others of this world and these arguments for the JVM. */
    Case in(String world, String... jvm) {
        last().in(world);
        last().jvm().addAll(List.of(jvm));
        return this;
    }

    /** Shown in strict in every run. */
    Case always() {
        last().markAlways();
        return this;
    }

    /** Changes what it may before it is stopped. */
    Case changesOut() {
        last().markChangesOut();
        return this;
    }

    /** Ends the session in block as in strict; in a JVM apart. */
    Case ends() {
        last().markEnds();
        return this;
    }

    /** Does not see the error: somebody between catches it. */
    Case swallowed() {
        last().markSwallowed();
        return this;
    }

    /** Is proven by a test elsewhere, {@code Class.method}, alone or too. */
    Case provenBy(String... tests) {
        proofs.addAll(List.of(tests));
        return this;
    }

    /** What the table says in the place of "blocked" and "allowed". */
    Case as(String verdict) {
        this.verdict = verdict;
        return this;
    }

    /** What the tests elsewhere show for permissive. */
    Case permissively(String shown) {
        permissive = shown;
        return this;
    }

    private Access last() {
        return accesses.get(accesses.size() - 1);
    }
}
