package dev.klock.examples.stayinside;

import dev.langchain4j.agentic.Agent;
import dev.langchain4j.agentic.AgenticServices;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.springaicommunity.agent.tools.AutoMemoryTools;
import org.springaicommunity.agent.tools.FileSystemTools;
import org.springaicommunity.agent.tools.GlobTool;
import org.springaicommunity.agent.tools.ShellTools;

/**
 * The agent program: {@code AgentRun WORKSPACE SCRIPT...} lets the model of the named scripts work in a workspace with
 * {@code library} and {@code upstream} in it. Prints one line for each tool call and then the agent's answer. Ends 0 when the
 * agent finished its job and 1 when a tool failed on the way.
 */
public final class AgentRun {
    private static final int SHOWN_CHARACTERS = 110;

    private AgentRun() {
    }

    /** The agent as LangChain4j's agentic module wants it: an interface that the module implements. */
    public interface Librarian {
        /** Does {@code task} with the tools at hand and returns what the model says at the end. */
        @Agent("Keeps a copy of a library's sources in order")
        @UserMessage("{{task}}")
        String work(@V("task") String task);
    }

    public static void main(String[] arguments) {
        Path workspace = Path.of(arguments[0]);
        List<String> scripts = Arrays.asList(arguments).subList(1, arguments.length);

        ScriptedModel model = new ScriptedModel(workspace, scripts);
        SpringTools tools = new SpringTools(call -> System.out.println("  tool   " + shorten(call.replace(workspace + "/", ""))),
                new FileSystemTools(),
                GlobTool.builder().workingDirectory(workspace).maxResults(Integer.MAX_VALUE).build(),
                AutoMemoryTools.builder().memoriesDir(workspace).build(),
                new ShellTools());
        Librarian librarian = AgenticServices.agentBuilder(Librarian.class)
                .chatModel(model)
                .tools(tools.byName())
                .build();

        String answer = librarian.work("Review the library in " + workspace + "/library and tidy it up.");

        System.out.println("  answer " + answer);
        if (model.gaveUp()) {
            System.exit(1);
        }
    }

    private static String shorten(String call) {
        return call.length() <= SHOWN_CHARACTERS ? call : call.substring(0, SHOWN_CHARACTERS) + "...";
    }
}
