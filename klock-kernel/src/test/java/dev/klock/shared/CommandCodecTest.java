package dev.klock.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.kernel.Command;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CommandCodecTest {
    private static final SessionKey KEY = new SessionKey("names\u0000pace", "half of a pair \ud800", "");

    private static final List<Command> ALL = List.of(new Command.Register(KEY, -1, true, Long.MAX_VALUE, false, true, false),
            new Command.Register(KEY, 7, false, 0, true, false, true),
            new Command.Submit(KEY, List.of(), 0, 0, false),
            new Command.Submit(KEY, List.of(new Triple("ä", Predicate.RENAMES, Resource.of("", "relative/\ufffd", Resource.Form.SUBTREE), 0.5, -3),
                    Triple.of(Predicate.MUTATES, Resource.file("/a"))), -5, Long.MIN_VALUE, true),
            new Command.Withdraw(KEY), new Command.Confirm(KEY, null), new Command.Heartbeat(KEY, new long[0]), new Command.Release(KEY, new long[] {1, -1}),
            new Command.Revoke(9), new Command.Reconcile(KEY, new long[] {3}), new Command.AnnounceRestart(KEY), new Command.Expire(),
            new Command.Pause(KEY), new Command.Resume(KEY), new Command.Verify(KEY), new Command.Complete(KEY), new Command.Abort(KEY, null),
            new Command.Abort(KEY, "why"), new Command.RolledBack(KEY));

    @Test
    void everyCommand_comesBackAsItWas() throws IOException {
        for (Command c : ALL) {
            byte[] bytes = CommandCodec.encode(c);
            Command back = CommandCodec.decode(ByteBuffer.wrap(bytes));
            assertThat(back).isInstanceOf(c.getClass());
            assertThat(CommandCodec.encode(back)).as(c.toString()).isEqualTo(bytes);
            assertThat(back).usingRecursiveComparison().isEqualTo(c);
        }
        for (Class<?> type : Command.class.getPermittedSubclasses()) {
            assertThat(type == Command.DryRun.class || ALL.stream().anyMatch(type::isInstance)).as(type.getSimpleName()).isTrue();
        }
        assertThatThrownBy(() -> CommandCodec.encode(new Command.DryRun(KEY, List.of()))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void damagedCommand_isAnIoExceptionOrAnotherCommand() {
        Random random = new Random(1);
        for (Command c : ALL) {
            byte[] bytes = CommandCodec.encode(c);
            for (int i = 0; i < bytes.length; i++) {
                byte[] shorter = Arrays.copyOf(bytes, i);
                assertThatThrownBy(() -> CommandCodec.decode(ByteBuffer.wrap(shorter))).isInstanceOf(IOException.class);
                byte[] changed = bytes.clone();
                changed[i] = (byte) random.nextInt();
                try {
                    CommandCodec.decode(ByteBuffer.wrap(changed));
                } catch (IOException expected) {
                    assertThat(expected.getMessage()).isNotEmpty();
                }
            }
            byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
            assertThatThrownBy(() -> CommandCodec.decode(ByteBuffer.wrap(longer))).isInstanceOf(IOException.class);
        }
    }
}
