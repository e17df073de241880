package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;

/** Whoever keeps its first timestamp gets in, whoever arrives. */
class FairnessTest {
    /**
     * One agent wants everything; a crowd that is renewed all the time takes parts of it as soon as it can. Those who came before the one
     * are ended by their time to live at the latest; those who come after are younger.
     */
    @Property(tries = 60, shrinking = ShrinkingMode.OFF)
    @Tag("K4-7")
    @Tag("K4-5")
    void retry_withTheFirstTimestamp_getsInUnderAdversarialArrival(@ForAll long seed) {
        Random random = new Random(seed);
        Worlds w = new Worlds();
        int names = 0;
        long bornMs = 0;
        for (int i = 0; i < 5; i++) {
            SessionKey early = w.session("early" + names++, bornMs++);
            w.submitFor(early, 1000 + random.nextInt(2000), (random.nextBoolean() ? "CONSUMES" : "MUTATES") + " /d/" + i);
        }
        SessionKey one = w.session("one", bornMs++);
        SessionKey[] crowd = new SessionKey[8];
        for (long deadline = 10_000; w.now < deadline; w.now += 10) {
            for (int i = 0; i < crowd.length; i++) {
                if (crowd[i] == null || w.state(crowd[i]) == null || w.state(crowd[i]).isTerminal() || random.nextInt(20) == 0) {
                    if (crowd[i] != null && w.state(crowd[i]) != null && !w.state(crowd[i]).isTerminal()) {
                        w.apply(new Command.Abort(crowd[i], "leaves"));
                    }
                    crowd[i] = w.session("crowd" + names++, Math.max(bornMs++, w.now));
                }
                w.apply(new Command.Submit(
                        crowd[i], Worlds.triples((random.nextBoolean() ? "CONSUMES" : "MUTATES") + " /d/" + random.nextInt(5)), 100, 50, false));
            }
            Outcome out = w.submit(one, "MUTATES /d/**");
            if (out.verdict() == Verdict.GRANTED || w.state(one) == LifeCycle.EXECUTING) {
                return;
            }
        }
        assertThat(w.state(one)).isEqualTo(LifeCycle.EXECUTING);
    }
}
