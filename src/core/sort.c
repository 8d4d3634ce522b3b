/* Sorts 64-bit words by a range of their bits: stable, least significant digit first. A word holds a key
 * above the position that it came from, so one array moves instead of two. */
#include "core/core.h"

#define DIGIT_BITS 11 /* 2048 counters of 8 bytes: half of L1; fewer passes than with 8 bits */
#define INSERTION 24  /* words; below, counting costs more than it saves */

static void insertion_sort(uint64_t *a, int64_t n, int low)
{
    for (int64_t t = 1; t < n; t++) {
        uint64_t word = a[t], key = word >> low;
        int64_t at = t;
        for (; at > 0 && a[at - 1] >> low > key; at--)
            a[at] = a[at - 1];
        a[at] = word;
    }
}

uint64_t *ftb_sort(uint64_t *a, uint64_t *scratch, int64_t n, int low, int high)
{
    if (n <= INSERTION) {
        insertion_sort(a, n, low);
        return a;
    }
    int passes = (high - low + DIGIT_BITS - 1) / DIGIT_BITS;
    for (int pass = 0; pass < passes; pass++) {
        int first = low + (high - low) * pass / passes, last = low + (high - low) * (pass + 1) / passes;
        uint64_t mask = (UINT64_C(1) << (last - first)) - 1;
        int64_t start[1 << DIGIT_BITS] = {0}, at = 0;
        for (int64_t t = 0; t < n; t++)
            start[a[t] >> first & mask]++;
        for (uint64_t digit = 0; digit <= mask; digit++) {
            int64_t here = start[digit];
            start[digit] = at;
            at += here;
        }
        for (int64_t t = 0; t < n; t++)
            scratch[start[a[t] >> first & mask]++] = a[t];
        uint64_t *swap = a;
        a = scratch;
        scratch = swap;
    }
    return a;
}
