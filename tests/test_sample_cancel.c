/* Sampling beside another thread that cancels, and takes the cancellation with a call of its own: a call of
 * this one is cancelled, or gives what it always gives, whenever the other one comes. */
#include "support/check.h"

#include "core/core.h"
#include "support/rng.h"

#include <stdlib.h>
#include <time.h>

enum { N = 20000, DEGREE = 20, SEEDS = 60000 };

typedef struct other {
    FtB_Matrix A;
    atomic_bool stop;
} other;

static void *cancel_again(void *arg)
{
    other *o = arg;
    static const int64_t seed = 3, fanout = 2;
    while (!atomic_load(&o->stop)) {
        FtB_Sample s;
        (void)FtB_Context_cancel(NULL);
        (void)FtB_sample(&s, o->A, &seed, 1, &fanout, 1, NULL);
        FtB_Sample_free(&s);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return NULL;
}

static FtB_Matrix make_graph(void)
{
    rng r = rng_new();
    int64_t *I = malloc(sizeof *I * N * DEGREE), *J = malloc(sizeof *J * N * DEGREE);
    double *X = malloc(sizeof *X * N * DEGREE);
    FtB_Matrix A;
    for (int64_t e = 0; e < N * DEGREE; e++) {
        I[e] = e / DEGREE;
        J[e] = rng_below(&r, N);
        X[e] = 0.5 + rng_unit(&r);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, N, N, 1, N * DEGREE, I, J, X, FTB_DUP_FIRST, NULL));
    free(I);
    free(J);
    free(X);
    return A;
}

/* Whether the picks of two samples' first hops are the same. */
static bool same(FtB_Sample a, FtB_Sample b)
{
    const FtB_Ids x = FtB_Sample_edges(a, 0), y = FtB_Sample_edges(b, 0);
    return x.count == y.count && memcmp(x.at, y.at, sizeof *x.at * (size_t)x.count) == 0;
}

static void beside_another(void **state)
{
    static const FtB_Sample_options kinds[] = {
        {.size = sizeof *kinds, .seed = 5, .edges = true},
        {.size = sizeof *kinds, .seed = 5, .edges = true, .selector = FTB_SAMPLE_LABOR},
        {.size = sizeof *kinds, .seed = 5, .edges = true, .selector = FTB_SAMPLE_TOPK, .key = "x"},
        {.size = sizeof *kinds, .seed = 5, .edges = true, .key = "x"},
    };
    const int64_t fanout = 5;
    int64_t *seeds = malloc(sizeof *seeds * SEEDS);
    other o = {.A = make_graph()};
    (void)state;
    for (int64_t t = 0; t < SEEDS; t++)
        seeds[t] = t % N;
    assert_ok(FtB_Context_set_threads(NULL, 1));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        FtB_Sample whole, s;
        pthread_t thread;
        int wrong = 0;
        assert_ok(FtB_sample(&whole, o.A, seeds, SEEDS, &fanout, 1, &kinds[k]));
        atomic_store(&o.stop, false);
        assert_int_equal(pthread_create(&thread, NULL, cancel_again, &o), 0);
        for (int t = 0; t < 20; t++) {
            const GrB_Info info = FtB_sample(&s, o.A, seeds, SEEDS, &fanout, 1, &kinds[k]);
            wrong += info == GrB_SUCCESS ? !same(s, whole) : info != FTB_CANCELLED;
            FtB_Sample_free(&s);
        }
        atomic_store(&o.stop, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        while (FtB_sample(&s, o.A, seeds, 1, &fanout, 1, &kinds[k]) != GrB_SUCCESS)
            continue; /* what was left of it */
        FtB_Sample_free(&s);
        FtB_Sample_free(&whole);
        assert_int_equal(wrong, 0);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    FtB_Matrix_free(&o.A);
    free(seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside_another)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
