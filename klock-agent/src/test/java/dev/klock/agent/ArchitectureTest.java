package dev.klock.agent;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Data flows one way: hook, observation, resolution, decision, effect. */
@AnalyzeClasses(packages = "dev.klock", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule shared_types_refer_to_nothing_but_the_jdk_and_each_other = classes().that().resideInAPackage("dev.klock.bridge")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock.bridge");

    @ArchTest
    static final ArchRule entry_classes_refer_to_nothing_of_klock = classes().that().resideInAPackage("dev.klock.boot")
            .should().onlyDependOnClassesThat().resideInAnyPackage("java..", "dev.klock.boot");

    @ArchTest
    static final ArchRule only_the_command_line_writes_stdout = noClasses().that().resideOutsideOfPackage("dev.klock.cli..")
            .should().accessField(System.class, "out");

    @ArchTest
    static final ArchRule nothing_logs_through_the_programs_logging = noClasses()
            .that().resideOutsideOfPackage("dev.klock.cli.probe").should().dependOnClassesThat().resideInAnyPackage("java.util.logging..", "javax.management..", "java.lang.management..");

    @ArchTest
    static final ArchRule packages_are_free_of_cycles = slices().matching("dev.klock.agent.(*)..").should().beFreeOfCycles();
}
