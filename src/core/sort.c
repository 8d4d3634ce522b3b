/* Sorts 64-bit words by a range of their bits: stable, least significant digit first. A word holds a key
 * above the position that it came from, so one array moves instead of two.
 *
 * Threads have parts of the words, one after the other: each counts the digits of its own, and puts them
 * behind those that parts before it have of the same digit. So the result is the same. */
#include "core/core.h"

#define DIGIT_BITS 11 /* 2048 counters of 8 bytes: half of L1; fewer passes than with 8 bits */
#define INSERTION 24  /* words; below, counting costs more than it saves */
#define PARTS 8       /* at most: their counters are on the stack */

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

typedef struct digit {
    int first; /* bit */
    uint64_t mask;
} digit;

static void count(int64_t *start, const uint64_t *a, int64_t n, digit d)
{
    memset(start, 0, (size_t)(d.mask + 1) * sizeof *start);
    for (int64_t t = 0; t < n; t++)
        start[a[t] >> d.first & d.mask]++;
}

static void move(uint64_t *to, int64_t *start, const uint64_t *a, int64_t n, digit d)
{
    for (int64_t t = 0; t < n; t++)
        to[start[a[t] >> d.first & d.mask]++] = a[t];
}

/* Counts of parts become the places of their first words. */
static void add_up(int64_t (*start)[1 << DIGIT_BITS], int parts, digit d)
{
    int64_t at = 0;
    for (uint64_t value = 0; value <= d.mask; value++)
        for (int part = 0; part < parts; part++) {
            const int64_t here = start[part][value];
            start[part][value] = at;
            at += here;
        }
}

static void pass(uint64_t *to, const uint64_t *a, int64_t n, digit d)
{
    int64_t start[1][1 << DIGIT_BITS];
    count(start[0], a, n, d);
    add_up(start, 1, d);
    move(to, start[0], a, n, d);
}

static void pass_of_parts(uint64_t *to, const uint64_t *a, int64_t n, digit d, int parts)
{
    int64_t start[PARTS][1 << DIGIT_BITS];
    const int64_t each = n / parts;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; part++)
        count(start[part], a + part * each, part + 1 < parts ? each : n - part * each, d);
    add_up(start, parts, d);
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int part = 0; part < parts; part++)
        move(to, start[part], a + part * each, part + 1 < parts ? each : n - part * each, d);
}

uint64_t *ftb_sort_by(uint64_t *a, uint64_t *scratch, int64_t n, int low, int high, int threads)
{
    if (n <= INSERTION) {
        insertion_sort(a, n, low);
        return a;
    }
    const int passes = (high - low + DIGIT_BITS - 1) / DIGIT_BITS, parts = ftb_min(threads, PARTS);
    for (int p = 0; p < passes; p++) {
        const int first = low + (high - low) * p / passes, last = low + (high - low) * (p + 1) / passes;
        const digit d = {first, (UINT64_C(1) << (last - first)) - 1};
        if (parts > 1)
            pass_of_parts(scratch, a, n, d, parts);
        else
            pass(scratch, a, n, d);
        uint64_t *swap = a;
        a = scratch;
        scratch = swap;
    }
    return a;
}

uint64_t *ftb_sort(uint64_t *a, uint64_t *scratch, int64_t n, int low, int high)
{
    return ftb_sort_by(a, scratch, n, low, high, 1);
}
