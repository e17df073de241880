package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SimulationTest {
    @Test
    @Tag("K4-7")
    @Tag("K4-13")
    @Tag("K2-8")
    void simulation_ofThousandsOfAgents_servesEverybodyAndRepeatsItself() {
        String[] args = System.getProperty("klock.simulation", "7 1000 30").split(" ");
        long seed = Long.parseLong(args[0]);
        int agents = Integer.parseInt(args[1]);
        int seconds = Integer.parseInt(args[2]);
        long nanos = System.nanoTime();
        Simulation.Report report = Simulation.run(seed, agents, seconds);
        System.out.println("simulation: " + report + "; took " + (System.nanoTime() - nanos) / 1_000_000 + " ms");
        assertThat(report.unserved()).isZero();
        assertThat(report.granted()).isGreaterThan(agents * 5L);
        assertThat(report.deaths()).isPositive();
        assertThat(report.waits()).isPositive();
        assertThat(report.expired()).isPositive();
        assertThat(report.fairness()).isGreaterThan(0.8);
        assertThat(Simulation.run(seed, agents, seconds)).isEqualTo(report);
        assertThat(Simulation.run(seed + 1, agents, seconds).fingerprint()).isNotEqualTo(report.fingerprint());
    }
}
