package dev.klock.agent;

import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.resolve.Resolver;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.Triple;
import dev.klock.manifest.Cover;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;

/**
 * What an agent may do, by the names that its lines lead to. For those of the process's manifest that is told at the start: what the program has made of a
 * name since, a link to elsewhere above all, changes nothing of it.
 */
final class DeclaredAgent {
    final Manifest manifest;
    final Scope scope;
    final List<Triple> wanted;
    private final List<Line> lines;
    private final List<Line> denied;

    private DeclaredAgent(Manifest manifest, Scope scope, List<Line> lines, List<Line> denied, List<Triple> wanted) {
        this.manifest = manifest;
        this.scope = scope;
        this.lines = lines;
        this.denied = denied;
        this.wanted = wanted;
    }

    /** As {@code manifest}, one of the agents of the process's, says; before the program begins. */
    static DeclaredAgent atStart(Manifest manifest, Resolver resolver) {
        return new DeclaredAgent(manifest, DeclaredScope.of(manifest, resolver), real(manifest.scope(), resolver), real(manifest.deny(), resolver),
                Leases.wanted(manifest, resolver));
    }

    /**
     * As {@code asked} says, which the program could have written.
     *
     * @param process the file that declares this one
     * @throws UsageException it says more than is declared
     */
    DeclaredAgent within(Manifest asked, Resolver resolver, String process) throws UsageException {
        // each name is looked at once: what is compared is what holds
        List<Line> real = real(asked.scope(), resolver);
        List<Line> realDenied = real(asked.deny(), resolver);
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < real.size(); i++) {
            Line line = real.get(i);
            if (!isWithin(line, lines)) {
                throw new UsageException(asked.file() + ":" + line.line() + ":" + line.column() + ": " + asked.scope().get(i) + " is more than " + process
                        + " declares for " + manifest.agentId() + ": declare it there, too");
            }
            builder.allow(line.predicate(), line.resource(), i);
        }
        for (int i = 0; i < realDenied.size(); i++) {
            builder.deny(realDenied.get(i).predicate(), realDenied.get(i).resource(), i);
        }
        for (int i = 0; i < denied.size(); i++) {
            Line line = denied.get(i);
            int at = 0;
            while (at < realDenied.size() && !(realDenied.get(at).predicate() == line.predicate() && realDenied.get(at).resource().covers(line.resource()))) {
                at++;
            }
            if (at == realDenied.size()) {
                throw new UsageException(asked.file() + ": " + process + ":" + line.line() + " denies " + line + " to " + manifest.agentId()
                        + ": deny it here, too");
            }
        }
        return new DeclaredAgent(asked, builder.build(), real, realDenied, Leases.wanted(asked, resolver));
    }

    /** Whether a line covers {@code intent}, which is written as one; true too for what is no intent, which is refused for that. */
    boolean declares(String intent, Resolver resolver) {
        try {
            int space = intent.indexOf(' ');
            Predicate predicate = Predicate.valueOf(space < 0 ? intent : intent.substring(0, space));
            Resource resource = DeclaredScope.real(Resource.parse(intent.substring(space + 1).trim()), resolver);
            return isWithin(new Line(predicate, resource, 1, 0, 0, intent, null), lines);
        } catch (IllegalArgumentException e) {
            return true;
        }
    }

    private static List<Line> real(List<Line> lines, Resolver resolver) {
        List<Line> real = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            real.add(new Line(line.predicate(), DeclaredScope.real(line.resource(), resolver), line.confidence(), line.line(), line.column(), line.text(),
                    line.effects() == null ? null : real(line.effects(), resolver)));
        }
        return real;
    }

    private static boolean isWithin(Line line, List<Line> declared) {
        for (int i = 0; i < declared.size(); i++) {
            if (isWithin(line, declared.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWithin(Line line, Line declared) {
        return declared.resource().covers(line.resource()) && (Cover.allows(declared.predicate(), false) & line.predicate().bit()) != 0
                && haveSame(line.effects(), declared.effects());
    }

    /** Of a program's effects images are made before it starts, and none of what it is said to leave alone: to declare fewer is no less. */
    private static boolean haveSame(List<Line> effects, List<Line> declared) {
        if (effects == null || declared == null) {
            return effects == declared;
        }
        boolean same = true;
        for (int i = 0; i < effects.size(); i++) {
            same &= isWithin(effects.get(i), declared);
        }
        for (int i = 0; i < declared.size(); i++) {
            same &= isWithin(declared.get(i), effects);
        }
        return same;
    }
}
