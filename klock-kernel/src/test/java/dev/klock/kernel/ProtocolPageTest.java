package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Keeps {@code docs/protocol.md} true: what is generated there is made from the code. {@code -Dprotocol.write=true} writes it. */
class ProtocolPageTest {
    private static final Path PAGE = Path.of("../docs/protocol.md");

    @Test
    void page_generatedBlocks_areWhatTheCodeSays() throws IOException {
        String page = Files.readString(PAGE);
        String right = page;
        Map<String, String> blocks = new TreeMap<>(
                Map.of("matrix", matrix(), "sessions", sessions(), "trace", trace(), "limits", limits()));
        for (Map.Entry<String, String> block : blocks.entrySet()) {
            String begin = "<!-- generated: " + block.getKey() + " -->\n";
            int from = right.indexOf(begin);
            assertThat(from).as("block %s", block.getKey()).isNotNegative();
            int to = right.indexOf("<!-- end -->", from);
            right = right.substring(0, from + begin.length()) + block.getValue() + right.substring(to);
        }
        if (Boolean.getBoolean("protocol.write")) {
            Files.writeString(PAGE, right);
        } else {
            assertThat(page).as("write docs/protocol.md anew with -Dprotocol.write=true").isEqualTo(right);
        }
    }

    @Test
    void page_mentions_everyCommandAndLeaseState() throws IOException {
        String page = Files.readString(PAGE);
        for (Class<?> command : Command.class.getPermittedSubclasses()) {
            assertThat(page).contains("`" + command.getSimpleName() + "`");
        }
        for (LeaseState state : LeaseState.values()) {
            assertThat(page).as("a step of %s", state).containsPattern(state + " --> |--> " + state);
        }
    }

    private static String matrix() {
        StringBuilder t = new StringBuilder("| held |");
        for (Predicate asked : Predicate.values()) {
            t.append(' ').append(asked).append(" |");
        }
        t.append("\n|---|").append("---|".repeat(Predicate.values().length)).append('\n');
        for (Predicate held : Predicate.values()) {
            t.append("| ").append(held).append(" |");
            for (Predicate asked : Predicate.values()) {
                ConflictType type = ConflictMatrix.type(held, asked);
                String cell = "·";
                if (type != null) {
                    String[] words = type.name().split("_");
                    cell = words[0].substring(0, 1) + words[1].charAt(0);
                }
                t.append(' ').append(cell).append(" |");
            }
            t.append('\n');
        }
        return t.toString();
    }

    private static String sessions() {
        StringBuilder t = new StringBuilder("```mermaid\nstateDiagram-v2\n    [*] --> PLANNING: Register\n");
        for (LifeCycle from : LifeCycle.values()) {
            for (LifeCycle to : LifeCycle.values()) {
                if (from.mayBecome(to)) {
                    t.append("    ").append(from).append(" --> ").append(to).append('\n');
                }
            }
            if (from.isTerminal()) {
                t.append("    ").append(from).append(" --> [*]\n");
            }
        }
        return t.append("```\n").toString();
    }

    private static String limits() {
        StringBuilder t = new StringBuilder("| limit | value |\n|---|---|\n");
        for (Field f : Limits.class.getFields()) {
            try {
                t.append("| `").append(f.getName()).append("` | ").append(f.get(null)).append(" |\n");
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }
        return t.toString();
    }

    /** WAIT, DIE, retry, grant, as the kernel really does it. */
    private static String trace() {
        Worlds w = new Worlds();
        SessionKey refactorer = w.session("refactorer", 1000);
        SessionKey builder = w.session("builder", 2000);
        SessionKey tester = w.session("tester", 3000);
        StringBuilder t = new StringBuilder("```text\n");
        String app = "MUTATES /w/src/App.java";
        String read = "CONSUMES /w/src/App.java";
        w.now = 10;
        ask(t, w, builder, app);
        w.now = 20;
        ask(t, w, refactorer, "MUTATES /w/src/**");
        w.now = 30;
        Outcome died = ask(t, w, tester, read);
        assertThat(died.verdict()).isEqualTo(Verdict.DIE);
        w.now = 40;
        say(t, w, builder, "completes", w.apply(new Command.Complete(builder)));
        w.now = 80;
        t.append("      tester backs off ").append(Backoff.STANDARD.delayMs(0, 0)).append(" ms and jitter, then asks again with its first timestamp\n");
        ask(t, w, tester, read);
        w.now = 150;
        say(t, w, refactorer, "completes", w.apply(new Command.Complete(refactorer)));
        w.now = 180;
        t.append("      tester backs off ").append(Backoff.STANDARD.delayMs(1, 0)).append(" ms and jitter\n");
        Outcome granted = ask(t, w, tester, read);
        assertThat(granted.verdict()).isEqualTo(Verdict.GRANTED);
        return t.append("```\n").toString();
    }

    private static Outcome ask(StringBuilder t, Worlds w, SessionKey who, String triple) {
        Outcome out = w.submit(who, triple);
        String verdict = out.verdict().toString();
        if (out.verdict() == Verdict.WAIT) {
            verdict += ", place " + out.queuePosition();
        }
        say(t, w, who, "asks for " + Worlds.triples(triple).get(0) + " -> " + verdict, out);
        return out;
    }

    private static void say(StringBuilder t, Worlds w, SessionKey who, String what, Outcome out) {
        t.append(String.format("%4d  %s (%d) %s%n", w.now, who.agentId(), w.kernel.session(who).priorityMs(), what).replace("\r", ""));
        for (Conflict c : out.conflicts()) {
            t.append("      meets ").append(c.heldPredicate()).append(' ').append(c.heldResource()).append(" of ").append(c.holder().agentId())
                    .append(" (").append(c.holderPriorityMs()).append(c.isQueued() ? "), who waits in front" : "), lease " + c.fencingToken())
                    .append(", ").append(c.type()).append('\n');
        }
        for (Event e : out.events()) {
            if (e.kind() == Event.Kind.CONTENTION_DETECTED) {
                continue;
            }
            t.append("      ").append(e.kind()).append(' ').append(e.session().agentId());
            if (e.kind() == Event.Kind.STATE_CHANGED) {
                t.append(": ").append(e.from()).append(" to ").append(e.to());
                if (e.reason() != null) {
                    t.append(" (").append(e.reason()).append(')');
                }
            }
            for (Lease l : e.leases()) {
                t.append(", lease ").append(l.fencingToken()).append(' ').append(l.predicate()).append(' ').append(l.resource());
            }
            List<Change> changes = e.changes();
            for (Change c : changes) {
                t.append(", ").append(c.by().agentId()).append(" had ").append(c.predicate()).append(' ').append(c.resource());
            }
            t.append('\n');
        }
    }
}
