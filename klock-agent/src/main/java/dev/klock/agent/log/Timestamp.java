package dev.klock.agent.log;

/** Points in time as RFC 3339 in UTC with milliseconds, written without java.time, which would load some sixty classes before main. */
final class Timestamp {
    private static final long DAY_MS = 86_400_000L;

    private Timestamp() {
    }

    /** Appends {@code timeMs} (since 1970, not before) as {@code 2026-11-27T23:22:00.123Z}. */
    static void append(StringBuilder to, long timeMs) {
        long days = timeMs / DAY_MS;
        int rest = (int) (timeMs % DAY_MS);
        // days since 0000-03-01, so that the leap day is the last of its year
        long shifted = days + 719_468;
        long era = shifted / 146_097;
        int dayOfEra = (int) (shifted % 146_097);
        int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
        int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int monthFromMarch = (5 * dayOfYear + 2) / 153;
        int day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
        int month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
        int year = (int) (era * 400 + yearOfEra + (month <= 2 ? 1 : 0));
        padded(to, year, 4);
        padded(to.append('-'), month, 2);
        padded(to.append('-'), day, 2);
        padded(to.append('T'), rest / 3_600_000, 2);
        padded(to.append(':'), rest / 60_000 % 60, 2);
        padded(to.append(':'), rest / 1000 % 60, 2);
        padded(to.append('.'), rest % 1000, 3);
        to.append('Z');
    }

    private static void padded(StringBuilder to, int value, int digits) {
        int limit = 1;
        for (int i = 1; i < digits; i++) {
            limit *= 10;
            if (value < limit) {
                to.append('0');
            }
        }
        to.append(value);
    }
}
