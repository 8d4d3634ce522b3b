/* Picks by weight on a GPU that does not exist: the verb `sample` through tables that are there, and whole
 * samples, beside the host's, whose every bit they have. Weights that are none, tables that are made anew,
 * what goes there, what the host does and which words say so, and calls of the driver that fail. */
#include "support/beside.h"
#include "support/check.h"
#include "support/gpu_samples.h"

#include "core/backend.h"
#include "core/core.h"
#include "core/draws.h"
#include "cpu/sample/sample_run.h"
#include "gpu/gpu_verbs.h"
#include "gpu/kernels/sample_steps.h"
#include "gpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* All alike, real, over many powers of ten, one of a row above all others, most of them 0, whole numbers. */
enum { ALIKE, REALS, SPREAD, ONE_ABOVE, ZEROS, WHOLE, KINDS };

static double weight_of(rng *r, int kind, bool first)
{
    const double u = 0.05 + 0.45 * (1 + rng_unit(r));
    switch (kind) {
    case ALIKE:
        return 1;
    case SPREAD:
        return pow(10, 12 * u);
    case ONE_ABOVE:
        return first ? 1e6 : u;
    case ZEROS:
        return first || rng_below(r, 4) == 0 ? u : 0;
    case WHOLE:
        return (double)(1 + rng_below(r, 5));
    default:
        return u;
    }
}

static FtB_Matrix make_graph(rng *r, int64_t n, int64_t hub, FtB_Type type, int kind)
{
    FtB_Matrix A = gpu_sample_graph(r, n, hub, type);
    const int64_t *rowptr = A->pattern->rowptr;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
            const double x = weight_of(r, kind, e == rowptr[i]);
            ftb_cast((char *)matrix_values(A) + (size_t)e * FtB_Type_size(type), type, &x, FTB_FP64, 1);
        }
    assert_ok(FtB_Matrix_changed(A));
    return A;
}

/* ---- the verb */

/* Tables of all rows, of A's values. */
static ftb_buffer *tables_of(FtB_Matrix A)
{
    const ftb_sample_product all = {.ctx = A->ctx,
                                    .p = A->pattern,
                                    .nrows = A->pattern->nrows,
                                    .selector = FTB_SAMPLE_WEIGHTED,
                                    .values = ftb_values(A),
                                    .type = A->type};
    ftb_alias_slot *slots = ftb_new(A->ctx, A->pattern->nvals, sizeof *slots);
    assert_non_null(slots);
    assert_ok(ftb_sample_tables(&all, slots));
    return ftb_buffer_adopt(A->ctx, slots);
}

static void sample_one(rng *r, int number)
{
    static const int64_t ks[] = {-1, 0, 1, 2, 5, 8, 9, 16, 17, 31, 32, 33, 64, 129, 1000, 1024};
    const int kind = number % KINDS;
    const FtB_Type type = rng_below(r, 2) ? FTB_FP64 : FTB_FP32;
    const int64_t k = ks[rng_below(r, 16)], hub = number % 5 == 0 ? 3000 : rng_below(r, 200);
    const int64_t n = 1 + rng_below(r, hub > 1000 ? 3000 : 150);
    FtB_Matrix A = make_graph(r, n, hub, type, kind);
    ftb_buffer *tables = tables_of(A);
    const int64_t nrows = k > 100 ? rng_below(r, 6) : rng_below(r, 4) == 0 ? n : rng_below(r, 60);
    int64_t *rows = malloc(sizeof *rows * (size_t)(nrows + 1));
    for (int64_t t = 0; t < nrows; t++)
        rows[t] = rng_below(r, 5) == 0 ? n / 2 : rng_below(r, n);
    ftb_sample_product p = {.ctx = ftb_context(),
                            .p = A->pattern,
                            .rows = nrows == n ? NULL : rows,
                            .nrows = nrows,
                            .selector = FTB_SAMPLE_WEIGHTED,
                            .tables = ftb_buffer_data(tables),
                            .seed = rng_bits(r),
                            .k = k};
    p.replace = k >= 0 && rng_below(r, 4) == 0;
    p.stream = ftb_draw_stream(&p.seed, (uint64_t)rng_below(r, 9), (uint64_t)rng_below(r, 4));
    gpu_sample_trees trees = {.trees = NULL};
    if (rng_below(r, 2))
        trees = gpu_sample_plant(r, &p);
    assert_true(ftb_gpu_sample_fits(&p));
    char what[120];
    snprintf(what, sizeof what, "case %d: k %lld, %lld rows of %lld, weights %d%s%s", number, (long long)k,
             (long long)nrows, (long long)n, kind, p.replace ? ", again" : "", p.trees ? ", trees" : "");
    gpu_sample_picks without, host = gpu_sample_pick(p, A, tables, false),
                              gpu = gpu_sample_pick(p, A, tables, true);
    gpu_sample_same_picks(&host, &gpu, nrows, what);
    p.tables = NULL; /* the host's, of weights */
    without = gpu_sample_pick(p, A, NULL, false);
    gpu_sample_same_picks(&without, &gpu, nrows, what);
    gpu_sample_free(&without);
    gpu_sample_free(&host);
    gpu_sample_free(&gpu);
    ftb_buffer_release(tables);
    gpu_sample_fell(&trees);
    free(rows);
    FtB_Matrix_free(&A);
}

static void samples(void **state)
{
    (void)state;
    for (int n = 0; fake_gpu_emulates() && n < rng_cases(36); n++) {
        rng r = rng_case(n);
        sample_one(&r, n);
    }
}

/* Picks of a row of n entries, again and again, and of a short one. */
static void hub_of(int64_t n, int kind)
{
    enum { SHORT = 3, ROWS = 9 };
    rng r = rng_new();
    int64_t rowptr[] = {0, n, n + SHORT}, rows[ROWS] = {0};
    int32_t *colidx = malloc(sizeof *colidx * (size_t)(n + SHORT));
    float *x = malloc(sizeof *x * (size_t)(n + SHORT));
    for (int64_t e = 0; e < n + SHORT; e++) {
        colidx[e] = (int32_t)(e < n ? e : e - n);
        x[e] = (float)weight_of(&r, kind, e == n / 2);
    }
    rows[ROWS / 2] = 1;
    FtB_Matrix A;
    assert_ok(FtB_Matrix_wrap_csr(&A, FTB_FP32, 2, n, 1, rowptr, colidx, x));
    ftb_buffer *tables = tables_of(A);
    for (int64_t k = 1; k <= 64; k *= 4) {
        const ftb_sample_product p = {.ctx = ftb_context(),
                                      .p = A->pattern,
                                      .rows = rows,
                                      .nrows = ROWS,
                                      .selector = FTB_SAMPLE_WEIGHTED,
                                      .seed = 9,
                                      .k = k};
        gpu_sample_picks host = gpu_sample_pick(p, A, tables, false),
                         gpu = gpu_sample_pick(p, A, tables, true);
        gpu_sample_same_picks(&host, &gpu, ROWS, "a hub");
        gpu_sample_free(&host);
        gpu_sample_free(&gpu);
    }
    ftb_buffer_release(tables);
    FtB_Matrix_free(&A);
    free(colidx);
    free(x);
}

/* Of a million, what is picked costs what is picked of any other row; of those where one entry is above all
 * others, blocks go on with the draws, and with the keys. */
static void hub(void **state)
{
    (void)state;
    if (!fake_gpu_emulates())
        return;
    hub_of(INT64_C(1) << 20, SPREAD);
    hub_of(FTB_LEAST_LONG + 1, ONE_ABOVE);
}

/* ---- whole samples */

/* Tables are there after as many weights as A has were evaluated, and no sooner. */
static void make_tables(FtB_Matrix A, const char *key)
{
    FtB_Matrix S;
    assert_ok(FtB_Matrix_new(&S, A->type, A->pattern->nrows, A->pattern->ncols, 1));
    for (int t = 0; t < 2; t++)
        assert_ok(FtB_select_sample(S, NULL, 1, key, A, NULL));
    FtB_Matrix_free(&S);
    assert_true(A->pattern->nvals == 0 || (A->tables[FTB_TABLES_ROWS] && A->tables[FTB_TABLES_ROWS]->made));
}

/* What is not drawn hop by hop with its own rows. */
static bool is_plain(const FtB_Sample_options *o)
{
    return !o->once && !o->self && !o->apart && !o->exclude.count;
}

static void hops_one(rng *r, int number)
{
    static const int64_t some[] = {0, 1, 3, 5, 8, 10, 17, 32, 40, -1};
    static const char *const keys[] = {"x", "x * x", "1 + x", "x / (1 + dj)"};
    static const char *const plans[] = {NULL, "queue"};
    FtB_Matrix A = make_graph(r, 2 + rng_below(r, 400), rng_below(r, 100),
                              rng_below(r, 2) ? FTB_FP32 : FTB_FP64, number % KINDS);
    int64_t seeds[40], fanouts[4];
    const int64_t nseeds = 1 + rng_below(r, 39), excluded[] = {0, A->pattern->nvals / 2};
    const int nhops = 1 + (int)rng_below(r, 3);
    const bool odd = number % 4 == 3;
    FtB_Sample_options o = {.size = sizeof o,
                            .key = keys[rng_below(r, 4)],
                            .seed = rng_bits(r) | 1,
                            .batch = rng_below(r, 100),
                            .replace = rng_below(r, 4) == 0,
                            .once = odd && rng_below(r, 2),
                            .self = odd && rng_below(r, 3) == 0,
                            .disjoint = rng_below(r, 3) == 0,
                            .stack = rng_below(r, 3) == 0 ? 1 + rng_below(r, 9) : 0,
                            .structural = rng_below(r, 3) == 0,
                            .edges = rng_below(r, 2)};
    if (odd && rng_below(r, 3) == 0 && A->pattern->nvals > 2)
        o.exclude = FtB_Ids_of(excluded, 2);
    for (int64_t t = 0; t < nseeds; t++)
        seeds[t] = rng_below(r, A->pattern->nrows);
    for (int h = 0; h < nhops; h++)
        fanouts[h] = some[rng_below(r, o.replace ? 5 : 10)];
    FtB_Sample host, gpu;
    assert_ok(FtB_Context_set_device(NULL, NULL));
    assert_ok(FtB_sample(&host, A, seeds, nseeds, fanouts, nhops, &o));
    assert_string_equal(FtB_Sample_plan(host), "");
    make_tables(A, o.key);
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    for (int w = 0; w < 2; w++) {
        char what[80];
        const bool there = is_plain(&o) && fake_gpu_emulates() && A->pattern->nvals > 0;
        snprintf(what, sizeof what, "case %d, %s", number, plans[w] ? plans[w] : "planned");
        o.plan = plans[w];
        assert_ok(FtB_sample(&gpu, A, seeds, nseeds, fanouts, nhops, &o));
        assert_int_equal(strncmp(FtB_Sample_plan(gpu), "on gpu:0, hop by hop;", 21) == 0, there);
        assert_int_equal(strstr(FtB_Sample_plan(gpu), "in one kernel cannot be by weight") != NULL, there);
        gpu_sample_same(host, gpu, nhops, what);
        FtB_Sample_free(&gpu);
    }
    FtB_Sample_free(&host);
    FtB_Matrix_free(&A);
}

static void hops(void **state)
{
    (void)state;
    for (int n = 0; n < rng_cases(18); n++) {
        rng r = rng_case(n);
        hops_one(&r, n);
    }
}

/* From weights that are evaluated, by a call that makes tables on its way, to tables there: all the same; and
 * other values have other tables. */
static void begins(void **state)
{
    (void)state;
    static const int64_t seeds[] = {1, 2, 3, 30, 1}, fanouts[] = {3, 2};
    const FtB_Sample_options o = {.size = sizeof o, .key = "x + 1", .seed = 5, .edges = true};
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 60, 20, FTB_FP32, REALS);
    bool was_there = false;
    for (int changes = 0; changes < 2; changes++) {
        FtB_Sample host, gpu;
        FtB_Matrix B;
        assert_ok(FtB_Context_set_device(NULL, NULL));
        assert_ok(FtB_Matrix_dup(&B, A));
        assert_ok(FtB_sample(&host, B, seeds, 5, fanouts, 2, &o));
        assert_ok(FtB_Context_set_device(NULL, "gpu"));
        for (int t = 0; t < 8; t++) {
            assert_ok(FtB_sample(&gpu, A, seeds, 5, fanouts, 2, &o));
            gpu_sample_same(host, gpu, 2, "begins");
            const char *const plan = FtB_Sample_plan(gpu);
            const bool there = strncmp(plan, "on gpu:0, hop by hop", 20) == 0;
            if (t == 0 && fake_gpu_emulates())
                assert_string_equal(plan, "hops each by itself: no tables of the weights so far");
            was_there |= there;
            FtB_Sample_free(&gpu);
        }
        assert_int_equal(was_there, fake_gpu_emulates());
        was_there = false;
        FtB_Sample_free(&host);
        FtB_Matrix_free(&B);
        for (int64_t e = 0; e < A->pattern->nvals; e++)
            ((float *)matrix_values(A))[e] = (float)(e % 7);
        assert_ok(FtB_Matrix_changed(A));
    }
    FtB_Matrix_free(&A);
}

/* Tables go there once. */
static void stays(void **state)
{
    (void)state;
    static const int64_t seeds[] = {1, 2, 3, 150, 1}, fanouts[] = {5, 4};
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 300, 40, FTB_FP32, REALS);
    if (fake_gpu_emulates()) {
        const FtB_Sample_options o = {.size = sizeof o, .key = "1 + x", .seed = 3, .structural = true};
        int64_t sent[3];
        make_tables(A, o.key);
        for (int t = 0; t < 3; t++) {
            FtB_Sample s;
            assert_ok(FtB_sample(&s, A, seeds, 5, fanouts, 2, &o));
            FtB_Sample_free(&s);
            assert_ok(FtB_Context_moved(NULL, NULL, &sent[t]));
        }
        assert_int_equal(sent[1], sent[0]);
        assert_int_equal(sent[2], sent[0]);
    }
    FtB_Matrix_free(&A);
}

/* The host's words, whoever looked at the rows; who does not ask for a bad row is not told. */
static void refusals(void **state)
{
    (void)state;
    static const double bad[] = {-2, (double)NAN, (double)INFINITY, 0};
    static const char *const words[] = {"key is -2 for A(1, 2)", "key is nan for A(1, 2)",
                                        "key is inf for A(1, 2)", "weights of row 1 of A are all 0"};
    static const int64_t I[] = {0, 0, 1, 1, 2}, J[] = {1, 2, 1, 2, 0}, fine[] = {2, 0};
    static const int64_t ks[] = {-1, 0, 1, 2, 40};
    for (int b = 0; b < 4; b++)
        for (int c = 0; c < 5; c++) {
            const char *const key = (b + c) % 2 ? "x" : "x + 0 * i";
            double x[] = {1, 2, b == 3 ? 0 : 1, bad[b], 1};
            const int64_t k = ks[c], seeds[] = {2, 1};
            FtB_Matrix A, S;
            FtB_Sample s;
            assert_ok(FtB_Matrix_build(&A, FTB_FP64, 3, 3, 1, 5, I, J, x, FTB_DUP_ERROR, NULL));
            assert_ok(FtB_Matrix_new(&S, FTB_FP64, 2, 3, 1));
            for (int t = 0; t < 3; t++)
                assert_ok(FtB_select_sample(S, FtB_Ids_of(fine, 2), 1, key, A, NULL));
            assert_non_null(A->tables[FTB_TABLES_ROWS]->made);
            assert_ok(FtB_sample(&s, A, fine, 1, &k, 1, FTB_SAMPLE_OPTIONS(.key = key)));
            assert_int_equal(strncmp(FtB_Sample_plan(s), "on gpu:0, ", 10) == 0, fake_gpu_emulates());
            FtB_Sample_free(&s);
            assert_fails(GrB_INVALID_VALUE, words[b],
                         FtB_sample(&s, A, seeds, 2, &k, 1, FTB_SAMPLE_OPTIONS(.key = key)));
            assert_null(s);
            assert_fails(GrB_INVALID_VALUE, words[b],
                         FtB_select_sample(S, FtB_Ids_of(seeds, 2), k, key, A, NULL));
            FtB_Matrix_free(&A);
            FtB_Matrix_free(&S);
        }
}

/* What has no kernels the host does, and plans say why. */
static void forwarded(void **state)
{
    (void)state;
    static const int64_t seeds[] = {1, 20}, few[] = {3}, many[] = {FTB_SAMPLE_MOST + 1}, excluded[] = {1};
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 50, 10, FTB_FP64, REALS);
    FtB_Op op;
    assert_ok(FtB_Op_new(&op, "x"));
    make_tables(A, "x");
    const struct {
        FtB_Sample_options o;
        const int64_t *fanouts;
        const char *why;
    } cases[] = {
        {{.key = "x"}, many, "no kernels for all of them"},
        {{.key_op = op}, few, "a key that is no text has no tables"},
        {{.key = "x", .once = true}, few, "vertices picked of once"},
        {{.key = "x", .self = true}, few, "self entries"},
        {{.key = "x", .apart = true}, few, "vertices that are not merged"},
        {{.key = "x", .exclude = {excluded, 1}}, few, "entries that are left out"},
        {{.key = "x * x", .selector = FTB_SAMPLE_TOPK}, few, "the host evaluates the key"},
        {{.selector = FTB_SAMPLE_LABOR, .iterations = 1}, few, "the host's selector"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        FtB_Sample_options o = cases[c].o;
        FtB_Sample host, gpu;
        o.size = sizeof o;
        assert_ok(FtB_Context_set_device(NULL, NULL));
        assert_ok(FtB_sample(&host, A, seeds, 2, cases[c].fanouts, 1, &o));
        assert_ok(FtB_Context_set_device(NULL, "gpu"));
        assert_ok(FtB_sample(&gpu, A, seeds, 2, cases[c].fanouts, 1, &o));
        if (fake_gpu_emulates() && !strstr(FtB_Sample_plan(gpu), cases[c].why))
            fail_msg("case %zu: \"%s\"; expected \"%s\"", c, FtB_Sample_plan(gpu), cases[c].why);
        gpu_sample_same(host, gpu, 1, cases[c].why);
        FtB_Sample_free(&host);
        FtB_Sample_free(&gpu);
    }
    FtB_Op_free(&op);
    FtB_Matrix_free(&A);
}

/* Each call of the driver fails in turn: the host does it. */
static void failures(void **state)
{
    (void)state;
    static const int64_t seeds[] = {1, 2, 3, 30, 1}, fanouts[] = {9, 4};
    static const char *const calls[] = {"cuMemAlloc=2", "cuLaunchKernel", "cuMemcpyDtoHAsync",
                                        "cuMemcpyHtoDAsync"};
    rng r = rng_new();
    FtB_Matrix A = make_graph(&r, 60, 20, FTB_FP32, ONE_ABOVE), S[2];
    FtB_Sample host, s;
    const FtB_Sample_options o = {.size = sizeof o, .key = "x", .seed = 5, .edges = true};
    assert_ok(FtB_Context_set_device(NULL, NULL));
    make_tables(A, "x");
    for (int t = 0; t < 2; t++)
        assert_ok(FtB_Matrix_new(&S[t], FTB_FP32, 60, 60, 1));
    assert_ok(FtB_sample(&host, A, seeds, 5, fanouts, 2, &o));
    assert_ok(FtB_select_sample(S[0], NULL, 9, "x", A, FTB_SELECT_OPTIONS(.seed = 5)));
    assert_ok(FtB_Context_set_device(NULL, "gpu"));
    for (size_t c = 0; c < sizeof calls / sizeof *calls && fake_gpu_emulates(); c++)
        for (int after = 0; after < 100; after += 1 + after / 3) {
            char text[16];
            assert_ok(ftb_gpu_trim(ftb_device(ftb_context())));
            snprintf(text, sizeof text, "%d", after + 1);
            setenv("FAKE_CUDA_AT", text, 1);
            setenv("FAKE_CUDA_FAILS", calls[c], 1);
            if (after % 2)
                assert_ok(FtB_sample(&s, A, seeds, 5, fanouts, 2, &o));
            else
                assert_ok(FtB_select_sample(S[1], NULL, 9, "x", A, FTB_SELECT_OPTIONS(.seed = 5)));
            unsetenv("FAKE_CUDA_FAILS");
            unsetenv("FAKE_CUDA_AT");
            if (after % 2) {
                gpu_sample_same(host, s, 2, calls[c]);
                FtB_Sample_free(&s);
            } else {
                const ftb_pattern *a = S[0]->pattern, *b = S[1]->pattern;
                assert_memory_equal(a->rowptr, b->rowptr, 8 * 61);
                assert_memory_equal(a->colidx, b->colidx, 4 * (size_t)a->nvals);
            }
        }
    FtB_Sample_free(&host);
    for (int t = 0; t < 2; t++)
        FtB_Matrix_free(&S[t]);
    FtB_Matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(samples, fake_gpu_clean),
        cmocka_unit_test_teardown(hub, fake_gpu_clean),
        cmocka_unit_test_teardown(hops, fake_gpu_clean),
        cmocka_unit_test_teardown(begins, fake_gpu_clean),
        cmocka_unit_test_teardown(stays, fake_gpu_clean),
        cmocka_unit_test_teardown(refusals, fake_gpu_clean),
        cmocka_unit_test_teardown(forwarded, fake_gpu_clean),
        cmocka_unit_test_teardown(failures, beside_clean),
    };
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
