package dev.klock.manifest;

import java.util.ArrayList;
import java.util.List;

/** What a reading asked the world for, so that a packed manifest is used only while the world still answers the same. */
final class Consulted implements Variables, Programs {
    private static final String VARIABLE = "$";
    private static final String PROGRAM = "p";

    private final Variables variables;
    private final Programs programs;
    /** Triples of kind, name and answer; a missing answer is null. */
    private final List<String> answers = new ArrayList<>();

    Consulted(Variables variables, Programs programs) {
        this.variables = variables;
        this.programs = programs;
    }

    @Override
    public String value(String name) {
        return note(VARIABLE, name, variables.value(name));
    }

    @Override
    public String find(String name) {
        return note(PROGRAM, name, programs.find(name));
    }

    private String note(String kind, String name, String answer) {
        for (int i = 0; i < answers.size(); i += 3) {
            if (answers.get(i).equals(kind) && answers.get(i + 1).equals(name)) {
                return answer;
            }
        }
        answers.add(kind);
        answers.add(name);
        answers.add(answer);
        return answer;
    }

    String[] answers() {
        return answers.toArray(new String[0]);
    }

    /** Whether the same questions get the same answers now. */
    static boolean isStillTrue(String[] answers, Variables variables, Programs programs) {
        for (int i = 0; i + 2 < answers.length; i += 3) {
            String now;
            if (answers[i].equals(VARIABLE)) {
                now = variables.value(answers[i + 1]);
            } else {
                now = programs == null ? null : programs.find(answers[i + 1]);
            }
            if (now == null ? answers[i + 2] != null : !now.equals(answers[i + 2])) {
                return false;
            }
        }
        return true;
    }
}
