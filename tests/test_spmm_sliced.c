/* Sparse x block of few features by slices of the rows, through the public interface: against sums in long
 * double and a search for the best, with the bits of rows one by one; views, dtypes, means, masks,
 * accumulators, threads, trials, failing allocations. */
#include "support/check.h"

#include "core/slices.h"
#include "support/fail_alloc.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

/* Slices without entries, and one that ends within the last 4,096 rows. Sources of one value of FP32 take
 * more than 1 MiB; those of WIDE columns are in two blocks. */
enum { ROWS = 21000, COLUMNS = 264000, WIDE = (1 << 20) + 3000, COUNT = 100000, MOST = 4, GAP = 2 };

typedef struct graph {
    FtB_Matrix A;
    const int64_t *rowptr;
    const int32_t *colidx;
} graph;

/* rule: of parallel edges. */
static graph make_graph(rng *r, int64_t columns, FtB_Dup rule)
{
    graph g = {.A = NULL};
    const void *colidx;
    int64_t *I = malloc(sizeof *I * COUNT), *J = malloc(sizeof *J * COUNT);
    for (int64_t t = 0; t < COUNT; t++) {
        I[t] = t % 8 == 0 ? 77 : t % 8 < 5 ? rng_below(r, 8192) : 16384 + rng_below(r, ROWS - 16384);
        J[t] = t % 3 ? rng_below(r, columns) : columns - 1 - rng_below(r, 2000);
    }
    assert_ok(FtB_Matrix_build(&g.A, FTB_FP32, ROWS, columns, 0, COUNT, I, J, NULL, rule, NULL));
    assert_ok(FtB_Matrix_csr(g.A, &g.rowptr, &colidx, NULL));
    g.colidx = colidx;
    free(I);
    free(J);
    return g;
}

/* n x k, in rows of its own, or with a gap behind each. */
static FtB_Block block(FtB_Type type, int64_t n, int64_t k, bool gap)
{
    FtB_Block whole = NULL, X = NULL;
    if (!gap) {
        assert_ok(FtB_Block_new(&X, n, k, type));
        return X;
    }
    assert_ok(FtB_Block_new(&whole, n, k + GAP, type));
    assert_ok(FtB_Block_columns(&X, whole, 0, k));
    FtB_Block_free(&whole);
    return X;
}

static double value_at(FtB_Block X, int64_t i, int64_t f)
{
    return ftb_get_real(block_values(X), X->type, i * X->ld + f);
}

enum { PLUS, MEAN, MIN, MAX, OPERATIONS };
static const char *const texts[] = {"plus : src", "mean : src", "min : src", "max : src"};

static void check_values(const graph *g, FtB_Block C, FtB_Block X, int operation, double empty)
{
    const void *from = block_values(X);
    const double ulp = C->type == FTB_FP32 ? 1e-6 : C->type == FTB_FP64 ? 1e-14 : 0;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t f = 0; f < X->ncols; f++) {
            const int64_t entries = g->rowptr[i + 1] - g->rowptr[i];
            long double sum = 0, size = 0, best = NAN;
            for (int64_t e = g->rowptr[i]; e < g->rowptr[i + 1]; e++) {
                const double x = ftb_get_real(from, X->type, g->colidx[e] * X->ld + f);
                sum += x;
                size += fabs(x);
                if (isnan(best) || (operation == MIN ? x < (double)best : x > (double)best))
                    best = x;
            }
            const long double want = entries == 0        ? (long double)empty
                                     : operation == PLUS ? sum
                                     : operation == MEAN ? sum / (long double)entries
                                                         : best;
            const double got = value_at(C, i, f);
            const long double off = operation <= MEAN ? (long double)ulp * size : 0;
            if (!(fabsl((long double)got - want) <= off) && !(isnan(got) && isnan((double)want)))
                fail_msg("%s of %s, row %lld, feature %lld: %.17g; expected %.17Lg", texts[operation],
                         FtB_Type_name(X->type), (long long)i, (long long)f, got, want);
        }
}

static void assert_same(FtB_Block C, FtB_Block D, const char *what)
{
    const char *c = block_values(C), *d = block_values(D);
    const size_t size = FtB_Type_size(C->type);
    for (int64_t i = 0; i < C->nrows; i++)
        for (int64_t f = 0; f < C->ncols; f++)
            if (memcmp(c + (size_t)(i * C->ld + f) * size, d + (size_t)(i * D->ld + f) * size, size) != 0)
                fail_msg("%s: row %lld, feature %lld: %.17g and %.17g", what, (long long)i, (long long)f,
                         value_at(C, i, f), value_at(D, i, f));
}

typedef struct forced {
    FtB_Plan plan;
    FtB_Descriptor desc;
} forced;

/* With the kernel, and so many threads. */
static forced by_hand(const char *kernel, const char *threads, FtB_Block C, const char *text, FtB_Matrix A,
                      FtB_Block X)
{
    forced f = {NULL, NULL};
    assert_ok(FtB_mxm_plan(&f.plan, C, NULL, NULL, text, A, X, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(f.plan, "kernel", kernel));
    assert_ok(FtB_Plan_set(f.plan, "threads", threads));
    assert_int_equal(planned_figure(f.plan, "sliced"), strcmp(kernel, "sliced") == 0);
    assert_ok(planned_descriptor(&f.desc, NULL, f.plan));
    return f;
}

static void let_go(forced *f)
{
    FtB_Descriptor_free(&f->desc);
    FtB_Plan_free(&f->plan);
}

static void fill(rng *r, FtB_Block X, bool some_nan)
{
    const int64_t count = X->nrows * X->ld;
    (ftb_type_float(X->type) ? rng_reals : rng_values)(r, block_values(X), X->type, count);
    for (int64_t t = 0; some_nan && t < count / 4; t++)
        ((float *)block_values(X))[rng_below(r, count)] = NAN;
}

/* Every operation, by rows, and by slices on some threads. `some_nan`: of FP32; sums are left out, since
 * which NaN they become is not said. */
static void check_case(const graph *g, rng *r, FtB_Type stored, FtB_Type type, int64_t k, bool some_nan)
{
    static const char *const threads[] = {"1", "2", "3"};
    FtB_Block X = block(stored, g->A->pattern->ncols, k, rng_below(r, 2)),
              C = block(type, ROWS, k, rng_below(r, 2)), D = block(type, ROWS, k, false);
    fill(r, X, some_nan);
    for (int operation = some_nan ? MIN : PLUS; operation < OPERATIONS; operation++) {
        if (operation == MEAN && type == FTB_INT64)
            continue;
        forced by = by_hand("direct", "2", D, texts[operation], g->A, X);
        assert_ok(FtB_mxm(D, NULL, NULL, texts[operation], g->A, X, by.desc));
        let_go(&by);
        for (int t = 0; t < 3; t++) {
            by = by_hand("sliced", threads[t], C, texts[operation], g->A, X);
            fill(r, C, false);
            assert_ok(FtB_mxm(C, NULL, NULL, texts[operation], g->A, X, by.desc));
            assert_same(C, D, threads[t]);
            let_go(&by);
        }
        check_values(g, C, X, operation, 0);
    }
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&D);
}

static void every_type(void **state)
{
    static const struct {
        FtB_Type stored, type;
        int64_t most; /* features */
    } types[] = {{FTB_FP32, FTB_FP32, 4},
                 {FTB_FP64, FTB_FP64, 2},
                 {FTB_INT64, FTB_INT64, 2},
                 {FTB_FP16, FTB_FP32, 4},
                 {FTB_INT32, FTB_INT64, 2}};
    rng r = rng_new();
    graph g = make_graph(&r, COLUMNS, FTB_DUP_KEEP);
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int64_t k = 1; k <= types[t].most; k++)
            check_case(&g, &r, types[t].stored, types[t].type, k, false);
    for (int64_t k = 1; k <= MOST; k++)
        check_case(&g, &r, FTB_FP32, FTB_FP32, k, true);
    FtB_Matrix_free(&g.A);
    g = make_graph(&r, WIDE, FTB_DUP_KEEP);
    check_case(&g, &r, FTB_FP32, FTB_FP32, 3, false);
    FtB_Matrix_free(&g.A);
}

/* What is not all rows, few features and messages as they are is not sliced, nor is a sum whose bits would be
 * others unless a hand asks for it. */
static void where_it_can_be(void **state)
{
    rng r = rng_new();
    graph g = make_graph(&r, COLUMNS, FTB_DUP_KEEP);
    FtB_Block X, C, near, few, mask;
    FtB_Matrix A = rng_matrix(&r, FTB_FP32, 300, 200, 1, 0.2);
    (void)state;
    for (int64_t k = 1; k <= 5; k++) {
        FtB_Plan plan = NULL;
        X = block(FTB_FP32, COLUMNS, k, false);
        C = block(FTB_FP32, ROWS, k, false);
        assert_ok(FtB_mxm_plan(&plan, C, NULL, NULL, "plus : src", g.A, X, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(plan, "kernel", "sliced"));
        assert_true((planned_figure(plan, "sliced") > 0) == (k <= 4));
        if (k <= 4)
            assert_plan_says(plan, "slices           of up to 8192 rows");
        FtB_Plan_free(&plan);
        FtB_Block_free(&X);
        FtB_Block_free(&C);
    }
    near = rng_block(&r, 200, 1, FTB_FP32);
    few = rng_block(&r, 300, 1, FTB_FP32);
    static const char *const others[] = {"plus : src", "max : src", "plus : edge * src"};
    for (int t = 0; t < 3; t++) {
        FtB_Plan plan = NULL;
        assert_ok(FtB_mxm_plan(&plan, few, NULL, NULL, others[t], A, near, NULL, FTB_MEASURE));
        assert_true(t == 1 || planned_figure(plan, "sliced") <= 0); /* a trial is no hand */
        assert_ok(FtB_Plan_set(plan, "kernel", "sliced"));
        assert_true((planned_figure(plan, "sliced") > 0) == (t < 2));
        FtB_Plan_free(&plan);
    }
    mask = rng_block(&r, 300, 1, FTB_BOOL);
    FtB_Plan plan = NULL;
    assert_ok(FtB_mxm_plan(&plan, few, mask, NULL, "max : src", A, near, NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "kernel", "sliced"));
    assert_true(planned_figure(plan, "sliced") <= 0);
    FtB_Plan_free(&plan);
    FtB_Block_free(&mask);
    FtB_Block_free(&near);
    FtB_Block_free(&few);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&g.A);
}

/* One column of many sources: the same bits with and without slices, under a mask, on any threads. */
static void one_order(void **state)
{
    rng r = rng_new();
    graph g = make_graph(&r, COLUMNS, FTB_DUP_KEEP);
    FtB_Block X = block(FTB_FP32, COLUMNS, 1, false), C = block(FTB_FP32, ROWS, 1, false),
              D = block(FTB_FP32, ROWS, 1, false), half = block(FTB_BOOL, ROWS, 1, false);
    bool *some = block_values(half);
    float *c = block_values(C), *d = block_values(D);
    (void)state;
    fill(&r, X, false);
    for (int64_t i = 0; i < ROWS; i++)
        some[i] = i % 3 != 0;
    for (int threads = 1; threads <= 4; threads++) {
        assert_ok(FtB_Context_set_threads(NULL, threads));
        assert_ok(FtB_mxm(threads == 1 ? C : D, NULL, NULL, "plus : src", g.A, X, NULL));
        if (threads > 1)
            assert_same(C, D, "threads");
        memset(d, 0, sizeof *d * ROWS);
        assert_ok(FtB_mxm(D, half, NULL, "plus : src", g.A, X, NULL));
        for (int64_t i = 0; i < ROWS; i++)
            assert_true(memcmp(&d[i], some[i] ? &c[i] : &(float){0}, sizeof *d) == 0);
        if (threads == 2) {
            forced by = by_hand("sliced", "2", D, "plus : src", g.A, X);
            assert_false(ftb_slices_there(g.A->pattern));
            assert_ok(FtB_mxm(D, NULL, NULL, "plus : src", g.A, X, by.desc));
            assert_true(ftb_slices_there(g.A->pattern));
            assert_same(C, D, "slices");
            let_go(&by);
        }
    }
    assert_ok(FtB_Context_set_threads(NULL, 0));
    check_values(&g, C, X, PLUS, 0);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&D);
    FtB_Block_free(&half);
    FtB_Matrix_free(&g.A);
}

/* Rows without entries get the fill value, or keep C where something is added to it. */
static void rows_without(void **state)
{
    rng r = rng_new();
    graph g = make_graph(&r, COLUMNS, FTB_DUP_KEEP);
    FtB_Block X = block(FTB_FP32, COLUMNS, 2, false), C = block(FTB_FP32, ROWS, 2, false),
              D = block(FTB_FP32, ROWS, 2, false);
    forced by = by_hand("sliced", "2", C, "max : src", g.A, X);
    float *c = block_values(C), *d = block_values(D);
    (void)state;
    fill(&r, X, false);
    assert_ok(FtB_Descriptor_set(by.desc, FTB_FILL, 7.0));
    assert_ok(FtB_mxm(C, NULL, NULL, "max : src", g.A, X, by.desc));
    check_values(&g, C, X, MAX, 7);
    fill(&r, D, false);
    memcpy(c, d, sizeof *c * ROWS * 2);
    assert_ok(FtB_mxm(D, NULL, "x + y", "max : src", g.A, X, by.desc));
    for (int64_t t = 0; t < 2 * ROWS; t++) {
        const int64_t i = t / 2;
        double best = -INFINITY;
        for (int64_t e = g.rowptr[i]; e < g.rowptr[i + 1]; e++)
            best = fmax(best, value_at(X, g.colidx[e], t % 2));
        assert_true(d[t] == (g.rowptr[i] < g.rowptr[i + 1] ? c[t] + (float)best : c[t]));
    }
    let_go(&by);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&D);
    FtB_Matrix_free(&g.A);
}

/* ---- failing allocations */

typedef struct failing {
    const graph *g;
    FtB_Block X, C;
} failing;

/* On a pattern of its own, whose slices go with it. */
static GrB_Info multiply_anew(void *arg)
{
    const failing *f = arg;
    FtB_Matrix A = NULL;
    FtB_Plan plan = NULL;
    FtB_Descriptor desc = NULL;
    GrB_Info info = FtB_Matrix_wrap_csr(&A, FTB_FP32, ROWS, COLUMNS, 0, f->g->rowptr, f->g->colidx, NULL);
    if (info == GrB_SUCCESS)
        info = FtB_mxm_plan(&plan, f->C, NULL, NULL, "min : src", A, f->X, NULL, FTB_ESTIMATE);
    if (info == GrB_SUCCESS)
        info = FtB_Plan_set(plan, "kernel", "sliced");
    if (info == GrB_SUCCESS)
        info = FtB_Descriptor_new(&desc);
    if (info == GrB_SUCCESS)
        info = FtB_Descriptor_set(desc, FTB_PLAN, plan);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(f->C, NULL, NULL, "min : src", A, f->X, desc);
    FtB_Descriptor_free(&desc);
    FtB_Plan_free(&plan);
    FtB_Matrix_free(&A);
    return info;
}

static void untouched(void *arg)
{
    const float *c = block_values(((failing *)arg)->C);
    for (int64_t t = 0; t < 3 * ROWS; t++)
        assert_true(c[t] == 42);
}

static void failing_allocations(void **state)
{
    rng r = rng_new();
    graph g = make_graph(&r, COLUMNS, FTB_DUP_FIRST);
    failing f = {&g, block(FTB_FP32, COLUMNS, 3, false), block(FTB_FP32, ROWS, 3, false)};
    (void)state;
    fill(&r, f.X, false);
    for (int64_t t = 0; t < 3 * ROWS; t++)
        ((float *)block_values(f.C))[t] = 42;
    fail_every_allocation(multiply_anew, untouched, &f);
    check_values(&g, f.C, f.X, MIN, 0);
    FtB_Block_free(&f.X);
    FtB_Block_free(&f.C);
    FtB_Matrix_free(&g.A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),   cmocka_unit_test(where_it_can_be),     cmocka_unit_test(one_order),
        cmocka_unit_test(rows_without), cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
