package dev.klock.examples.fourjvms;

import dev.klock.examples.onejvm.ReviewTools;
import dev.klock.examples.onejvm.ScriptedReviewer;
import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.service.UserMessage;
import java.nio.file.Path;

/**
 * The program: {@code ReviewerRun WORKSPACE NAME TEXT TIMES} lets one agent review a library. It looks for TEXT, and records its findings TIMES
 * times. Prints what the agent answers.
 */
public final class ReviewerRun {
    private ReviewerRun() {
    }

    /** The agent as LangChain4j's agentic module wants it: an interface that the module implements. */
    public interface Reviewer {
        /** Reviews the library with the tools at hand and returns what the model says at the end. */
        @Agent("Reviews a library's sources")
        @UserMessage("Review the library and record what you find.")
        String review();
    }

    public static void main(String[] arguments) {
        Path workspace = Path.of(arguments[0]);
        String name = arguments[1];
        Reviewer reviewer = AgenticServices.agentBuilder(Reviewer.class)
                .name(name)
                .chatModel(new ScriptedReviewer(name, arguments[2], Integer.parseInt(arguments[3]), 0))
                .tools(new ReviewTools(workspace))
                .build();
        System.out.printf("  %-5s answer  %s%n", name, reviewer.review());
    }
}
