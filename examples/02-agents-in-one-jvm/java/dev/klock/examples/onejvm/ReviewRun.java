package dev.klock.examples.onejvm;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.agent.tool.ToolSpecifications;
import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.tool.DefaultToolExecutor;
import dev.langchain4j.service.tool.ToolExecutor;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The program: {@code ReviewRun WORKSPACE TIMES STRAY-AT sessions|plain} lets three agents review a library at the same time. Each
 * records its findings TIMES times; the agent {@code style} strays at the time STRAY-AT (0 for never). With {@code sessions} each call that
 * changes files is done in a session of its agent. Prints what each agent answers, and how its sessions went.
 */
public final class ReviewRun {
    private static final Map<String, String> LOOKS_FOR = Map.of("bugs", " null", "style", "final ", "docs", "@param");
    private static final List<String> NAMES = List.of("bugs", "style", "docs");

    private final Path workspace;
    private final int times;
    private final int strayAt;
    private final boolean inSessions;
    private final Map<String, InSession> sessions = new HashMap<>();

    private ReviewRun(Path workspace, int times, int strayAt, boolean inSessions) {
        this.workspace = workspace;
        this.times = times;
        this.strayAt = strayAt;
        this.inSessions = inSessions;
    }

    /** The agents as LangChain4j's agentic module wants them: an interface that the module implements. */
    public interface Reviewer {
        /** Reviews the library with the tools at hand and returns what the model says at the end. */
        @Agent("Reviews a library's sources")
        @UserMessage("Review the library and record what you find.")
        String review();
    }

    public static void main(String[] arguments) throws NoSuchMethodException {
        new ReviewRun(Path.of(arguments[0]), Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), arguments[3].equals("sessions")).run();
    }

    private void run() throws NoSuchMethodException {
        List<Object> reviewers = new ArrayList<>();
        for (String name : NAMES) {
            reviewers.add(reviewer(name));
        }
        ExecutorService threads = Executors.newFixedThreadPool(NAMES.size());
        @SuppressWarnings("unchecked")
        Map<String, Object> answers = (Map<String, Object>) AgenticServices.parallelBuilder()
                .subAgents(reviewers)
                .executor(threads)
                .output(scope -> Map.copyOf(scope.state()))
                .build()
                .invoke(Map.of());
        threads.shutdown();

        for (String name : NAMES) {
            System.out.printf("  %-5s answer   %s%n", name, answers.get(name));
            if (inSessions) {
                System.out.printf("  %-5s sessions %s%n", name, sessions.get(name).trace());
            }
        }
    }

    private Reviewer reviewer(String name) throws NoSuchMethodException {
        return AgenticServices.agentBuilder(Reviewer.class)
                .name(name)
                .outputKey(name)
                .chatModel(new ScriptedReviewer(name, LOOKS_FOR.get(name), times, name.equals("style") ? strayAt : 0))
                .tools(tools(name))
                .build();
    }

    private Map<ToolSpecification, ToolExecutor> tools(String name) {
        ReviewTools tools = new ReviewTools(workspace);
        Map<ToolSpecification, ToolExecutor> executors = new HashMap<>();
        for (Method method : ReviewTools.class.getMethods()) {
            if (method.isAnnotationPresent(Tool.class)) {
                executors.put(ToolSpecifications.toolSpecificationFrom(method), executor(name, tools, method));
            }
        }
        return executors;
    }

    private ToolExecutor executor(String name, ReviewTools tools, Method method) {
        ToolExecutor plain = DefaultToolExecutor.builder()
                .object(tools)
                .originalMethod(method)
                .methodToInvoke(method)
                .propagateToolExecutionExceptions(true)
                .build();
        if (!inSessions || !method.getName().equals("record")) {
            return plain;
        }
        InSession inSession = new InSession(workspace.resolve("klock.yaml"), name, plain);
        sessions.put(name, inSession);
        return inSession;
    }
}
