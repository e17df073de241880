package dev.klock.sandbox.subject;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Records itself into {@code w/out/own.jfr} and prints how many events of the environment, of other processes and of the JVM it finds there. */
public final class Recorded {
    private static final String[] EVENTS = {"jdk.InitialEnvironmentVariable", "jdk.SystemProcess", "jdk.JVMInformation"};

    private Recorded() {
    }

    public static void main(String[] args) throws Exception {
        Path file = Path.of("w/out/own.jfr");
        try (Recording recording = new Recording()) {
            for (String event : EVENTS) {
                recording.enable(event);
            }
            recording.start();
            recording.stop();
            recording.dump(file);
        }
        Map<String, Boolean> found = new TreeMap<>();
        for (String event : EVENTS) {
            found.put(event, false);
        }
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            found.replace(event.getEventType().getName(), true);
        }
        System.out.println(found);
    }
}
