/* Hypersparse matrices beside GraphBLAS's. Usage: bench_hypersparse [entries] [threads] [repeats]
 *
 * A matrix of 4e9 x 4e9 has so many entries (100000), of as many vertices drawn at random. A line is a call:
 * medians in milliseconds of ours, of ours on the same matrix of these vertices alone, which is ordinary, and
 * of GraphBLAS's hypersparse form, in turn; CPU seconds of one thread. */
#include <GraphBLAS.h>

#include "support/calls.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100, SIDES = 3, CALLS = 6 };
#define HUGE_N INT64_C(4000000000)

typedef struct side { /* far, near (ordinary), GraphBLAS */
    FtB_Matrix A, C;
    FtB_Vector u, w;
    int64_t n;
} side;

typedef struct bench {
    side far, near;
    GrB_Matrix G, H;
    GrB_Vector v, z;
    int threads;
} bench;

static const char *const names[CALLS] = {"apply", "select", "eWiseAdd", "mxm", "mxv", "transpose"};

static void make_side(side *s, int64_t n, int64_t entries, const int64_t *I, const int64_t *J, const float *x,
                      const int64_t *places, int64_t count)
{
    s->n = n;
    bench_check(FtB_Matrix_build(&s->A, FTB_FP32, n, n, 1, entries, I, J, x, FTB_DUP_LAST, NULL));
    bench_check(FtB_Matrix_new(&s->C, FTB_FP32, n, n, 1));
    bench_check(FtB_Vector_build(&s->u, FTB_FP32, n, count, places, x, FTB_DUP_LAST));
    bench_check(FtB_Vector_new(&s->w, FTB_FP32, n));
}

static GrB_Info ours(side *s, int call)
{
    switch (call) {
    case 0:
        return FtB_apply(s->C, NULL, NULL, "2 * x", s->A, NULL);
    case 1:
        return FtB_select(s->C, NULL, NULL, "x > 0.5", s->A, NULL);
    case 2:
        return FtB_eWiseAdd(s->C, NULL, NULL, "x + y", s->A, s->A, NULL);
    case 3:
        return FtB_mxm(s->C, NULL, NULL, FTB_MIN_PLUS, s->A, s->A, NULL);
    case 4:
        return FtB_mxv(s->w, NULL, NULL, FTB_MIN_PLUS, s->A, s->u, NULL);
    default:
        return FtB_transpose(s->C, NULL, NULL, s->A, NULL);
    }
}

static GrB_Info theirs(bench *b, int call)
{
    GrB_Info info;
    switch (call) {
    case 0:
        info = GrB_Matrix_apply_BinaryOp1st_FP32(b->H, NULL, NULL, GrB_TIMES_FP32, 2, b->G, NULL);
        break;
    case 1:
        info = GrB_Matrix_select_FP32(b->H, NULL, NULL, GrB_VALUEGT_FP32, b->G, 0.5f, NULL);
        break;
    case 2:
        info = GrB_Matrix_eWiseAdd_BinaryOp(b->H, NULL, NULL, GrB_PLUS_FP32, b->G, b->G, NULL);
        break;
    case 3:
        info = GrB_mxm(b->H, NULL, NULL, GrB_MIN_PLUS_SEMIRING_FP32, b->G, b->G, NULL);
        break;
    case 4:
        info = GrB_mxv(b->z, NULL, NULL, GrB_MIN_PLUS_SEMIRING_FP32, b->G, b->v, NULL);
        return info == GrB_SUCCESS ? GrB_Vector_wait(b->z, GrB_MATERIALIZE) : info;
    default:
        info = GrB_transpose(b->H, NULL, NULL, b->G, NULL);
    }
    return info == GrB_SUCCESS ? GrB_Matrix_wait(b->H, GrB_MATERIALIZE) : info;
}

static double one_call(bench *b, int call, int which)
{
    FtB_Matrix *C = which ? &b->near.C : &b->far.C;
    if (which < 2) { /* a new output, as GraphBLAS's would keep memory */
        FtB_Matrix_free(C);
        bench_check(FtB_Matrix_new(C, FTB_FP32, which ? b->near.n : HUGE_N, which ? b->near.n : HUGE_N, 1));
    }
    const double start = bench_seconds(b->threads);
    bench_check(which == 2 ? theirs(b, call) : ours(which ? &b->near : &b->far, call));
    return bench_seconds(b->threads) - start;
}

static int by_time(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int by_number(const void *x, const void *y)
{
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* Vertices drawn at random, ascending; returns how many differ. */
static int64_t draw_vertices(int64_t *vertex, int64_t count)
{
    int64_t once = 0;
    for (int64_t t = 0; t < count; t++)
        vertex[t] = (int64_t)(bench_bits() % (uint64_t)HUGE_N);
    qsort(vertex, (size_t)count, sizeof *vertex, by_number);
    for (int64_t t = 0; t < count; t++)
        if (t == 0 || vertex[t] != vertex[once - 1])
            vertex[once++] = vertex[t];
    return once;
}

static void make(bench *b, int64_t entries)
{
    int64_t *all = malloc(sizeof *all * (size_t)entries * 6), *vertex = all, *I = all + entries,
            *J = I + entries, *far_i = J + entries, *far_j = far_i + entries, *near = far_j + entries;
    float *x = malloc(sizeof *x * (size_t)entries);
    if (!all || !x)
        exit(1);
    const int64_t n = draw_vertices(vertex, entries), count = n / 2;
    for (int64_t e = 0; e < entries; e++) {
        I[e] = (int64_t)(bench_bits() % (uint64_t)n);
        J[e] = (int64_t)(bench_bits() % (uint64_t)n);
        far_i[e] = vertex[I[e]];
        far_j[e] = vertex[J[e]];
        x[e] = (float)(bench_bits() % 1000) / 1000;
    }
    for (int64_t t = 0; t < count; t++)
        near[t] = 2 * t;
    make_side(&b->near, n, entries, I, J, x, near, count);
    for (int64_t t = 0; t < count; t++)
        near[t] = vertex[2 * t];
    make_side(&b->far, HUGE_N, entries, far_i, far_j, x, near, count);
    bench_check(FtB_Matrix_export(&b->G, b->far.A, 0));
    bench_check(FtB_Vector_export(&b->v, b->far.u));
    bench_check(GrB_Matrix_new(&b->H, GrB_FP32, (GrB_Index)HUGE_N, (GrB_Index)HUGE_N));
    bench_check(GrB_Vector_new(&b->z, GrB_FP32, (GrB_Index)HUGE_N));
    free(all);
    free(x);
}

int main(int argc, char **argv)
{
    const int64_t entries = argc > 1 ? atoll(argv[1]) : 100000;
    bench b = {.threads = argc > 2 ? atoi(argv[2]) : 1};
    const int repeats = argc > 3 && atoi(argv[3]) < MOST ? atoi(argv[3]) : 15;
    bench_check(FtB_Context_set_threads(NULL, b.threads));
    make(&b, entries);
    bench_check(GxB_set(GxB_NTHREADS, b.threads));
    printf("%-10s %10s %10s %10s ms, of %lld entries\n", "call", "far", "ordinary", "GraphBLAS",
           (long long)entries);
    for (int call = 0; call < CALLS; call++) {
        double times[SIDES][MOST];
        for (int t = -1; t < repeats; t++)
            for (int which = 0; which < SIDES; which++) {
                const double took = one_call(&b, call, which);
                if (t >= 0)
                    times[which][t] = took;
            }
        printf("%-10s", names[call]);
        for (int which = 0; which < SIDES; which++) {
            qsort(times[which], (size_t)repeats, sizeof(double), by_time);
            printf(" %10.3f", 1000 * times[which][repeats / 2]);
        }
        printf("\n");
    }
    return 0;
}
