package dev.klock.agent.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.agent.resolve.TestHostFiles;
import dev.klock.kernel.Predicate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class BaselineTest {
    private final Resolver resolver = new Resolver(new TestHostFiles());
    private final Baseline baseline = Baseline.ofThisJvm(resolver, new Names("UTF-8"));

    private int allowed(String name) {
        return baseline.allowed(resolver.resolve(name, true).path());
    }

    @Test
    void rows_are_printable_with_their_reason() {
        assertThat(baseline.rows()).isNotEmpty().allSatisfy(row -> {
            assertThat(row.resource()).startsWith("FILE:/");
            assertThat(row.reason()).isNotBlank();
        });
        List<String> resources = baseline.rows().stream().map(Baseline.Row::resource).collect(Collectors.toList());
        assertThat(resources).doesNotHaveDuplicates().doesNotContain("FILE:/**");
    }

    @Test
    void nothing_in_it_is_more_than_reading() {
        for (Baseline.Row row : baseline.rows()) {
            String path = row.resource().substring("FILE:".length()).replaceAll("/\\*+$", "");
            assertThat(baseline.allowed(Names.ofText(path))).as(path).isIn(Baseline.READ, Predicate.DEPENDS_ON.bit());
        }
    }

    @Test
    void the_class_path_and_the_jdk_may_be_read_and_what_is_above_them_looked_at() throws IOException {
        String home = Path.of(System.getProperty("java.home")).toRealPath().toString();
        assertThat(allowed(home + "/lib/modules")).isEqualTo(Baseline.READ);
        assertThat(allowed(Path.of(home).getParent().toString())).isEqualTo(Predicate.DEPENDS_ON.bit());
        assertThat(allowed("/")).isEqualTo(Predicate.DEPENDS_ON.bit());
        for (String entry : System.getProperty("java.class.path").split(":")) {
            if (!entry.isEmpty()) {
                assertThat(allowed(entry)).as(entry).isEqualTo(Baseline.READ);
            }
        }
    }

    @Test
    void what_only_looks_like_it_is_not_in_it() {
        assertThat(allowed("/etc/passwd")).isZero();
        assertThat(allowed("/proc/self/environ")).isZero();
        assertThat(allowed("/proc/self/mem")).isZero();
        assertThat(allowed("/proc/1/cgroup")).isZero();
        assertThat(allowed(System.getProperty("java.home") + "-other/lib/modules")).isZero();
    }

    @Test
    void libraries_are_looked_for_where_the_jdk_looks_and_not_read() {
        String directory = System.getProperty("java.library.path").split(":")[0];
        assertThat(allowed(directory + "/libz.so")).isEqualTo(Predicate.DEPENDS_ON.bit());
        assertThat(allowed(directory + "/below/libz.so")).isZero();
        assertThat(allowed(directory + "/secrets")).isZero();
    }

    @Test
    void variables_of_no_interest_are_free_and_others_are_not() {
        assertThat(new String[] {"PATH", "LC_ALL", "XDG_RUNTIME_DIR", "DISPLAY"}).allMatch(Baseline::isVariable);
        assertThat(new String[] {"OPENAI_API_KEY", "PATHX", "LC", "path", "AWS_SECRET_ACCESS_KEY"}).noneMatch(Baseline::isVariable);
    }

    @Test
    void a_name_in_java_home_that_links_elsewhere_belongs_to_the_jdk_if_no_dots_lead_there() {
        String home = System.getProperty("java.home");
        assertThat(baseline.isInJavaHome(home + "/conf/security/java.security")).isTrue();
        assertThat(baseline.isInJavaHome(home + "/../x")).isFalse();
        assertThat(baseline.isInJavaHome(home + "/lib/..")).isFalse();
        assertThat(baseline.isInJavaHome("/etc/passwd")).isFalse();
        assertThat(Files.isDirectory(Path.of(home))).isTrue();
    }

    @Test
    void a_class_path_entry_in_which_the_program_works_gives_classes_only() throws IOException {
        String classPath = System.getProperty("java.class.path");
        Path here = Path.of("").toRealPath();
        Baseline at;
        try {
            System.setProperty("java.class.path", "." + ":" + here.resolve("target/other"));
            at = Baseline.ofThisJvm(resolver, new Names("UTF-8"));
        } finally {
            System.setProperty("java.class.path", classPath);
        }
        assertThat(at.allowed(here + "/com/example/Main.class")).isEqualTo(Baseline.READ);
        assertThat(at.allowed(here + "/.env")).isZero();
        assertThat(at.allowed(here.toString())).isEqualTo(Predicate.DEPENDS_ON.bit());
        assertThat(at.allowed(here + "/target/other/application.properties")).isEqualTo(Baseline.READ);
        assertThat(at.rows().stream().filter(r -> r.resource().equals("FILE:" + here + "/**")).findFirst().orElseThrow().reason())
                .contains("only .class files");
    }

    @Test
    void the_empty_baseline_allows_nothing() {
        assertThat(Baseline.none().allowed("/dev/urandom")).isZero();
        assertThat(Baseline.none().isInJavaHome("/x")).isFalse();
    }
}
