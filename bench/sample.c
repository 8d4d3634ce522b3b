/* Sampling: picks a second, numbering included. Usage: bench_sample FILE [threads] [batches]
 *
 * FILE is a square graph (featblas gen products-like -o products.csr). For each row of a table of batch sizes
 * and fanouts, batches of random seeds are drawn with FtB_sample, the seeds' numbers from a generator of its
 * own; the line has picks and vertices a batch, and the median of M picks a second over the batches. Two more
 * lines tell what the machine allows: random reads of the columns, which a pick makes at least one of, one
 * after the other and as many at a time as it takes. */
#include "featblas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 1000
#define READS 4000000

static const struct {
    const char *what;
    int64_t seeds, fanouts[3];
    int nhops;
    FtB_Sample_options options;
} rows[] = {
    {"10,10,10 of 1024", 1024, {10, 10, 10}, 3, {0}},
    {"15,10,5 of 1024", 1024, {15, 10, 5}, 3, {0}},
    {"15,15,15 of 1024", 1024, {15, 15, 15}, 3, {0}},
    {"20,20 of 1024", 1024, {20, 20}, 2, {0}},
    {"10,10,10 of 10240", 10240, {10, 10, 10}, 3, {0}},
    {"10,10,10 of 1024, with edges", 1024, {10, 10, 10}, 3, {.edges = true}},
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
    fprintf(stderr, "bench_sample: %s\n", FtB_error());
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(FtB_Matrix A, int64_t n, int row, int batches)
{
    double rates[MOST], picks = 0, vertices = 0, spent = 0;
    int64_t *seeds = malloc(sizeof *seeds * (size_t)rows[row].seeds);
    if (!seeds)
        exit(1);
    if (strstr(rows[row].what, "kept")) { /* after a call that looks at the weights of all rows */
        FtB_Matrix S;
        check(FtB_Matrix_new(&S, FTB_FP32, n, n, 1));
        check(FtB_select_sample(S, NULL, 1, rows[row].options.key, A, NULL));
        FtB_Matrix_free(&S);
    }
    for (int b = 0; b < batches; b++) {
        FtB_Sample s;
        FtB_Sample_options o = rows[row].options;
        o.size = sizeof o;
        o.seed = 7;
        o.batch = b;
        for (int64_t t = 0; t < rows[row].seeds; t++)
            seeds[t] = (int64_t)(bits() % (uint64_t)n);
        const double start = seconds();
        check(FtB_sample(&s, A, seeds, rows[row].seeds, rows[row].fanouts, rows[row].nhops, &o));
        const double took = seconds() - start;
        double here = 0;
        for (int h = 0; h < rows[row].nhops; h++)
            here += (double)FtB_Sample_edge_counts(s).at[h];
        vertices += (double)FtB_Sample_vertices(s).count;
        rates[b] = here / took / 1e6;
        picks += here;
        spent += took;
        FtB_Sample_free(&s);
    }
    qsort(rates, (size_t)batches, sizeof *rates, by_value);
    printf("%-30s %10.0f picks %9.0f vertices %8.2f ms %7.2f M picks/s\n", rows[row].what, picks / batches,
           vertices / batches, 1e3 * spent / batches, rates[batches / 2]);
    fflush(stdout);
    free(seeds);
}

/* Random reads of the columns: each address follows from the value before, or from nothing but a counter. */
static void limits(const int32_t *column, int64_t nvals)
{
    uint64_t at = 1, sum = 0;
    double start = seconds();
    for (int t = 0; t < READS / 10; t++) {
        at = at * UINT64_C(6364136223846793005) + 1442695040888963407;
        at += (uint64_t)(uint32_t)column[(at >> 20) % (uint64_t)nvals];
    }
    const double latency = (seconds() - start) / (READS / 10) * 1e9;
    start = seconds();
    for (int t = 0; t < READS; t++) {
        const uint64_t z = (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15);
        sum += (uint64_t)(uint32_t)column[(z >> 20) % (uint64_t)nvals];
    }
    const double each = (seconds() - start) / READS * 1e9;
    printf("a random read of the columns: %.1f ns one after the other, %.1f ns at once: %.1f in flight, %.1f "
           "M/s "
           "(%llu)\n",
           latency, each, latency / each, 1e3 / each, (unsigned long long)((at ^ sum) & 1));
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
    check(FtB_Context_set_threads(NULL, threads));
    if (threads == 1)
        clock_kind = CLOCK_PROCESS_CPUTIME_ID;
    check(FtB_Matrix_read(&A, NULL, NULL, argv[1], NULL));
    check(FtB_Matrix_shape(A, &n, NULL, &nvals, NULL, NULL));
    check(FtB_Matrix_csr(A, NULL, &column, NULL));
    printf("%s: %lld vertices, %lld edges\n", argv[1], (long long)n, (long long)nvals);
    if (n < INT32_MAX)
        limits(column, nvals);
    for (int r = 0; r < (int)(sizeof rows / sizeof *rows); r++)
        run(A, n, r, batches);
    FtB_Matrix_free(&A);
    return 0;
}
