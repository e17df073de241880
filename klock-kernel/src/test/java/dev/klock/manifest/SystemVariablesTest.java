package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SystemVariablesTest {
    private final Variables variables = new SystemVariables("/w");

    @Test
    void value_ofEachVariable_isThisProcesss() {
        assertThat(variables.value("workspace")).isEqualTo("/w");
        assertThat(variables.value("tmp")).isEqualTo(System.getProperty("java.io.tmpdir"));
        assertThat(variables.value("java.home")).isEqualTo(System.getProperty("java.home"));
        assertThat(variables.value("user.home")).isEqualTo(System.getProperty("user.home"));
        assertThat(variables.value("env:PATH")).isEqualTo(System.getenv("PATH"));
        assertThat(variables.value("sys:os.name")).isEqualTo(System.getProperty("os.name"));
        assertThat(variables.value("env:KLOCK_NO_SUCH_VARIABLE")).isNull();
        assertThat(variables.value("sys:klock.no.such.property")).isNull();
    }

    @Test
    void mavenRepo_isThePropertyElseInTheHomeDirectory() {
        String before = System.getProperty("maven.repo.local");
        try {
            System.setProperty("maven.repo.local", "/repo");
            assertThat(variables.value("maven.repo")).isEqualTo("/repo");
            System.clearProperty("maven.repo.local");
            assertThat(variables.value("maven.repo")).isEqualTo(System.getProperty("user.home") + "/.m2/repository");
        } finally {
            if (before != null) {
                System.setProperty("maven.repo.local", before);
            }
        }
    }
}
