import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** An assistant whose model, which is part of the program, asks for a file to be read and then for its summary to be written. */
public class Agent {
    interface Assistant {
        String chat(String wish);
    }

    static class Tools {
        @Tool("reads a file")
        String read(String name) throws IOException {
            return Files.readString(Path.of(name));
        }

        @Tool("writes a file")
        String write(String name, String text) throws IOException {
            Files.writeString(Path.of(name), text);
            return "written";
        }
    }

    static class Script implements ChatModel {
        private int turn;

        @Override
        public ChatResponse doChat(ChatRequest request) {
            return ChatResponse.builder().aiMessage(next(request)).build();
        }

        private AiMessage next(ChatRequest request) {
            Object last = request.messages().get(request.messages().size() - 1);
            String told = last instanceof ToolExecutionResultMessage result ? result.text() : "";
            return switch (turn++) {
                case 0 -> wish("read", "{\"arg0\":\"src/notes\",\"name\":\"src/notes\"}");
                case 1 -> {
                    String text = told.length() + " characters";
                    yield wish("write", "{\"arg0\":\"out/summary\",\"name\":\"out/summary\",\"arg1\":\"" + text + "\",\"text\":\"" + text + "\"}");
                }
                default -> AiMessage.from("done: " + told);
            };
        }

        private AiMessage wish(String tool, String arguments) {
            return AiMessage.from(ToolExecutionRequest.builder().id("call-" + turn).name(tool).arguments(arguments).build());
        }
    }

    public static void main(String[] arguments) {
        Assistant assistant = AiServices.builder(Assistant.class).chatModel(new Script()).tools(new Tools()).build();
        System.out.println(assistant.chat("sum up src/notes"));
    }
}
