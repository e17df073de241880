package dev.klock.sandbox.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each claim of docs/security.md names the tests that pin it; they are there. */
class SecurityPageTest {
    private static final Pattern REFERENCE = Pattern.compile("`(\\w+Test)\\.(\\w+)`");

    @Test
    void page_namesOnlyTestsThatAreThere() throws IOException {
        Path repository = KlockJar.module().toAbsolutePath().getParent();
        List<Path> tests = new ArrayList<>();
        for (String module : new String[] {"klock-kernel", "klock-agent", "klock-sandbox-tests"}) {
            try (Stream<Path> files = Files.walk(repository.resolve(module).resolve("src/test/java"))) {
                files.filter(f -> f.toString().endsWith("Test.java")).forEach(tests::add);
            }
        }
        Matcher m = REFERENCE.matcher(Files.readString(repository.resolve("docs/security.md")));
        int found = 0;
        while (m.find()) {
            String file = m.group(1) + ".java";
            String method = m.group(2);
            boolean there = false;
            for (Path test : tests) {
                there |= test.getFileName().toString().equals(file) && Files.readString(test).contains("void " + method + "(");
            }
            assertThat(there).as(m.group()).isTrue();
            found++;
        }
        assertThat(found).isGreaterThan(20);
    }
}
