package dev.klock.sandbox.subject;

import dev.klock.Klock;
import dev.klock.KlockSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Strays, and prints what Flight Recorder has of klock's events: {@code agent} as an agent's session while a recording runs that the JVM was started with,
 * {@code twice} as the process, in two recordings one after the other.
 */
public final class Recordings {
    private static final Path FILE = Path.of("recording/dumped.jfr");

    private Recordings() {
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("agent")) {
            try (KlockSession builder = Klock.open(null, "builder", Duration.ZERO)) {
                builder.run(() -> {
                    stray("w/a/x");
                    stray("w/b/x");
                });
            }
            print(3);
        } else {
            for (String file : new String[] {"w/b/one", "w/b/two"}) {
                try (Recording recording = new Recording()) {
                    recording.start();
                    stray(file);
                    print(1);
                }
            }
        }
    }

    /** As soon as there are so many. */
    private static void print(int events) throws IOException, InterruptedException {
        StringBuilder text = new StringBuilder();
        for (int found = 0; found < events; Thread.sleep(20)) {
            found = 0;
            text.setLength(0);
            try (Recording all = FlightRecorder.getFlightRecorder().takeSnapshot()) {
                all.dump(FILE);
            }
            for (RecordedEvent event : RecordingFile.readAllEvents(FILE)) {
                if (event.getEventType().getName().startsWith("klock.")) {
                    found++;
                    text.append(event.getEventType().getName());
                    for (ValueDescriptor field : event.getFields()) {
                        if (field.getTypeName().equals("java.lang.String") || field.getTypeName().equals("int")) {
                            text.append(' ').append(field.getName()).append('=').append((Object) event.getValue(field.getName()));
                        }
                    }
                    text.append('\n');
                }
            }
        }
        System.out.print(text);
    }

    private static void stray(String file) {
        try {
            Files.writeString(Path.of(file), "strayed");
        } catch (Throwable swallowed) {
            // as libraries do
        }
    }
}
