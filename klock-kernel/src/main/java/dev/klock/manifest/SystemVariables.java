package dev.klock.manifest;

/**
 * The variables' values in this process: {@code tmp}, {@code java.home}, {@code user.home} and {@code sys:} are system properties,
 * {@code maven.repo} is the property {@code maven.repo.local}, else {@code .m2/repository} in the home directory. Paths are given as
 * the properties have them; links in them are for the caller of {@link Scope} to resolve.
 */
public final class SystemVariables implements Variables {
    private final String workspace;

    /** {@code workspace}: the manifest's directory, absolute and canonical. */
    public SystemVariables(String workspace) {
        this.workspace = workspace;
    }

    @Override
    public String value(String name) {
        switch (name) {
            case "workspace":
                return workspace;
            case "tmp":
                return System.getProperty("java.io.tmpdir");
            case "java.home":
            case "user.home":
                return System.getProperty(name);
            case "maven.repo":
                String local = System.getProperty("maven.repo.local");
                String home = System.getProperty("user.home");
                return local != null || home == null ? local : home.concat(home.endsWith("/") ? ".m2/repository" : "/.m2/repository");
            default:
                if (name.startsWith("env:")) {
                    return System.getenv(name.substring(4));
                }
                return name.startsWith("sys:") ? System.getProperty(name.substring(4)) : null;
        }
    }
}
