/* Sampling on a GPU that does not exist: the verbs `sample` and `relabel` beside the host's functions, and
 * whole samples, hop by hop and through the queue, beside those of the host: every bit is the host's. Weights
 * that are none, calls of the driver that fail, and what stays there. */
#include "support/beside.h"
#include "support/check.h"
#include "support/gpu_samples.h"

#include "core/core.h"
#include "core/draws.h"
#include "cpu/sample/sample_run.h"
#include "gpu/gpu_verbs.h"
#include "gpu/kernels/sample_steps.h"
#include "gpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the verbs */

static void sample_one(rng *r, int number)
{
    static const int64_t ks[] = {-1, 0, 1, 2, 5, 8, 9, 16, 17, 31, 32, 33, 64, 129, 1000};
    static const FtB_Type types[] = {FTB_FP64, FTB_FP32, FTB_INT32, FTB_FP16, FTB_BOOL};
    static const FtB_Selector selectors[] = {FTB_SAMPLE_UNIFORM,   FTB_SAMPLE_TOPK,  FTB_SAMPLE_THRESHOLD,
                                             FTB_SAMPLE_BERNOULLI, FTB_SAMPLE_LABOR, FTB_SAMPLE_UNIFORM};
    const FtB_Selector selector = selectors[number % 6];
    const bool weights = selector == FTB_SAMPLE_BERNOULLI;
    const bool open = selector == FTB_SAMPLE_THRESHOLD || selector == FTB_SAMPLE_BERNOULLI;
    const FtB_Type type = weights ? types[rng_below(r, 2)] : types[rng_below(r, 5)];
    const int64_t hub = number % 4 == 0 ? 3000 : rng_below(r, 200),
                  n = 1 + rng_below(r, hub > 1000 ? 3000 : 150);
    FtB_Matrix A = gpu_sample_graph(r, n, hub, type);
    const int64_t k = ks[rng_below(r, sizeof ks / sizeof *ks)];
    const int64_t nrows = k > 100 ? rng_below(r, 6) : rng_below(r, 4) == 0 ? n : rng_below(r, 100);
    int64_t *rows = malloc(sizeof *rows * (size_t)(nrows + 1));
    for (int64_t t = 0; t < nrows; t++)
        rows[t] = rng_below(r, 5) == 0 ? n / 2 : rng_below(r, n);
    ftb_sample_product p = {.ctx = ftb_context(),
                            .p = A->pattern,
                            .rows = nrows == n ? NULL : rows,
                            .nrows = nrows,
                            .selector = selector,
                            .threshold = selector == FTB_SAMPLE_THRESHOLD ? 0.5 : 0,
                            .seed = rng_bits(r),
                            .k = open ? -1 : k};
    p.replace = selector == FTB_SAMPLE_UNIFORM && p.k >= 0 && rng_below(r, 3) == 0;
    p.stream = ftb_draw_stream(&p.seed, (uint64_t)rng_below(r, 9), (uint64_t)rng_below(r, 4));
    gpu_sample_trees trees = {.trees = NULL};
    if (rng_below(r, 2))
        trees = gpu_sample_plant(r, &p);
    assert_true(ftb_gpu_sample_fits(&p));
    char what[120];
    snprintf(what, sizeof what, "case %d: selector %d, k %lld, %lld rows of %lld%s%s", number, (int)selector,
             (long long)p.k, (long long)nrows, (long long)n, p.replace ? ", again" : "",
             p.trees ? ", trees" : "");
    gpu_sample_picks host = gpu_sample_pick(p, A, NULL, false), gpu = gpu_sample_pick(p, A, NULL, true);
    gpu_sample_same_picks(&host, &gpu, nrows, what);
    gpu_sample_free(&host);
    gpu_sample_free(&gpu);
    gpu_sample_fell(&trees);
    free(rows);
    FtB_Matrix_free(&A);
}

static void samples(void **state)
{
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(60); n++) {
        rng r = rng_case(n);
        sample_one(&r, n);
    }
}

static void relabel_one(rng *r, int number)
{
    const bool hub = number % 5 == 0, entries = rng_below(r, 2), plant = rng_below(r, 2);
    const int64_t bound = 1 + rng_below(r, hub ? 100000 : 300), nknown = rng_below(r, 60);
    const int64_t row0 = rng_below(r, 3) == 0 ? rng_below(r, nknown + 1) : 0, nrows = nknown - row0;
    const int64_t ntrees = number % 7 == 0 ? INT32_MAX : 1 + rng_below(r, 9);
    int32_t trees[60], row_trees[60];
    for (int64_t t = 0; t < 60; t++) {
        trees[t] = (int32_t)(ntrees - 1 - rng_below(r, ntrees < 9 ? ntrees : 9));
        row_trees[t] = trees[rng_below(r, t + 1)];
    }
    const bool given = rng_below(r, 2); /* rows of others than known vertices */
    int64_t *known = malloc(sizeof *known * (size_t)(nknown + 1)), *rowptr = calloc((size_t)nrows + 1, 8);
    for (int64_t t = 0; t < nknown; t++)
        known[t] = rng_below(r, bound);
    for (int64_t t = 0; t < nrows; t++)
        rowptr[t + 1] = rowptr[t] + (hub && t == nrows / 2 ? 1500 : rng_below(r, number % 3 ? 9 : 45));
    const int64_t count = rowptr[nrows];
    int32_t *columns = malloc(4 * (size_t)(count + 1)), *local[2];
    int64_t *order[2];
    for (int64_t e = 0; e < count; e++)
        columns[e] = (int32_t)(rng_below(r, 4) ? rng_below(r, 1 + rng_below(r, bound)) : bound - 1);
    ftb_relabel_product p[2];
    for (int there = 0; there < 2; there++) {
        local[there] = malloc(4 * (size_t)(count + 1));
        order[there] = malloc(8 * (size_t)(count + 1));
        memcpy(local[there], columns, 4 * (size_t)count);
        for (int64_t e = 0; e < count; e++)
            order[there][e] = e; /* ascending, as picks are */
        p[there] = (ftb_relabel_product){.ctx = ftb_context(),
                                         .known = known,
                                         .nknown = nknown,
                                         .bound = bound,
                                         .trees = plant ? trees : NULL,
                                         .ntrees = ntrees,
                                         .row_trees = plant && given ? row_trees : NULL,
                                         .nrows = nrows,
                                         .row0 = row0,
                                         .rowptr = rowptr,
                                         .columns = local[there],
                                         .local = local[there],
                                         .entries = entries ? order[there] : NULL};
        assert_true(ftb_gpu_relabel_fits(&p[there]));
        assert_ok(there ? ftb_gpu_relabel(&p[there]) : ftb_relabel_run(&p[there]));
    }
    assert_int_equal(p[0].nfresh, p[1].nfresh);
    assert_memory_equal(p[0].vertices, p[1].vertices, 8 * (size_t)(nknown + p[0].nfresh));
    if (plant)
        assert_memory_equal(p[0].vertex_trees, p[1].vertex_trees, 4 * (size_t)(nknown + p[0].nfresh));
    assert_memory_equal(local[0], local[1], 4 * (size_t)count);
    assert_memory_equal(order[0], order[1], 8 * (size_t)count);
    for (int there = 0; there < 2; there++) {
        ftb_delete(p[there].vertices);
        ftb_delete(p[there].vertex_trees);
        free(local[there]);
        free(order[there]);
    }
    free(known);
    free(rowptr);
    free(columns);
}

static void relabels(void **state)
{
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(30); n++) {
        rng r = rng_case(n);
        relabel_one(&r, n);
    }
}

/* ---- whole samples */

static bool fit_queue(const int64_t *fanouts, int nhops)
{
    bool fit = true;
    for (int h = 0; h < nhops; h++)
        fit &= fanouts[h] >= 0 && fanouts[h] <= FTB_SAMPLE_LANES;
    return fit;
}

/* Where it was drawn, and in which way: w = 1: level by level was asked for, 2: the queue. */
static void check_plan(FtB_Sample s, FtB_Selector selector, bool plain, int w, bool fit)
{
    const bool there = plain && fake_gpu_emulates();
    if (FtB_Sample_trees(s) && there && selector == FTB_SAMPLE_UNIFORM)
        assert_non_null(strstr(FtB_Sample_plan(s), "in one kernel cannot be of trees"));
    if (selector != FTB_SAMPLE_WEIGHTED) /* which has tables there, or none so far: test_gpu_weighted.c */
        assert_int_equal(strncmp(FtB_Sample_plan(s), "on gpu:0, ", 10) == 0, there);
    if (w > 0)
        assert_int_equal(strstr(FtB_Sample_plan(s), "all hops in one kernel;") != NULL,
                         selector == FTB_SAMPLE_UNIFORM && w == 2 && there && fit);
}

static void same_batches(FtB_Sample host, FtB_Sample gpu, int nhops, int64_t count)
{
    FtB_Sample here[40], there[40];
    assert_ok(FtB_Sample_split(here, host));
    assert_ok(FtB_Sample_split(there, gpu));
    for (int64_t b = 0; b < count; b++) {
        gpu_sample_same(here[b], there[b], nhops, "a batch of many");
        FtB_Sample_free(&here[b]);
        FtB_Sample_free(&there[b]);
    }
}

static void hops_one(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 3, 5, 8, 10, 17, 32, 40, -1};
    static const char *const plans[] = {NULL, "levels", "queue"};
    const FtB_Selector selector = (FtB_Selector)(number % 3 ? 1 : 1 + rng_below(r, 6));
    const bool weights = selector > FTB_SAMPLE_UNIFORM && selector != FTB_SAMPLE_LABOR,
               open = selector == FTB_SAMPLE_THRESHOLD || selector == FTB_SAMPLE_BERNOULLI;
    FtB_Matrix A =
        gpu_sample_graph(r, 1 + rng_below(r, 400), rng_below(r, 100), rng_below(r, 2) ? FTB_FP32 : FTB_FP64);
    int64_t seeds[40], fanouts[4];
    const int64_t nseeds = rng_below(r, 40);
    const int nhops = (int)rng_below(r, 5);
    FtB_Sample_options o = {.size = sizeof o,
                            .selector = selector,
                            .key = weights ? "x" : NULL,
                            .threshold = selector == FTB_SAMPLE_THRESHOLD ? 0.7 : 0,
                            .seed = rng_bits(r) | 1,
                            .batch = rng_below(r, 100),
                            .replace = selector == FTB_SAMPLE_UNIFORM && rng_below(r, 3) == 0,
                            .once = rng_below(r, 8) == 0,
                            .self = rng_below(r, 8) == 0,
                            .disjoint = rng_below(r, 4) == 0,
                            .apart = rng_below(r, 16) == 0,
                            .structural = rng_below(r, 3) == 0,
                            .edges = rng_below(r, 2),
                            .induced = rng_below(r, 8) == 0};
    const int64_t excluded[] = {0, A->pattern->nvals / 2};
    o.induced &= !o.apart;
    if (rng_below(r, 8) == 0 && A->pattern->nvals > 2)
        o.exclude = FtB_Ids_of(excluded, 2);
    if (rng_below(r, 4) == 0)
        o.stack = 1 + rng_below(r, 9);
    for (int64_t t = 0; t < nseeds; t++)
        seeds[t] = rng_below(r, A->pattern->nrows);
    for (int h = 0; h < nhops; h++)
        fanouts[h] = open ? -1 : some[rng_below(r, o.apart || o.replace ? 4 : number % 2 ? 8 : 10)];
    FtB_Sample host, gpu;
    assert_ok(FtB_Context_set_device(NULL, NULL));
    assert_ok(FtB_sample(&host, A, seeds, nseeds, fanouts, nhops, &o));
    assert_string_equal(FtB_Sample_plan(host), "");
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    const bool plain = !o.once && !o.self && !o.apart && !o.exclude.count && nseeds > 0 && nhops > 0;
    for (int w = 0; w < 3; w++) {
        char what[80];
        snprintf(what, sizeof what, "case %d, %s", number, plans[w] ? plans[w] : "planned");
        o.plan = plans[w];
        assert_ok(FtB_sample(&gpu, A, seeds, nseeds, fanouts, nhops, &o));
        check_plan(gpu, selector, plain, w, fit_queue(fanouts, nhops) && !o.disjoint && !o.stack);
        gpu_sample_same(host, gpu, nhops, what);
        if (o.stack && nseeds > 0)
            same_batches(host, gpu, nhops, (nseeds + o.stack - 1) / o.stack);
        gpu_sample_same_induced(host, gpu);
        FtB_Sample_free(&gpu);
    }
    FtB_Sample_free(&host);
    FtB_Matrix_free(&A);
}

static void hops(void **state)
{
    (void)state;
    for (int n = 0; n < rng_cases(25); n++) {
        rng r = rng_case(n);
        hops_one(&r, n);
    }
}

/* Each of the kernels of the queue: fanouts of up to 8, 16 and 32, and rows that have as many neighbours. */
static void queues(void **state)
{
    (void)state;
    static const int64_t most[] = {1, 7, 8, 9, 15, 16, 17, 31, 32};
    if (!fake_gpu_emulates())
        return;
    for (int n = 0; n < (int)(sizeof most / sizeof *most); n++) {
        rng r = rng_case(n);
        FtB_Matrix A = gpu_sample_graph(&r, 40, 300, FTB_FP32);
        const int64_t seeds[] = {20, rng_below(&r, 40), 39, 20},
                      fanouts[] = {most[n], rng_below(&r, most[n] + 1)};
        FtB_Sample host, gpu;
        FtB_Sample_options o = {.size = sizeof o, .seed = rng_bits(&r) | 1, .replace = n % 2, .edges = true};
        assert_ok(FtB_Context_set_device(NULL, NULL));
        assert_ok(FtB_sample(&host, A, seeds, 4, fanouts, 2, &o));
        assert_ok(FtB_Context_set_device(NULL, "gpu"));
        o.plan = "queue";
        assert_ok(FtB_sample(&gpu, A, seeds, 4, fanouts, 2, &o));
        assert_non_null(strstr(FtB_Sample_plan(gpu), "all hops in one kernel;"));
        assert_true(FtB_Sample_edge_counts(gpu).at[0] >= 2 * most[n]);
        gpu_sample_same(host, gpu, 2, "queue");
        FtB_Sample_free(&host);
        FtB_Sample_free(&gpu);
        FtB_Matrix_free(&A);
    }
}

/* Nothing of a graph that is there moves again but seeds, lengths and layers; products with layers go on
 * there.
 */
static void stays(void **state)
{
    (void)state;
    enum { N = 300, D = 4 };
    static const int64_t seeds[] = {1, 2, 3, 150, 1}, fanouts[] = {5, 4};
    rng r = rng_new();
    FtB_Matrix A = gpu_sample_graph(&r, N, 40, FTB_FP32);
    if (!fake_gpu_emulates()) {
        FtB_Matrix_free(&A);
        return;
    }
    for (int w = 0; w < 2; w++) {
        FtB_Sample s;
        FtB_Block X, Y;
        int64_t sent[2], home[2];
        const FtB_Sample_options o = {
            .size = sizeof o, .seed = 3, .structural = true, .plan = w ? "queue" : "levels"};
        assert_ok(FtB_sample(&s, A, seeds, 5, fanouts, 2, &o));
        FtB_Sample_free(&s);
        assert_ok(FtB_Context_moved(NULL, &home[0], &sent[0]));
        assert_ok(FtB_sample(&s, A, seeds, 5, fanouts, 2, &o));
        assert_ok(FtB_Context_moved(NULL, &home[1], &sent[1]));
        const FtB_Matrix L = FtB_Sample_layer(s, 1), K = FtB_Sample_layer(s, 0);
        assert_true(sent[1] == sent[0]); /* the seeds are a verb's own, and not counted */
        assert_int_equal(home[1] - home[0], 8 * (L->pattern->nrows + K->pattern->nrows + 2) +
                                                4 * (L->pattern->nvals + K->pattern->nvals));
        assert_ok(FtB_Block_new(&X, L->pattern->ncols, D, FTB_FP32));
        assert_ok(FtB_Block_new(&Y, L->pattern->nrows, D, FTB_FP32));
        assert_ok(FtB_mxm(Y, NULL, NULL, FTB_MEAN_SRC, L, X, NULL));
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
        FtB_Sample_free(&s);
    }
    FtB_Matrix_free(&A);
}

/* The host's words, whoever looked at the weights. */
static void refusals(void **state)
{
    (void)state;
    static const int64_t I[] = {0, 0, 1}, J[] = {1, 2, 0}, seeds[] = {0, 1}, fanouts[] = {1}, all = -1;
    static const struct {
        double x[3];
        const char *words;
    } cases[] = {{{1, -2, 1}, "key is -2 for A(0, 2)"}, {{1, 1, NAN}, "key is nan for A(1, 0)"}};
    for (int c = 0; c < 2; c++) {
        FtB_Matrix A, S;
        FtB_Sample s;
        assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 3, I, J, cases[c].x, FTB_DUP_ERROR, NULL));
        assert_ok(FtB_Matrix_new(&S, FTB_FP64, 2, 3, 1));
        assert_fails(GrB_INVALID_VALUE, cases[c].words,
                     FtB_sample(&s, A, seeds, 2, &all, 1,
                                FTB_SAMPLE_OPTIONS(.selector = FTB_SAMPLE_BERNOULLI, .key = "x")));
        assert_fails(GrB_INVALID_VALUE, cases[c].words,
                     FtB_select_sample(S, FtB_Ids_of(seeds, 2), -1, "x", A,
                                       FTB_SELECT_OPTIONS(.selector = FTB_SAMPLE_BERNOULLI)));
        assert_fails(GrB_INVALID_VALUE, "options: plan is \"best\"; expected \"levels\" or \"queue\"",
                     FtB_sample(&s, A, seeds, 2, fanouts, 1, FTB_SAMPLE_OPTIONS(.plan = "best")));
        FtB_Matrix_free(&A);
        FtB_Matrix_free(&S);
    }
}

/* What has no kernels, the host does. */
static void forwarded(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Matrix A = gpu_sample_graph(&r, 50, 10, FTB_FP64);
    ftb_sample_product p = {
        .ctx = ftb_context(), .p = A->pattern, .selector = FTB_SAMPLE_UNIFORM, .k = FTB_SAMPLE_MOST + 1};
    assert_false(ftb_gpu_sample_fits(&p));
    p.k = 3;
    p.selector = FTB_SAMPLE_WEIGHTED;
    assert_false(ftb_gpu_sample_fits(&p));
    p.selector = FTB_SAMPLE_LABOR;
    p.iterations = 1;
    assert_false(ftb_gpu_sample_fits(&p));
    p.iterations = 0;
    assert_true(!fake_gpu_emulates() || ftb_gpu_sample_fits(&p));
    p.selector = (FtB_Selector)99;
    assert_false(ftb_gpu_sample_fits(&p));
    FtB_Matrix_free(&A);
}

/* What else asks for these verbs: walks, and whom they visit, also where the GPU has no kernels. */
static void others(void **state)
{
    (void)state;
    static const int64_t seeds[] = {3, 77, 3, 120}, fanouts[] = {4, 3};
    rng r = rng_new();
    FtB_Matrix A = gpu_sample_graph(&r, 150, 30, FTB_FP32);
    FtB_Sample host, gpu;
    FtB_Block here, there;
    assert_ok(FtB_Context_set_device(NULL, NULL));
    assert_ok(FtB_pinsage(&host, A, seeds, 4, fanouts, 2, 3, FTB_WALK_OPTIONS(.seed = 5, .each = 6)));
    assert_ok(FtB_walk(&here, A, seeds, 4, 9, FTB_WALK_OPTIONS(.seed = 5, .each = 6)));
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    assert_ok(FtB_pinsage(&gpu, A, seeds, 4, fanouts, 2, 3, FTB_WALK_OPTIONS(.seed = 5, .each = 6)));
    assert_ok(FtB_walk(&there, A, seeds, 4, 9, FTB_WALK_OPTIONS(.seed = 5, .each = 6)));
    gpu_sample_same(host, gpu, 2, "pinsage");
    assert_memory_equal(block_values(here), block_values(there), 8 * 4 * 6 * 10);
    FtB_Sample_free(&host);
    FtB_Sample_free(&gpu);
    FtB_Block_free(&here);
    FtB_Block_free(&there);
    FtB_Matrix_free(&A);
}

/* Two relations of the same vertices, whose trees are of their rows. */
static void relations(void **state)
{
    (void)state;
    static const int64_t seeds[] = {3, 77, 3, 120}, fanouts[] = {4, 3, 2, 5};
    const FtB_Ids from = FtB_Ids_of(seeds, 4);
    rng r = rng_new();
    FtB_Matrix A = gpu_sample_graph(&r, 150, 30, FTB_FP32), B = gpu_sample_graph(&r, 150, 9, FTB_FP32);
    FtB_Relations list;
    assert_ok(FtB_Relations_new(&list));
    assert_ok(FtB_Relations_add(list, "near", "vertex", "vertex", A));
    assert_ok(FtB_Relations_add(list, "far", "vertex", "vertex", B));
    for (int c = 0; c < 8; c++) {
        const FtB_Sample_options o = {.size = sizeof o,
                                      .seed = 8,
                                      .disjoint = c % 2 == 0,
                                      .once = c / 2 % 2,
                                      .self = c / 4,
                                      .edges = true};
        FtB_Relation_sample s[2];
        for (int there = 0; there < 2; there++) {
            assert_ok(FtB_Context_set_device(NULL, there ? "gpu" : NULL));
            assert_ok(FtB_Relations_sample(&s[there], list, &from, fanouts, 2, &o));
        }
        const FtB_Ids x = FtB_Relation_sample_vertices(s[0], 0), y = FtB_Relation_sample_vertices(s[1], 0);
        assert_int_equal(x.count, y.count);
        assert_memory_equal(x.at, y.at, 8 * (size_t)x.count);
        if (o.disjoint)
            assert_memory_equal(FtB_Relation_sample_trees(s[0], 0), FtB_Relation_sample_trees(s[1], 0),
                                4 * (size_t)x.count);
        for (int k = 0; k < 4; k++) {
            const FtB_Ids e = FtB_Relation_sample_edges(s[0], k / 2, k % 2),
                          f = FtB_Relation_sample_edges(s[1], k / 2, k % 2);
            const ftb_pattern *p = FtB_Relation_sample_layer(s[0], k / 2, k % 2)->pattern,
                              *q = FtB_Relation_sample_layer(s[1], k / 2, k % 2)->pattern;
            assert_int_equal(e.count, f.count);
            assert_memory_equal(e.at, f.at, 8 * (size_t)e.count);
            assert_int_equal(p->nrows, q->nrows);
            assert_memory_equal(p->rowptr, q->rowptr, 8 * (size_t)(p->nrows + 1));
            assert_memory_equal(p->colidx, q->colidx, 4 * (size_t)p->nvals);
        }
        FtB_Relation_sample_free(&s[0]);
        FtB_Relation_sample_free(&s[1]);
    }
    FtB_Relations_free(&list);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* Each call of the driver fails in turn: the host does it, and nothing is left of what there was. */
static void failures(void **state)
{
    (void)state;
    static const int64_t seeds[] = {1, 2, 3, 30, 1}, fanouts[] = {5, 4};
    rng r = rng_new();
    FtB_Matrix A = gpu_sample_graph(&r, 60, 20, FTB_FP32);
    FtB_Sample host, trees, s;
    FtB_Sample_options o = {.size = sizeof o, .seed = 5, .edges = true, .disjoint = true};
    assert_ok(FtB_Context_set_device(NULL, NULL));
    assert_ok(FtB_sample(&trees, A, seeds, 5, fanouts, 2, &o));
    o.disjoint = false;
    assert_ok(FtB_sample(&host, A, seeds, 5, fanouts, 2, &o));
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    static const char *const calls[] = {"cuMemAlloc=2", "cuLaunchKernel", "cuMemcpyDtoHAsync"};
    for (size_t c = 0; c < sizeof calls / sizeof *calls && fake_gpu_emulates(); c++)
        for (int w = 0; w < 3; w++)
            for (int after = 0; after < 60; after += 1 + after / 2) {
                FtB_Sample_options with = o;
                char text[16];
                with.plan = w == 1 ? "queue" : "levels";
                with.disjoint = w == 2;
                assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
                snprintf(text, sizeof text, "%d", after + 1);
                setenv("FAKE_CUDA_AT", text, 1);
                setenv("FAKE_CUDA_FAILS", calls[c], 1);
                assert_ok(FtB_sample(&s, A, seeds, 5, fanouts, 2, &with));
                unsetenv("FAKE_CUDA_FAILS");
                unsetenv("FAKE_CUDA_AT");
                gpu_sample_same(w == 2 ? trees : host, s, 2, calls[c]);
                FtB_Sample_free(&s);
            }
    FtB_Sample_free(&host);
    FtB_Sample_free(&trees);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(samples, fake_gpu_clean),
        cmocka_unit_test_teardown(relabels, fake_gpu_clean),
        cmocka_unit_test_teardown(hops, fake_gpu_clean),
        cmocka_unit_test_teardown(queues, fake_gpu_clean),
        cmocka_unit_test_teardown(stays, fake_gpu_clean),
        cmocka_unit_test_teardown(refusals, fake_gpu_clean),
        cmocka_unit_test_teardown(forwarded, fake_gpu_clean),
        cmocka_unit_test_teardown(others, fake_gpu_clean),
        cmocka_unit_test_teardown(relations, fake_gpu_clean),
        cmocka_unit_test_teardown(failures, beside_clean),
    };
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
