/* PageRank in all its kinds against the solution of its linear equations, which are dense and in wider
 * arithmetic: by GAP's, networkx's and LDBC's definitions, for all alike and personalised. Self-loops,
 * parallel entries, vertices without links, with and without values; what is refused; allocations that fail.
 */
#include "support/check.h"

#include "featblas_vertex.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <math.h>

enum { MOST = 40, ENTRIES = 200, COLUMNS = 4, MANY = 300000 };

/* ---- slowly */

typedef struct web {
    FtB_Matrix A;
    int64_t n, tuples, I[ENTRIES], J[ENTRIES];
    double X[ENTRIES], links[MOST][MOST],
        values[MOST][MOST]; /* from i to j: how many entries, and their sum */
    bool keep;
    int64_t width;
} web;

static void draw_link(web *w, rng *r, int64_t e)
{
    w->I[e] = rng_below(r, 1 + rng_below(r, w->n));
    w->J[e] = rng_below(r, w->n);
    w->X[e] = 0.1 + rng_unit(r);
}

static void weave(web *w)
{
    memset(w->links, 0, sizeof w->links);
    memset(w->values, 0, sizeof w->values);
    for (int64_t e = 0; e < w->tuples; e++) {
        double *links = &w->links[w->I[e]][w->J[e]], *value = &w->values[w->I[e]][w->J[e]];
        *links = w->keep ? *links + 1 : 1;
        *value = w->width ? *value + w->X[e] : *links;
    }
    assert_ok(FtB_Matrix_build(&w->A, FTB_FP64, w->n, w->n, w->width, w->tuples, w->I, w->J,
                               w->width ? w->X : NULL, w->keep ? FTB_DUP_KEEP : FTB_DUP_SUM, NULL));
}

static void draw_web(web *w, rng *r)
{
    w->n = 1 + rng_below(r, MOST);
    w->tuples = rng_below(r, 1 + (rng_below(r, 4) ? 4 : 1) * w->n);
    w->keep = rng_below(r, 2);
    w->width = rng_below(r, 3) > 0;
    for (int64_t e = 0; e < w->tuples; e++)
        draw_link(w, r, e);
    weave(w);
}

/* Some links lead somewhere else, are gone, or are new. */
static void change_web(web *w, rng *r)
{
    FtB_Matrix_free(&w->A);
    for (int64_t e = 0, some = rng_below(r, 4); e < some && w->tuples > 0; e++)
        draw_link(w, r, rng_below(r, w->tuples));
    w->tuples -= rng_below(r, 2) * (w->tuples > 0);
    for (int64_t e = 0, some = rng_below(r, 4); e < some && w->tuples < ENTRIES; e++)
        draw_link(w, r, w->tuples++);
    weave(w);
}

/* M x = y, by elimination; y becomes x. */
static void solve(int64_t n, long double M[MOST][MOST], long double *y)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k; i < n; i++)
            pivot = fabsl(M[i][k]) > fabsl(M[pivot][k]) ? i : pivot;
        for (int64_t j = 0; j < n; j++) {
            const long double swap = M[k][j];
            M[k][j] = M[pivot][j];
            M[pivot][j] = swap;
        }
        const long double swap = y[k];
        y[k] = y[pivot];
        y[pivot] = swap;
        for (int64_t i = 0; i < n; i++) {
            const long double times = i == k ? 0 : M[i][k] / M[k][k];
            for (int64_t j = k; j < n && times != 0; j++)
                M[i][j] -= times * M[k][j];
            y[i] -= times * y[k];
        }
    }
    for (int64_t k = 0; k < n; k++)
        y[k] /= M[k][k];
}

/* The ranks that stay, where a surfer begins again at v by the chance of begin[v]. */
static void exact_ranks(const web *w, FtB_Pagerank_kind kind, double d, const long double *begin,
                        long double *rank)
{
    static long double M[MOST][MOST];
    const double(*link)[MOST] = kind == FTB_PAGERANK_NETWORKX ? w->values : w->links;
    for (int64_t u = 0; u < w->n; u++) {
        long double all = 0;
        for (int64_t v = 0; v < w->n; v++)
            all += link[u][v];
        for (int64_t v = 0; v < w->n; v++) {
            const long double gets = all > 0 ? link[u][v] / all : kind != FTB_PAGERANK_GAP ? begin[v] : 0;
            M[v][u] = (u == v) - d * gets;
        }
        rank[u] = (1 - (long double)d) * begin[u];
    }
    solve(w->n, M, rank);
}

/* ---- random webs */

typedef struct surfers {
    int64_t k, sources[COLUMNS]; /* of each column; -1: it has none */
    FtB_Block teleport;          /* NULL: none */
    long double begin[COLUMNS][MOST];
} surfers;

/* of: 0, for all alike; 1, sources; 2, chances, in columns of a wider block. */
static void draw_surfers(surfers *s, rng *r, int of, int64_t n, FtB_Type type)
{
    FtB_Block wide;
    *s = (surfers){.k = of ? 1 + rng_below(r, COLUMNS) : 1};
    for (int64_t c = 0; c < s->k; c++) {
        s->sources[c] = of == 1 ? rng_below(r, n) : -1;
        for (int64_t v = 0; v < n; v++)
            s->begin[c][v] = of == 1 ? v == s->sources[c] : 1 / (long double)n;
    }
    if (of < 2)
        return;
    assert_ok(FtB_Block_new(&wide, n, s->k + 2, type));
    assert_ok(FtB_Block_columns(&s->teleport, wide, 1, s->k));
    for (int64_t c = 0; c < s->k; c++) {
        const int64_t some = rng_below(r, n);
        long double sum = 0;
        for (int64_t v = 0; v < n; v++) {
            const double x = v == some ? 2 : rng_below(r, 3) ? 0 : 3 * rng_unit(r);
            const int64_t at = v * (s->k + 2) + 1 + c;
            if (type == FTB_FP32)
                ((float *)block_values(wide))[at] = (float)x;
            else
                ((double *)block_values(wide))[at] = x;
            s->begin[c][v] = type == FTB_FP32 ? (float)x : x;
            sum += s->begin[c][v];
        }
        for (int64_t v = 0; v < n; v++)
            s->begin[c][v] /= sum;
    }
    FtB_Block_free(&wide);
}

/* The greatest difference of a column, in all. */
static double differ(const web *w, const surfers *s, FtB_Pagerank_kind kind, double d, FtB_Block R,
                     FtB_Type type)
{
    long double most = 0;
    int64_t ld;
    assert_ok(FtB_Block_shape(R, NULL, NULL, &ld, NULL, NULL));
    for (int64_t c = 0; c < s->k; c++) {
        long double rank[MOST], off = 0;
        exact_ranks(w, kind, d, s->begin[c], rank);
        for (int64_t v = 0; v < w->n; v++) {
            const int64_t at = v * ld + c;
            off += fabsl(rank[v] - (type == FTB_FP32 ? (double)((const float *)block_values(R))[at]
                                                     : ((const double *)block_values(R))[at]));
        }
        most = off > most || isnan(off) ? off : most;
    }
    return (double)most;
}

static void kinds(void **state)
{
    (void)state;
    const int cases = rng_cases(120);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        web w;
        surfers s;
        const FtB_Pagerank_kind kind = (FtB_Pagerank_kind)(c % 3);
        const FtB_Type type = c % 2 ? FTB_FP64 : FTB_FP32;
        const double d = c % 5 ? 0.85 : 0.5, near = type == FTB_FP64 ? 1e-12 : 1e-6;
        int64_t steps = 0;
        FtB_Block R;
        draw_web(&w, &r);
        draw_surfers(&s, &r, c / 3 % 3, w.n, type);
        assert_ok(FtB_Block_new(&R, w.n, s.k, type));
        assert_ok(FtB_pagerank(R, w.A,
                               FTB_PAGERANK(.kind = kind, .damping = d, .supersteps = &steps,
                                            .tolerance = kind == FTB_PAGERANK_LDBC       ? 0
                                                         : kind == FTB_PAGERANK_NETWORKX ? near / (double)w.n
                                                                                         : near,
                                            .sources = {s.sources[0] < 0 ? NULL : s.sources, s.k},
                                            .teleport = s.teleport, .rounds = 200)));
        assert_true(differ(&w, &s, kind, d, R, type) < 10 * near);
        assert_true(steps > 0 && (kind != FTB_PAGERANK_LDBC || steps == 200));
        FtB_Block_free(&R);
        FtB_Block_free(&s.teleport);
        FtB_Matrix_free(&w.A);
    }
}

/* By changes and by sweeps, anew and from the ranks before some links changed, in place or beside them: where
 * a round would change them by less than the tolerance, ranks are off by no more than that by 1 - damping. */
static void methods(void **state)
{
    (void)state;
    const int cases = rng_cases(150);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        web w;
        surfers s;
        const FtB_Pagerank_kind kind = (FtB_Pagerank_kind)(c % 2);
        const FtB_Pagerank_method method = c / 2 % 2 ? FTB_PAGERANK_CHANGES : FTB_PAGERANK_SWEEPS;
        const FtB_Type type = c / 4 % 3 ? FTB_FP64 : FTB_FP32;
        const double near = type == FTB_FP64 ? 1e-7 : 1e-5, most = near / 0.15;
        FtB_Block wide, R, from; /* R: columns of a wider one */
        draw_web(&w, &r);
        draw_surfers(&s, &r, (int)rng_below(&r, 3), w.n, type);
        FtB_Pagerank_options o = {
            .size = sizeof o, .kind = kind, .method = method, .rounds = 1000, .teleport = s.teleport};
        o.sources = (FtB_Ids){s.sources[0] < 0 ? NULL : s.sources, s.k};
        o.tolerance = kind == FTB_PAGERANK_NETWORKX ? near / (double)w.n : near;
        assert_ok(FtB_Block_new(&wide, w.n, s.k + 1, type));
        assert_ok(FtB_Block_columns(&R, wide, c % 2, s.k));
        FtB_Block_free(&wide);
        assert_ok(FtB_Block_new(&from, w.n, s.k, FTB_FP64));
        assert_ok(FtB_pagerank(R, w.A, &o));
        assert_true(differ(&w, &s, kind, 0.85, R, type) < most);
        for (int round = 0; round < 3; round++) {
            change_web(&w, &r);
            assert_ok(FtB_apply(from, NULL, NULL, "x", R, NULL));
            o.start = round == 1 ? from : R;
            if (round == 1)
                assert_ok(FtB_apply(R, NULL, NULL, "0 * x - 1", R, NULL));
            assert_ok(FtB_pagerank(R, w.A, &o));
            assert_true(differ(&w, &s, kind, 0.85, R, type) < most);
        }
        if (method == FTB_PAGERANK_CHANGES) { /* there already, also where ranks are divided by their sum */
            int64_t steps = 0;
            o.start = R;
            o.tolerance *= 100;
            o.supersteps = &steps;
            assert_ok(FtB_pagerank(R, w.A, &o));
            assert_int_equal(steps, 1);
        }
        FtB_Block_free(&R);
        FtB_Block_free(&from);
        FtB_Block_free(&s.teleport);
        FtB_Matrix_free(&w.A);
    }
}

/* The figures that networkx 2.8.8's pagerank gives, by default, for a graph with values and a vertex without
 * links. */
static void known_ranks(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 1, 2, 2, 4}, J[] = {1, 2, 2, 0, 3, 4};
    static const double X[] = {1, 3, 2, 1, 1, 0.5};
    FtB_Matrix A;
    FtB_Block R;
    int64_t steps;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 5, 5, 1, 6, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&R, 5, 1, FTB_FP64));
    assert_ok(FtB_pagerank(R, A, FTB_PAGERANK(.kind = FTB_PAGERANK_NETWORKX, .supersteps = &steps)));
    const double *rank = block_values(R);
    double sum = 0;
    for (int v = 0; v < 5; v++)
        sum += rank[v];
    assert_true(fabs(sum - 1) < 1e-12); /* nothing is lost */
    static const double expected[] = {0.15370924428389066, 0.088794002457075, 0.22959580193754447,
                                      0.15370924428389066, 0.3741917070375993};
    for (int v = 0; v < 5; v++)
        assert_true(fabs(rank[v] - expected[v]) < 1e-14);
    assert_ok(FtB_pagerank(R, A, NULL));
    sum = 0;
    for (int v = 0; v < 5; v++)
        sum += rank[v];
    assert_true(sum < 0.95); /* and here vertex 3 loses */
    assert_fails(GrB_NO_VALUE, "after 2 rounds",
                 FtB_pagerank(R, A, FTB_PAGERANK(.rounds = 2, .supersteps = &steps)));
    assert_int_equal(steps, 2);
    FtB_Block_free(&R);
    FtB_Matrix_free(&A);
}

/* The same bits, whatever the threads. */
static void threads(void **state)
{
    (void)state;
    static const int64_t sources[] = {5, 70, 5};
    static int64_t I[MANY], J[MANY]; /* so many that threads share what is in a slice */
    rng r = rng_new();
    FtB_Matrix A;
    FtB_Block all, many, first;
    for (int64_t e = 0; e < MANY; e++) {
        I[e] = rng_below(&r, LARGE);
        J[e] = rng_below(&r, LARGE);
    }
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, LARGE, LARGE, 0, MANY, I, J, NULL, FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Block_new(&all, LARGE, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&many, LARGE, 3, FTB_FP64));
    assert_ok(FtB_Block_new(&first, LARGE, 4, FTB_FP64));
    for (int method = FTB_PAGERANK_ROUNDS; method <= FTB_PAGERANK_SWEEPS; method++)
        for (int t = 1; t <= 8; t = t == 3 ? 8 : t == 1 ? 3 : 9) {
            double *kept = block_values(first);
            const FtB_Pagerank_method m = (FtB_Pagerank_method)method;
            assert_ok(FtB_Context_set_threads(NULL, t));
            assert_ok(FtB_pagerank(all, A, FTB_PAGERANK(.method = m, .tolerance = 1e-2)));
            assert_ok(
                FtB_pagerank(many, A, FTB_PAGERANK(.method = m, .tolerance = 1e-2, .sources = {sources, 3})));
            if (t == 1) {
                memcpy(kept, block_values(many), LARGE * 3 * sizeof *kept);
                memcpy(kept + 3 * LARGE, block_values(all), LARGE * sizeof(float));
            }
            assert_memory_equal(kept, block_values(many), LARGE * 3 * sizeof *kept);
            assert_memory_equal(kept + 3 * LARGE, block_values(all), LARGE * sizeof(float));
        }
    assert_ok(FtB_Context_set_threads(NULL, 1));
    FtB_Block_free(&all);
    FtB_Block_free(&many);
    FtB_Block_free(&first);
    FtB_Matrix_free(&A);
}

/* Of more vertices than a slice, and a part of a sum, has: the ranks of rounds, in far fewer sweeps. */
static void sweeps(void **state)
{
    (void)state;
    FtB_Matrix A = large_graph();
    FtB_Block slow, quick;
    int64_t rounds = 0, count = 0;
    assert_ok(FtB_Block_new(&slow, LARGE, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&quick, LARGE, 1, FTB_FP64));
    for (double limit = 1e-4; limit > 1e-9; limit /= 100) {
        double off = 0;
        assert_ok(FtB_pagerank(slow, A, FTB_PAGERANK(.tolerance = limit, .supersteps = &rounds)));
        assert_ok(FtB_pagerank(
            quick, A, FTB_PAGERANK(.tolerance = limit, .supersteps = &count, .method = FTB_PAGERANK_SWEEPS)));
        for (int64_t v = 0; v < LARGE; v++)
            off += fabs(((const double *)block_values(slow))[v] - ((const double *)block_values(quick))[v]);
        assert_true(off < 10 * limit && 4 * count < rounds);
    }
    for (int method = FTB_PAGERANK_ROUNDS; method <= FTB_PAGERANK_SWEEPS; method++) { /* there already */
        assert_ok(FtB_apply(quick, NULL, NULL, "0 * x", quick, NULL));
        assert_ok(FtB_pagerank(quick, A,
                               FTB_PAGERANK(.start = slow, .tolerance = 1e-6, .supersteps = &count,
                                            .method = (FtB_Pagerank_method)method)));
        assert_int_equal(count, 1);
    }
    assert_fails(
        GrB_NO_VALUE, "after 2 rounds",
        FtB_pagerank(quick, A,
                     FTB_PAGERANK(.rounds = 2, .supersteps = &count, .method = FTB_PAGERANK_SWEEPS)));
    assert_int_equal(count, 2);
    FtB_Block_free(&slow);
    FtB_Block_free(&quick);
    FtB_Matrix_free(&A);
}

/* Ranks do not depend on those that they begin with, which may be as large as numbers are. */
static void far(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 2, 0, 3};
    static const double starts[][4] = {
        {1e300, -1e300, 5, 0}, {65, 0, -1e-300, 1e17}, {-1e308, -1e308, 1e308, 3}};
    FtB_Matrix A;
    FtB_Block want, got, from, few;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 4, 4, 0, 4, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&want, 4, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&got, 4, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&from, 4, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&few, 4, 1, FTB_FP32));
    for (int c = 0; c < 9; c++) {
        const FtB_Pagerank_kind kind = c % 2 ? FTB_PAGERANK_GAP : FTB_PAGERANK_NETWORKX;
        assert_ok(FtB_pagerank(want, A, FTB_PAGERANK(.kind = kind, .tolerance = 1e-14, .rounds = 1000)));
        memcpy(block_values(from), starts[c / 3], sizeof starts[0]);
        assert_ok(FtB_pagerank(got, A,
                               FTB_PAGERANK(.kind = kind, .tolerance = 1e-14, .rounds = 1000, .start = from,
                                            .method = (FtB_Pagerank_method)(c % 3))));
        for (int v = 0; v < 4; v++)
            assert_true(fabs(((double *)block_values(got))[v] - ((double *)block_values(want))[v]) < 1e-12);
    }
    assert_fails(GrB_INVALID_VALUE, "column 0 of start has numbers beyond fp32",
                 FtB_pagerank(few, A, FTB_PAGERANK(.start = from)));
    FtB_Block_free(&want);
    FtB_Block_free(&got);
    FtB_Block_free(&from);
    FtB_Block_free(&few);
    FtB_Matrix_free(&A);
}

/* ---- what is refused, and nothing */

static void refused_teleport(FtB_Matrix A, FtB_Block s)
{
    static const double columns[][3] = {{0, 0, 0}, {1, -1, 2}, {1, NAN, 0}, {INFINITY, 0, 0}};
    static const char *const says[] = {"column 0 of teleport sums up to 0", "teleport(1, 0) is -1",
                                       "teleport(1, 0) is nan", "teleport(0, 0) is inf"};
    const int64_t one = 1;
    FtB_Block chance, other, whole;
    assert_ok(FtB_Block_new(&chance, 3, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&other, 4, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&whole, 3, 1, FTB_INT64));
    for (int c = 0; c < 4; c++) {
        memcpy(block_values(chance), columns[c], sizeof columns[c]);
        assert_fails(GrB_INVALID_VALUE, says[c], FtB_pagerank(s, A, FTB_PAGERANK(.teleport = chance)));
    }
    assert_fails(GrB_DIMENSION_MISMATCH, "teleport is 4 x 1; expected 3 x 1",
                 FtB_pagerank(s, A, FTB_PAGERANK(.teleport = other)));
    assert_fails(GrB_DOMAIN_MISMATCH, "teleport: dtype int64",
                 FtB_pagerank(s, A, FTB_PAGERANK(.teleport = whole)));
    assert_fails(GrB_INVALID_VALUE, "both sources and teleport",
                 FtB_pagerank(s, A, FTB_PAGERANK(.teleport = chance, .sources = {&one, 1})));
    assert_fails(GrB_INVALID_VALUE, "teleport shares memory with ranks",
                 FtB_pagerank(s, A, FTB_PAGERANK(.teleport = s)));
    FtB_Block_free(&chance);
    FtB_Block_free(&other);
    FtB_Block_free(&whole);
}

static void refused_values(FtB_Block s)
{
    static const int64_t I[] = {0, 1, 2}, J[] = {1, 2, 0};
    for (int e = 0; e < 3; e++)
        for (int infinite = 0; infinite < 2; infinite++) {
            double X[] = {1, 1, 1};
            char says[64];
            FtB_Matrix A;
            X[e] = infinite ? -(double)INFINITY : (double)NAN;
            snprintf(says, sizeof says, "A(%d, %d) is %sn", e, (e + 1) % 3, infinite ? "-i" : "na");
            assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 3, I, J, X, FTB_DUP_SUM, NULL));
            assert_fails(GrB_INVALID_VALUE, says,
                         FtB_pagerank(s, A, FTB_PAGERANK(.kind = FTB_PAGERANK_NETWORKX)));
            assert_ok(FtB_pagerank(s, A, NULL)); /* does not look at them */
            FtB_Matrix_free(&A);
        }
}

static void refused_start(FtB_Matrix A, FtB_Block s, FtB_Block two)
{
    FtB_Block from;
    assert_ok(FtB_Block_new(&from, 3, 1, FTB_FP64));
    ((double *)block_values(from))[1] = NAN;
    for (int method = FTB_PAGERANK_ROUNDS; method <= FTB_PAGERANK_SWEEPS; method++) {
        const FtB_Pagerank_method m = (FtB_Pagerank_method)method;
        assert_fails(GrB_INVALID_VALUE, "start(1, 0) is nan; expected a finite number",
                     FtB_pagerank(s, A, FTB_PAGERANK(.start = from, .method = m)));
        assert_fails(GrB_DIMENSION_MISMATCH, "start is 3 x 2; expected 3 x 1",
                     FtB_pagerank(s, A, FTB_PAGERANK(.start = two, .method = m)));
    }
    assert_fails(GrB_INVALID_VALUE, "LDBC's definition is one of rounds",
                 FtB_pagerank(s, A, FTB_PAGERANK(.kind = FTB_PAGERANK_LDBC, .method = FTB_PAGERANK_CHANGES)));
    assert_fails(GrB_INVALID_VALUE, "damping is 1",
                 FtB_pagerank(s, A, FTB_PAGERANK(.damping = 1, .method = FTB_PAGERANK_CHANGES)));
    assert_fails(GrB_INVALID_VALUE, "method is -1",
                 FtB_pagerank(s, A, FTB_PAGERANK(.method = (FtB_Pagerank_method)-1)));
    FtB_Block_free(&from);
}

static void refused(void **state)
{
    (void)state;
    static const int64_t sources[] = {0, 3};
    FtB_Matrix A, two;
    FtB_Block d, s, i;
    assert_ok(FtB_Matrix_new(&A, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_Matrix_new(&two, FTB_FP32, 3, 3, 2));
    assert_ok(FtB_Block_new(&d, 3, 2, FTB_FP32));
    assert_ok(FtB_Block_new(&s, 3, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&i, 3, 1, FTB_INT32));
    assert_fails(GrB_NULL_POINTER, "ranks is NULL", FtB_pagerank(NULL, A, NULL));
    assert_fails(GrB_NULL_POINTER, "A is NULL", FtB_pagerank(s, NULL, NULL));
    assert_fails(GrB_DOMAIN_MISMATCH, "ranks: dtype int32", FtB_pagerank(i, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "ranks is 3 x 2; expected 3 x 1", FtB_pagerank(d, A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "ranks is 3 x 2; expected 3 x 1",
                 FtB_pagerank(d, A, FTB_PAGERANK(.sources = {sources, 1})));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "sources[1] is 3; expected 0 to 2",
                 FtB_pagerank(d, A, FTB_PAGERANK(.sources = {sources, 2})));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 2 values", FtB_pagerank(s, two, NULL));
    assert_fails(GrB_INVALID_VALUE, "damping 1.5", FtB_pagerank(s, A, FTB_PAGERANK(.damping = 1.5)));
    assert_fails(GrB_INVALID_VALUE, "kind is 3",
                 FtB_pagerank(s, A, FTB_PAGERANK(.kind = (FtB_Pagerank_kind)3)));
    assert_fails(GrB_INVALID_VALUE, "tolerance is 0.5; LDBC's has none",
                 FtB_pagerank(s, A, FTB_PAGERANK(.kind = FTB_PAGERANK_LDBC, .tolerance = 0.5)));
    refused_teleport(A, s);
    refused_start(A, s, d);
    refused_values(s);
    FtB_Block_free(&d);
    FtB_Block_free(&s);
    FtB_Block_free(&i);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&two);
}

/* No vertices, no entries, no columns; and as many rounds as there are numbers. */
static void nothing(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1, 2}, J[] = {1, 2, 0};
    int64_t steps = -1;
    FtB_Matrix A, bare, none;
    FtB_Block R, empty, narrow;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_new(&bare, FTB_FP32, 3, 3, 1));
    assert_ok(FtB_Matrix_new(&none, FTB_FP64, 0, 0, 0));
    assert_ok(FtB_Block_new(&R, 3, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&empty, 0, 1, FTB_FP64));
    assert_ok(FtB_Block_new(&narrow, 3, 0, FTB_FP64));
    assert_ok(FtB_pagerank(R, A, FTB_PAGERANK(.rounds = INT64_MAX, .supersteps = &steps)));
    assert_int_equal(steps, 1);
    assert_ok(FtB_pagerank(empty, none, FTB_PAGERANK(.supersteps = &steps)));
    assert_int_equal(steps, 0);
    assert_ok(FtB_pagerank(narrow, A, FTB_PAGERANK(.sources = {I, 0})));
    assert_ok(FtB_pagerank(R, bare, FTB_PAGERANK(.kind = FTB_PAGERANK_NETWORKX)));
    for (int v = 0; v < 3; v++)
        assert_true(fabsf(((const float *)block_values(R))[v] - 1 / 3.f) < 1e-6f);
    FtB_Block_free(&narrow);
    FtB_Block_free(&empty);
    FtB_Block_free(&R);
    FtB_Matrix_free(&none);
    FtB_Matrix_free(&bare);
    FtB_Matrix_free(&A);
}

static GrB_Info all_kinds(void *arg)
{
    (void)arg;
    static const int64_t I[] = {0, 1, 2, 2}, J[] = {1, 2, 0, 3}, sources[] = {1, 3};
    static const double X[] = {1, 2, 3, 4};
    FtB_Matrix A = NULL;
    FtB_Block one = NULL, two = NULL, chance = NULL;
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, 4, 4, 1, 4, I, J, X, FTB_DUP_SUM, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&one, 4, 1, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&two, 4, 2, FTB_FP64);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&chance, 4, 1, FTB_FP32);
    if (info == GrB_SUCCESS)
        ((float *)block_values(chance))[2] = 1;
    if (info == GrB_SUCCESS)
        info = FtB_pagerank(one, A, FTB_PAGERANK(.teleport = chance, .tolerance = 0.5));
    if (info == GrB_SUCCESS)
        info = FtB_pagerank(
            two, A, FTB_PAGERANK(.kind = FTB_PAGERANK_NETWORKX, .tolerance = 0.5, .sources = {sources, 2}));
    if (info == GrB_SUCCESS)
        info =
            FtB_pagerank(two, A,
                         FTB_PAGERANK(.kind = FTB_PAGERANK_NETWORKX, .tolerance = 0.5,
                                      .sources = {sources, 2}, .start = two, .method = FTB_PAGERANK_CHANGES));
    FtB_Block_free(&one);
    FtB_Block_free(&two);
    FtB_Block_free(&chance);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    fail_every_allocation(all_kinds, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),   cmocka_unit_test(methods), cmocka_unit_test(known_ranks),
        cmocka_unit_test(threads), cmocka_unit_test(sweeps),  cmocka_unit_test(far),
        cmocka_unit_test(refused), cmocka_unit_test(nothing), cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
