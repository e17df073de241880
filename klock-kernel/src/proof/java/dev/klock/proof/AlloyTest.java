package dev.klock.proof;

import static org.assertj.core.api.Assertions.assertThat;

import edu.mit.csail.sdg.alloy4.A4Reporter;
import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.parser.CompModule;
import edu.mit.csail.sdg.parser.CompUtil;
import edu.mit.csail.sdg.translator.A4Options;
import edu.mit.csail.sdg.translator.A4Solution;
import edu.mit.csail.sdg.translator.TranslateAlloyToKodkod;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Runs every command of {@code waitdie.als} in its small scope. */
class AlloyTest {
    /** The one assertion that must fail: without C42 there is a deadlock. */
    private static final String COUNTEREXAMPLE = "acyclicWithoutRejudging";

    @TempDir
    static Path dir;

    static {
        // the solver tells of each of its phases otherwise
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
    }

    @TestFactory
    List<DynamicTest> model_everyCommand_endsAsTheProtocolSays() throws Exception {
        Path file = dir.resolve("waitdie.als");
        try (InputStream in = AlloyTest.class.getResourceAsStream("waitdie.als")) {
            Files.copy(in, file);
        }
        CompModule module = CompUtil.parseEverything_fromFile(A4Reporter.NOP, null, file.toString());
        List<DynamicTest> tests = new ArrayList<>();
        for (Command command : module.getAllCommands()) {
            boolean found = !command.check || command.label.equals(COUNTEREXAMPLE);
            tests.add(DynamicTest.dynamicTest(command.toString(), () -> {
                long nanos = System.nanoTime();
                A4Solution solution =
                        TranslateAlloyToKodkod.execute_command(A4Reporter.NOP, module.getAllReachableSigs(), command, new A4Options());
                System.out.println("alloy: " + command + ": " + (solution.satisfiable() ? "instance found" : "none") + ", "
                        + (System.nanoTime() - nanos) / 1_000_000 + " ms");
                assertThat(solution.satisfiable()).as(() -> command + "\n" + solution).isEqualTo(found);
            }));
        }
        assertThat(tests).hasSize(7);
        return tests;
    }
}
