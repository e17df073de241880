package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;

/**
 * What one line of a manifest says of itself: triples that it is about, and some that it is not. They are proven where they stand, by the line alone:
 * what other lines say of them, and what links lead to, is the business of {@code tests}.
 */
final class Samples {
    /** One triple that the line is about ({@link #matches}) or is not. */
    private static final class Sample {
        final boolean matches;
        /** Null: the line's own. */
        final Predicate predicate;
        final Resource resource;
        final int line;
        final int column;

        Sample(boolean matches, Predicate predicate, Resource resource, int line, int column) {
            this.matches = matches;
            this.predicate = predicate;
            this.resource = resource;
            this.line = line;
            this.column = column;
        }
    }

    /** A sample that does not hold. */
    static final class Failed {
        final int line;
        final int column;
        final String message;
        final String remedy;

        private Failed(Sample sample, String message, String remedy) {
            this.line = sample.line;
            this.column = sample.column;
            this.message = message;
            this.remedy = remedy;
        }
    }

    private final List<Sample> all = new ArrayList<>();

    void add(boolean matches, Predicate predicate, Resource resource, int line, int column) {
        all.add(new Sample(matches, predicate, resource, line, column));
    }

    /** The first that does not hold of {@code predicate} and {@code resource}; null if all do. {@code denies}: the line takes away. */
    Failed firstFailed(Predicate predicate, Resource resource, boolean denies) {
        Scope.Builder builder = Scope.builder();
        Scope scope = (denies ? builder.deny(predicate, resource, 0) : builder.allow(predicate, resource, 0)).build();
        for (int i = 0; i < all.size(); i++) {
            Sample sample = all.get(i);
            Predicate asked = sample.predicate == null ? predicate : sample.predicate;
            int decision = scope.decide(asked, sample.resource.scheme(), sample.resource.path(), false);
            boolean matched = denies ? Scope.isDenied(decision) : decision >= 0;
            if (matched != sample.matches) {
                String of = asked + " " + ManifestParse.shorten(sample.resource.toString());
                String line = predicate + " " + ManifestParse.shorten(resource.toString());
                return matched ? new Failed(sample, line + (denies ? " denies " : " allows ") + of + ", which is a sample of what it shall not",
                                "make the line narrower, or leave the sample out")
                        : new Failed(sample, line + (denies ? " does not deny " : " does not allow ") + of + ", which is a sample of what it shall",
                                "make the line wider, or leave the sample out");
            }
        }
        return null;
    }
}
