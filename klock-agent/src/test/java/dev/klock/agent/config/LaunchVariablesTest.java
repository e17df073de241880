package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LaunchVariablesTest {
    @TempDir
    File temp;

    private LaunchVariables variables(Map<String, String> properties, Map<String, String> environment) {
        return new LaunchVariables(new LaunchEnvironment(properties, environment, "/w"), temp);
    }

    @Test
    void variables_known_haveCanonicalValues() throws IOException {
        LaunchVariables variables = variables(Map.of("java.io.tmpdir", "/tmp/", "user.home", "/home//u/", "java.home", "/jdk/../jdk"),
                Map.of("TOKEN", "t"));
        assertThat(variables.value("workspace")).isEqualTo(temp.getCanonicalPath());
        assertThat(variables.value("tmp")).isEqualTo(new File("/tmp").getCanonicalPath());
        assertThat(variables.value("user.home")).isEqualTo("/home/u");
        assertThat(variables.value("java.home")).isEqualTo("/jdk");
        assertThat(variables.value("maven.repo")).isEqualTo("/home/u/.m2/repository");
        assertThat(variables.value("env:TOKEN")).isEqualTo("t");
        assertThat(variables.value("env:NONE")).isNull();
        assertThat(variables.value("sys:java.home")).isEqualTo("/jdk/../jdk");
    }

    @Test
    void variables_withoutAbsoluteValue_haveNone() {
        LaunchVariables variables = variables(Map.of("user.home", "?", "maven.repo.local", "/repo/"), Map.of());
        assertThat(variables.value("user.home")).isNull();
        assertThat(variables.value("tmp")).isNull();
        assertThat(variables.value("maven.repo")).isEqualTo("/repo");
    }

    @Test
    @Tag("C48")
    void program_withoutDirectory_isTheFirstExecutableOnPath() throws IOException {
        File first = Place.directory(temp, "first", "rwxr-xr-x");
        File second = Place.directory(temp, "second", "rwxr-xr-x");
        Place.file(first, "tool", "");
        File tool = Place.file(second, "tool", "");
        Files.setPosixFilePermissions(tool.toPath(), PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createSymbolicLink(new File(second, "alias").toPath(), tool.toPath());
        LaunchVariables variables = variables(Map.of(), Map.of("PATH", ":relative:" + first + "::" + second + ":"));

        assertThat(variables.find("tool")).isEqualTo(tool.getCanonicalPath());
        assertThat(variables.find("alias")).isEqualTo(tool.getCanonicalPath());
        assertThat(variables.find("second")).isNull();
    }

    @Test
    void directoriesOfAnotherLaunch_areWhatTheyWereThere() {
        LaunchVariables there = variables(Map.of("user.home", "?", "java.io.tmpdir", "/t", "java.home", "/j", "maven.repo.local", "/m", "secret", "s"), Map.of("SECRET", "s"));
        assertThat(there.directories()).isEqualTo(Map.of("workspace", there.value("workspace"), "tmp", "/t", "java.home", "/j", "maven.repo", "/m"));
        LaunchEnvironment here = new LaunchEnvironment(Map.of("user.home", "/home/u", "java.io.tmpdir", "/tmp", "x", "kept"), Map.of(), "/w");
        LaunchVariables asThere = new LaunchVariables(LaunchVariables.asThere(here, there.directories()), temp);
        assertThat(asThere.directories()).isEqualTo(there.directories());
        assertThat(asThere.value("sys:x")).isEqualTo("kept");
        assertThat(LaunchVariables.asThere(here, Map.of())).isSameAs(here);
    }
}
