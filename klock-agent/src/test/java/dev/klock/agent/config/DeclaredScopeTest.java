package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import dev.klock.manifest.Scope;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DeclaredScopeTest {
    /** A machine whose only files are these links. */
    private static final class Links implements HostFiles {
        private final Map<String, String> targets;

        Links(Map<String, String> targets) {
            this.targets = targets;
        }

        @Override
        public Path path(byte[] name) {
            return Path.of(Names.real(name));
        }

        @Override
        public byte[] name(Path path) {
            return Names.bytes(path.toString());
        }

        @Override
        public byte[] readLink(byte[] name) {
            String target = targets.get(Names.real(name));
            return target == null ? null : Names.bytes(target);
        }

        @Override
        public int mode(byte[] name) {
            return targets.containsKey(Names.real(name)) ? 0120777 : 0100644;
        }

        @Override
        public byte[] workingDirectory() {
            return Names.bytes("/");
        }
    }

    private static Scope scope(String lines, Map<String, String> links) throws Exception {
        String manifest = "ver: \"1.0\"\nagent_id: a\n" + lines;
        return DeclaredScope.of(new ManifestReader(name -> null, new ReadOptions()).read("k.yaml", manifest.getBytes(StandardCharsets.UTF_8)),
                new Resolver(new Links(links)));
    }

    @Test
    @Tag("C18")
    void line_aboutALink_countsForTheLinkAndItsTarget() throws Exception {
        Scope scope = scope("scope: [\"CONSUMES FILE:/e/now\", \"MUTATES FILE:/w/d/**\"]\ndeny: [\"CONSUMES FILE:/w/secret\"]\n",
                Map.of("/e/now", "../zone/utc", "/w", "/real/w", "/real/w/secret", "/vault/key"));

        assertThat(scope.decide(Predicate.CONSUMES, "FILE", "/zone/utc", false)).isEqualTo(0);
        assertThat(scope.decide(Predicate.CONSUMES, "FILE", "/e/now", false)).isEqualTo(0);
        assertThat(scope.decide(Predicate.MUTATES, "FILE", "/real/w/d/a/b", false)).isEqualTo(1);
        assertThat(scope.decide(Predicate.MUTATES, "FILE", "/w/d/a", false)).isEqualTo(Scope.NONE);
        assertThat(Scope.isDenied(scope.decide(Predicate.CONSUMES, "FILE", "/vault/key", false))).isTrue();
        assertThat(Scope.isDenied(scope.decide(Predicate.CONSUMES, "FILE", "/real/w/secret", false))).isTrue();
    }

    @Test
    @Tag("C18")
    void lineThatRemovesALink_leavesItsTarget_butOneThatDeniesItKeepsBoth() throws Exception {
        Map<String, String> links = Map.of("/w/link", "data/target", "/w/dir", "data");
        Scope scope = scope("scope: [\"RENAMES FILE:/w/link\", \"DELETES FILE:/w/link\", \"DELETES FILE:/w/dir/**\"]\n", links);
        assertThat(scope.decide(Predicate.DELETES, "FILE", "/w/link", false)).isEqualTo(1);
        assertThat(scope.decide(Predicate.RENAMES, "FILE", "/w/link", false)).isEqualTo(0);
        assertThat(scope.decide(Predicate.RENAMES, "FILE", "/w/data/target", false)).isEqualTo(Scope.NONE);
        assertThat(Scope.isAllowed(scope.decide(Predicate.DEPENDS_ON, "FILE", "/w/data/target", false))).isTrue();
        assertThat(scope.decide(Predicate.DELETES, "FILE", "/w/data/other", false)).isEqualTo(2);

        scope = scope("scope: [\"DELETES FILE:/w/link\"]\n", links);
        assertThat(scope.decide(Predicate.DELETES, "FILE", "/w/data/target", false)).isEqualTo(Scope.NONE);
        scope = scope("scope: [\"DELETES FILE:/w/**\"]\ndeny: [\"DELETES FILE:/w/link\"]\n", links);
        assertThat(Scope.isDenied(scope.decide(Predicate.DELETES, "FILE", "/w/link", false))).isTrue();
        assertThat(Scope.isDenied(scope.decide(Predicate.DELETES, "FILE", "/w/data/target", false))).isTrue();
    }

    @Test
    @Tag("C48")
    void line_aboutAProgram_countsForTheRealFile() throws Exception {
        Scope scope = scope("scope: [\"PROVIDES PROCESS:/bin/sh\"]\n", Map.of("/bin", "usr/bin", "/usr/bin/sh", "dash"));
        assertThat(scope.decide(Predicate.PROVIDES, "PROCESS", "/usr/bin/dash", false)).isEqualTo(0);
    }

    @Test
    void line_leadingInACircle_staysAsWritten() throws Exception {
        Scope scope = scope("scope: [\"CONSUMES FILE:/a/x\"]\n", Map.of("/a", "b", "/b", "a"));
        assertThat(scope.decide(Predicate.CONSUMES, "FILE", "/a/x", false)).isEqualTo(0);
    }
}
