package dev.klock.cli.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times for people. */
final class Spans {
    private static final DateTimeFormatter MOMENT = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private Spans() {
    }

    /** UTC, to the second; "?" for {@link Long#MIN_VALUE}. */
    static String moment(long ms) {
        return ms == Long.MIN_VALUE ? "?" : MOMENT.format(Instant.ofEpochMilli(ms)) + " UTC";
    }

    /** Such as {@code 340 ms}, {@code 2.4 s}, {@code 3 min 20 s}, {@code 2 h 5 min}. */
    static String length(long ms) {
        if (ms < 1_000) {
            return ms + " ms";
        }
        if (ms < 60_000) {
            return String.format(Locale.ROOT, "%.1f s", ms / 1_000.0);
        }
        long s = ms / 1_000;
        return s < 3_600 ? s / 60 + " min " + s % 60 + " s" : s / 3_600 + " h " + s / 60 % 60 + " min";
    }

    /** With thin spaces between thousands. */
    static String number(long n) {
        return String.format(Locale.ROOT, "%,d", n).replace(',', '\u2009');
    }
}
