package dev.klock.manifest;

/** Values of the variables a manifest may use: {@code workspace}, {@code tmp}, {@code java.home}, {@code user.home},
 * {@code maven.repo}, {@code env:NAME}, {@code sys:name}. */
public interface Variables {
    /**
     * The value, null when it has none. {@code name} is what stands between <code>${</code> and <code>}</code>. The reader asks only
     * for the names above; anything else is an error before it comes here.
     */
    String value(String name);

    /**
     * Puts the values of variables into a resource, as is done with one in a manifest.
     *
     * @throws IllegalArgumentException saying what is wrong and what would be right: a variable that is not known, or has no value
     */
    static String expand(String resource, Variables values) {
        try {
            return VariableText.resolve(resource, values, true);
        } catch (VariableText.Problem e) {
            throw new IllegalArgumentException(e.getMessage() + "; " + e.remedy, e);
        }
    }
}
