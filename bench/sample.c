/* Sampling: picks a second, numbering included. Usage: bench_sample FILE [threads] [batches]
 *
 * FILE is a square graph (featblas gen products-like -o products.csr). For each row of a table of batch sizes
 * and fanouts, batches of random seeds are drawn with FtB_sample, the seeds' numbers from a generator of its
 * own. The first five have what the blocks of other libraries have: the edges' numbers, and no values. A line
 * has picks and vertices a batch, and the median of M picks a second over the batches. One more line tells
 * what the machine allows: random reads of the columns, which a pick makes at least one of, one after the
 * other and as many at a time as it takes. */
#include "support/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1000

static const struct {
    const char *what;
    int64_t seeds, fanouts[3];
    int nhops;
    FtB_Sample_options options;
} rows[] = {
    {"10,10,10 of 1024", 1024, {10, 10, 10}, 3, {.edges = true, .structural = true}},
    {"15,10,5 of 1024", 1024, {15, 10, 5}, 3, {.edges = true, .structural = true}},
    {"15,15,15 of 1024", 1024, {15, 15, 15}, 3, {.edges = true, .structural = true}},
    {"20,20 of 1024", 1024, {20, 20}, 2, {.edges = true, .structural = true}},
    {"10,10,10 of 10240", 10240, {10, 10, 10}, 3, {.edges = true, .structural = true}},
    {"10,10,10 of 1024, with values", 1024, {10, 10, 10}, 3, {0}},
    {"10,10,10 of 1024, once", 1024, {10, 10, 10}, 3, {.once = true}},
    {"10,10,10 of 1024, replacing", 1024, {10, 10, 10}, 3, {.replace = true}},
    {"10,10,10 of 1024, disjoint", 1024, {10, 10, 10}, 3, {.disjoint = true}},
    {"10,10 of 1024, LABOR-0", 1024, {10, 10}, 2, {.selector = FTB_SAMPLE_LABOR}},
    {"10,10 of 1024", 1024, {10, 10}, 2, {0}},
    {"10,10 of 1024, key 1 + x", 1024, {10, 10}, 2, {.key = "1 + x"}},
    {"10,10 of 1024, key 1 + x, kept", 1024, {10, 10}, 2, {.key = "1 + x"}},
    {"10,10,10 of 1024, key 1 + x, kept", 1024, {10, 10, 10}, 3, {.key = "1 + x"}},
    {"10,10,10 of 1024, 1 / (1 + i + j), kept", 1024, {10, 10, 10}, 3, {.key = "1 / (1 + i + j)"}},
    {"10,10,10 of 1024, replacing, kept", 1024, {10, 10, 10}, 3, {.key = "1 + x", .replace = true}},
};

static void run(FtB_Matrix A, int64_t n, int row, int threads, int batches)
{
    double rates[MOST], picks = 0, vertices = 0, spent = 0;
    int64_t *seeds = malloc(sizeof *seeds * (size_t)rows[row].seeds);
    if (!seeds)
        exit(1);
    if (strstr(rows[row].what, "kept")) { /* after a call that looks at the weights of all rows */
        FtB_Matrix S;
        bench_check(FtB_Matrix_new(&S, FTB_FP32, n, n, 1));
        bench_check(FtB_select_sample(S, NULL, 1, rows[row].options.key, A, NULL));
        FtB_Matrix_free(&S);
    }
    for (int b = 0; b < batches; b++) {
        FtB_Sample s;
        FtB_Sample_options o = rows[row].options;
        o.size = sizeof o;
        o.seed = 7;
        o.batch = b;
        for (int64_t t = 0; t < rows[row].seeds; t++)
            seeds[t] = (int64_t)(bench_bits() % (uint64_t)n);
        const double start = bench_seconds(threads);
        bench_check(FtB_sample(&s, A, seeds, rows[row].seeds, rows[row].fanouts, rows[row].nhops, &o));
        const double took = bench_seconds(threads) - start;
        double here = 0;
        for (int h = 0; h < rows[row].nhops; h++)
            here += (double)FtB_Sample_edge_counts(s).at[h];
        vertices += (double)FtB_Sample_vertices(s).count;
        rates[b] = here / took / 1e6;
        picks += here;
        spent += took;
        FtB_Sample_free(&s);
    }
    printf("%-30s %10.0f picks %9.0f vertices %8.2f ms %7.2f M picks/s\n", rows[row].what, picks / batches,
           vertices / batches, 1e3 * spent / batches, bench_median(rates, batches));
    fflush(stdout);
    free(seeds);
}

int main(int argc, char **argv)
{
    FtB_Matrix A;
    int64_t n, nvals;
    const void *column;
    const int threads = argc > 2 ? atoi(argv[2]) : 1, batches = argc > 3 ? atoi(argv[3]) : 20;
    if (argc < 2 || batches < 1 || batches > MOST) {
        fprintf(stderr, "usage: bench_sample FILE [threads] [batches, at most %d]\n", MOST);
        return 2;
    }
    bench_check(FtB_Context_set_threads(NULL, threads));
    bench_check(FtB_Context_set_reuse(NULL, true));
    bench_check(FtB_Matrix_read(&A, NULL, NULL, argv[1], NULL));
    bench_check(FtB_Matrix_shape(A, &n, NULL, &nvals, NULL, NULL));
    bench_check(FtB_Matrix_csr(A, NULL, &column, NULL));
    printf("%s: %lld vertices, %lld edges\n", argv[1], (long long)n, (long long)nvals);
    if (n < INT32_MAX)
        bench_random_read("columns", column, nvals, sizeof(int32_t), threads);
    for (int r = 0; r < (int)(sizeof rows / sizeof *rows); r++)
        run(A, n, r, threads, batches);
    FtB_Matrix_free(&A);
    return 0;
}
