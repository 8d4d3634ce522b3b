/* Messages that loops know without their text (cpu/vertex/vertex_plain.c), one superstep against loops of
 * four lines: min, max and plus of what was sent, and of that and the edge's value by +, - and *; types of
 * fields and of edges, directions, pushes of few and of many, pulls, threads, who is settled. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 3000, ENTRIES = 12000 };

typedef struct graph { /* entries in the order of rows */
    FtB_Matrix A;
    int64_t n, nvals, from[ENTRIES], to[ENTRIES];
    double w[ENTRIES]; /* 1 where there are no values */
} graph;

static const FtB_Type types[] = {FTB_INT32, FTB_INT64, FTB_FP32, FTB_FP64};

static double value_of(FtB_Type type, const void *x, int64_t at)
{
    return type == FTB_INT32   ? ((const int32_t *)x)[at]
           : type == FTB_INT64 ? (double)((const int64_t *)x)[at]
           : type == FTB_FP32  ? (double)((const float *)x)[at]
                               : ((const double *)x)[at];
}

static void put(FtB_Type type, void *x, int64_t at, double value)
{
    if (type == FTB_INT32)
        ((int32_t *)x)[at] = (int32_t)value;
    else if (type == FTB_INT64)
        ((int64_t *)x)[at] = (int64_t)value;
    else if (type == FTB_FP32)
        ((float *)x)[at] = (float)value;
    else
        ((double *)x)[at] = value;
}

static double random_value(rng *r, FtB_Type type)
{
    static const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -0.0, 0};
    if (type == FTB_INT32 || type == FTB_INT64)
        return (double)(rng_below(r, 2001) - 1000);
    const double x = rng_below(r, 30) ? 2 * rng_unit(r) - 1 : odd[rng_below(r, 5)];
    return type == FTB_FP32 ? (double)(float)x : x;
}

/* The last vertex has no entries, and never is active. */
static void make_graph(graph *g, rng *r, FtB_Type type, bool valued, int64_t n)
{
    const int64_t nvals = rng_below(r, ENTRIES / MOST * n + 1);
    char *values = calloc((size_t)nvals + 1, 8);
    g->n = n + 1;
    for (int64_t e = 0; e < nvals; e++) {
        g->from[e] = rng_below(r, 1 + rng_below(r, n));
        g->to[e] = rng_below(r, n);
        put(type, values, e, random_value(r, type));
    }
    assert_ok(FtB_Matrix_build(&g->A, type, g->n, g->n, valued, nvals, g->from, g->to, valued ? values : NULL,
                               FTB_DUP_KEEP, NULL));
    free(values);
    const int64_t *rowptr;
    const void *colidx, *stored;
    assert_ok(FtB_Matrix_csr(g->A, &rowptr, &colidx, &stored));
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            g->from[e] = i;
            g->to[e] = ((const int32_t *)colidx)[e];
            g->w[e] = valued ? value_of(type, stored, e) : 1;
        }
    g->nvals = rowptr[g->n];
}

/* ---- slowly: sums and products of two FP32 in FP64, rounded, are those of FP32 */

typedef struct expected {
    bool hit[MOST + 1];
    double got[MOST + 1];
} expected;

static double rounded(double x, bool few) { return few ? (double)(float)x : x; }

static double better(double x, double y, int reducer)
{
    if (x != x || y != y)
        return x != x ? y : x;
    if (x == y)
        return (signbit(x) != 0) == (reducer == 0) ? x : y;
    return (x < y) == (reducer == 0) ? x : y;
}

static void expect(expected *to, const graph *g, const double *x, const bool *on, FtB_Direction direction,
                   int reducer, int form, bool few)
{
    for (int64_t v = 0; v < g->n; v++) {
        to->hit[v] = false;
        to->got[v] = 0;
    }
    for (int64_t e = 0; e < 2 * g->nvals; e++) {
        const int64_t at = e % g->nvals, u = e < g->nvals ? g->from[at] : g->to[at];
        const int64_t v = e < g->nvals ? g->to[at] : g->from[at];
        if ((e < g->nvals ? direction == FTB_IN : direction == FTB_OUT) || !on[u])
            continue;
        const double all[] = {x[u], x[u] + g->w[at], x[u] - g->w[at], x[u] * g->w[at]};
        const double m = rounded(all[form], few);
        to->got[v] = reducer == 2 ? rounded(to->got[v] + m, few)
                     : to->hit[v] ? better(to->got[v], m, reducer)
                                  : m;
        to->hit[v] = true;
    }
}

/* ---- random cases */

typedef struct given {
    graph *g;
    FtB_Program program;
    FtB_Type type, result;
    double *x;
    const int64_t *start;
    int64_t nstart;
    bool strided;
} given;

/* One superstep: y becomes what is received where something is, and -77 elsewhere. */
static void step(double *y, const given *c, FtB_Way way, int threads, const char *loop)
{
    const int64_t ld = c->strided ? 3 : 1, n = c->g->n;
    void *x = calloc((size_t)(n * ld), 8), *out = calloc((size_t)n, 8);
    FtB_Block X, Y;
    FtB_Run run;
    FtB_Superstep about;
    bool more;
    for (int64_t v = 0; v < n; v++) {
        put(c->type, x, v * ld, c->x[v]);
        put(c->result, out, v, -77);
    }
    assert_ok(FtB_Context_set_threads(NULL, threads));
    assert_ok(FtB_Block_wrap(&X, x, n, 1, ld, c->type));
    assert_ok(FtB_Block_wrap(&Y, out, n, 1, 1, c->result));
    assert_ok(FtB_Run_new(&run, c->program, c->g->A, FTB_STATE("x", X, "y", Y),
                          FTB_RUN_OPTIONS(.start = {c->start, c->nstart}, .way = way)));
    assert_ok(FtB_Run_step(run, &more));
    assert_ok(FtB_Run_about(run, &about));
    if (c->nstart > 0 && strcmp(about.where, "host") == 0)
        assert_string_equal(about.loop, loop);
    FtB_Run_free(&run);
    FtB_Block_free(&X);
    FtB_Block_free(&Y);
    assert_ok(FtB_Context_set_threads(NULL, 0));
    for (int64_t v = 0; v < n; v++)
        y[v] = value_of(c->result, out, v);
    free(x);
    free(out);
}

static void random_case(int number)
{
    static graph g;
    static expected slow;
    static const char *const reducers[] = {"min", "max", "plus"};
    static const char *const forms[] = {"message", "message + edge", "message - edge", "message * edge"};
    static double x[MOST + 1], y[MOST + 1];
    static bool on[MOST + 1];
    static int64_t start[MOST];
    rng r = rng_case(number);
    const bool valued = rng_below(&r, 4) > 0;
    const FtB_Type type = types[rng_below(&r, 4)];
    const bool whole = type == FTB_INT32 || type == FTB_INT64;
    const FtB_Type edge = valued ? whole ? (rng_below(&r, 2) ? FTB_INT64 : FTB_FP64) : type : FTB_FP32;
    const int reducer = (int)rng_below(&r, 3), form = (int)rng_below(&r, 4);
    const bool few = type == FTB_FP32, settled = rng_below(&r, 3) == 0;
    const FtB_Direction direction = (FtB_Direction)rng_below(&r, 3);
    make_graph(&g, &r, edge, valued, number % 10 ? 1 + rng_below(&r, 50) : MOST);
    given c = {.g = &g,
               .type = type,
               .result = whole && (form == 0 || !valued || edge == FTB_INT64) ? FTB_INT64
                         : few                                                ? FTB_FP32
                                                                              : FTB_FP64,
               .x = x,
               .start = start,
               .nstart = rng_below(&r, g.n > 1000 && rng_below(&r, 2) ? 4 : g.n),
               .strided = rng_below(&r, 4) == 0};
    for (int64_t v = 0; v < g.n; v++) {
        x[v] = random_value(&r, type);
        on[v] = false;
    }
    for (int64_t t = 0; t < c.nstart; t++) {
        start[t] = rng_below(&r, g.n - 1);
        on[start[t]] = true;
    }
    char combine[60];
    snprintf(combine, sizeof combine, "%s : %s", reducers[reducer], forms[form]);
    assert_ok(
        FtB_Program_new(&c.program, FTB_PROGRAM(.send = rng_below(&r, 2) ? "x" : "-(-x)", .combine = combine,
                                                .apply = "y = received", .direction = direction,
                                                .applies = FTB_APPLY_RECEIVERS,
                                                .settled = settled ? "x > 0.5 || indegree == 3" : NULL)));
    expect(&slow, &g, x, on, direction, reducer, form, c.result == FTB_FP32);
    int64_t in[MOST + 1] = {0};
    for (int64_t e = 0; e < g.nvals; e++)
        in[g.to[e]]++;
    for (int way = FTB_WAY_PUSH; way <= FTB_WAY_PULL; way++) {
        step(y, &c, (FtB_Way)way, 1 + (number + way) % 8, "plain");
        for (int64_t v = 0; v < g.n; v++) {
            const bool none = !slow.hit[v] || (settled && (x[v] > 0.5 || in[v] == 3));
            const double want = none                    ? -77
                                : c.result == FTB_INT64 ? slow.got[v] + 0
                                                        : slow.got[v]; /* no -0 */
            if (memcmp(&y[v], &want, sizeof want) != 0 && !(y[v] != y[v] && want != want))
                fail_msg("case %d, %s of %s, edges %s, way %d: vertex %lld has %.17g, not %.17g", number,
                         combine, FtB_Type_name(type), FtB_Type_name(edge), way, (long long)v, y[v], want);
        }
    }
    FtB_Program_free(&c.program);
    FtB_Matrix_free(&g.A);
}

static void random_messages(void **state)
{
    (void)state;
    const int cases = rng_cases(1000);
    for (int c = 0; c < cases; c++)
        random_case(c);
}

/* Beside them texts that no loop knows: of other types, of more than one value. */
static void others(void **state)
{
    (void)state;
    static graph g;
    static const char *const combines[] = {"min : message + 1", "times : message", "min : edge - message",
                                           "plus : message + edge + edge"};
    double x[40] = {0}, y[40];
    const int64_t zero = 0;
    rng r = rng_case(0);
    make_graph(&g, &r, FTB_FP64, true, 30);
    given c = {.g = &g, .type = FTB_FP64, .result = FTB_FP64, .x = x, .start = &zero, .nstart = 1};
    for (int t = 0; t < 4; t++) {
        assert_ok(FtB_Program_new(&c.program,
                                  FTB_PROGRAM(.send = "x", .combine = combines[t], .apply = "y = received",
                                              .applies = FTB_APPLY_RECEIVERS)));
        step(y, &c, FTB_WAY_PUSH, 1, "text");
        FtB_Program_free(&c.program);
    }
    FtB_Matrix_free(&g.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_messages), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
