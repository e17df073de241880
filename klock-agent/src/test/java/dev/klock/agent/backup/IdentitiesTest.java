package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class IdentitiesTest {
    private static final long INODE = 7;
    private final Identities identities = new Identities(new TestFiles());

    private static FileState file(long size, long changed) throws IOException {
        long[] s = new long[HostFiles.RDEV + 1];
        s[HostFiles.MODE] = FileState.FILE_BITS | 0644;
        s[HostFiles.NLINK] = 2;
        s[HostFiles.INO] = INODE;
        s[HostFiles.SIZE] = size;
        s[HostFiles.MTIME] = changed;
        s[HostFiles.CTIME] = changed;
        return FileState.of(s, 1_000_000, null, true);
    }

    /** One looks in the middle of another's write, which has its time already, and says so last. */
    @Test
    void leftSo_seenInTheMiddleOfAWrite_knowsTheFileAsItIs() throws IOException {
        for (boolean middleLast : new boolean[] {true, false}) {
            identities.leftSo(file(5, 100));
            identities.leftSo(file(middleLast ? 6 : 0, 200));
            identities.leftSo(file(middleLast ? 0 : 6, 200));
            assertThat(identities.leftAsIs(file(6, 200))).isTrue();
            assertThat(identities.leftAsIs(file(0, 200))).isTrue();
            assertThat(identities.leftAsIs(file(5, 100))).isFalse();
            identities.leftSo(file(6, 200));
            assertThat(identities.leftAsIs(file(0, 200))).as("whoever says it again").isTrue();
        }
    }

    @Test
    void leftSo_olderOrNewer_isTheNewest() throws IOException {
        identities.leftSo(file(5, 200));
        identities.leftSo(file(4, 100));
        assertThat(identities.leftAsIs(file(5, 200))).isTrue();
        assertThat(identities.leftAsIs(file(4, 100))).isFalse();
        identities.leftSo(file(6, 300));
        assertThat(identities.leftAsIs(file(5, 200))).isFalse();
        assertThat(identities.leftLike(file(6, 300)).size).isEqualTo(6);
    }
}
