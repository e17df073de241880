package dev.klock.agent.decide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.resolve.Names;
import dev.klock.manifest.Scope;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class DecisionCacheTest {
    private final DecisionCache cache = new DecisionCache();
    private final Targets targets = new Targets(Scope.builder().build(), Baseline.none(), new Own(null), t -> { });

    @Test
    void a_name_is_known_in_the_epoch_it_was_put_in_and_no_other() {
        Target t = targets.file("/w/a");
        cache.put("/w/a", true, 7, t);
        cache.put(Names.bytes("/w/a"), true, 7, t);
        assertThat(cache.get("/w/a", true, 7)).isSameAs(t);
        assertThat(cache.get(Names.bytes("/w/a"), true, 7)).isSameAs(t);
        assertThat(cache.get("/w/a", true, 8)).isNull();
        assertThat(cache.get(Names.bytes("/w/a"), true, 8)).isNull();
    }

    @Test
    void following_and_not_following_are_two_names() {
        Target link = targets.file("/w/l");
        Target file = targets.file("/w/f");
        cache.put("/w/l", true, 1, file);
        cache.put("/w/l", false, 1, link);
        assertThat(cache.get("/w/l", true, 1)).isSameAs(file);
        assertThat(cache.get("/w/l", false, 1)).isSameAs(link);
        cache.put(Names.bytes("/w/l"), true, 1, file);
        assertThat(cache.get(Names.bytes("/w/l"), false, 1)).isNull();
    }

    @Test
    void the_callers_array_is_not_kept() {
        byte[] name = Names.bytes("/w/a");
        cache.put(name, true, 1, targets.file("/w/a"));
        name[3] = 'b';
        assertThat(cache.get(name, true, 1)).isNull();
        assertThat(cache.get(Names.bytes("/w/a"), true, 1)).isNotNull();
    }

    @Test
    void names_that_differ_in_one_byte_anywhere_are_told_apart() {
        byte[] name = Names.bytes("/w/in/project/src/main/java/com/example/Application.java");
        cache.put(name, true, 1, targets.file("/x"));
        for (int i = 0; i < name.length; i++) {
            byte[] other = name.clone();
            other[i] ^= 1;
            assertThat(cache.get(other, true, 1)).as("byte " + i).isNull();
        }
    }

    @Test
    void sixty_thousand_names_take_no_more_places_and_never_answer_for_another() {
        for (int i = 0; i < 60_000; i++) {
            String name = "/w/" + i;
            cache.put(name, true, 1, targets.file(name));
            assertThat(cache.get(name, true, 1).real()).isEqualTo(name);
        }
        int known = 0;
        for (int i = 0; i < 60_000; i++) {
            Target t = cache.get("/w/" + i, true, 1);
            if (t != null) {
                assertThat(t.real()).isEqualTo("/w/" + i);
                known++;
            }
        }
        assertThat(known).isBetween(DecisionCache.PLACES / 2, DecisionCache.PLACES);
    }

    @Test
    void threads_that_put_and_get_at_once_see_whole_entries() throws InterruptedException {
        AtomicBoolean wrong = new AtomicBoolean();
        Thread[] threads = new Thread[4];
        for (int n = 0; n < threads.length; n++) {
            threads[n] = new Thread(() -> {
                for (int i = 0; i < 100_000; i++) {
                    String name = "/w/" + i % 5000;
                    Target t = cache.get(name, true, 1);
                    if (t == null) {
                        cache.put(name, true, 1, targets.file(name));
                    } else if (!t.real().equals(name)) {
                        wrong.set(true);
                    }
                }
            });
            threads[n].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        assertThat(wrong).isFalse();
    }
}
