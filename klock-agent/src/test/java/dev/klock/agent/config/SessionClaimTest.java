package dev.klock.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("C47")
class SessionClaimTest {
    @TempDir
    File temp;
    private Home home;

    @BeforeEach
    void openHome() throws UsageException {
        home = Home.open(new File(temp, ".klock"));
    }

    @Test
    void id_ofTheManifest_isNumberedFromTheSecondRunOn() throws Exception {
        assertThat(SessionClaim.claim(home, "refactor").id()).isEqualTo("refactor");
        assertThat(SessionClaim.claim(home, "refactor").id()).isEqualTo("refactor-2");
        assertThat(SessionClaim.claim(home, "refactor").id()).isEqualTo("refactor-3");
        assertThat(SessionClaim.claim(home, "refactor-2").id()).isEqualTo("refactor-2-2");
        assertThat(new File(home.directory(), "log/refactor-3.jsonl")).isEmpty();
    }

    @Test
    void id_ofImagesWhoseLogIsGone_isNotGivenAgain() throws Exception {
        String odd = "x~%y";
        new File(home.directory(), "backups/s").mkdirs();
        new File(home.directory(), "backups/" + SessionClaim.fileName(odd).replace("%", "%25").replace("~", "%7e")).mkdirs();
        assertThat(SessionClaim.claim(home, "s").id()).isEqualTo("s-2");
        assertThat(SessionClaim.claim(home, odd).id()).isEqualTo(odd + "-2");
    }

    @Test
    @Tag("FIELD-H24")
    void id_claimedByManyAtOnce_isDifferentForEach() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            List<Callable<String>> claims = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                claims.add(() -> SessionClaim.claim(home, "same").id());
            }
            Set<String> ids = new HashSet<>();
            for (Future<String> id : pool.invokeAll(claims)) {
                ids.add(id.get());
            }
            assertThat(ids).hasSize(100);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void id_notDeclared_isGeneratedAndSortsByTime() throws Exception {
        String first = SessionClaim.claim(home, null).id();
        Thread.sleep(2);
        String second = SessionClaim.claim(home, null).id();
        assertThat(first).matches("s[0-9a-f]{11}-[0-9a-f]{8}").isLessThan(second);
    }

    @Test
    void id_ofAnyCharacters_staysInsideTheLogDirectory() throws Exception {
        assertThat(SessionClaim.claim(home, "../../etc/x").log()).isEqualTo(new File(home.directory(), "log/%2e.%2f..%2fetc%2fx.jsonl"));
        assertThat(SessionClaim.fileName(".")).isEqualTo("%2e");
        assertThat(SessionClaim.fileName("a\nb é")).isEqualTo("a%0ab%20%c3%a9");
        String longId = "é".repeat(128);
        assertThat(SessionClaim.fileName(longId)).hasSize(200).isNotEqualTo(SessionClaim.fileName(longId + "-2"));
        assertThat(SessionClaim.claim(home, longId).id()).isEqualTo(longId);
        assertThat(SessionClaim.claim(home, longId).id()).isEqualTo("é".repeat(127) + "-2");
        assertThat(SessionClaim.claim(home, longId).id()).isEqualTo("é".repeat(127) + "-3");
    }

    @Test
    void id_whereLogCannotBeMade_isRefusedWithOneLine() throws Exception {
        Place.file(home.directory(), "log", "");
        assertThatThrownBy(() -> SessionClaim.claim(home, "a")).isInstanceOf(UsageException.class).hasMessageContaining("is not a directory");
    }
}
