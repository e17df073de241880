package dev.klock.sandbox.field;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The cases of a group, in order. */
final class Cases {
    private final List<Case> all = new ArrayList<>();

    private Cases() {
    }

    /** Those of {@code A} to {@code G} and {@code I}, or of part 6 of the collection with {@code P}. */
    static Cases of(String group) {
        Consumer<Cases> source = switch (group) {
            case "A" -> FieldA::cases;
            case "B" -> FieldB::cases;
            case "C" -> FieldC::cases;
            case "D" -> FieldD::cases;
            case "E" -> FieldE::cases;
            case "F" -> FieldF::cases;
            case "G" -> FieldG::cases;
            case "I" -> FieldI::cases;
            case "P" -> FieldP::cases;
            default -> throw new IllegalArgumentException(group);
        };
        Cases cases = new Cases();
        source.accept(cases);
        return cases;
    }

    static List<String> groups() {
        return List.of("A", "B", "C", "D", "E", "F", "G", "I", "P");
    }

    List<Case> all() {
        return all;
    }

    List<Access> accesses() {
        return all.stream().flatMap(one -> one.accesses().stream()).toList();
    }

    /** A new case: how bad it would be is C, H, M or L. */
    Case of(String id, String severity, String what) {
        Case made = new Case(id, severity, what);
        all.add(made);
        return made;
    }
}
