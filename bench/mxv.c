/* Products of a matrix and a sparse vector, beside GraphBLAS's. Usage: bench_mxv FILE [threads] [repeats]
 *
 * FILE is a square graph (featblas gen rmat --scale 17 --symmetric -o rmat.csr). For vectors with so many
 * entries, drawn at random, w = u' A over min and plus (FP32) is taken by a push, by a pull, by the way that
 * the planner takes and by GrB_vxm, in turn; transposes and GraphBLAS's forms are there before. A line has
 * medians in milliseconds, and the planner's and GraphBLAS's over the lesser of push and pull. The last lines
 * are breadth-first searches as both libraries' vectors write them, and FtB_bfs. */
#include <GraphBLAS.h>

#include "support/calls.h"

#include "featblas_vertex.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200, WAYS = 3 };
static const char *const ways[WAYS] = {"push", "pull", "auto"};

typedef struct graph {
    FtB_Matrix A;
    GrB_Matrix G;
    int64_t n;
    int threads;
} graph;

/* ---- one product */

static FtB_Vector some_vector(int64_t n, int64_t entries)
{
    FtB_Vector u;
    int64_t *I = malloc(sizeof *I * (size_t)entries);
    float *x = malloc(sizeof *x * (size_t)entries);
    if (!I || !x)
        exit(1);
    for (int64_t t = 0; t < entries; t++) {
        I[t] = entries == n ? t : (int64_t)(bench_bits() % (uint64_t)n);
        x[t] = (float)(bench_bits() % 1000);
    }
    bench_check(FtB_Vector_build(&u, FTB_FP32, n, entries, I, x, FTB_DUP_LAST));
    free(I);
    free(x);
    return u;
}

static double ours(const graph *g, FtB_Vector u, FtB_Vector w, FtB_Plan plan, const char *way)
{
    FtB_Descriptor desc;
    bench_check(FtB_Plan_set(plan, "way", way));
    bench_check(FtB_Descriptor_new(&desc));
    bench_check(FtB_Descriptor_set(desc, FTB_PLAN, plan));
    const double start = bench_seconds(g->threads);
    bench_check(FtB_vxm(w, NULL, NULL, FTB_MIN_PLUS, u, g->A, desc));
    const double took = bench_seconds(g->threads) - start;
    FtB_Descriptor_free(&desc);
    return took;
}

static double theirs(const graph *g, GrB_Vector u, GrB_Vector w)
{
    const double start = bench_seconds(g->threads);
    bench_check(GrB_vxm(w, NULL, NULL, GrB_MIN_PLUS_SEMIRING_FP32, u, g->G, NULL));
    bench_check(GrB_Vector_wait(w, GrB_MATERIALIZE));
    return bench_seconds(g->threads) - start;
}

static void products(const graph *g, int64_t entries, int repeats)
{
    double times[WAYS + 1][MOST];
    FtB_Vector u = some_vector(g->n, entries), w;
    GrB_Vector v, z;
    FtB_Plan plan;
    double edges, pushes;
    bench_check(FtB_Vector_new(&w, FTB_FP32, g->n));
    bench_check(FtB_Vector_export(&v, u));
    bench_check(GrB_Vector_new(&z, GrB_FP32, (GrB_Index)g->n));
    bench_check(FtB_mxm_plan(&plan, w, NULL, NULL, FTB_MIN_PLUS, u, g->A, NULL, FTB_ESTIMATE));
    bench_check(FtB_Plan_get(plan, "edges", &edges));
    bench_check(FtB_Plan_get(plan, "push", &pushes));
    for (int t = -1; t < repeats; t++) { /* the first makes what is kept */
        for (int way = 0; way < WAYS; way++)
            times[way][t < 0 ? 0 : t] = ours(g, u, w, plan, ways[way]);
        times[WAYS][t < 0 ? 0 : t] = theirs(g, v, z);
    }
    double m[WAYS + 1];
    for (int k = 0; k <= WAYS; k++)
        m[k] = 1e3 * bench_median(times[k], repeats);
    const double best = m[0] < m[1] ? m[0] : m[1];
    printf("%10lld %12.0f %10.3f %10.3f %10.3f %-5s %10.3f %8.2f %8.2f\n", (long long)entries, edges, m[0],
           m[1], m[2],
           pushes > 0        ? "push"
           : entries == g->n ? "all"
                             : "pull",
           m[3], m[2] / best, m[3] / best);
    fflush(stdout);
    FtB_Plan_free(&plan);
    FtB_Vector_free(&u);
    FtB_Vector_free(&w);
    GrB_Vector_free(&v);
    GrB_Vector_free(&z);
}

/* ---- a search */

static double search_ours(const graph *g, int64_t source, int64_t *reached)
{
    FtB_Vector q, next, level;
    const bool yes = true;
    int64_t nvals = 1;
    const double start = bench_seconds(g->threads);
    bench_check(FtB_Vector_new(&q, FTB_BOOL, g->n));
    bench_check(FtB_Vector_new(&next, FTB_BOOL, g->n));
    bench_check(FtB_Vector_new(&level, FTB_INT32, g->n));
    bench_check(FtB_Vector_set(q, source, &yes));
    for (int64_t depth = 0; nvals > 0; depth++) {
        bench_check(FtB_assign(level, q, NULL, depth, NULL, NULL, FTB_DESC_S));
        bench_check(FtB_vxm(next, level, NULL, "any : true", q, g->A, FTB_DESC_RSC));
        bench_check(FtB_Vector_shape(next, NULL, &nvals, NULL));
        const FtB_Vector t = q;
        q = next;
        next = t;
    }
    const double took = bench_seconds(g->threads) - start;
    bench_check(FtB_Vector_shape(level, NULL, reached, NULL));
    FtB_Vector_free(&q);
    FtB_Vector_free(&next);
    FtB_Vector_free(&level);
    return took;
}

static double search_theirs(const graph *g, int64_t source, int64_t *reached)
{
    GrB_Vector q, level;
    GrB_Index nvals = 1;
    const double start = bench_seconds(g->threads);
    bench_check(GrB_Vector_new(&q, GrB_BOOL, (GrB_Index)g->n));
    bench_check(GrB_Vector_new(&level, GrB_INT32, (GrB_Index)g->n));
    bench_check(GrB_Vector_setElement_BOOL(q, true, (GrB_Index)source));
    for (int32_t depth = 0; nvals > 0; depth++) {
        bench_check(GrB_Vector_assign_INT32(level, q, NULL, depth, GrB_ALL, (GrB_Index)g->n, GrB_DESC_S));
        bench_check(GrB_vxm(q, level, NULL, GxB_ANY_PAIR_BOOL, q, g->G, GrB_DESC_RSC));
        bench_check(GrB_Vector_nvals(&nvals, q));
    }
    const double took = bench_seconds(g->threads) - start;
    bench_check(GrB_Vector_nvals(&nvals, level));
    *reached = (int64_t)nvals;
    GrB_Vector_free(&q);
    GrB_Vector_free(&level);
    return took;
}

static double search_whole(const graph *g, int64_t source)
{
    FtB_Block levels;
    bench_check(FtB_Block_new(&levels, g->n, 1, FTB_INT32));
    const double start = bench_seconds(g->threads);
    bench_check(FtB_bfs(levels, NULL, g->A, &source, 1, NULL));
    const double took = bench_seconds(g->threads) - start;
    FtB_Block_free(&levels);
    return took;
}

static void searches(const graph *g, int repeats)
{
    double times[3][MOST];
    int64_t reached = 0, there = 0;
    for (int t = -1; t < repeats; t++) {
        const int k = t < 0 ? 0 : t;
        const int64_t source = (int64_t)(bench_bits() % (uint64_t)g->n);
        times[0][k] = search_ours(g, source, &reached);
        times[1][k] = search_theirs(g, source, &there);
        times[2][k] = search_whole(g, source);
        if (reached != there) {
            fprintf(stderr, "%lld vertices are reached, by GraphBLAS %lld\n", (long long)reached,
                    (long long)there);
            exit(1);
        }
    }
    printf("search: FtB_vxm %.2f ms, GrB_vxm %.2f ms, FtB_bfs %.2f ms\n",
           1e3 * bench_median(times[0], repeats), 1e3 * bench_median(times[1], repeats),
           1e3 * bench_median(times[2], repeats));
}

int main(int argc, char **argv)
{
    static const double shares[] = {0, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 1};
    graph g = {.threads = argc > 2 ? atoi(argv[2]) : 1};
    const int repeats = argc > 3 ? atoi(argv[3]) : 9;
    int64_t nvals, ncols, width;
    if (argc < 2 || repeats < 1 || repeats > MOST) {
        fprintf(stderr, "usage: bench_mxv FILE [threads] [repeats, at most %d]\n", MOST);
        return 2;
    }
    bench_check(GrB_init(GrB_NONBLOCKING));
    bench_check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, g.threads));
    bench_check(FtB_Context_set_threads(NULL, g.threads));
    bench_check(FtB_Matrix_read(&g.A, NULL, NULL, argv[1], FTB_READ_OPTIONS(.type = FTB_FP32)));
    bench_check(FtB_Matrix_shape(g.A, &g.n, &ncols, &nvals, &width, NULL));
    if (g.n != ncols || g.n == 0) {
        fprintf(stderr, "%s: %lld x %lld; expected a square graph\n", argv[1], (long long)g.n,
                (long long)ncols);
        return 2;
    }
    bench_check(FtB_Matrix_export(&g.G, g.A, 0));
    printf("%s: %lld vertices, %lld edges, %d threads\n", argv[1], (long long)g.n, (long long)nvals,
           g.threads);
    printf("%10s %12s %10s %10s %10s %-5s %10s %8s %8s\n", "entries", "edges", "push", "pull", "auto", "",
           "GrB_vxm", "auto/", "GrB/");
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        const int64_t entries = (int64_t)(shares[s] * (double)g.n);
        if (s == 0 || entries > 1)
            products(&g, entries > 0 ? entries : 1, repeats);
    }
    searches(&g, repeats);
    GrB_Matrix_free(&g.G);
    FtB_Matrix_free(&g.A);
    return 0;
}
