import dev.klock.sandbox.subject.Ways;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.agentic.UntypedAgent;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.model.ModelProvider;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Tools of LangChain4j's, one after the other and all at once, and its agents that work side by side. The model is scripted. */
public class LangChain4jWays {
    /** As AiServices implement it. */
    public interface Assistant {
        String chat(String wish);
    }

    /** As AiServices implement it over a model that answers piece by piece. */
    public interface Streaming {
        TokenStream chat(String wish);
    }

    /** As the agentic module implements it. */
    public interface Worker {
        @Agent("works")
        @UserMessage("Work.")
        String work();
    }

    /** What the model can have done. */
    public static final class Tools {
        private final Runnable work;

        Tools(Runnable work) {
            this.work = work;
        }

        @Tool("does the work")
        public String work() {
            work.run();
            return "done";
        }
    }

    /** Asks for the tool three times at once, and then says that all is done. */
    private static final class Script implements ChatModel, StreamingChatModel {
        @Override
        public ChatResponse doChat(ChatRequest request) {
            if (request.messages().get(request.messages().size() - 1) instanceof ToolExecutionResultMessage) {
                return ChatResponse.builder().aiMessage(AiMessage.from("all is done")).build();
            }
            List<ToolExecutionRequest> calls = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                calls.add(ToolExecutionRequest.builder().id("call-" + i).name("work").arguments("{}").build());
            }
            return ChatResponse.builder().aiMessage(AiMessage.from(calls)).build();
        }

        @Override
        public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
            CompletableFuture.runAsync(() -> {
                ChatResponse response = doChat(request);
                handler.onPartialResponse("…");
                List<ToolExecutionRequest> calls = response.aiMessage().toolExecutionRequests();
                for (int i = 0; i < calls.size(); i++) {
                    handler.onCompleteToolCall(new CompleteToolCall(i, calls.get(i)));
                }
                handler.onCompleteResponse(response);
            });
        }

        @Override
        public ChatRequestParameters defaultRequestParameters() {
            return ChatModel.super.defaultRequestParameters();
        }

        @Override
        public List<ChatModelListener> listeners() {
            return List.of();
        }

        @Override
        public ModelProvider provider() {
            return ModelProvider.OTHER;
        }

        @Override
        public Set<Capability> supportedCapabilities() {
            return Set.of();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Ways ways = new Ways();
        ExecutorService pool = Executors.newFixedThreadPool(2, ways.threads());
        ways.add("tools", work -> AiServices.builder(Assistant.class).chatModel(new Script()).tools(new Tools(work)).build().chat("work"));
        ways.add("toolsConcurrently", work -> AiServices.builder(Assistant.class).chatModel(new Script()).tools(new Tools(work))
                .executeToolsConcurrently().build().chat("work"));
        ways.add("toolsConcurrentlyOnPool", work -> AiServices.builder(Assistant.class).chatModel(new Script()).tools(new Tools(work))
                .executeToolsConcurrently(pool).build().chat("work"));
        ways.add("streaming", work -> stream(work, AiServices.builder(Streaming.class).streamingChatModel(new Script()).tools(new Tools(work)).build()));
        ways.add("streamingToolsConcurrently", work -> stream(work, AiServices.builder(Streaming.class).streamingChatModel(new Script())
                .tools(new Tools(work)).executeToolsConcurrently(pool).build()));
        ways.add("parallelAgents", work -> AgenticServices.parallelBuilder().subAgents(agent("one", work, false), agent("two", work, false))
                .build().invoke(Map.of()));
        ways.add("parallelAgentsOnPool", work -> AgenticServices.parallelBuilder().subAgents(agent("one", work, false), agent("two", work, false))
                .executor(pool).build().invoke(Map.of()));
        ways.add("asyncAgents", work -> {
            UntypedAgent sequence = AgenticServices.sequenceBuilder().subAgents(agent("one", work, true), agent("two", work, true))
                    .output(scope -> "" + scope.readState("one") + scope.readState("two")).build();
            sequence.invoke(Map.of());
        });
        ways.run(pool::shutdown);
    }

    private static void stream(Runnable work, Streaming assistant) throws Exception {
        CompletableFuture<ChatResponse> end = new CompletableFuture<>();
        assistant.chat("work").onPartialResponse(part -> work.run()).onCompleteResponse(end::complete).onError(end::completeExceptionally).start();
        end.get();
    }

    static Worker agent(String name, Runnable work, boolean async) {
        return AgenticServices.agentBuilder(Worker.class).name(name).outputKey(name).chatModel(new Script()).tools(new Tools(work))
                .executeToolsConcurrently().async(async).build();
    }
}
