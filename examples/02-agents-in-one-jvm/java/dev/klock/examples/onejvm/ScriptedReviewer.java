package dev.klock.examples.onejvm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.List;

/**
 * Stands in for a network model: searches the library, records the next few findings, and so on, and answers when all is recorded. Gives
 * up when a tool fails. Used by one thread at a time.
 */
public final class ScriptedReviewer implements ChatModel {
    private static final int FINDINGS_A_TIME = 5;

    private final ObjectMapper json = new ObjectMapper();
    private final String name;
    private final String text;
    private final int times;
    private final int strayAt;
    private int time;

    /**
     * @param text what it looks for
     * @param times how often it records findings
     * @param strayAt which of those times it takes another reviewer's notes for its own; 0 for never
     */
    public ScriptedReviewer(String name, String text, int times, int strayAt) {
        this.name = name;
        this.text = text;
        this.times = times;
        this.strayAt = strayAt;
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
        List<ChatMessage> messages = request.messages();
        if (messages.get(messages.size() - 1) instanceof ToolExecutionResultMessage result) {
            if (Boolean.TRUE.equals(result.isError())) {
                return answer("I gave up: " + result.text().lines().findFirst().orElse(""));
            }
            if (result.toolName().equals("search")) {
                return record(result.text().lines().toList());
            }
        }
        if (time == times) {
            return answer("All " + times * FINDINGS_A_TIME + " findings are in both reports.");
        }
        time++;
        return call("search", json.createObjectNode().put("text", text));
    }

    private ChatResponse record(List<String> hits) {
        StringBuilder findings = new StringBuilder();
        for (int i = (time - 1) * FINDINGS_A_TIME; i < time * FINDINGS_A_TIME; i++) {
            findings.append("- ").append(name).append(' ').append(i + 1).append(": ").append(hits.get(i)).append('\n');
        }
        String owner = time == strayAt ? "docs" : name;
        return call("record", json.createObjectNode()
                .put("findings", findings.toString())
                .put("notes", "notes/" + owner + ".md")
                .put("note", "- " + name + " " + time + ": " + hits.size() + " hits"));
    }

    private ChatResponse call(String tool, ObjectNode arguments) {
        return ChatResponse.builder()
                .aiMessage(AiMessage.from(ToolExecutionRequest.builder()
                        .id(tool + "-" + time)
                        .name(tool)
                        .arguments(arguments.toString())
                        .build()))
                .build();
    }

    private static ChatResponse answer(String text) {
        return ChatResponse.builder().aiMessage(AiMessage.from(text)).build();
    }
}
