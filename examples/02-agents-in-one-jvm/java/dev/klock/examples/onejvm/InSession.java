package dev.klock.examples.onejvm;

import dev.klock.Answer;
import dev.klock.Klock;
import dev.klock.KlockSession;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * A tool of one agent, each call of which is done in a session of that agent. Asks once without waiting, to see how it stands; then
 * {@link KlockSession#retry} does what there is to do: waits for those who are younger, dies of those who are older, and comes back. A call
 * that fails is undone. Used by one thread at a time.
 */
final class InSession implements ToolExecutor {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Path manifest;
    private final String agent;
    private final ToolExecutor tool;
    private final Map<Answer.Verdict, Integer> first = new EnumMap<>(Answer.Verdict.class);
    private final Map<Answer.Verdict, Integer> retried = new EnumMap<>(Answer.Verdict.class);
    private int aborted;

    InSession(Path manifest, String agent, ToolExecutor tool) {
        this.manifest = manifest;
        this.agent = agent;
        this.tool = tool;
    }

    @Override
    public String execute(ToolExecutionRequest request, Object memoryId) {
        return inSession(() -> tool.execute(request, memoryId));
    }

    @Override
    public ToolExecutionResult executeWithContext(ToolExecutionRequest request, InvocationContext context) {
        return inSession(() -> tool.executeWithContext(request, context));
    }

    private <T> T inSession(Callable<T> work) {
        try (KlockSession session = Klock.open(manifest, agent, Duration.ZERO)) {
            Answer answer = session.answer();
            first.merge(answer.verdict(), 1, Integer::sum);
            if (!answer.isGranted()) {
                answer = session.retry(PATIENCE);
                retried.merge(answer.verdict(), 1, Integer::sum);
            }
            if (!answer.isGranted()) {
                throw new IllegalStateException(answer.verdict() + ": " + answer.reason());
            }
            try {
                return session.call(work);
            } catch (Throwable e) {
                // whatever it was: half of the work is not to stay
                session.abort("the tool failed");
                aborted++;
                throw e;
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** One line: what came of asking first, and then of retrying. */
    String trace() {
        return "granted at once " + count(first, Answer.Verdict.GRANTED)
                + ", WAIT " + count(first, Answer.Verdict.PAUSED)
                + ", DIE " + count(first, Answer.Verdict.DIE)
                + "; granted by retry " + count(retried, Answer.Verdict.GRANTED)
                + "; aborted " + aborted;
    }

    private static int count(Map<Answer.Verdict, Integer> verdicts, Answer.Verdict verdict) {
        return verdicts.getOrDefault(verdict, 0);
    }
}
