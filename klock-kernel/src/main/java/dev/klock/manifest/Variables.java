package dev.klock.manifest;

/** Values of the variables a manifest may use: {@code workspace}, {@code tmp}, {@code java.home}, {@code user.home},
 * {@code maven.repo}, {@code env:NAME}, {@code sys:name}. */
public interface Variables {
    /**
     * The value, null when it has none. {@code name} is what stands between <code>${</code> and <code>}</code>. The reader asks only
     * for the names above; anything else is an error before it comes here.
     */
    String value(String name);
}
