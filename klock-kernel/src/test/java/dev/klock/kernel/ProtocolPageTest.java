package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
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

    /** What happens to leases under random commands, told by the events, against the diagram. */
    @Test
    @Tag("RS-4")
    @Tag("C50")
    void page_leaseDiagram_hasEveryStepThatALeaseTakesAndNoOther() throws IOException {
        Set<String> drawn = new TreeSet<>();
        Matcher steps = Pattern.compile("\\n    ([A-Z_]+) --> ([A-Z_]+):").matcher(leaseDiagram());
        while (steps.find()) {
            drawn.add(steps.group(1) + " to " + steps.group(2));
        }
        drawn.remove("ACTIVE to ACTIVE");
        Set<String> taken = new TreeSet<>();
        for (int run = 0; run < 300; run++) {
            walk(run, taken);
        }
        assertThat(drawn).isEqualTo(taken);
    }

    private static String leaseDiagram() throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf("## A lease's life");
        return page.substring(from, page.indexOf("## A session's life", from));
    }

    private static void walk(int run, Set<String> taken) {
        Random random = new Random(run);
        Worlds w = new Worlds(KernelOptions.standard().withLockDelayMs(run % 2 * 500));
        SessionKey[] keys = new SessionKey[4];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = w.session(SessionKey.of("agent" + i, "s"), i, i < 2);
        }
        Map<Long, LeaseState> known = new HashMap<>();
        for (int step = 0; step < 200; step++) {
            w.now += random.nextInt(40) == 0 ? 15_000 : random.nextInt(300);
            SessionKey key = keys[random.nextInt(keys.length)];
            List<Lease> own = w.kernel.leasesOf(key);
            long[] some = own.isEmpty() ? new long[0] : new long[] {own.get(random.nextInt(own.size())).fencingToken()};
            Command c = command(random, key, some, step);
            Outcome out = w.apply(c);
            for (Event e : out.events()) {
                e.leases().forEach(l -> note(l, known, taken, e.kind() == Event.Kind.ROLLBACK_REQUIRED));
            }
            if (c instanceof Command.Reconcile) {
                out.leases().forEach(l -> note(l, known, taken, false));
            }
        }
    }

    private static void note(Lease lease, Map<Long, LeaseState> known, Set<String> taken, boolean evenIfSame) {
        LeaseState before = known.put(lease.fencingToken(), lease.state());
        if (before != null && (before != lease.state() || evenIfSame)) {
            taken.add(before + " to " + lease.state());
        }
    }

    private static Command command(Random random, SessionKey key, long[] some, int step) {
        return switch (random.nextInt(16)) {
            case 0, 1, 2, 3, 4, 5 -> new Command.Submit(
                    key,
                    Worlds.triples((random.nextInt(4) == 0 ? "CONSUMES /f" : "MUTATES /f") + random.nextInt(6)),
                    200 + random.nextInt(2000),
                    random.nextInt(900),
                    random.nextInt(3) == 0);
            case 6 -> new Command.Confirm(key, null);
            case 7 -> new Command.Release(key, some);
            case 8 -> random.nextBoolean() || some.length == 0 ? new Command.RolledBack(key) : new Command.Revoke(some[0]);
            case 9, 10 -> new Command.AnnounceRestart(key);
            case 11 -> new Command.Reconcile(key, random.nextBoolean() ? some : new long[0]);
            case 12 -> random.nextBoolean() ? new Command.Abort(key, "test") : new Command.Complete(key);
            case 13 -> new Command.Heartbeat(key, null);
            default -> new Command.Register(key, Long.parseLong(key.agentId().substring(5)), true, step, false, key.agentId().compareTo("agent2") < 0, true);
        };
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
