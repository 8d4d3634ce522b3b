/* FtB_Matrix_build against the speed of memory. Usage: bench_build [tuples, in millions] [repetitions]
 *
 * "least" is what any method moves: the tuples read and the result written, once. "copy" is the speed of
 * memcpy in this run, counted in the same way (bytes read and written). Medians. */
#include "support/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t below(int64_t n) { return (int64_t)((double)(bench_bits() >> 11) * 0x1p-53 * (double)n); }

/* Half the bits of row and column drawn as in an rmat graph: hub rows, and duplicates. */
static void draw_skewed(int64_t *i, int64_t *j, int scale)
{
    *i = *j = 0;
    for (int b = 0; b < scale; b++) {
        uint64_t quadrant = bench_bits() % 100;
        *i = *i << 1 | (quadrant >= 76);
        *j = *j << 1 | ((quadrant >= 57 && quadrant < 76) || quadrant >= 95);
    }
}

typedef struct workload {
    const char *name;
    FtB_Type type;
    int64_t nrows, ncols;
    int skewed; /* scale of an rmat graph, or 0 */
    bool sorted;
} workload;

static double copy_speed(int64_t bytes)
{
    char *a = malloc((size_t)bytes), *b = malloc((size_t)bytes);
    if (!a || !b)
        exit(1);
    memset(a, 1, (size_t)bytes);
    memset(b, 2, (size_t)bytes);
    double best = 1e9;
    for (int r = 0; r < 3; r++) {
        double start = bench_now();
        memcpy(a, b, (size_t)bytes);
        double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    fprintf(stderr, "%s", a[bytes - 1] == 2 ? "" : "memcpy failed\n");
    free(a);
    free(b);
    return 2 * (double)bytes / best;
}

static void run(const workload *w, int64_t n, int repetitions, double copy)
{
    int64_t *I = malloc(sizeof *I * (size_t)n), *J = malloc(sizeof *J * (size_t)n), nvals = 0;
    size_t size = FtB_Type_size(w->type);
    char *X = malloc(size * (size_t)n);
    if (!I || !J || !X)
        exit(1);
    memset(X, 0, size * (size_t)n);
    for (int64_t t = 0; t < n; t++)
        if (w->skewed) {
            draw_skewed(&I[t], &J[t], w->skewed);
        } else {
            I[t] = w->sorted ? (int64_t)((double)t / (double)n * (double)w->nrows) : below(w->nrows);
            J[t] = below(w->ncols);
        }
    for (int threads = 1; threads <= 2; threads++) {
        double seconds[64];
        FtB_Context_set_threads(NULL, threads);
        for (int r = 0; r < repetitions; r++) {
            FtB_Matrix A;
            double start = bench_now();
            if (FtB_Matrix_build(&A, w->type, w->nrows, w->ncols, 1, n, I, J, X, FTB_DUP_SUM, NULL) !=
                GrB_SUCCESS) {
                fprintf(stderr, "%s\n", FtB_error());
                exit(1);
            }
            seconds[r] = bench_now() - start;
            FtB_Matrix_shape(A, NULL, NULL, &nvals, NULL, NULL);
            FtB_Matrix_free(&A);
        }
        const double median = bench_median(seconds, repetitions);
        double least =
            (double)n * (double)(16 + size) + (double)nvals * (double)(4 + size) + 8 * (double)w->nrows;
        printf("%-22s %-5s %12lld %12lld %7d %9.3f %10.1f %9.1f %7.1f\n", w->name, FtB_Type_name(w->type),
               (long long)n, (long long)nvals, threads, median, (double)n / median * 1e-6,
               least / median * 1e-9, median * copy / least);
    }
    free(I);
    free(J);
    free(X);
}

int main(int argc, char **argv)
{
    int64_t n = 1000000 * (argc > 1 ? atoll(argv[1]) : 20);
    int repetitions = argc > 2 ? atoi(argv[2]) : 3;
    if (n <= 0 || repetitions < 1 || repetitions > 64) {
        fprintf(stderr, "usage: bench_build [tuples, in millions] [repetitions, up to 64]\n");
        return 2;
    }
    static const workload workloads[] = {
        {"random 138493 x 26744", FTB_FP32, 138493, 26744, 0, false},
        {"random 138493 x 26744", FTB_FP64, 138493, 26744, 0, false},
        {"rows in order", FTB_FP32, 138493, 26744, 0, true},
        {"random 10M x 10M", FTB_FP32, 10000000, 10000000, 0, false},
        {"rmat scale 18", FTB_FP32, 1 << 18, 1 << 18, 18, false},
    };
    double copy = copy_speed(n * 16);
    printf("memcpy: %.1f GB/s read and written\n", copy * 1e-9);
    printf("%-22s %-5s %12s %12s %7s %9s %10s %9s %7s\n", "tuples", "dtype", "given", "entries", "threads",
           "seconds", "Mtuples/s", "least GB/s", "x copy");
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        run(&workloads[w], n, repetitions, copy);
    return 0;
}
