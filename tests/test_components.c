/* Components, done at once by the backend's verb, against a union of sets by size and against supersteps:
 * graphs of one component and of many, chains in every order, hubs, parallel entries, self-loops, vertices
 * without entries; of which the transpose is known, symmetric or not, and is not; on one to eight threads.
 * Texts of the same meaning, and texts that only look so. */
#include "support/check.h"

#include "featblas_vertex.h"
#include "support/fail_alloc.h"
#include "support/rng.h"
#include "support/vertex_graphs.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct graph {
    FtB_Matrix A;
    int64_t n, count, *from, *to;
} graph;

/* ---- slowly */

static int64_t find(int64_t *parent, int64_t v)
{
    while (parent[v] != v)
        v = parent[v];
    return v;
}

/* The least label of each vertex's set. */
static int64_t *slow_labels(const graph *g, const int64_t *label)
{
    int64_t *parent = malloc(sizeof *parent * (size_t)(g->n + 1)),
            *size = calloc((size_t)g->n + 1, sizeof *size),
            *least = malloc(sizeof *least * (size_t)(g->n + 1));
    for (int64_t v = 0; v < g->n; v++) {
        parent[v] = v;
        size[v] = 1;
        least[v] = label[v];
    }
    for (int64_t e = 0; e < g->count; e++) {
        int64_t a = find(parent, g->from[e]), b = find(parent, g->to[e]);
        if (a == b)
            continue;
        if (size[a] < size[b]) {
            const int64_t swap = a;
            a = b;
            b = swap;
        }
        parent[b] = a;
        size[a] += size[b];
        least[a] = least[b] < least[a] ? least[b] : least[a];
    }
    for (int64_t v = 0; v < g->n; v++)
        size[v] = least[find(parent, v)];
    free(parent);
    free(least);
    return size;
}

/* ---- graphs */

enum { SHAPES = 9 };

static void add(graph *g, int64_t from, int64_t to)
{
    g->from[g->count] = from;
    g->to[g->count++] = to;
}

/* Of shape s: random ones of few and of many entries, chains up, down and shuffled, many small components, a
 * hub, a hub that nobody but itself has entries of, and one without entries. */
static graph make_graph(rng *r, int shape, int64_t n, bool both)
{
    graph g = {.n = n};
    const size_t room = sizeof *g.from * (size_t)(16 * n + 16);
    int64_t *order = malloc(sizeof *order * (size_t)n);
    g.from = malloc(room);
    g.to = malloc(room);
    for (int64_t v = 0; v < n; v++)
        order[v] = shape == 2 ? v : n - 1 - v;
    for (int64_t v = n - 1; v > 0 && shape != 2 && shape != 3; v--) {
        const int64_t w = rng_below(r, v + 1), swap = order[v];
        order[v] = order[w];
        order[w] = swap;
    }
    for (int64_t e = 0; e < (shape == 0 ? n / 2 : shape == 1 ? 4 * n : 0); e++)
        add(&g, rng_below(r, n), rng_below(r, 1 + rng_below(r, n)));
    for (int64_t v = 1; v < n; v++)
        if (shape >= 2 && shape <= 4)
            add(&g, order[v - 1], order[v]);
        else if (shape == 5 && v % 7)
            add(&g, order[v - rng_below(r, v % 7) - 1], order[v]);
        else if (shape == 6 && v % 3)
            add(&g, order[v], order[0]);
        else if (shape == 7 && v % 3)
            add(&g, order[0], order[v]);
    if (shape < 8) {
        add(&g, n - 1, n - 1);
        add(&g, 0, 0);
    }
    for (int64_t e = g.count - 1; e >= 0 && both; e--)
        add(&g, g.to[e], g.from[e]);
    free(order);
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP64, n, n, 0, g.count, g.from, g.to, NULL,
                               rng_below(r, 2) ? FTB_DUP_KEEP : FTB_DUP_FIRST, NULL));
    return g;
}

static void free_graph(graph *g)
{
    FtB_Matrix_free(&g->A);
    free(g->from);
    free(g->to);
}

/* The transpose is known from then on. */
static void ask_transpose(const graph *g)
{
    FtB_Block x, y;
    assert_ok(FtB_Block_new(&x, g->n, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&y, g->n, 1, FTB_FP32));
    assert_ok(FtB_mxm(y, NULL, NULL, "plus : src", g->A, x, FTB_DESC_T0));
    FtB_Block_free(&x);
    FtB_Block_free(&y);
}

/* ---- tests */

static int64_t label_at(FtB_Block L, int64_t v)
{
    FtB_Type type;
    int64_t ld;
    void *at;
    assert_ok(FtB_Block_shape(L, NULL, NULL, &ld, &type, &at));
    return type == FTB_INT32 ? ((const int32_t *)at)[v * ld] : ((const int64_t *)at)[v * ld];
}

static void check_labels(const graph *g, FtB_Block L, const int64_t *expected)
{
    int64_t wrong = -1;
    for (int64_t v = 0; v < g->n && wrong < 0; v++)
        wrong = label_at(L, v) == expected[v] ? -1 : v;
    if (wrong >= 0)
        fail_msg("vertex %lld of %lld has label %lld, expected %lld", (long long)wrong, (long long)g->n,
                 (long long)label_at(L, wrong), (long long)expected[wrong]);
}

static void shapes(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 1000, 40000};
    const int cases = rng_cases(2 * SHAPES * 9);
    for (int c = 0; c < cases; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, c % SHAPES, sizes[c / 2 / SHAPES % 9], c / SHAPES % 2);
        int64_t steps = 0, *own = malloc(sizeof *own * (size_t)g.n);
        FtB_Block L;
        for (int64_t v = 0; v < g.n; v++)
            own[v] = v;
        int64_t *expected = slow_labels(&g, own);
        assert_ok(FtB_Block_new(&L, g.n, 1, c % 3 ? FTB_INT32 : FTB_INT64));
        if (rng_below(&r, 2))
            ask_transpose(&g);
        for (int threads = 1; threads <= 8; threads *= 2) {
            assert_ok(FtB_Context_set_threads(NULL, threads));
            assert_ok(FtB_components(L, g.A, FTB_RUN_OPTIONS(.supersteps = &steps)));
            assert_int_equal(steps, 1);
            check_labels(&g, L, expected);
        }
        if (g.n <= 1000) { /* the texts, step by step */
            assert_ok(FtB_components(L, g.A, FTB_RUN_OPTIONS(.way = FTB_WAY_PULL)));
            check_labels(&g, L, expected);
        }
        FtB_Block_free(&L);
        free(expected);
        free(own);
        free_graph(&g);
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* Labels of any kind, some of them in memory that is wider, spread by texts of a user's own. */
static void own_texts(void **state)
{
    (void)state;
    static const FtB_Program_texts texts[] = {{.size = sizeof *texts,
                                               .send = "c",
                                               .combine = "min : message",
                                               .apply = "c = min(c, received)",
                                               .direction = FTB_BOTH},
                                              {.size = sizeof *texts,
                                               .send = "(c)",
                                               .combine = "min : src",
                                               .apply = " c=min( received , old.c ) ;",
                                               .direction = FTB_BOTH,
                                               .applies = FTB_APPLY_ALL},
                                              {.size = sizeof *texts,
                                               .send = "c",
                                               .combine = "min : b",
                                               .apply = "c = min(old.c, received)",
                                               .direction = FTB_BOTH}};
    for (int c = 0; c < 60; c++) {
        rng r = rng_case(c);
        graph g = make_graph(&r, c % SHAPES, 200, c % 2);
        const int64_t ld = 1 + c % 3;
        int64_t *label = malloc(sizeof *label * (size_t)g.n),
                *room = malloc(sizeof *room * (size_t)(g.n * ld));
        int64_t steps;
        FILE *told = tmpfile();
        FtB_Program p;
        FtB_Block L;
        for (int64_t v = 0; v < g.n; v++)
            label[v] = rng_below(&r, 1000) - 500;
        for (int64_t t = 0; t < g.n * ld; t++)
            room[t] = t % ld ? -7000 : label[t / ld];
        int64_t *expected = slow_labels(&g, label);
        assert_ok(FtB_Block_wrap(&L, room, g.n, 1, ld, FTB_INT64));
        assert_ok(FtB_Program_new(&p, &texts[c % 3]));
        assert_ok(FtB_run(p, g.A, FTB_STATE("c", L), FTB_RUN_OPTIONS(.explain = told, .supersteps = &steps)));
        check_labels(&g, L, expected);
        assert_true(was_whole(told) && steps == 1);
        for (int64_t t = 0; t < g.n * ld; t++)
            assert_true(t % ld == 0 || room[t] == -7000);
        FtB_Program_free(&p);
        FtB_Block_free(&L);
        free(expected);
        free(label);
        free(room);
        free_graph(&g);
    }
}

/* Runs that mean something else: 0 -> 1 -> 2 <- 3, labels 3 2 1 0. */
static const struct {
    FtB_Program_texts texts;
    int64_t expected[4], rounds;
    bool some;
} others[] = {
    {{.send = "c", .combine = "min : message", .apply = "c = min(c, received)"}, {3, 2, 0, 0}, 0, false},
    {{.send = "c", .combine = "max : message", .apply = "c = max(c, received)", .direction = FTB_BOTH},
     {3, 3, 3, 3},
     0,
     false},
    {{.send = "c", .combine = "min : message", .apply = "c = min(c, received)", .direction = FTB_BOTH},
     {2, 1, 0, 0},
     1,
     false},
    {{.send = "c", .combine = "min : message", .apply = "c = min(c, received)", .direction = FTB_BOTH},
     {3, 2, 1, 0},
     0,
     true},
    {{.send = "c", .combine = "min : message", .apply = "c = received", .direction = FTB_BOTH},
     {0, 1, 0, 1},
     3,
     false},
    {{.send = "c",
      .combine = "min : message",
      .apply = "c = min(c, received)",
      .rounds = 1,
      .direction = FTB_BOTH},
     {2, 1, 0, 0},
     0,
     false},
    {{.send = "c",
      .combine = "min : message",
      .apply = "c = min(c, received)",
      .active = "changed && id != 2",
      .direction = FTB_BOTH},
     {1, 1, 0, 0},
     0,
     false},
    {{.send = "c", .combine = "min : message", .apply = "c = min(c, c + 1)", .direction = FTB_BOTH},
     {3, 2, 1, 0},
     0,
     false},
    {{.send = "c + 0", .combine = "min : message", .apply = "c = min(c, received)", .direction = FTB_IN},
     {1, 1, 1, 0},
     0,
     false},
};

/* They go superstep by superstep. */
static void other_texts(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 1, 3}, J[] = {1, 2, 2}, start[] = {0};
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, FTB_FP64, 4, 4, 0, 3, I, J, NULL, FTB_DUP_ERROR, NULL));
    for (size_t t = 0; t < sizeof others / sizeof *others; t++) {
        FtB_Program_texts texts = others[t].texts;
        int64_t label[] = {3, 2, 1, 0};
        FILE *told = tmpfile();
        FtB_Program p;
        FtB_Block L;
        texts.size = sizeof texts;
        assert_ok(FtB_Block_wrap(&L, label, 4, 1, 1, FTB_INT64));
        assert_ok(FtB_Program_new(&p, &texts));
        assert_ok(FtB_run(p, A, FTB_STATE("c", L),
                          FTB_RUN_OPTIONS(.explain = told, .rounds = others[t].rounds,
                                          .start = {others[t].some ? start : NULL, others[t].some})));
        assert_false(was_whole(told));
        for (int v = 0; v < 4; v++)
            assert_int_equal(label[v], others[t].expected[v]);
        FtB_Program_free(&p);
        FtB_Block_free(&L);
    }
    FtB_Matrix_free(&A);
}

/* A run of one's own that is cancelled leaves the labels as they were; the next is whole. */
static void cancelled(void **state)
{
    (void)state;
    rng r = rng_new();
    graph g = make_graph(&r, 1, 300, false);
    int64_t label[300];
    FtB_Program p;
    FtB_Block L;
    for (int64_t v = 0; v < g.n; v++)
        label[v] = 1000 - v;
    int64_t *expected = slow_labels(&g, label);
    assert_ok(FtB_Block_wrap(&L, label, g.n, 1, 1, FTB_INT64));
    assert_ok(FtB_Program_new(&p, FTB_PROGRAM(.send = "c", .combine = "min : message",
                                              .apply = "c = min(c, received)", .direction = FTB_BOTH)));
    FtB_Context_cancel(NULL);
    assert_fails(FTB_CANCELLED, "cancelled", FtB_run(p, g.A, FTB_STATE("c", L), NULL));
    for (int64_t v = 0; v < g.n; v++)
        assert_int_equal(label_at(L, v), 1000 - v);
    assert_ok(FtB_run(p, g.A, FTB_STATE("c", L), NULL));
    check_labels(&g, L, expected);
    FtB_Program_free(&p);
    FtB_Block_free(&L);
    free(expected);
    free_graph(&g);
}

static GrB_Info run_some(void *arg)
{
    const graph *g = arg;
    FtB_Matrix A = NULL;
    FtB_Block L = NULL;
    GrB_Info info =
        FtB_Matrix_build(&A, FTB_FP64, g->n, g->n, 0, g->count, g->from, g->to, NULL, FTB_DUP_FIRST, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_Block_new(&L, g->n, 1, FTB_INT32);
    if (info == GrB_SUCCESS)
        info = FtB_components(L, A, NULL);
    FtB_Block_free(&L);
    FtB_Matrix_free(&A);
    return info;
}

static void allocations(void **state)
{
    (void)state;
    rng r = rng_new();
    graph g = make_graph(&r, 1, 50, false);
    fail_every_allocation(run_some, NULL, &g);
    free_graph(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(own_texts),
                                       cmocka_unit_test(other_texts), cmocka_unit_test(cancelled),
                                       cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
