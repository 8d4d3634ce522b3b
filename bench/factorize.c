/* Factors of ratings: seconds of a round. Usage: bench_factorize FILE [threads] [factors] [repeats]
 *
 * FILE is a matrix of ratings (featblas gen movielens-20m --seed 1 -o ratings.npz). Medians over the repeats
 * of what two more rounds take, so that copies of ratings and factors are left out, and of a call without
 * them. */
#include "support/calls.h"

#include "featblas_vertex.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 100

typedef struct ratings {
    FtB_Matrix R;
    FtB_Block U, V;
} ratings;

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
    const int threads = argc > 2 ? atoi(argv[2]) : 1, factors = argc > 3 ? atoi(argv[3]) : 32,
              repeats = argc > 4 ? atoi(argv[4]) : 5;
    if (argc < 2 || repeats < 1 || repeats > MOST) {
        fprintf(stderr, "usage: bench_factorize FILE [threads] [factors] [repeats, at most %d]\n", MOST);
        return 2;
    }
    bench_check(FtB_Context_set_threads(NULL, threads));
    bench_check(FtB_Matrix_read(&r.R, NULL, NULL, argv[1], NULL));
    bench_check(FtB_Matrix_shape(r.R, &m, &n, &nvals, NULL, NULL));
    bench_check(FtB_Block_new(&r.U, m, factors, FTB_FP32));
    bench_check(FtB_Block_new(&r.V, n, factors, FTB_FP32));
    printf("%s: %lld x %lld, %lld ratings, %d factors, %d threads\n", argv[1], (long long)m, (long long)n,
           (long long)nvals, factors, threads);
    for (int method = FTB_FACTORIZE_SGD; method <= FTB_FACTORIZE_GRADIENT; method++) {
        double one[MOST], more[MOST];
        for (int t = 0; t < repeats; t++) {
            one[t] = seconds_of(&r, (FtB_Factorize_method)method, 1, threads);
            more[t] = (seconds_of(&r, (FtB_Factorize_method)method, 3, threads) - one[t]) / 2;
            one[t] -= more[t];
        }
        printf("%-10s %9.4f s a round, %9.4f s beside\n", names[method], bench_median(more, repeats),
               bench_median(one, repeats));
    }
    FtB_Block_free(&r.U);
    FtB_Block_free(&r.V);
    FtB_Matrix_free(&r.R);
    return 0;
}
