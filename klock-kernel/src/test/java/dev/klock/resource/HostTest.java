package dev.klock.resource;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("FIELD-F06")
class HostTest {
    @ParameterizedTest
    @CsvSource({"Example.COM,example.com", "example.com.,example.com", "127.0.0.1,127.0.0.1", "127.1,127.0.0.1", "2130706433,127.0.0.1",
        "0177.0.0.1,177.0.0.1", "1.2.3,1.2.0.3", "256.1.1.1,256.1.1.1", "1.2.3.4.5,1.2.3.4.5", "0x7f.1,0x7f.1", "::1,[::1]", "[::1],[::1]",
        "0:0:0:0:0:0:0:1,[::1]", "::ffff:127.0.0.1,127.0.0.1", "[::FFFF:7f00:1],127.0.0.1", "2001:DB8:0:0:1:0:0:1,[2001:db8::1:0:0:1]",
        "fe80::1%eth0,[fe80::1]", "::,[::]", "1::,[1::]", "1:2:3:4:5:6:7:8,[1:2:3:4:5:6:7:8]", "1:0:3:4:5:6:7:8,[1:0:3:4:5:6:7:8]",
        "1::ffff:7f00:1,[1::ffff:7f00:1]", "1:0:0:2:0:0:3:4,[1::2:0:0:3:4]", "1:0:0:2:0:0:0:4,[1:0:0:2::4]", ".,.", "[],[]", "[zz],[zz]", "1:2,1:2", "::1::,::1::"})
    void canonical_ofEverySpelling_isOne(String host, String canonical) {
        assertThat(Host.canonical(host)).isEqualTo(canonical);
        assertThat(Host.canonical(canonical)).isEqualTo(canonical);
    }

    @Test
    void ofAddress_andText_agree() {
        assertThat(Host.ofAddress(new byte[] {127, 0, 0, 1})).isEqualTo("127.0.0.1");
        byte[] mapped = new byte[16];
        mapped[10] = -1;
        mapped[11] = -1;
        mapped[12] = 10;
        assertThat(Host.ofAddress(mapped)).isEqualTo("10.0.0.0");
        byte[] six = new byte[16];
        six[0] = 0x20;
        six[15] = 1;
        assertThat(Host.ofAddress(six)).isEqualTo("[2000::1]").isEqualTo(Host.canonical("2000::1"));
    }

    @Test
    void lower_isBothEndsOfTheAlphabetAndNothingBeside() {
        assertThat(Host.lower("@AZ[`az{")).isEqualTo("@az[`az{");
    }

    @Test
    void canonical_ofAFirstOrLastPartAtItsLimit_isAnAddressAndBeyondAName() {
        assertThat(Host.canonical("255.1")).isEqualTo("255.0.0.1");
        assertThat(Host.canonical("256.1")).isEqualTo("256.1");
        assertThat(Host.canonical("1.2.65535")).isEqualTo("1.2.255.255");
        assertThat(Host.canonical("1.2.65536")).isEqualTo("1.2.65536");
        assertThat(Host.canonical("4294967295")).isEqualTo("255.255.255.255");
        assertThat(Host.canonical("4294967296")).isEqualTo("4294967296");
        assertThat(Host.isAddress("127.0.0.1")).isTrue();
        assertThat(Host.isAddress("[::1]")).isTrue();
        assertThat(Host.isAddress("localhost")).isFalse();
    }

    @Test
    void loopback_isLocalhostAndItsAddresses() {
        assertThat(new String[] {"localhost", "127.0.0.1", "127.9.9.9", "[::1]"}).allMatch(Host::isLoopback);
        assertThat(new String[] {"localhost.example", "127.example", "10.0.0.1", "[::2]", "0.0.0.0"}).noneMatch(Host::isLoopback);
    }
}
