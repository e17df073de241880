package dev.klock.sandbox.field;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Makes accesses of a group, those whose sites the further arguments name, and prints what came of each as {@code @SITE RESULT}. With
 * {@code work} among them it changes what it may before each, for a rollback to put back.
 */
public final class FieldProgram {
    private FieldProgram() {
    }

    public static void main(String[] arguments) throws Exception {
        Path root = Path.of("").toAbsolutePath();
        List<String> rest = List.of(arguments).subList(1, arguments.length);
        for (Access access : Cases.of(arguments[0]).accesses()) {
            if (rest.contains(access.site())) {
                Site site = new Site(root.resolve(access.site()));
                if (rest.contains("work")) {
                    Files.writeString(site.path("out/made"), "made\n");
                    Files.writeString(site.path("out/b"), "more\n", StandardOpenOption.APPEND);
                }
                String result = result(access, site).replace("\n", "\\n").replace(site.path().toString(), "W");
                System.out.write(("@" + access.site() + " " + result + "\n").getBytes(StandardCharsets.UTF_8));
                System.out.flush();
            }
        }
    }

    private static String result(Access access, Site site) {
        try {
            access.body().at(site);
        } catch (Throwable thrown) {
            for (Throwable t = thrown; t != null; t = t.getCause()) {
                String message = String.valueOf(t.getMessage());
                site.say(t.getClass().getName() + ": " + message.lines().findFirst().orElse(""));
            }
        }
        return site.said();
    }
}
