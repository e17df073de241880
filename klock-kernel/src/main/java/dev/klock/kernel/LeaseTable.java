package dev.klock.kernel;

/**
 * Live leases by number. Numbers rise by one, so they are kept in pages of 64 that follow each other: a new lease goes where the ones
 * before it went, instead of to a random place in a table of millions. A page goes when its last lease does; pages are found by a hash
 * with the golden ratio, since the low bits of page numbers alone would pile up behind any block of old pages.
 */
final class LeaseTable {
    private static final int PAGE_BITS = 6;
    private static final int PAGE = 1 << PAGE_BITS;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private static final class Page {
        final long number;
        /** By their numbers in the {@link Roll}. */
        final int[] claims = new int[PAGE];
        int live;

        Page(long number) {
            this.number = number;
        }
    }

    private final Roll roll;
    private Page[] pages = new Page[16];
    private int shift = 60;
    private int pageCount;
    /** Where the newest lease went; the one page that may be empty. */
    private Page last;
    private int size;

    LeaseTable(Roll roll) {
        this.roll = roll;
    }

    int size() {
        return size;
    }

    /** How many pages there are; for tests that look for leaks. */
    int pages() {
        return pageCount;
    }

    /** The lease, or {@code null}. */
    Claim get(long number) {
        Page page = page(number >> PAGE_BITS);
        return page == null ? null : roll.claim(page.claims[(int) number & PAGE - 1]);
    }

    private Page page(long number) {
        Page page = last;
        if (page != null && page.number == number) {
            return page;
        }
        int mask = pages.length - 1;
        for (int i = home(number); ; i = i + 1 & mask) {
            page = pages[i];
            if (page == null || page.number == number) {
                return page;
            }
        }
    }

    void put(Claim claim) {
        long number = claim.number >> PAGE_BITS;
        Page page = page(number);
        if (page == null) {
            page = new Page(number);
            if (pageCount * 2 >= pages.length) {
                grow();
            }
            place(page);
            pageCount++;
        }
        if (last != page) {
            if (last != null && last.live == 0) {
                drop(last);
            }
            last = page;
        }
        page.claims[(int) claim.number & PAGE - 1] = claim.id;
        page.live++;
        size++;
    }

    void remove(Claim claim) {
        Page page = page(claim.number >> PAGE_BITS);
        page.claims[(int) claim.number & PAGE - 1] = 0;
        size--;
        if (--page.live == 0 && page != last) {
            drop(page);
        }
    }

    private int home(long number) {
        return (int) (number * GOLDEN >>> shift);
    }

    private void grow() {
        Page[] old = pages;
        pages = new Page[old.length * 2];
        shift--;
        for (Page p : old) {
            if (p != null) {
                place(p);
            }
        }
    }

    private void place(Page page) {
        int mask = pages.length - 1;
        int i = home(page.number);
        while (pages[i] != null) {
            i = i + 1 & mask;
        }
        pages[i] = page;
    }

    private void drop(Page page) {
        int mask = pages.length - 1;
        int i = home(page.number);
        while (pages[i] != page) {
            i = i + 1 & mask;
        }
        pageCount--;
        // close the gap, so that no probe of another page ends too early
        for (int j = i + 1 & mask; ; j = j + 1 & mask) {
            Page p = pages[j];
            if (p == null) {
                break;
            }
            if ((j - home(p.number) & mask) >= (j - i & mask)) {
                pages[i] = p;
                i = j;
            }
        }
        pages[i] = null;
    }
}
