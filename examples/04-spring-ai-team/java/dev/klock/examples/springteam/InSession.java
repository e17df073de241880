package dev.klock.examples.springteam;

import dev.klock.Answer;
import dev.klock.Klock;
import dev.klock.KlockSession;
import java.nio.file.Path;
import java.time.Duration;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.core.Ordered;

/**
 * All that a chat client does for one request, its tool calls included, is done in a session of its agent. A request that fails is undone. Used by
 * any number of threads.
 */
final class InSession implements CallAdvisor {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Path manifest;
    private final String agent;

    InSession(Path manifest, String agent) {
        this.manifest = manifest;
        this.agent = agent;
    }

    @Override
    public String getName() {
        return "klock session of " + agent;
    }

    /** Around all other advisors, the one that calls tools above all. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
        try (KlockSession session = Klock.open(manifest, agent, PATIENCE)) {
            Answer answer = session.retry(PATIENCE);
            if (!answer.isGranted()) {
                throw new IllegalStateException(answer.verdict() + ": " + answer.reason());
            }
            try {
                return session.call(() -> chain.nextCall(request));
            } catch (Throwable e) {
                // whatever it was: half of the work is not to stay
                session.abort("the request failed");
                throw e;
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }
}
