package dev.klock.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.KlockSession;
import dev.klock.kernel.Limits;
import dev.klock.kernel.Policy;
import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the sessions of a JVM have in common: their ids, their ages, and the memory for both. */
class LocalSessionsTest {
    @TempDir
    Path dir;

    private final LocalSessions sessions = new LocalSessions();

    private Path manifest(String agent, String session) throws Exception {
        Path file = dir.resolve(agent + ".yaml");
        String id = session == null ? "" : "session_id: \"" + session + "\"\n";
        return Files.writeString(file, "ver: \"1.0\"\n" + id + "agent_id: " + agent + "\nscope:\n  - CONSUMES FILE:/w/x\n");
    }

    private String open(String agent, String session) throws Exception {
        try (KlockSession s = sessions.open(manifest(agent, session), null, Duration.ZERO)) {
            return s.sessionId();
        }
    }

    /** How many things the collections of {@code sessions} hold. */
    private int remembered() throws Exception {
        int n = 0;
        for (Field f : LocalSessions.class.getDeclaredFields()) {
            f.setAccessible(true);
            Object value = f.get(sessions);
            n += value instanceof Collection<?> c ? c.size() : value instanceof Map<?, ?> m ? m.size() : 0;
        }
        return n;
    }

    @Test
    void open_manyOfOneManifest_remembersTheManifestsIdOnly() throws Exception {
        Path file = manifest("a", "s");
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 500; i++) {
            try (KlockSession s = sessions.open(file, null, Duration.ZERO)) {
                ids.add(s.sessionId());
            }
        }
        assertThat(ids).hasSize(500).contains("s", "s-2", "s-500");
        assertThat(remembered()).isEqualTo(1);
    }

    @Test
    @Tag("C18")
    @Tag("K1-18")
    void acquire_ofTheWholeHome_isRefusedAsAManifestThatDeclaresItIs() throws Exception {
        String home = Path.of(System.getProperty("user.home")).toString();
        try (KlockSession s = sessions.open(manifest("a", "s"), null, Duration.ZERO)) {
            assertThat(s.acquire(Duration.ZERO, "MUTATES FILE:" + home + "/**").isGranted()).isFalse();
            assertThat(s.acquire(Duration.ZERO, "CONSUMES FILE:" + home + "/**").isGranted()).isTrue();
            assertThat(s.acquire(Duration.ZERO, "MUTATES FILE:" + home + "/project/**").isGranted()).isTrue();
        }
    }

    @Test
    void open_ofMoreIdsThanAreRemembered_forgetsTheOldest() throws Exception {
        for (int i = 0; i < LocalSessions.MAX_IDS + 10; i++) {
            open("a", "s" + i);
        }
        assertThat(remembered()).isEqualTo(LocalSessions.MAX_IDS);
        assertThat(open("a", "s0")).as("the kernel knows it still").isEqualTo("s0-2");
        assertThat(open("a", "s" + LocalSessions.MAX_IDS)).isEqualTo("s" + LocalSessions.MAX_IDS + "-2");
    }

    @Test
    @Tag("C47")
    @Tag("K4-3")
    void priority_ofManyAtOnce_risesByOneAndStaysWithinASecondOfTheClock() {
        long now = 1_700_000_000_000L;
        long last = 0;
        for (int i = 0; i < 5_000; i++) {
            // forty of them in each millisecond
            long clock = now + i / 40;
            long next = LocalSessions.priorityMs(clock, last);
            assertThat(next).isGreaterThanOrEqualTo(Math.max(last, clock)).isLessThanOrEqualTo(clock + LocalSessions.MAX_AHEAD_MS);
            assertThat(next).as("who came first is older, while there is room").isEqualTo(Math.min(now + i, clock + LocalSessions.MAX_AHEAD_MS));
            last = next;
        }
        assertThat(LocalSessions.priorityMs(now + 10_000, last)).as("the clock has caught up").isEqualTo(now + 10_000);
    }

    @Test
    @Tag("C47")
    @Tag("K4-3")
    void open_manyAtOnce_timestampsStayWithinASecondOfTheClock() throws Exception {
        Path file = manifest("a", "s");
        long last = 0;
        for (int i = 0; i < 4_000; i++) {
            try (KlockSession s = sessions.open(file, null, Duration.ZERO)) {
                assertThat(s.priorityTimestampMs()).isGreaterThanOrEqualTo(last);
                last = s.priorityTimestampMs();
            }
        }
        assertThat(last - System.currentTimeMillis()).isLessThanOrEqualTo(LocalSessions.MAX_AHEAD_MS + 100);
    }

    @Test
    @Tag("C47")
    void open_idsThatLookLikeOnesWithANumber_areNeverGivenTwice() throws Exception {
        List<String> ids = new ArrayList<>();
        for (String wanted : new String[] {"s", "s", "s-2", "s-2", "s-2-2", "s-3", "s", "s", "s-1", "s-02", "s-12345678901", "-2", "2", "t-2", "t", "t", null, null, "session-2"}) {
            // agents have their ids together, as the reports of a home have
            ids.add(open("a" + ids.size(), wanted));
        }
        assertThat(ids).doesNotHaveDuplicates().startsWith("s", "s-2", "s-2-2").contains("s-1", "s-02", "-2", "t", "t-3", "session", "session-2", "session-2-2");
    }

    @Test
    @Tag("C47")
    void open_idThatLeavesNoRoomForANumber_isShortenedByWholeCharacters() throws Exception {
        // 256 bytes each; in those the room for a number ends within a character
        for (String wanted : new String[] {"a".repeat(256), "\u00e9".repeat(128), "b" + "\u4e2d".repeat(85), "\ud83d\ude00".repeat(64), "c".repeat(246)}) {
            Set<String> ids = new HashSet<>();
            for (int i = 0; i < 12; i++) {
                String id = open("a", wanted);
                assertThat(id.getBytes(StandardCharsets.UTF_8).length).isLessThanOrEqualTo(Limits.MAX_ID_BYTES);
                assertThat(new String(id.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)).as("whole characters").isEqualTo(id);
                assertThat(i == 0 ? wanted : wanted + "-" + (i + 1)).startsWith(i == 0 ? id : id.substring(0, id.lastIndexOf('-')));
                ids.add(id);
            }
            assertThat(ids).as("one each").hasSize(12);
        }
    }

    @Test
    @Tag("C47")
    void open_idsThatAreOneWhenShortened_areNeverGivenTwice() throws Exception {
        String stem = "s".repeat(250);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            for (String end : new String[] {"000001", "000002", "", "-2"}) {
                ids.add(open("a" + ids.size(), stem + end));
            }
            // what they were shortened to, with a number
            ids.add(open("a" + ids.size(), ids.get(ids.size() - 1)));
        }
        assertThat(ids).doesNotHaveDuplicates().allMatch(id -> id.length() <= Limits.MAX_ID_BYTES);
    }

    @Test
    @Tag("K1-18")
    @Tag("C18")
    void options_homeThatALinkLeadsTo_guardBothItsNames() throws Exception {
        Path real = Files.createDirectories(dir.toRealPath().resolve("data/u"));
        Path link = Files.createSymbolicLink(dir.toRealPath().resolve("home"), real);
        for (String home : new String[] {link.toString(), link + "/"}) {
            Policy policy = LocalSessions.options(home).policy();
            for (Path named : new Path[] {link, real, real.getParent()}) {
                for (Resource.Form form : Resource.Form.values()) {
                    Resource asked = LocalSessions.real(Resource.of("FILE", named.toString(), form));
                    assertThat(policy.refuse(null, Predicate.DELETES, asked)).as("%s as %s", asked, named).contains("is guarded");
                    assertThat(policy.refuse(null, Predicate.CONSUMES, asked)).isNull();
                }
            }
            assertThat(policy.refuse(null, Predicate.MUTATES, LocalSessions.real(Resource.file(link + "/file")))).isNull();
        }
        assertThat(LocalSessions.options(dir.resolve("nowhere").toString()).policy()
                .refuse(null, Predicate.MUTATES, Resource.file(dir.resolve("nowhere").toString()))).as("not there yet").contains("is guarded");
        assertThat(LocalSessions.options(null).policy().refuse(null, Predicate.MUTATES, Resource.file("/w"))).isNull();
    }
}
