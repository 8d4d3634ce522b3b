/* Random walks: steps a second. Usage: bench_walk FILE [threads] [batches]
 *
 * FILE is a square graph (featblas gen products-like -o products.csr). For each row of a table, batches of
 * walks from random vertices are made with FtB_walk; the line has the median of M steps a second over the
 * batches. A step reads two words that lie anywhere, one after the other: where its row begins, and a column.
 * Two more lines tell what the machine allows of these: random reads of each array, one after the other and
 * as many at a time as it takes; the sum of the latter is the bound of a thread. */
#include "featblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 1000
#define READS 4000000

static const struct {
    const char *what;
    int64_t starts, length;
    FtB_Walk_options options;
} rows[] = {
    {"10000 walks of 10 steps", 10000, 10, {0}},
    {"100000 walks of 20 steps", 100000, 20, {0}},
    {"1000000 walks of 2 steps", 1000000, 2, {0}},
    {"100000 of 20, restart 0.15", 100000, 20, {.restart = 0.15}},
    {"100000 of 20, p 0.5, q 2", 100000, 20, {.p = 0.5, .q = 2}},
    {"100000 of 20, p 4, q 0.25", 100000, 20, {.p = 4, .q = 0.25}},
    {"10000 of 10, key 1 + x", 10000, 10, {.key = "1 + x"}},
};

static clockid_t clock_kind = CLOCK_MONOTONIC;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(clock_kind, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t bits(void) /* splitmix64 */
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void check(GrB_Info info)
{
    if (info == GrB_SUCCESS)
        return;
    fprintf(stderr, "bench_walk: %s\n", FtB_error());
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(FtB_Matrix A, int64_t n, int row, int batches)
{
    double rates[MOST], steps = 0;
    const int64_t nstarts = rows[row].starts, length = rows[row].length;
    int64_t *starts = malloc(sizeof *starts * (size_t)nstarts);
    if (!starts)
        exit(1);
    for (int b = 0; b < batches; b++) {
        FtB_Walk_options o = rows[row].options;
        FtB_Block walks;
        void *at;
        double here = 0;
        o.size = sizeof o;
        o.seed = 7;
        o.batch = b;
        for (int64_t t = 0; t < nstarts; t++)
            starts[t] = (int64_t)(bits() % (uint64_t)n);
        const double start = seconds();
        check(FtB_walk(&walks, A, starts, nstarts, length, &o));
        const double took = seconds() - start;
        check(FtB_Block_shape(walks, NULL, NULL, NULL, NULL, &at));
        const int64_t *v = at;
        for (int64_t t = 0; t < nstarts; t++)
            for (int64_t s = 1; s <= length; s++)
                here += v[t * (1 + length) + s] >= 0;
        rates[b] = here / took / 1e6;
        steps += here;
        FtB_Block_free(&walks);
    }
    qsort(rates, (size_t)batches, sizeof *rates, by_value);
    printf("%-28s %10.0f steps %7.2f M steps/s\n", rows[row].what, steps / batches, rates[batches / 2]);
    fflush(stdout);
    free(starts);
}

/* Random reads of an array of `count` words of `size` bytes: each address follows from the value before, or
 * from nothing but a counter. Returns nanoseconds of one of the latter. */
static double limit(const char *what, const char *array, int64_t count, size_t size)
{
    uint64_t at = 1, sum = 0;
    double start = seconds();
    for (int t = 0; t < READS / 10; t++) {
        at = at * UINT64_C(6364136223846793005) + 1442695040888963407;
        at += *(const uint32_t *)(const void *)(array + (at >> 20) % (uint64_t)count * size);
    }
    const double latency = (seconds() - start) / (READS / 10) * 1e9;
    start = seconds();
    for (int t = 0; t < READS; t++) {
        const uint64_t z = (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15);
        sum += *(const uint32_t *)(const void *)(array + (z >> 20) % (uint64_t)count * size);
    }
    const double each = (seconds() - start) / READS * 1e9;
    printf("a random read of the %s: %.1f ns one after the other, %.1f ns at once: %.1f in flight (%llu)\n",
           what, latency, each, latency / each, (unsigned long long)((at ^ sum) & 1));
    return each;
}

int main(int argc, char **argv)
{
    FtB_Matrix A;
    int64_t n, nvals;
    const int64_t *rowptr;
    const void *column;
    const int threads = argc > 2 ? atoi(argv[2]) : 1, batches = argc > 3 ? atoi(argv[3]) : 20;
    if (argc < 2 || batches < 1 || batches > MOST) {
        fprintf(stderr, "usage: bench_walk FILE [threads] [batches, at most %d]\n", MOST);
        return 2;
    }
    check(FtB_Context_set_threads(NULL, threads));
    if (threads == 1)
        clock_kind = CLOCK_PROCESS_CPUTIME_ID;
    check(FtB_Matrix_read(&A, NULL, NULL, argv[1], NULL));
    check(FtB_Matrix_shape(A, &n, NULL, &nvals, NULL, NULL));
    check(FtB_Matrix_csr(A, &rowptr, &column, NULL));
    printf("%s: %lld vertices, %lld edges\n", argv[1], (long long)n, (long long)nvals);
    if (n > 0 && nvals > 0 && n < INT32_MAX) {
        const double step = limit("row pointers", (const char *)rowptr, n, sizeof *rowptr) +
                            limit("columns", column, nvals, sizeof(int32_t));
        printf("bound of a thread: %.1f M steps/s\n", 1e3 / step);
    }
    for (int r = 0; r < (int)(sizeof rows / sizeof *rows); r++)
        run(A, n, r, batches);
    FtB_Matrix_free(&A);
    return 0;
}
