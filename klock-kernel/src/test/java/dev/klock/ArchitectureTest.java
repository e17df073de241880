package dev.klock;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The picture of docs and README, kept true: the kernel is pure, and what depends on what. */
@AnalyzeClasses(packages = "dev.klock", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String[] GLUE = {"dev.klock.junit..", "dev.klock.langchain4j..", "dev.klock.micrometer.."};

    @ArchTest
    static final ArchRule the_state_machine_touches_no_clock_file_thread_or_chance = noClasses().that().resideInAPackage("dev.klock.kernel..")
            .should().dependOnClassesThat().resideInAnyPackage("java.io..", "java.nio.file..", "java.net..", "java.util.concurrent..",
                    "java.time..", "java.security..")
            .orShould().dependOnClassesThat().haveFullyQualifiedName("java.util.Random")
            .orShould().dependOnClassesThat().haveFullyQualifiedName("java.lang.Thread")
            .orShould().callMethod(System.class, "currentTimeMillis")
            .orShould().callMethod(System.class, "nanoTime");

    @ArchTest
    static final ArchRule the_state_machine_knows_only_resources = classes().that().resideInAPackage("dev.klock.kernel")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock.kernel", "dev.klock.resource");

    @ArchTest
    static final ArchRule the_kernel_module_knows_neither_byte_code_nor_the_agent = noClasses()
            .should().dependOnClassesThat().resideInAnyPackage("net.bytebuddy..", "org.objectweb.asm..", "dev.klock.agent..", "dev.klock.boot..",
                    "dev.klock.cli..");

    @ArchTest
    static final ArchRule the_api_loads_nothing_else = classes().that().resideInAPackage("dev.klock")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock");

    /** Each is loaded only where a framework is that the kernel does without. */
    @ArchTest
    static final ArchRule glue_is_known_to_nobody = noClasses().that().resideOutsideOfPackages(GLUE)
            .should().dependOnClassesThat().resideInAnyPackage(GLUE);

    @ArchTest
    static final ArchRule glue_knows_the_api_and_its_framework = classes().that().resideInAPackage("dev.klock.micrometer..")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock", "dev.klock.micrometer", "io.micrometer.context..");

    @ArchTest
    static final ArchRule glue_of_agents_knows_the_api_and_its_framework = classes().that().resideInAPackage("dev.klock.langchain4j..")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock", "dev.klock.langchain4j", "dev.langchain4j.agentic..");

    @ArchTest
    static final ArchRule glue_of_tests_knows_the_api_and_its_framework = classes().that().resideInAPackage("dev.klock.junit..")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock", "dev.klock.junit", "org.junit.jupiter.api.extension..",
                    "org.junit.platform.commons.support..", "org.opentest4j..");

    @ArchTest
    static final ArchRule the_kernel_needs_no_library_but_its_parsers = classes().that().resideOutsideOfPackages(GLUE)
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "javax.crypto..", "dev.klock..", "com.fasterxml.jackson.core..", "org.yaml.snakeyaml..");

    @ArchTest
    static final ArchRule packages_are_free_of_cycles = slices().matching("dev.klock.(*)..").should().beFreeOfCycles();
}
