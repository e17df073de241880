package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManifestLocatorTest {
    @TempDir
    File temp;
    private File repository;
    private File below;

    @BeforeEach
    void makeRepository() throws IOException {
        repository = Place.directory(temp, "repository", "rwxr-xr-x");
        Place.directory(repository, ".git", "rwxr-xr-x");
        below = Place.directory(Place.directory(repository, "a", "rwxr-xr-x"), "b", "rwxr-xr-x");
    }

    private File locate(File workingDirectory, String argument) throws UsageException {
        return locate(workingDirectory, argument, Map.of());
    }

    private File locate(File workingDirectory, String argument, Map<String, String> variables) throws UsageException {
        LaunchEnvironment environment = Place.environment(workingDirectory, variables);
        return ManifestLocator.locate(LaunchOptions.read(argument, environment), environment);
    }

    @Test
    void manifest_inWorkingDirectory_isFoundYamlFirst() throws Exception {
        Place.file(below, "klock.json", "{}");
        assertThat(locate(below, null)).isEqualTo(new File(below, "klock.json"));
        Place.file(below, "klock.yml", "");
        assertThat(locate(below, null)).isEqualTo(new File(below, "klock.yml"));
        Place.file(below, "klock.yaml", "");
        assertThat(locate(below, null)).isEqualTo(new File(below, "klock.yaml"));
    }

    @Test
    void manifest_inRepositoryRoot_isFoundFromBelow() throws Exception {
        Place.file(repository, "klock.yaml", "");
        assertThat(locate(below, null)).isEqualTo(new File(repository, "klock.yaml"));
    }

    @Test
    void manifest_aboveRepositoryRoot_isNotFound() throws Exception {
        Place.file(temp, "klock.yaml", "");
        assertThat(locate(below, null)).isNull();
    }

    @Test
    void manifest_aboveWithoutRepository_isNotFound() throws Exception {
        File project = Place.directory(temp, "project", "rwxr-xr-x");
        File inside = Place.directory(project, "inside", "rwxr-xr-x");
        Place.file(project, "klock.yaml", "");

        assertThat(locate(inside, null)).isNull();
        assertThat(locate(project, null)).isEqualTo(new File(project, "klock.yaml"));
    }

    @Test
    void manifest_aboveDirectoryOfEverybody_isNotFound() throws Exception {
        Place.file(repository, "klock.yaml", "");
        Place.directory(repository, "a", "rwxrwxrwx");
        assertThat(locate(below, null)).isNull();
    }

    @Test
    void manifest_inDirectoryOfEverybody_isRefusedUnlessNamed() throws Exception {
        File open = Place.directory(temp, "open", "rwxrwxrwx");
        Place.file(open, "klock.yaml", "");

        assertThatThrownBy(() -> locate(open, null)).isInstanceOf(UsageException.class)
                .hasMessage(open + " is not used unless it is named: everybody may write to it; give manifest=PATH if it is what you want");
        assertThat(locate(open, "manifest=klock.yaml")).isEqualTo(new File(open, "klock.yaml"));
        assertThat(locate(open, null, Map.of("KLOCK_MANIFEST", "klock.yaml"))).isEqualTo(new File(open, "klock.yaml"));
    }

    @Test
    void manifest_ofAnotherUser_isDistrusted() throws Exception {
        File manifest = Place.file(below, "klock.yaml", "");
        int user = Place.foreign(manifest);
        assertThat(FileStatus.of(manifest, true).distrust(user)).startsWith("it belongs to another user (uid ");
        if (Place.isRoot()) {
            assertThatThrownBy(() -> locate(below, null)).hasMessageContaining("it belongs to another user (uid ");
        }
    }

    @Test
    void manifest_foundDangling_doesNotHideThatThereIsNone() throws Exception {
        Files.createSymbolicLink(new File(below, "klock.yaml").toPath(), new File("nowhere").toPath());
        Place.file(repository, "klock.yaml", "");
        assertThatThrownBy(() -> locate(below, null)).hasMessageContaining("it leads nowhere");
    }

    @Test
    void manifest_namedWrongly_isAnsweredWithWhatLiesBesideIt() throws Exception {
        File there = Place.file(below, "klock.yml", "");
        assertThatThrownBy(() -> locate(below, "manifest=klock.yaml")).hasMessageEndingWith(": did you mean " + there + "?");
        Files.createSymbolicLink(new File(below, "round").toPath(), new File("round").toPath());
        assertThatThrownBy(() -> locate(below, "manifest=round")).hasMessageStartingWith("manifest " + below + "/round is a link that leads back to itself;");
    }

    @Test
    void manifest_named_mustBeAReadableFile() {
        assertThatThrownBy(() -> locate(below, "manifest=none.yaml")).hasMessage("manifest " + below
                + "/none.yaml does not exist; name one that this user can read");
        assertThatThrownBy(() -> locate(below, "manifest=.")).hasMessageStartingWith("manifest " + below
                + "/. is a directory; name one that this user can read");
        assertThatThrownBy(() -> locate(below, "manifest=/dev/null")).hasMessage(
                "manifest /dev/null is not a regular file; name one that this user can read");
        assertThatThrownBy(() -> locate(below, null, Map.of("KLOCK_MANIFEST", "none.yaml"))).hasMessage("manifest " + below
                + "/none.yaml does not exist; name one that this user can read in KLOCK_MANIFEST");
        assertThatThrownBy(() -> locate(below, "manifest=" + below + "/x".repeat(5000))).isInstanceOf(UsageException.class);
    }
}
