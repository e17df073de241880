package dev.klock.kernel;

import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;

/** {@link KernelModelTest} with other seeds at each run. */
class KernelPropertyTest {
    @Property(tries = 400, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
    @Tag("K0-3")
    @Tag("K0-4")
    @Tag("K2-1")
    @Tag("K2-5")
    @Tag("K2-7")
    @Tag("K4-1")
    @Tag("K4-4")
    @Tag("K4-6")
    @Tag("K4-10")
    @Tag("RS-3")
    @Tag("RS-5")
    void kernel_randomCommands_doesWhatThePlainModelDoes(@ForAll long seed) {
        new KernelModelTest().new Run(seed).steps(300);
    }
}
