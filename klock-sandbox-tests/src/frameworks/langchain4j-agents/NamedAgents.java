import dev.klock.Klock;
import dev.klock.KlockSession;
import dev.klock.langchain4j.SessionListener;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.agentic.observability.AgentInvocationError;
import dev.langchain4j.agentic.observability.AgentListener;
import dev.langchain4j.agentic.observability.AgentRequest;
import dev.langchain4j.agentic.scope.AgenticScope;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;

/** Agents of LangChain4j's that work as the session of their name, by {@link SessionListener}. A line for each; no agent says whose it is. */
public class NamedAgents {
    private static KlockSession builder;

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        try (KlockSession first = Klock.open(Path.of("klock.yaml"), "builder", Duration.ZERO);
                KlockSession third = Klock.open(Path.of("klock.yaml"), "third", Duration.ZERO)) {
            builder = first;
            SessionListener sessions = new SessionListener(Map.of("builder", builder, "third", third));

            AgenticServices.parallelBuilder().subAgents(agent("builder", "parallel"), agent("third", "parallel"), agent("other", "parallel"))
                    .executor(pool).listener(sessions).build().invoke(Map.of());
            for (int i = 0; i < 3; i++) {
                whose("pool", pool);
            }
            AgenticServices.sequenceBuilder().subAgents(agent("builder", "sequence"), agent("third", "sequence"), agent("other", "sequence"))
                    .listener(sessions).build().invoke(Map.of());
            say("main");

            try {
                AgenticServices.sequenceBuilder().subAgents(AgenticServices.agentBuilder(LangChain4jWays.Worker.class).name("third").chatModel(new ChatModel() {
                    @Override
                    public ChatResponse doChat(ChatRequest request) {
                        say("model");
                        throw new IllegalStateException("no answer");
                    }
                }).build()).listener(sessions).build().invoke(Map.of());
                System.out.println("third did not fail");
            } catch (RuntimeException expected) {
                say("main after a failure");
            }

            suspended(sessions);

            builder.abort("enough");
            try {
                AgenticServices.sequenceBuilder().subAgents(agent("builder", "aborted")).listener(sessions).build().invoke(Map.of());
                System.out.println("builder was invoked");
            } catch (SessionListener.SessionUnavailableError e) {
                System.out.println(e.getMessage().replaceAll(":.*", ""));
            }
            say("main after an abort");
        }
        System.exit(0);
    }

    /** As LangChain4j tells it: two invocations begin, one in the other, and neither ends. */
    private static void suspended(SessionListener sessions) {
        AtomicReference<AgentRequest> seen = new AtomicReference<>();
        AgenticServices.sequenceBuilder().subAgents(agent("third", "seen")).listener(new AgentListener() {
            @Override
            public void beforeAgentInvocation(AgentRequest request) {
                if (request.agentName().equals("third")) {
                    seen.set(request);
                }
            }

            @Override
            public boolean inheritedBySubagents() {
                return true;
            }
        }).build().invoke(Map.of());
        AgenticScope scope = seen.get().agenticScope();
        sessions.beforeAgentInvocation(seen.get());
        sessions.beforeAgentInvocation(seen.get());
        say("main suspended");
        sessions.onAgenticSystemSuspended(scope);
        say("main after it was suspended");
        sessions.onAgentInvocationError(new AgentInvocationError(scope, seen.get().agent(), Map.of(), new IllegalStateException()));
        say("main after what it was not in");
    }

    private static LangChain4jWays.Worker agent(String name, String where) {
        return LangChain4jWays.agent(name, () -> write(name, where), false);
    }

    private static void write(String name, String where) {
        StringBuilder line = new StringBuilder(name + " in " + where);
        for (String directory : List.of("w/a", "w/b", "w/out")) {
            try {
                Files.writeString(Path.of(directory, name + "-" + where), "x");
                line.append(' ').append(directory);
            } catch (Throwable denied) {
                line.append(" -");
            }
        }
        System.out.println(line);
    }

    private static void whose(String who, ExecutorService pool) throws Exception {
        pool.submit(() -> say(who)).get();
    }

    private static void say(String who) {
        KlockSession session = Klock.current();
        System.out.println(who + " works for " + (session == null ? "the process" : session.agentId()));
    }
}
