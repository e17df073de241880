package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.resolve.Resolver;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What the images of a session of one manifest would take, at most: what is there now of what it lets change. What a session does not change, and
 * what an earlier one has imaged, takes less. Looks at names and sizes only.
 */
final class Estimate {
    /** When images are made. */
    private enum When {
        /** The path itself is declared: before the lease is used. */
        START("before the program starts"),
        /** It lies in a directory that is declared: when it is first changed. */
        FIRST_CHANGE("at the first change of each"),
        /** It may be changed by a program that is started: all of it, before each start. */
        CHILD("before that program starts");

        private final String words;

        When(String words) {
            this.words = words;
        }
    }

    /** One line that lets something change. */
    private static final class Place {
        final String agent;
        final Line line;
        final When when;
        final Resource resource;
        long entries;
        long bytes;
        boolean unreadable;

        Place(String agent, Line line, When when, Resource resource) {
            this.agent = agent;
            this.line = line;
            this.when = when;
            this.resource = resource;
        }
    }

    private final Given given;
    private final Manifest manifest;
    private final Resolver resolver;
    private final Path home;
    private final Path workingDirectory;
    private final LaunchOptions options;
    private final List<Place> places = new ArrayList<>();
    /** Counted once, however many lines name it. */
    private final Set<Object> counted = new HashSet<>();
    private long entries;
    private long bytes;

    Estimate(Given given, LaunchEnvironment environment) throws UsageException, IOException {
        this.given = given;
        manifest = given.manifest();
        options = given.options.withManifest(manifest);
        resolver = new Resolver(new NioFiles(environment.workingDirectory()));
        workingDirectory = Path.of(environment.workingDirectory());
        home = given.home.toPath().toAbsolutePath().normalize();
        add(null, manifest);
        for (Manifest agent : manifest.agents()) {
            add(agent.agentId(), agent);
        }
        for (Place place : places) {
            measure(place);
        }
    }

    private void add(String agent, Manifest its) {
        for (Line line : its.scope()) {
            Resource real = DeclaredScope.real(line.resource(), resolver);
            if (line.predicate().changes() && real.scheme().equals("FILE")) {
                places.add(new Place(agent, line, real.form() == Resource.Form.EXACT ? When.START : When.FIRST_CHANGE, real));
            }
            if (line.effects() == null && real.scheme().equals("PROCESS") && line.predicate().changes()) {
                places.add(new Place(agent, line, When.CHILD, Resource.of("FILE", workingDirectory.toString(), Resource.Form.SUBTREE)));
            }
            for (Line effect : line.effects() == null ? List.<Line>of() : line.effects()) {
                if (effect.predicate().changes() && effect.resource().scheme().equals("FILE")) {
                    places.add(new Place(agent, line, When.CHILD, DeclaredScope.real(effect.resource(), resolver)));
                }
            }
        }
    }

    private void measure(Place place) throws IOException {
        Path root = Path.of(place.resource.path());
        if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        int depth = place.resource.form() == Resource.Form.SUBTREE ? Integer.MAX_VALUE : place.resource.form() == Resource.Form.CHILDREN ? 1 : 0;
        Files.walkFileTree(root, EnumSet.noneOf(FileVisitOption.class), depth, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                if (directory.equals(home)) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                count(place, directory, attributes);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (!file.equals(home)) {
                    count(place, file, attributes);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) {
                place.unreadable = true;
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private void count(Place place, Path file, BasicFileAttributes attributes) {
        long size = attributes.isRegularFile() ? attributes.size() : 0;
        place.entries++;
        place.bytes += size;
        Object key = attributes.fileKey();
        if (counted.add(key == null ? file : key)) {
            entries++;
            bytes += size;
        }
    }

    private long free() throws IOException {
        Path there = home;
        while (there != null && !Files.isDirectory(there)) {
            there = there.getParent();
        }
        return there == null ? 0 : Files.getFileStore(there).getUsableSpace();
    }

    private boolean isTooLarge(Place place) {
        return place.when == When.CHILD && (place.entries > options.backupMaxFiles() || place.bytes > options.backupMaxBytes());
    }

    /** Answers exit code 3 if a program could not be started, or the disk could not take it all. */
    int print(Terminal terminal) throws IOException {
        boolean fits = bytes <= free();
        for (Place place : places) {
            String line = (place.agent == null ? "" : place.agent + ": ") + place.line + (place.line.effects() == null || place.when != When.CHILD ? ""
                    : ", effect on " + place.resource) + " (line " + place.line.line() + "): " + entries(place.entries) + ", " + size(place.bytes) + ", " + place.when.words;
            terminal.line(line);
            if (place.unreadable) {
                terminal.complain(Escapes.line("not all of " + place.resource + " could be looked at"));
            }
            if (isTooLarge(place)) {
                terminal.complain(Escapes.line(terminal.bad("too large") + ": " + place.resource + " is more than backup.max-files=" + options.backupMaxFiles() + " or backup.max-bytes="
                        + size(options.backupMaxBytes()) + ", so " + place.line.resource() + " will not be started; narrow its effects, or raise the limit"));
            }
        }
        terminal.line(places.isEmpty() ? manifest.file() + " lets nothing be changed that would be imaged"
                : "at most " + entries(entries) + " and " + size(bytes) + " in all; " + size(free()) + " are free where " + given.home + " lies");
        if (!fits) {
            terminal.complain(terminal.bad("too large") + " for what is free; home= on another disk, or a narrower scope");
        }
        return status(fits);
    }

    private int status(boolean fits) {
        return fits && places.stream().noneMatch(this::isTooLarge) ? ExitCode.OK : ExitCode.VIOLATIONS;
    }

    int write(JsonGenerator json) throws IOException {
        long free = free();
        json.writeStartObject();
        json.writeStringField("manifest", manifest.file());
        json.writeArrayFieldStart("places");
        for (Place place : places) {
            json.writeStartObject();
            json.writeStringField("agent_id", place.agent == null ? manifest.agentId() : place.agent);
            json.writeStringField("triple", place.line.toString());
            json.writeNumberField("line", place.line.line());
            json.writeStringField("resource", place.resource.toString());
            json.writeStringField("when", place.when.name().toLowerCase(Locale.ROOT));
            json.writeNumberField("entries", place.entries);
            json.writeNumberField("bytes", place.bytes);
            json.writeBooleanField("complete", !place.unreadable);
            json.writeBooleanField("too_large", isTooLarge(place));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("entries", entries);
        json.writeNumberField("bytes", bytes);
        json.writeNumberField("free_bytes", free);
        json.writeNumberField("max_bytes", options.backupMaxBytes());
        json.writeNumberField("max_files", options.backupMaxFiles());
        json.writeEndObject();
        return status(bytes <= free);
    }

    private static String entries(long count) {
        return count + (count == 1 ? " entry" : " entries");
    }

    /** {@code 1.5 MiB}. */
    private static String size(long bytes) {
        String[] units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? bytes + " bytes" : String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
    }
}
