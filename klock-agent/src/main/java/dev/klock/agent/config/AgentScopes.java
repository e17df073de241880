package dev.klock.agent.config;

import dev.klock.agent.resolve.Resolver;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a process's manifest declares for its agents, to be named where the process itself does it. Immutable. */
public final class AgentScopes {
    private static final Predicate[] PREDICATES = Predicate.values();
    private static final int NONE = -1;

    private final List<Manifest> agents;
    private final Scope[] scopes;

    /** @param scopes of each of {@code agents}, in their order */
    public AgentScopes(List<Manifest> agents, Scope[] scopes) {
        this.agents = agents;
        this.scopes = scopes.clone();
    }

    /** Those of {@code manifest}, whose names are resolved now. */
    public static AgentScopes of(Manifest manifest, Resolver resolver) {
        List<Manifest> agents = manifest.agents();
        Scope[] scopes = new Scope[agents.size()];
        for (int i = 0; i < scopes.length; i++) {
            scopes[i] = DeclaredScope.of(agents.get(i), resolver);
        }
        return new AgentScopes(agents, scopes);
    }

    /**
     * The agents that have a line for this, each with that line, in the manifest's order; empty if none has. Of a change also a line for anything else
     * on it: the process cannot be given that beside it.
     *
     * @param path resolved
     * @param tree of everything at and below {@code path}, which is a file's
     */
    public Map<String, Line> declaring(Predicate predicate, String scheme, String path, boolean tree) {
        Map<String, Line> declaring = new LinkedHashMap<>();
        for (int i = 0; i < scopes.length; i++) {
            int decision = decide(scopes[i], predicate, scheme, path, tree);
            for (int other = 0; decision < 0 && isChange(predicate) && scheme.equals("FILE") && other < PREDICATES.length; other++) {
                decision = PREDICATES[other] == Predicate.DEPENDS_ON ? decision : decide(scopes[i], PREDICATES[other], scheme, path, tree);
            }
            if (decision >= 0) {
                declaring.put(agents.get(i).agentId(), agents.get(i).scope().get(decision));
            }
        }
        return declaring;
    }

    private static boolean isChange(Predicate predicate) {
        return predicate != Predicate.CONSUMES && predicate != Predicate.DEPENDS_ON;
    }

    /** The line that allows it; negative if none does. */
    private static int decide(Scope scope, Predicate predicate, String scheme, String path, boolean tree) {
        int decision = tree ? scope.decideTree(predicate, path, false) : scope.decide(predicate, scheme, path, false);
        return decision >= 0 && Scope.isAllowed(decision) ? decision : NONE;
    }
}
