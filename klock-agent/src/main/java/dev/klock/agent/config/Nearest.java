package dev.klock.agent.config;

/** The known name that a mistyped one was probably meant to be. */
final class Nearest {
    /** More edits than this are another word, not a typing error. */
    static final int MAX_EDITS = 2;

    private Nearest() {
    }

    /** The name of {@code known} with the fewest edits from {@code given}, null if all are more than {@value #MAX_EDITS} away or the word is that short. */
    static String of(String given, String[] known) {
        String best = null;
        int bestEdits = Math.min(MAX_EDITS, given.length() / 2) + 1;
        for (String name : known) {
            int edits = edits(given, name, bestEdits);
            if (edits < bestEdits) {
                best = name;
                bestEdits = edits;
            }
        }
        return best;
    }

    /** Levenshtein distance with swaps of neighbours as one edit; {@code limit} or more if it is at least that. */
    private static int edits(String a, String b, int limit) {
        if (Math.abs(a.length() - b.length()) >= limit) {
            return limit;
        }
        int[] before = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                boolean same = a.charAt(i - 1) == b.charAt(j - 1);
                int cost = Math.min(Math.min(last[j], row[j - 1]) + 1, last[j - 1] + (same ? 0 : 1));
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    cost = Math.min(cost, before[j - 2] + 1);
                }
                row[j] = cost;
            }
            int[] free = before;
            before = last;
            last = row;
            row = free;
        }
        return last[b.length()];
    }

    /** {@code text} as it is shown in a message: cut when long, so that the line stays one. */
    static String quoted(String text) {
        return text.length() <= 80 ? "'" + text + "'" : "'" + text.substring(0, 77) + "...'";
    }
}
