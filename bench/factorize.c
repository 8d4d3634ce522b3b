/* Factors of ratings: seconds of a round. Usage: bench_factorize FILE [threads] [factors] [repeats]
 *
 * FILE is a matrix of ratings (featblas gen movielens-20m --seed 1 -o ratings.npz). Least of the repeats of
 * what a round takes where there are five more, so that copies of ratings and factors are left out; and of
 * plain loops that read the ratings and, in their order, the factors of each: what memory allows. Those that
 * also write them do what a pass of stochastic descent must. */
#include "support/calls.h"

#include "featblas_vertex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ratings {
    FtB_Matrix R;
    FtB_Block U, V;
} ratings;

#define MORE 5

#if defined(__x86_64__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

/* All ratings by row, with the factors of each added to; or read alone. */
CLONES static float read_rows(const int64_t *rowptr, const int32_t *column, const float *value, float *u,
                              float *v, int64_t m, int64_t k, bool write)
{
    float sum = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            float *restrict y = v + column[e] * k, *restrict x = u + i * k;
            for (int64_t f = 0; f < k; f++)
                x[f] += y[f];
            for (int64_t f = 0; f < k && write; f++)
                y[f] += value[e];
            sum += value[e];
        }
    return sum;
}

static double read_factors(const ratings *r, bool write, int threads)
{
    const int64_t *rowptr;
    const void *columns, *values;
    int64_t m, k;
    void *u, *v;
    bench_check(FtB_Matrix_csr(r->R, &rowptr, &columns, &values));
    bench_check(FtB_Block_shape(r->U, &m, &k, NULL, NULL, &u));
    bench_check(FtB_Block_shape(r->V, NULL, NULL, NULL, NULL, &v));
    const double start = bench_seconds(threads);
    const float sum = read_rows(rowptr, columns, values, u, v, m, k, write);
    const double seconds = bench_seconds(threads) - start;
    if (sum == 0.5F) /* so that it is read */
        printf("\n");
    return seconds;
}

static double seconds_of(const ratings *r, FtB_Factorize_method method, int64_t rounds, int threads)
{
    const double start = bench_seconds(threads);
    bench_check(FtB_factorize(r->U, r->V, r->R,
                              FTB_FACTORIZE(.method = method, .rounds = rounds, .offset = 3.5, .seed = 1)));
    return bench_seconds(threads) - start;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"SGD", "ALS", "gradient"};
    ratings r;
    int64_t m, n, nvals;
    FtB_Type type;
    const int threads = argc > 2 ? atoi(argv[2]) : 1, factors = argc > 3 ? atoi(argv[3]) : 32,
              repeats = argc > 4 ? atoi(argv[4]) : 5;
    if (argc < 2 || repeats < 1) {
        fprintf(stderr, "usage: bench_factorize FILE [threads] [factors] [repeats]\n");
        return 2;
    }
    bench_check(FtB_Context_set_threads(NULL, threads));
    bench_check(FtB_Matrix_read(&r.R, NULL, NULL, argv[1], NULL));
    bench_check(FtB_Matrix_shape(r.R, &m, &n, &nvals, NULL, &type));
    bench_check(FtB_Block_new(&r.U, m, factors, FTB_FP32));
    bench_check(FtB_Block_new(&r.V, n, factors, FTB_FP32));
    printf("%s: %lld x %lld, %lld ratings, %d factors, %d threads\n", argv[1], (long long)m, (long long)n,
           (long long)nvals, factors, threads);
    double one[3] = {INFINITY, INFINITY, INFINITY}, all[3] = {INFINITY, INFINITY, INFINITY};
    double loops[2] = {INFINITY, INFINITY};
    for (int t = 0; t < repeats; t++) {
        for (int write = 0; write < 2 && type == FTB_FP32; write++)
            loops[write] = fmin(loops[write], read_factors(&r, write, threads));
        for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++) {
            seconds_of(&r, (FtB_Factorize_method)method, 1,
                       threads); /* memory is that of such a call from here on */
            one[method] = fmin(one[method], seconds_of(&r, (FtB_Factorize_method)method, 1, threads));
            all[method] = fmin(all[method], seconds_of(&r, (FtB_Factorize_method)method, 1 + MORE, threads));
        }
    }
    printf("factors read %.4f s, and written %.4f s\n", loops[0], loops[1]);
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++)
        printf("%-10s %9.4f s a round, %9.4f s beside\n", names[method], (all[method] - one[method]) / MORE,
               one[method] - (all[method] - one[method]) / MORE);
    FtB_Block_free(&r.U);
    FtB_Block_free(&r.V);
    FtB_Matrix_free(&r.R);
    return 0;
}
