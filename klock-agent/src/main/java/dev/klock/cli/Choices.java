package dev.klock.cli;

import dev.klock.agent.config.Option;
import dev.klock.kernel.Predicate;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** What a shell offers where an option or a parameter takes one of a few words. Immutable. */
abstract class Choices implements Iterable<String> {
    private final List<String> words;

    private Choices(List<String> words) {
        this.words = List.copyOf(words);
    }

    @Override
    public Iterator<String> iterator() {
        return words.iterator();
    }

    /** Of a triple. */
    static final class Predicates extends Choices {
        Predicates() {
            super(names());
        }

        private static List<String> names() {
            List<String> names = new ArrayList<>();
            for (Predicate each : Predicate.values()) {
                names.add(each.name());
            }
            return names;
        }
    }

    /** What is done to the images. */
    static final class OfBackups extends Choices {
        OfBackups() {
            super(List.of(BackupsVerb.PRUNE, BackupsVerb.ESTIMATE));
        }
    }

    /** What a report is to fail on. */
    static final class ToFailOn extends Choices {
        ToFailOn() {
            super(List.of(Report.VIOLATIONS, Report.WARNINGS));
        }
    }

    /** Arguments of the agent: with their values where there are only a few. */
    static final class AgentArguments extends Choices {
        AgentArguments() {
            super(arguments());
        }

        private static List<String> arguments() {
            List<String> arguments = new ArrayList<>();
            for (Option option : Option.values()) {
                String key = option.key() + "=";
                if (option.words().isEmpty()) {
                    arguments.add(key);
                }
                for (String word : option.words()) {
                    arguments.add(key + word);
                }
            }
            return arguments;
        }
    }
}
