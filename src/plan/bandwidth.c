/* Measures read bandwidth: the same bytes again and again, so that they stay in the cache that holds them. */
#include "plan/bandwidth.h"

#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of reading the n floats `rounds` times. */
static double read_rounds(const float *x, int64_t n, int64_t rounds, volatile float *sink)
{
    double start = now();
    *sink = FTB_PICK(ftb_read_floats)(x, n, rounds);
    return now() - start;
}

double ftb_measure_read(int64_t bytes, double seconds)
{
    const int64_t n = (bytes / (int64_t)sizeof(float) + 127) / 128 * 128;
    float *x = aligned_alloc(4096, ((size_t)n * sizeof *x + 4095) / 4096 * 4096);
    volatile float sink = 0;
    double best = 0, spent = 0;
    int64_t rounds = 1;
    if (!x)
        return 0;
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    /* A round is long beside the clock's resolution, short beside a time slice. */
    while (read_rounds(x, n, rounds, &sink) < seconds / 20 && rounds < INT64_C(1) << 40)
        rounds *= 2;
    while (spent < seconds) {
        double taken = read_rounds(x, n, rounds, &sink);
        double rate = taken > 0 ? (double)rounds * (double)n * sizeof *x / taken : 0;
        best = rate > best ? rate : best;
        spent += taken > 0 ? taken : seconds;
    }
    free(x);
    return best;
}
