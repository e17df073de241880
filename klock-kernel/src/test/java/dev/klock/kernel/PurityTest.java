package dev.klock.kernel;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The kernel decides from what it is told, and from nothing else. */
class PurityTest {
    private static final JavaClasses KERNEL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.klock.kernel", "dev.klock.embedded");

    @Test
    void kernel_dependsOn_nothingButJavaAndResources() {
        classes().that().resideInAPackage("dev.klock.kernel")
                .should().onlyDependOnClassesThat()
                .resideInAnyPackage("java.lang..", "java.util", "dev.klock.kernel", "dev.klock.resource")
                .check(KERNEL);
    }

    @Test
    void kernel_neverTouches_clocksThreadsOrRandomness() {
        noClasses().that().resideInAPackage("dev.klock.kernel")
                .should().dependOnClassesThat().belongToAnyOf(
                        System.class, Thread.class, Runtime.class, Random.class, ThreadLocal.class, Process.class)
                .orShould().dependOnClassesThat().resideInAnyPackage("java.io..", "java.nio..", "java.net..", "java.time..", "java.util.concurrent..")
                .check(KERNEL);
    }

    @Test
    void embedded_dependsOn_nothingButJavaAndTheKernel() {
        classes().that().resideInAPackage("dev.klock.embedded")
                .should().onlyDependOnClassesThat()
                .resideInAnyPackage("java.lang..", "java.util..", "dev.klock.embedded", "dev.klock.kernel", "dev.klock.resource")
                .check(KERNEL);
    }
}
