/* What programs that time single calls have in common (calls.h). */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>

void bench_check(GrB_Info info)
{
    if (info == GrB_SUCCESS)
        return;
    fprintf(stderr, "%s\n", FtB_error());
    exit(1);
}

uint64_t bench_bits(void)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

double bench_seconds(int threads) { return threads == 1 ? bench_cpu() : bench_now(); }

double bench_random_read(const char *what, const void *array_, int64_t count, size_t size, int threads)
{
    enum { READS = 4000000 };
    const char *array = array_;
    uint64_t at = 1, sum = 0;
    double start = bench_seconds(threads);
    for (int t = 0; t < READS / 10; t++) {
        at = at * UINT64_C(6364136223846793005) + 1442695040888963407;
        at += *(const uint32_t *)(const void *)(array + (at >> 20) % (uint64_t)count * size);
    }
    const double latency = (bench_seconds(threads) - start) / (READS / 10) * 1e9;
    start = bench_seconds(threads);
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int t = 0; t < READS; t++) {
        const uint64_t z = (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15);
        sum += *(const uint32_t *)(const void *)(array + (z >> 20) % (uint64_t)count * size);
    }
    const double each = (bench_seconds(threads) - start) / READS * 1e9;
    printf("a random read of the %s: %.1f ns one after the other, %.1f ns at once%s: %.1f in flight (%llu)\n",
           what, latency, each, threads > 1 ? " by all threads" : "", latency / each,
           (unsigned long long)((at ^ sum) & 1));
    return each;
}
