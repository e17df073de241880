package dev.klock.examples.stayinside;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Stands in for a network model: says what its scripts say, one tool call for each turn, and the scripts' answers at the end.
 *
 * <p>A script is a JSON resource beside this class. A step {@code call}s a tool {@code with} arguments; {@code keep} stores the
 * lines of the result that match {@code lines} (the first group of each, sorted) under a name. Texts may use
 * <code>${workspace}</code>, <code>${name[0]}</code> and <code>${name.size}</code>.
 *
 * <p>It gives up when a tool fails. If the tool threw, it first takes as long as a slow network model would, so that what ends
 * the program meanwhile, ends it before the model has spoken.
 */
final class ScriptedModel implements ChatModel {
    private static final Duration SLOW_ANSWER = Duration.ofSeconds(20);
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{(\\w+)(?:\\[(\\d+)]|\\.(size))?}");

    private final ObjectMapper json = new ObjectMapper();
    private final List<JsonNode> steps = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private final Map<String, List<String>> kept = new HashMap<>();
    private final String workspace;
    private int next;
    private boolean gaveUp;

    /** Reads the scripts that are to be played one after the other. */
    ScriptedModel(Path workspace, List<String> scripts) {
        this.workspace = workspace.toString();
        for (String script : scripts) {
            try (InputStream resource = ScriptedModel.class.getResourceAsStream(script + ".json")) {
                if (resource == null) {
                    throw new IllegalArgumentException("no script named " + script);
                }
                JsonNode tree = json.readTree(resource);
                tree.path("steps").forEach(steps::add);
                answers.add(tree.path("answer").asText());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Whether a failed tool call ended the job early. */
    boolean gaveUp() {
        return gaveUp;
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        if (messages.get(messages.size() - 1) instanceof ToolExecutionResultMessage result) {
            if (Boolean.TRUE.equals(result.isError())) {
                takeTime();
                return giveUp(result.text());
            }
            if (result.text().startsWith("Error")) {
                return giveUp(result.text());
            }
            keep(steps.get(next - 1), result.text());
        }
        if (next == steps.size()) {
            return answer(fill(String.join(" ", answers)));
        }
        return call(steps.get(next++));
    }

    private ChatResponse call(JsonNode step) {
        ObjectNode arguments = json.createObjectNode();
        step.path("with").fields().forEachRemaining(argument ->
                arguments.put(argument.getKey(), fill(argument.getValue().asText())));
        return ChatResponse.builder()
                .aiMessage(AiMessage.from(ToolExecutionRequest.builder()
                        .id("call-" + next)
                        .name(step.path("call").asText())
                        .arguments(arguments.toString())
                        .build()))
                .build();
    }

    private ChatResponse giveUp(String why) {
        gaveUp = true;
        return answer("I gave up: " + why);
    }

    private static ChatResponse answer(String text) {
        return ChatResponse.builder().aiMessage(AiMessage.from(text)).build();
    }

    private void keep(JsonNode step, String result) {
        if (!step.has("keep")) {
            return;
        }
        Pattern wanted = Pattern.compile(fill(step.path("lines").asText()));
        List<String> lines = result.lines()
                .map(wanted::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .sorted()
                .toList();
        kept.put(step.path("keep").asText(), lines);
    }

    private String fill(String text) {
        return PLACEHOLDER.matcher(text).replaceAll(found -> Matcher.quoteReplacement(value(found)));
    }

    private String value(MatchResult found) {
        String name = found.group(1);
        if (name.equals("workspace")) {
            return workspace;
        }
        List<String> lines = kept.getOrDefault(name, List.of());
        if (found.group(3) != null) {
            return Integer.toString(lines.size());
        }
        int index = Integer.parseInt(found.group(2));
        if (index >= lines.size()) {
            throw new IllegalStateException("the script wants " + found.group() + ", but only " + lines.size() + " lines were kept");
        }
        return lines.get(index);
    }

    private static void takeTime() {
        try {
            Thread.sleep(SLOW_ANSWER.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
