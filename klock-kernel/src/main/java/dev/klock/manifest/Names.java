package dev.klock.manifest;

/** Finds the name that was probably meant. */
public final class Names {
    private Names() {
    }

    /** The known name with the smallest edit distance, null when none is near: more than a third of the letters differ. */
    public static String nearest(String name, String[] known) {
        if (name.length() > 64) {
            return null;
        }
        String best = null;
        int bestDistance = Integer.MAX_VALUE;
        for (int i = 0; i < known.length; i++) {
            int distance = distance(name, known[i]);
            if (distance < bestDistance) {
                best = known[i];
                bestDistance = distance;
            }
        }
        return best != null && bestDistance <= 1 + Math.max(name.length(), best.length()) / 3 ? best : null;
    }

    /** {@code did you mean X?} or the list of all. */
    static String suggest(String name, String[] known) {
        String nearest = nearest(name, known);
        if (nearest != null) {
            return "did you mean " + nearest + "?";
        }
        if (known.length == 0) {
            return "leave it out";
        }
        StringBuilder b = new StringBuilder("known: ");
        for (int i = 0; i < known.length; i++) {
            b.append(i == 0 ? "" : ", ").append(known[i]);
        }
        return b.toString();
    }

    /** Inserted, lost, changed and neighbouring swapped letters, capitals aside. */
    private static int distance(String a, String b) {
        int[] beforeLast = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = same(a, i - 1, b, j - 1) ? 0 : 1;
                int best = Math.min(Math.min(row[j - 1] + 1, last[j] + 1), last[j - 1] + change);
                if (i > 1 && j > 1 && same(a, i - 1, b, j - 2) && same(a, i - 2, b, j - 1)) {
                    best = Math.min(best, beforeLast[j - 2] + 1);
                }
                row[j] = best;
            }
            int[] spare = beforeLast;
            beforeLast = last;
            last = row;
            row = spare;
        }
        return last[b.length()];
    }

    private static boolean same(String a, int i, String b, int j) {
        return Character.toLowerCase(a.charAt(i)) == Character.toLowerCase(b.charAt(j));
    }
}
