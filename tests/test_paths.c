/* Shortest paths, done at once by the backend's verb: bits of supersteps and of any number of threads, and
 * sums of Dijkstra's search in wider arithmetic. Real and whole lengths, zero ones, of many magnitudes,
 * infinite and NaN, of every type; parallel entries; few columns and many; starts of any distance. What is
 * no such run, or has lengths or distances for which order would show, goes by supersteps. */
#include "support/check.h"

#include "core/core.h"
#include "core/isa.h"
#include "featblas_vertex.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct graph { /* A's entries, in its order, as FP64 */
    FtB_Matrix A;
    int64_t n, nvals;
    const int64_t *rowptr;
    const int32_t *colidx;
    double *length;
} graph;

/* ---- graphs */

enum { SHAPES = 6, KINDS = 8 };

/* A length of some kind: real, whole, zero now and then, all zero, of many magnitudes, of two magnitudes,
 * with infinities and NaN, so large that sums are not finite. */
static double length_of(rng *r, int kind)
{
    const double x = rng_unit(r);
    switch (kind) {
    case 0:
        return x;
    case 1:
        return (double)(1 + rng_below(r, 100));
    case 2:
        return rng_below(r, 3) ? x : rng_below(r, 2) ? 0 : -0.0;
    case 3:
        return 0;
    case 4:
        return exp(20 * x - 10);
    case 5:
        return rng_below(r, 100) ? x : 1e6 * (1 + x);
    case 6:
        return rng_below(r, 10) ? x : rng_below(r, 2) ? (double)INFINITY : (double)NAN;
    default:
        return rng_below(r, 10) ? 1e-30 * x : 1e38 * (1 + x);
    }
}

typedef struct tuples {
    int64_t count, *from, *to;
} tuples;

static void add(tuples *t, int64_t from, int64_t to)
{
    t->from[t->count] = from;
    t->to[t->count++] = to;
}

/* Random graphs of few and of many entries, a grid both ways round, a path, a hub, no entries. */
static tuples make_tuples(rng *r, int shape, int64_t n)
{
    const size_t room = sizeof(int64_t) * (size_t)(17 * n + 1);
    const int64_t side = (int64_t)sqrt((double)n);
    tuples t = {0, malloc(room), malloc(room)};
    for (int64_t e = 0; e < (shape == 0 ? 2 * n : shape == 1 ? 16 * n : 0); e++)
        add(&t, rng_below(r, n), rng_below(r, 1 + rng_below(r, n)));
    for (int64_t v = 0; v < n; v++) {
        if (shape == 2 && v % side + 1 < side && v + 1 < n) {
            add(&t, v, v + 1);
            add(&t, v + 1, v);
        }
        if (shape == 2 && v + side < n) {
            add(&t, v, v + side);
            add(&t, v + side, v);
        }
        if (shape == 3 && v > 0)
            add(&t, v - 1, v);
        if (shape == 4) {
            add(&t, v, n / 2);
            add(&t, n / 2, v);
        }
    }
    return t;
}

static graph make_graph(rng *r, int shape, int kind, int64_t n, FtB_Type type, int64_t width)
{
    tuples t = make_tuples(r, shape, n);
    graph g = {.n = n};
    const void *colidx, *stored;
    double *values = malloc(sizeof *values * (size_t)(t.count + 1)), one = 1;
    void *cast = malloc(sizeof *values * (size_t)(t.count + 1));
    for (int64_t e = 0; e < t.count; e++)
        values[e] = length_of(r, kind);
    ftb_cast(cast, type, values, FTB_FP64, t.count);
    assert_ok(FtB_Matrix_build(&g.A, type, n, n, width, t.count, t.from, t.to, width ? cast : NULL,
                               FTB_DUP_KEEP, NULL));
    assert_ok(FtB_Matrix_csr(g.A, &g.rowptr, &colidx, &stored));
    g.colidx = colidx;
    g.nvals = g.rowptr[n];
    g.length = malloc(sizeof *g.length * (size_t)(g.nvals + 1));
    if (width)
        ftb_cast(g.length, FTB_FP64, stored, type, g.nvals);
    else
        ftb_fill(g.length, g.nvals, &one, sizeof one);
    free(values);
    free(cast);
    free(t.from);
    free(t.to);
    return g;
}

static void free_graph(graph *g)
{
    FtB_Matrix_free(&g->A);
    free(g->length);
}

/* ---- Dijkstra's search, with a heap of (distance, vertex) */

typedef struct heap {
    int64_t count;
    struct item {
        long double key;
        int64_t v;
    } * at;
} heap;

static void heap_swap(heap *h, int64_t a, int64_t b)
{
    const struct item item = h->at[a];
    h->at[a] = h->at[b];
    h->at[b] = item;
}

static void heap_put(heap *h, long double key, int64_t v)
{
    int64_t at = h->count++;
    h->at[at] = (struct item){key, v};
    for (; at > 0 && h->at[at].key < h->at[(at - 1) / 2].key; at = (at - 1) / 2)
        heap_swap(h, at, (at - 1) / 2);
}

static struct item heap_take(heap *h)
{
    const struct item least = h->at[0];
    h->at[0] = h->at[--h->count];
    for (int64_t at = 0, next; 2 * at + 1 < h->count; at = next) {
        next = 2 * at + 1;
        next += next + 1 < h->count && h->at[next + 1].key < h->at[next].key;
        if (!(h->at[next].key < h->at[at].key))
            break;
        heap_swap(h, at, next);
    }
    return least;
}

static long double *slow_paths(const graph *g, int64_t source)
{
    long double *dist = malloc(sizeof *dist * (size_t)g->n);
    heap h = {0, malloc(sizeof *h.at * (size_t)(g->nvals + 1))};
    for (int64_t v = 0; v < g->n; v++)
        dist[v] = v == source ? 0 : (long double)INFINITY;
    heap_put(&h, 0, source);
    while (h.count > 0) {
        const struct item least = heap_take(&h);
        if (least.key > dist[least.v])
            continue;
        for (int64_t e = g->rowptr[least.v]; e < g->rowptr[least.v + 1]; e++) {
            const long double sum = least.key + g->length[e];
            if (sum < dist[g->colidx[e]]) {
                dist[g->colidx[e]] = sum;
                heap_put(&h, sum, g->colidx[e]);
            }
        }
    }
    free(h.at);
    return dist;
}

/* Within the rounding of as many sums as a path can have. */
static void check_column(const graph *g, FtB_Block D, int64_t c, int64_t k, int64_t source, int kind)
{
    long double *expected = slow_paths(g, source);
    FtB_Type type;
    void *at;
    assert_ok(FtB_Block_shape(D, NULL, NULL, NULL, &type, &at));
    const long double within = (type == FTB_FP32 ? 6e-8L : 1.2e-16L) * (long double)(g->n < 200 ? g->n : 200);
    for (int64_t v = 0; v < g->n; v++) {
        const long double got = (long double)ftb_get_real(at, type, v * k + c), want = expected[v];
        if (kind == 7 && want > 1e38L) /* beyond FP32 */
            continue;
        if (!(got == want || fabsl(got - want) <= within * want))
            fail_msg("vertex %lld: %Lg, expected %Lg", (long long)v, got, want);
    }
    free(expected);
}

/* ---- tests */

static const FtB_Type types[] = {FTB_FP32,   FTB_FP64,   FTB_FP16,  FTB_BF16,  FTB_INT8,
                                 FTB_INT16,  FTB_INT32,  FTB_INT64, FTB_UINT8, FTB_UINT16,
                                 FTB_UINT32, FTB_UINT64, FTB_BOOL};
enum { TYPES = sizeof types / sizeof *types, MOST = 70 };

/* Few columns, which are searched one by one, and from 16 on many, which are walked together. */
static int64_t some_columns(rng *r)
{
    static const int64_t most[] = {3, 20, 40, MOST};
    return 1 + rng_below(r, most[rng_below(r, 4)]);
}

/* What the text gives, step by step, has the same bits. */
static void lengths(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 10, 200, 1500};
    const int cases = rng_cases(400);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        const int kind = (int)rng_below(&r, KINDS);
        const FtB_Type type = rng_below(&r, 2) ? types[c % TYPES] : types[c % 2];
        const FtB_Type dtype = rng_below(&r, 2) ? FTB_FP32 : FTB_FP64;
        const int64_t n = sizes[rng_below(&r, 5)], k = c % 4 ? 1 : some_columns(&r);
        if (kind > 1 && type != FTB_FP32 && type != FTB_FP64) /* no integers, or out of range */
            continue;
        graph g = make_graph(&r, c % SHAPES, kind, n, type, c % 9 > 0);
        int64_t sources[MOST], steps;
        FtB_Block D, S;
        for (int64_t s = 0; s < k; s++)
            sources[s] = rng_below(&r, n);
        assert_ok(FtB_Block_new(&D, n, k, dtype));
        assert_ok(FtB_Block_new(&S, n, k, dtype));
        assert_ok(FtB_Context_set_threads(NULL, 1 + c % 3));
        ftb_isa_force(c % 16 ? -1 : c / 16 % 3);
        assert_ok(FtB_sssp(D, g.A, sources, k, FTB_RUN_OPTIONS(.supersteps = &steps)));
        assert_int_equal(steps, 1);
        assert_ok(FtB_sssp(S, g.A, sources, k, FTB_RUN_OPTIONS(.way = FTB_WAY_PULL, .supersteps = &steps)));
        assert_memory_equal(block_values(D), block_values(S), (size_t)(n * k) * FtB_Type_size(dtype));
        check_column(&g, D, k - 1, k, sources[k - 1], kind);
        FtB_Block_free(&D);
        FtB_Block_free(&S);
        free_graph(&g);
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Graphs on which threads share buckets, and columns. */
static void threads(void **state)
{
    (void)state;
    static const int64_t columns[] = {1, 3, 33};
    for (int c = 0; c < 9; c++) {
        rng r = rng_case(c);
        const int shape = c % 3 == 2 ? 4 : 1 + c % 3, kind = c / 3 % 2 ? 0 : 5;
        graph g = make_graph(&r, shape, kind, 12000, FTB_FP32, 1);
        const int64_t k = columns[c / 3];
        int64_t sources[MOST];
        FtB_Block D, S;
        for (int64_t s = 0; s < k; s++)
            sources[s] = rng_below(&r, g.n);
        assert_ok(FtB_Block_new(&D, g.n, k, FTB_FP32));
        assert_ok(FtB_Block_new(&S, g.n, k, FTB_FP32));
        assert_ok(FtB_Context_set_threads(NULL, 1));
        assert_ok(FtB_sssp(S, g.A, sources, k, NULL));
        check_column(&g, S, 0, k, sources[0], kind);
        check_column(&g, S, k - 1, k, sources[k - 1], kind);
        for (int t = 2; t <= 8; t *= 2) {
            assert_ok(FtB_Context_set_threads(NULL, t));
            assert_ok(FtB_sssp(D, g.A, sources, k, NULL));
            assert_memory_equal(block_values(D), block_values(S), (size_t)(g.n * k) * sizeof(float));
        }
        FtB_Block_free(&D);
        FtB_Block_free(&S);
        free_graph(&g);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Runs p over columns that begin as `first`, as it would and by supersteps; whether the former was whole. */
static bool run_both(FtB_Program p, const graph *g, const double *first, int64_t k, FtB_Type type,
                     FtB_Ids start, double **result)
{
    const int64_t ld = k + 1;
    const size_t bytes = (size_t)(g->n * ld) * FtB_Type_size(type);
    void *at[2] = {malloc(bytes), malloc(bytes)};
    bool whole = false;
    for (int way = 0; way < 2; way++) {
        FILE *told = tmpfile();
        FtB_Block D;
        ftb_cast(at[way], type, first, FTB_FP64, g->n * ld);
        assert_ok(FtB_Block_wrap(&D, at[way], g->n, k, ld, type));
        assert_ok(FtB_run(
            p, g->A, FTB_STATE("d", D),
            FTB_RUN_OPTIONS(.way = way ? FTB_WAY_PULL : FTB_WAY_AUTO, .start = start, .explain = told)));
        const bool told_whole = was_whole(told);
        assert_false(way && told_whole);
        whole = whole || told_whole;
        FtB_Block_free(&D);
    }
    for (int64_t t = 0; t < g->n * ld; t++) { /* what lies between the rows, too; of several NaN any */
        const size_t size = FtB_Type_size(type);
        if (memcmp((char *)at[0] + (size_t)t * size, (char *)at[1] + (size_t)t * size, size) != 0)
            assert_true(isnan(ftb_get_real(at[0], type, t)) && isnan(ftb_get_real(at[1], type, t)));
    }
    *result = malloc(sizeof **result * (size_t)(g->n * ld));
    ftb_cast(*result, FTB_FP64, at[0], type, g->n * ld);
    free(at[0]);
    free(at[1]);
    return whole;
}

static const FtB_Program_texts own[] = {
    {.size = sizeof *own, .send = "d", .combine = "min : message + edge", .apply = "d = min(d, received)"},
    {.size = sizeof *own,
     .send = "(d)",
     .combine = "min : edge + src",
     .apply = "d=min(received,old.d);",
     .applies = FTB_APPLY_ALL},
    {.size = sizeof *own,
     .send = "d",
     .combine = "min : message + edge",
     .apply = "d = min(d, received)",
     .priority = "d",
     .delta = 0.25},
    {.size = sizeof *own,
     .send = "d",
     .combine = "min : a + b",
     .apply = "d = min(d, received)",
     .direction = FTB_IN,
     .priority = "-id",
     .delta = 3}};
enum { OWN = sizeof own / sizeof *own };

/* Distances that a user begins with: of any size and sign, also of vertices that do not start. */
static void own_texts(void **state)
{
    (void)state;
    static const double magnitudes[] = {0, 1, 10, 1e9};
    for (int c = 0; c < 200; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, c % SHAPES, c % 3 ? 0 : (int)rng_below(&r, 6), 1 + rng_below(&r, 300),
                             c % 2 ? FTB_FP32 : FTB_FP64, 1);
        const int64_t k = c % 5 == 1 ? 15 + rng_below(&r, MOST - 14) : 1 + c % 3, ld = k + 1;
        const FtB_Type type = c % 5 < 2 ? FTB_FP32 : FTB_FP64;
        const double magnitude = magnitudes[rng_below(&r, 4)];
        const bool odd = c % 10 == 9;
        double *first = malloc(sizeof *first * (size_t)(g.n * ld)), *result;
        int64_t *start = malloc(sizeof *start * (size_t)g.n), count = 0;
        FtB_Program p;
        for (int64_t t = 0; t < g.n * ld; t++)
            first[t] = rng_below(&r, 3) ? (double)INFINITY : 0.0 + magnitude * (2 * rng_unit(&r) - 1);
        if (odd)
            first[rng_below(&r, g.n) * ld] = c % 30 == 9    ? -0.0
                                             : c % 30 == 19 ? (double)NAN
                                                            : -(double)INFINITY;
        for (int64_t v = 0; v < g.n; v++)
            if (rng_below(&r, 3) == 0)
                start[count++] = v;
        /* Of several columns a vertex tells of all, when one of them falls: who does not start has none. */
        const bool apart = k == 1 || c % 4 == 0 || rng_below(&r, 2);
        for (int64_t v = 0, s = 0; v < g.n && k > 1 && apart && !odd && c % 4; v++)
            if (s < count && start[s] == v)
                s++;
            else
                for (int64_t t = 0; t < k; t++)
                    first[v * ld + t] = (double)INFINITY;
        bool beside = false;
        for (int64_t v = 0, s = 0; v < g.n && k > 1 && c % 4; v++)
            if (s < count && start[s] == v)
                s++;
            else
                for (int64_t t = 0; t < k; t++)
                    beside = beside || first[v * ld + t] < (double)INFINITY;
        assert_ok(FtB_Program_new(&p, &own[rng_below(&r, OWN)]));
        const bool whole =
            run_both(p, &g, first, k, type, FtB_Ids_of(c % 4 ? start : NULL, c % 4 ? count : 0), &result);
        assert_true(whole == (!odd && !beside) || count == 0);
        FtB_Program_free(&p);
        free(result);
        free(first);
        free(start);
        free_graph(&g);
    }
}

/* Runs that mean something else, or have lengths that are negative, go by supersteps. */
static void other_texts(void **state)
{
    (void)state;
    static const FtB_Program_texts texts[] = {
        {.send = "d", .combine = "min : message - edge", .apply = "d = min(d, received)", .rounds = 5},
        {.send = "d", .combine = "min : message + 2 * edge", .apply = "d = min(d, received)"},
        {.send = "d", .combine = "min : message + message", .apply = "d = min(d, received)"},
        {.send = "d", .combine = "min : edge + edge", .apply = "d = min(d, received)"},
        {.send = "d", .combine = "min : message * edge", .apply = "d = min(d, received)", .rounds = 50},
        {.send = "d", .combine = "max : message + edge", .apply = "d = max(d, received)", .rounds = 4},
        {.send = "d + 1", .combine = "min : message + edge", .apply = "d = min(d, received)"},
        {.send = "d", .combine = "min : message + edge", .apply = "d = min(d, received + 1)"},
        {.send = "d", .combine = "min : message + edge", .apply = "d = received", .rounds = 5},
        {.send = "d", .combine = "min : message + edge", .apply = "d = min(d, received)", .rounds = 3},
        {.send = "d",
         .combine = "min : message + edge",
         .apply = "d = min(d, received)",
         .active = "changed && new.d < 2"},
        {.send = "d",
         .combine = "min : message + edge",
         .apply = "d = min(d, received)",
         .until = "sum(new.d) < 0"},
        {.send = "d",
         .combine = "min : message + edge",
         .apply = "d = min(d, received)",
         .direction = FTB_BOTH}};
    rng r = rng_new();
    graph g = make_graph(&r, 0, 0, 100, FTB_FP64, 1);
    double first[200], *result;
    for (int t = 0; t < 200; t++)
        first[t] = t == 14 ? 1.5 : (double)INFINITY;
    const int64_t start = 7;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        FtB_Program_texts text = texts[t];
        FtB_Program p;
        text.size = sizeof text;
        assert_ok(FtB_Program_new(&p, &text));
        assert_false(run_both(p, &g, first, 1, FTB_FP64, FtB_Ids_of(&start, 1), &result));
        FtB_Program_free(&p);
        free(result);
    }
    free_graph(&g);
}

/* 0 -> 1 -> 2, of which the second is negative; and a field of integers. */
static void other_numbers(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1}, J[] = {1, 2}, zero = 0;
    static const double X[] = {3, -2};
    int64_t whole[] = {0, 100, 100};
    FtB_Program p;
    FtB_Matrix A;
    FtB_Block W;
    double *result;
    graph g = {.n = 3};
    const double begin[] = {0, 9, INFINITY, 9, INFINITY, 9};
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, 3, 3, 1, 2, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Program_new(
        &p, FTB_PROGRAM(.send = "d", .combine = "min : message + edge", .apply = "d = min(d, received)")));
    assert_false(run_both(p, &g, begin, 1, FTB_FP64, FtB_Ids_of(&zero, 1), &result));
    assert_true(result[2] == 3 && result[4] == 1);
    free(result);
    assert_ok(FtB_Matrix_build(&A, FTB_INT64, 3, 3, 1, 2, I, J, whole, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_wrap(&W, whole, 3, 1, 1, FTB_INT64));
    FILE *told = tmpfile();
    assert_ok(FtB_run(p, A, FTB_STATE("d", W), FTB_RUN_OPTIONS(.explain = told)));
    assert_false(was_whole(told));
    assert_true(whole[1] == 0 && whole[2] == 100);
    FtB_Program_free(&p);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&g.A);
    FtB_Block_free(&W);
}

/* One length of many is negative, anywhere: on a path, where no cycle can be. */
static void one_is_negative(void **state)
{
    (void)state;
    static const FtB_Type signed_types[] = {FTB_FP32, FTB_FP64, FTB_INT16, FTB_FP16};
    for (int c = 0; c < 24; c++) {
        rng r = rng_case(c);
        const FtB_Type type = signed_types[c % 4];
        graph g = make_graph(&r, 3, 1, 2 + rng_below(&r, 300), type, 1);
        const int64_t source = 0, at = c < 4 ? g.nvals - 1 : rng_below(&r, g.nvals);
        const double length = c % 8 < 4 ? -1 : -0.25;
        int64_t steps;
        FtB_Block D, values;
        assert_ok(FtB_Matrix_values(&values, g.A));
        ftb_cast((char *)block_values(values) + (size_t)at * FtB_Type_size(type), type, &length, FTB_FP64, 1);
        assert_ok(FtB_Block_changed(values));
        ftb_cast(&g.length[at], FTB_FP64, (char *)block_values(values) + (size_t)at * FtB_Type_size(type),
                 type, 1);
        assert_ok(FtB_Block_new(&D, g.n, 1, c % 3 ? FTB_FP32 : FTB_FP64));
        assert_ok(FtB_sssp(D, g.A, &source, 1, FTB_RUN_OPTIONS(.supersteps = &steps)));
        assert_true((steps == g.n || steps == g.n - 1) == (g.length[at] < 0) || g.n == 2);
        double sum = 0;
        for (int64_t v = 0; v < g.n; v++) {
            FtB_Type dtype;
            void *dist;
            assert_ok(FtB_Block_shape(D, NULL, NULL, NULL, &dtype, &dist));
            assert_true(ftb_get_real(dist, dtype, v) == sum);
            sum += v < g.nvals ? g.length[v] : 0;
        }
        FtB_Block_free(&values);
        FtB_Block_free(&D);
        free_graph(&g);
    }
}

/* A run that is cancelled leaves the distances as they were; the next is whole. */
static void cancelled(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1}, J[] = {1, 2}, zero = 0;
    static const float X[] = {3, 2};
    float dist[] = {0, INFINITY, 7};
    FtB_Program p;
    FtB_Matrix A;
    FtB_Block D;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 3, 3, 1, 2, I, J, X, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Program_new(
        &p, FTB_PROGRAM(.send = "d", .combine = "min : message + edge", .apply = "d = min(d, received)")));
    assert_ok(FtB_Block_wrap(&D, dist, 3, 1, 1, FTB_FP32));
    const FtB_Run_options o = {.size = sizeof o, .start = {&zero, 1}};
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_run(p, A, FTB_STATE("d", D), &o));
    assert_true(dist[0] == 0 && isinf(dist[1]) && dist[2] == 7);
    assert_ok(FtB_run(p, A, FTB_STATE("d", D), &o));
    assert_true(dist[0] == 0 && dist[1] == 3 && dist[2] == 5);
    FtB_Program_free(&p);
    FtB_Matrix_free(&A);
    FtB_Block_free(&D);
}

/* ---- allocations that fail */

typedef struct failing {
    int threads;
    int64_t n, k;
    FtB_Type type;
    void *expected; /* of the first run that was whole */
    size_t bytes;
} failing;

static GrB_Info run_some(void *arg)
{
    failing *f = arg;
    enum { ROOM = 90000 };
    static int64_t I[ROOM], J[ROOM];
    static double X[ROOM];
    int64_t count = 0;
    FtB_Matrix A = NULL;
    FtB_Block D = NULL;
    static const int64_t sources[] = {0, 1, 2, 3};
    for (int64_t v = 0; v < f->n; v++)
        for (int e = 0; e < 3; e++, count++) {
            I[count] = v;
            J[count] = (v * 7 + e * 13 + 1) % f->n;
            X[count] = f->n > 9999 ? 1 : 1 + (double)((v * 31 + e * 17) % 100);
        }
    GrB_Info info = FtB_Matrix_build(&A, FTB_FP64, f->n, f->n, 1, count, I, J, X, FTB_DUP_MIN, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&D, f->n, f->k, f->type);
    if (info == GrB_SUCCESS)
        info = FtB_sssp(D, A, sources, f->k, NULL);
    if (info == GrB_SUCCESS && f->expected && memcmp(block_values(D), f->expected, f->bytes) != 0)
        info = GrB_INVALID_VALUE;
    if (info == GrB_SUCCESS && !f->expected) {
        f->bytes = (size_t)(f->n * f->k) * FtB_Type_size(f->type);
        f->expected = malloc(f->bytes);
        memcpy(f->expected, block_values(D), f->bytes);
    }
    FtB_Block_free(&D);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    failing cases[] = {{.threads = 1, .n = 40, .k = 1, .type = FTB_FP64},
                       {.threads = 1, .n = 40, .k = 3, .type = FTB_FP32},
                       {.threads = 2, .n = 3000, .k = 4, .type = FTB_FP64},
                       {.threads = 2, .n = 30000, .k = 1, .type = FTB_FP32}}; /* whose buckets are shared */
    for (int c = 0; c < 4; c++) {
        assert_ok(FtB_Context_set_threads(NULL, cases[c].threads));
        assert_ok(run_some(&cases[c]));
        fail_every_allocation(run_some, NULL, &cases[c]);
        free(cases[c].expected);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths),       cmocka_unit_test(threads),
                                       cmocka_unit_test(own_texts),     cmocka_unit_test(other_texts),
                                       cmocka_unit_test(other_numbers), cmocka_unit_test(one_is_negative),
                                       cmocka_unit_test(cancelled),     cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
