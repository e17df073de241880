package dev.klock.cli;

import dev.klock.agent.config.UsageException;
import dev.klock.cli.learn.Name;
import dev.klock.cli.learn.Observations;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Cover;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.ResourceSyntaxException;
import java.util.List;
import java.util.Set;

/** What a manifest declares, as a session would decide it. */
final class DeclaredBy implements Observations.Declared {
    private final Manifest manifest;
    private final Judge judge;

    DeclaredBy(Manifest manifest, Judge judge) {
        this.manifest = manifest;
        this.judge = judge;
    }

    @Override
    public boolean byLine(Predicate predicate, String resource) {
        Judge.Answer answer = answer(predicate, resource);
        return answer != null && answer.allowed();
    }

    @Override
    public boolean byEffects(Set<String> programs, Predicate predicate, String resource) {
        for (Line line : manifest.scope()) {
            boolean ran = line.resource().scheme().equals("PROCESS") && line.predicate() == Predicate.PROVIDES
                    && (programs.isEmpty() || programs.contains(line.resource().toString()));
            if (ran && line.effects() == null && byLine(predicate, resource)) {
                // one without effects may change what the program may, where it runs
                return true;
            }
            for (Line effect : ran && line.effects() != null ? line.effects() : List.<Line>of()) {
                if (covers(effect, predicate, resource)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public String denyLine(Predicate predicate, String resource) {
        Judge.Answer answer = answer(predicate, resource);
        return answer == null || answer.by != Judge.By.DENY || answer.predicate != predicate ? null : place(answer.line);
    }

    @Override
    public String withoutEffects(Predicate predicate, String resource) {
        Judge.Answer answer = answer(predicate, resource);
        if (answer == null || answer.allowed() || answer.predicate == predicate) {
            return null;
        }
        for (Line line : manifest.scope()) {
            if (line.predicate() == predicate && line.effects() == null && line.resource().toString().equals(resource)) {
                return place(line);
            }
        }
        return null;
    }

    private String place(Line line) {
        return manifest.file() + ":" + line.line() + ": " + line;
    }

    /** Null where no operation has such a resource. */
    private Judge.Answer answer(Predicate predicate, String resource) {
        try {
            return judge.decide(predicate, Name.resource(resource));
        } catch (ResourceSyntaxException | UsageException unwritable) {
            return null;
        }
    }

    private static boolean covers(Line line, Predicate predicate, String resource) {
        try {
            return (Cover.allows(line.predicate(), false) & predicate.bit()) != 0 && line.resource().covers(Name.resource(resource));
        } catch (ResourceSyntaxException unwritable) {
            return false;
        }
    }
}
