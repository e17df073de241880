package dev.klock.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.Answer;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.Command;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a session of the façade answers when something happens to it that its own methods cannot bring about. */
class LocalSessionTest {
    private final EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null);
    private final SessionKey key = SessionKey.of("a", "s");

    private LocalSession session(String... paths) throws InterruptedException {
        List<Triple> wanted =
                Arrays.stream(paths).map(p -> Triple.of(Predicate.MUTATES, Resource.file(p))).toList();
        LocalSession s = new LocalSession(kernel, key, 1_000_000, wanted);
        s.ask(Duration.ZERO);
        return s;
    }

    @Test
    @Tag("K1-1")
    @Tag("K2-5")
    void retry_afterOneLeaseOfTheManifestWasRevoked_holdsTheWholeManifestOnceAgain() throws Exception {
        try (kernel;
                LocalSession s = session("/x", "/y")) {
            Lease revoked = kernel.leasesOf(key).get(0);
            kernel.perform(new Command.Revoke(revoked.fencingToken()));
            assertThat(s.holdsManifest()).isFalse();
            Answer now = s.answer();
            assertThat(now.verdict()).isEqualTo(Answer.Verdict.GONE);
            assertThat(now.leases()).singleElement().asString().endsWith("MUTATES FILE:/y");
            assertThat(now.reason()).startsWith(revoked.id() + " MUTATES FILE:/x");
            Answer again = s.retry(Duration.ZERO);
            assertThat(again.isGranted()).isTrue();
            assertThat(s.holdsManifest()).isTrue();
            assertThat(kernel.leasesOf(key)).extracting(l -> l.resource().path()).containsExactly("/x", "/y");
            assertThat(s.release(now)).as("what was left went when all was granted anew").isFalse();
            assertThat(s.release(again)).isTrue();
            assertThat(kernel.leasesOf(key)).isEmpty();
        }
    }

    @Test
    @Tag("K1-1")
    void retry_afterItsLastLeaseWasRevoked_saysThatTheSessionIsOver() throws Exception {
        try (kernel;
                LocalSession s = session("/x")) {
            kernel.perform(new Command.Revoke(kernel.leasesOf(key).get(0).fencingToken()));
            assertThat(s.answer().verdict()).isEqualTo(Answer.Verdict.GONE);
            Answer again = s.retry(Duration.ofSeconds(5));
            assertThat(again.verdict()).isEqualTo(Answer.Verdict.GONE);
            assertThat(again.reason()).contains("ABORTED", "open another").doesNotContain("epoch");
            assertThat(s.acquire(Duration.ZERO, "MUTATES FILE:/z").verdict()).isEqualTo(Answer.Verdict.GONE);
            assertThat(s.answer().verdict()).isEqualTo(Answer.Verdict.GONE);
        }
    }
}
