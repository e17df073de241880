package dev.klock.examples.stayinside;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.service.tool.ToolExecutor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * Gives Spring AI's annotated tools to a LangChain4j agent: Spring AI describes and calls them, this class only translates the
 * description. Whatever a tool throws reaches LangChain4j as Spring AI wraps it; LangChain4j tells the model.
 */
final class SpringTools {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Consumer<String> shown;
    private final Map<ToolSpecification, ToolExecutor> byName = new LinkedHashMap<>();

    /** Takes every {@code @Tool} method of {@code beans}; {@code shown} gets one line before each call. */
    SpringTools(Consumer<String> shown, Object... beans) {
        this.shown = shown;
        for (ToolCallback tool : ToolCallbacks.from(beans)) {
            byName.put(specification(tool.getToolDefinition()), (request, memoryId) -> call(tool, request));
        }
    }

    /** What LangChain4j's agent builder takes: each tool's description and how to call it. */
    Map<ToolSpecification, ToolExecutor> byName() {
        return byName;
    }

    private String call(ToolCallback tool, ToolExecutionRequest request) {
        JsonNode arguments = parse(request.arguments());
        StringBuilder line = new StringBuilder(request.name());
        arguments.fields().forEachRemaining(argument -> line.append(' ').append(argument.getKey()).append('=')
                .append(argument.getValue().asText().replace("\n", "\\n")));
        shown.accept(line.toString());

        String result = tool.call(request.arguments());
        JsonNode text = parse(result);
        return text.isTextual() ? text.asText() : result;
    }

    private static ToolSpecification specification(ToolDefinition definition) {
        JsonNode schema = parse(definition.inputSchema());
        JsonObjectSchema.Builder parameters = JsonObjectSchema.builder();
        schema.path("properties").fields().forEachRemaining(property ->
                parameters.addProperty(property.getKey(), JsonRawSchema.from(property.getValue().toString())));
        List<String> required = new ArrayList<>();
        schema.path("required").forEach(name -> required.add(name.asText()));
        return ToolSpecification.builder()
                .name(definition.name())
                .description(definition.description())
                .parameters(parameters.required(required).build())
                .build();
    }

    private static JsonNode parse(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON: " + json, e);
        }
    }
}
