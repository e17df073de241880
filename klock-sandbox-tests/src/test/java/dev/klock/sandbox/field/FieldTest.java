package dev.klock.sandbox.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Each field case on each JDK, guarded and permissive; what it does stands in the class of its group. */
class FieldTest {
    @TestFactory
    Stream<DynamicTest> case_onEveryJdk_isStoppedOrLeftAlone() {
        List<DynamicTest> tests = new ArrayList<>();
        for (String group : Cases.groups()) {
            for (Jdk jdk : Jdks.all()) {
                for (Case one : Cases.of(group).all()) {
                    if (one.accesses().stream().anyMatch(access -> access.isOn(jdk.feature()))) {
                        String name = one.id() + " " + one.what() + " @ JDK " + jdk.feature();
                        tests.add(dynamicTest(name + ", strict", () -> assertThat(FieldRun.of(group, jdk).guardingFaults(one)).isEmpty()));
                        tests.add(dynamicTest(name + ", permissive", () -> assertThat(FieldRun.of(group, jdk).permissiveFaults(one)).isEmpty()));
                    }
                }
            }
        }
        return tests.stream();
    }
}
