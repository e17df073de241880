package dev.klock.examples.springteam;

import java.util.List;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import tools.jackson.databind.json.JsonMapper;

/** Stands in for a network model: makes the calls that its script has for a task, one after the other, and answers when all are made. */
final class ScriptedAgent implements ChatModel {
    private final JsonMapper json = new JsonMapper();
    private final Map<String, List<Call>> calls;

    /** @param calls what it does, by the words of the task */
    ScriptedAgent(Map<String, List<Call>> calls) {
        this.calls = calls;
    }

    /** One tool call, with the names that the tool gives its parameters. */
    record Call(String tool, Map<String, String> arguments) {
    }

    /** Tells the chat client that this model takes tools. */
    @Override
    public ChatOptions getOptions() {
        return ToolCallingChatOptions.builder().build();
    }

    @Override
    public ChatResponse call(Prompt prompt) {
        List<Call> script = calls.get(prompt.getUserMessage().getText());
        int made = 0;
        for (Message message : prompt.getInstructions()) {
            if (message instanceof ToolResponseMessage) {
                made++;
            }
        }
        return new ChatResponse(List.of(new Generation(made == script.size() ? answer(made) : next(script.get(made), made))));
    }

    private static AssistantMessage answer(int made) {
        return new AssistantMessage("Done; tool calls: " + made + ".");
    }

    private AssistantMessage next(Call call, int number) {
        return AssistantMessage.builder()
                .toolCalls(List.of(new AssistantMessage.ToolCall("call-" + number, "function", call.tool(), json.writeValueAsString(call.arguments()))))
                .build();
    }
}
