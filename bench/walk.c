/* Random walks: steps a second. Usage: bench_walk FILE [threads] [batches]
 *
 * FILE is a square graph (featblas gen products-like -o products.csr). For each row of a table, batches of
 * walks from random vertices are made with FtB_walk; the line has the median of M steps a second over the
 * batches. A step reads two words that lie anywhere, one after the other: where its row begins, and a column.
 * Two more lines tell what the machine allows of these: random reads of each array, one after the other and
 * as many at a time as it takes; the sum of the latter is the bound of a thread. */
#include "support/calls.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 1000

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

static void run(FtB_Matrix A, int64_t n, int row, int threads, int batches)
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
            starts[t] = (int64_t)(bench_bits() % (uint64_t)n);
        const double start = bench_seconds(threads);
        bench_check(FtB_walk(&walks, A, starts, nstarts, length, &o));
        const double took = bench_seconds(threads) - start;
        bench_check(FtB_Block_shape(walks, NULL, NULL, NULL, NULL, &at));
        const int64_t *v = at;
        for (int64_t t = 0; t < nstarts; t++)
            for (int64_t s = 1; s <= length; s++)
                here += v[t * (1 + length) + s] >= 0;
        rates[b] = here / took / 1e6;
        steps += here;
        FtB_Block_free(&walks);
    }
    printf("%-28s %10.0f steps %7.2f M steps/s\n", rows[row].what, steps / batches,
           bench_median(rates, batches));
    fflush(stdout);
    free(starts);
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
    bench_check(FtB_Context_set_threads(NULL, threads));
    bench_check(FtB_Matrix_read(&A, NULL, NULL, argv[1], NULL));
    bench_check(FtB_Matrix_shape(A, &n, NULL, &nvals, NULL, NULL));
    bench_check(FtB_Matrix_csr(A, &rowptr, &column, NULL));
    printf("%s: %lld vertices, %lld edges\n", argv[1], (long long)n, (long long)nvals);
    if (n > 0 && nvals > 0 && n < INT32_MAX) {
        const double step = bench_random_read("row pointers", rowptr, n, sizeof *rowptr, threads) +
                            bench_random_read("columns", column, nvals, sizeof(int32_t), threads);
        printf("bound of a thread: %.1f M steps/s\n", 1e3 / step);
    }
    for (int r = 0; r < (int)(sizeof rows / sizeof *rows); r++)
        run(A, n, r, threads, batches);
    FtB_Matrix_free(&A);
    return 0;
}
