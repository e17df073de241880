package dev.klock.agent.log;

import dev.klock.manifest.Line;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a log tells of its session at the beginning, beside who and where it is.
 *
 * @param process  the session of the process, if this is one of an agent in it; null if it is the process's own
 * @param settings what it was started with; none of them may be a secret
 * @param variables the directories that a manifest's variables stand for, by the variables' names; no others, whose values may be secrets
 * @param scope    the lines of its scope
 */
public record Begun(String process, List<Setting> settings, Map<String, String> variables, List<Line> scope) {
    /** Nothing. */
    static final Begun NOTHING = new Begun(null, new ArrayList<>(), new LinkedHashMap<>(), new ArrayList<>());

    /**
     * One setting.
     *
     * @param value  null if it has none
     * @param origin where it comes from, in words
     */
    public record Setting(String key, String value, String origin) {
    }

    /** The further fields of a record, each behind a comma. */
    String json() {
        StringBuilder json = new StringBuilder();
        if (!settings.isEmpty()) {
            json.append(",\"settings\":[");
            for (int i = 0; i < settings.size(); i++) {
                Setting setting = settings.get(i);
                json.append(i == 0 ? "{\"key\":" : ",{\"key\":");
                Escapes.json(json, setting.key());
                json.append(",\"value\":");
                Escapes.json(json, setting.value());
                json.append(",\"origin\":");
                Escapes.json(json, setting.origin());
                json.append('}');
            }
            json.append(']');
        }
        if (!variables.isEmpty()) {
            String before = ",\"variables\":[";
            for (Map.Entry<String, String> variable : variables.entrySet()) {
                json.append(before).append("{\"name\":");
                Escapes.json(json, variable.getKey());
                json.append(",\"value\":");
                Escapes.json(json, variable.getValue());
                json.append('}');
                before = ",";
            }
            json.append(']');
        }
        if (!scope.isEmpty()) {
            json.append(",\"scope\":[");
            for (int i = 0; i < scope.size(); i++) {
                Line line = scope.get(i);
                json.append(i == 0 ? "{\"line\":" : ",{\"line\":").append(line.line()).append(",\"triple\":");
                Escapes.json(json, Secrets.maskedTriple(line.toString()));
                json.append('}');
            }
            json.append(']');
        }
        return json.toString();
    }
}
