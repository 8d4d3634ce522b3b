/* Dot products on entries by cuSPARSE, which does not exist (support/fake_cuda), on a GPU that does not
 * either: products where a plan asks for them, whose bits are those of sums from the last feature to the
 * first, as that library makes them; what is kept for the next product, beside products with blocks; and
 * FTB_MEASURE. */
#include "support/check.h"

#include "core/backend.h"
#include "core/core.h"
#include "gpu/cusparse/cusparse_product.h"
#include "ops/plan_object.h"
#include "plan/wisdom.h"
#include "support/by_cusparse.h"
#include "support/fake_gpu.h"
#include "support/planned.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct product {
    FtB_Matrix A, S; /* S is over A's pattern */
    FtB_Block X, Y;  /* of columns and of rows */
    const char *text;
    float scale;
    FtB_Plan plan;
    FtB_Descriptor desc;
} product;

static void begin(product *p, rng *r, bool scaled, int64_t width, int64_t xgap, int64_t ygap)
{
    *p = (product){.text = scaled ? "plus : dot(src, dst) * 0.3" : "plus : dot(src, dst)",
                   .scale = scaled ? 0.3F : 1};
    p->A = rng_matrix(r, FTB_FP32, ROWS, COLS, 1, 0.2);
    assert_ok(FtB_Matrix_like(&p->S, p->A, 1, FTB_FP32));
    p->X = by_cusparse_block(r, COLS, width, xgap);
    p->Y = by_cusparse_block(r, ROWS, width, ygap);
}

static void plan(product *p, FtB_Effort effort)
{
    FtB_Descriptor_free(&p->desc);
    FtB_Plan_free(&p->plan);
    assert_ok(FtB_mxm_plan(&p->plan, p->S, p->A, NULL, p->text, p->Y, p->X, FTB_DESC_RST1, effort));
}

static void follow(product *p)
{
    FtB_Descriptor_free(&p->desc);
    assert_ok(planned_descriptor(&p->desc, FTB_DESC_RST1, p->plan));
}

static void ask(product *p)
{
    plan(p, FTB_ESTIMATE);
    assert_ok(FtB_Plan_set(p->plan, "kernel", "cusparse"));
    follow(p);
}

static void end(product *p)
{
    FtB_Descriptor_free(&p->desc);
    FtB_Plan_free(&p->plan);
    FtB_Matrix_free(&p->S);
    FtB_Matrix_free(&p->A);
    FtB_Block_free(&p->X);
    FtB_Block_free(&p->Y);
}

static void run(const product *p)
{
    assert_ok(FtB_mxm(p->S, p->A, NULL, p->text, p->Y, p->X, p->desc ? p->desc : FTB_DESC_RST1));
}

/* What it is to be, by the slow library's order, or else within a bound. */
static void multiply(const void *product_of, bool backwards)
{
    const product *p = product_of;
    const ftb_pattern *of = p->A->pattern;
    run(p);
    const float *s = matrix_values(p->S), *x = block_values(p->X), *y = block_values(p->Y);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t e = of->rowptr[i]; e < of->rowptr[i + 1]; e++) {
            float sum = 0;
            double exact = 0, size = 0;
            for (int64_t f = p->X->ncols - 1; f >= 0; f--) {
                const float a = x[ftb_col(of, e) * p->X->ld + f], b = y[i * p->Y->ld + f];
                sum += a * b;
                exact += (double)a * (double)b;
                size += fabs((double)a * (double)b);
            }
            sum *= p->scale;
            exact *= (double)p->scale;
            if (!(fabs((double)s[e] - exact) <= 4e-6 * size) || (backwards && !(s[e] >= sum && s[e] <= sum)))
                fail_msg("entry %d of row %d is %.9g, not %.9g (%.9g backwards)", (int)e, (int)i,
                         (double)s[e], exact, (double)sum);
        }
}

/* A product that cuSPARSE made, or did not. */
static void is_by(const product *p, bool cusparse) { by_cusparse_is(multiply, p, cusparse); }

/* Where a plan asks for it, whatever rows are like; again without another descriptor or workspace, for
 * operands that are elsewhere and another scale, too. */
static void forced(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (int k = 0; k < 8; k++) {
        const int64_t width = k & 1 ? 5 : 8, xgap = k & 2 ? 3 : 0, ygap = k & 4 ? 2 : 0;
        product p;
        begin(&p, &r, k & 1, width, xgap, ygap);
        is_by(&p, false); /* nobody has asked for it */
        plan(&p, FTB_ESTIMATE);
        assert_true(planned_figure(p.plan, "cusparse") < 1);
        assert_plan_says(p.plan, "on the GPU       direct <- chosen");
        ask(&p);
        assert_plan_says(p.plan, "on the GPU       cuSPARSE's SDDMM <- asked for");
        assert_plan_says(p.plan, "the same at every run");
        assert_true(planned_figure(p.plan, "cusparse") > 0);
        is_by(&p, true);
        const int there = by_cusparse.live(), ready = by_cusparse.prepared();
        is_by(&p, true);
        const FtB_Block old[] = {p.X, p.Y}; /* which keep their memory there */
        p.X = by_cusparse_block(&r, COLS, width, xgap);
        p.Y = by_cusparse_block(&r, ROWS, width, ygap);
        p.text = "plus : dot(src, dst) * 2";
        p.scale = 2;
        is_by(&p, true);
        assert_int_equal(by_cusparse.live(), there);
        assert_int_equal(by_cusparse.prepared(), ready);
        for (int n = 0; n < 2; n++)
            FtB_Block_free(&(FtB_Block){old[n]});
        assert_ok(FtB_Plan_set(p.plan, "kernel", "rows")); /* by hand: ours */
        assert_true(planned_figure(p.plan, "cusparse") < 1);
        follow(&p);
        is_by(&p, false);
        end(&p);
    }
}

/* What it does not make it is not asked for: several heads, sums, FP64, texts; attention has no such way. */
static void others(void **state)
{
    rng r = rng_new();
    product p;
    FtB_Block heads[2];
    (void)state;
    begin(&p, &r, false, 8, 0, 0);
    FtB_Block x = p.X, y = p.Y;
    assert_ok(FtB_Block_heads(&heads[0], x, 2));
    assert_ok(FtB_Block_heads(&heads[1], y, 2));
    for (int k = 0; k < 4; k++) {
        const int before = by_cusparse.made();
        FtB_Block wide[2] = {NULL, NULL};
        FtB_Matrix_free(&p.S);
        assert_ok(FtB_Matrix_like(&p.S, p.A, k == 0 ? 2 : k == 1 ? 8 : 1, k == 2 ? FTB_FP64 : FTB_FP32));
        p.text = k == 1   ? "plus : src + dst"
                 : k == 3 ? "plus : dot(src, dst) + edge"
                          : "plus : dot(src, dst)";
        p.X = k == 0 ? heads[0] : x;
        p.Y = k == 0 ? heads[1] : y;
        if (k == 2) {
            p.X = wide[0] = fake_gpu_wide(x);
            p.Y = wide[1] = fake_gpu_wide(y);
        }
        ask(&p);
        assert_true(planned_figure(p.plan, "cusparse") < 1);
        run(&p);
        assert_int_equal(by_cusparse.made(), before);
        FtB_Block_free(&wide[0]);
        FtB_Block_free(&wide[1]);
    }
    FtB_Plan_free(&p.plan);
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, ROWS, 8, FTB_FP32));
    assert_ok(FtB_attention_plan(&p.plan, C, p.A, NULL, FTB_PLUS_DOT, y, x, x, NULL, NULL, FTB_ESTIMATE));
    assert_fails(GrB_INVALID_VALUE, "expected auto, fused, staged, rows or segments",
                 FtB_Plan_set(p.plan, "kernel", "cusparse"));
    FtB_Block_free(&C);
    FtB_Block_free(&heads[0]);
    FtB_Block_free(&heads[1]);
    p.X = x;
    p.Y = y;
    end(&p);
}

/* A call that fails: the host does it; what cuSPARSE does not support, our kernel. */
static void fails(void **state)
{
    static const char *const calls[] = {"cusparseSetStream", "cusparseCreateCsr", "cusparseCreateDnMat",
                                        "cusparseSDDMM_bufferSize", "cusparseSDDMM"};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        char text[60];
        product p;
        begin(&p, &r, false, 8, 0, 0);
        ask(&p);
        const int before = by_cusparse.live(), ran = by_cusparse.made();
        snprintf(text, sizeof text, "%s=6", calls[n]);
        setenv("FAKE_CUSPARSE_FAILS", text, 1);
        multiply(&p, false);
        assert_int_equal(by_cusparse.live(), before);
        snprintf(text, sizeof text, "%s=10", calls[n]); /* not supported */
        setenv("FAKE_CUSPARSE_FAILS", text, 1);
        const int launched = fake_gpu_launches();
        multiply(&p, false);
        assert_true(fake_gpu_launches() > launched);
        assert_int_equal(by_cusparse.made(), ran);
        assert_int_equal(by_cusparse.live(), before);
        unsetenv("FAKE_CUSPARSE_FAILS");
        is_by(&p, true);
        end(&p);
    }
}

/* C = A X, of ones. */
static void check_sums(const product *p, FtB_Block C)
{
    const ftb_pattern *of = p->A->pattern;
    const float *c = block_values(C), *x = block_values(p->X); /* launches are late */
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t f = 0; f < C->ncols; f++) {
            double sum = 0, size = 0;
            for (int64_t e = of->rowptr[i]; e < of->rowptr[i + 1]; e++) {
                const double a = (double)x[ftb_col(of, e) * p->X->ld + f];
                sum += a;
                size += fabs(a);
            }
            assert_true(fabs((double)c[i * C->ld + f] - sum) <= 4e-6 * size);
        }
}

/* So many products are kept, of both kinds, of which none is taken for the other. */
static void kept(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    for (int n = 0; n < KEPT + 4; n++) {
        product p;
        FtB_Plan sum;
        FtB_Descriptor desc;
        assert_ok(FtB_Context_set_relaxed(NULL, true));
        begin(&p, &r, n % 2, 6, 0, 0);
        FtB_Block C = by_cusparse_block(&r, ROWS, 6, 0);
        assert_ok(FtB_mxm_plan(&sum, C, NULL, NULL, FTB_PLUS_SRC, p.A, p.X, NULL, FTB_ESTIMATE));
        assert_ok(FtB_Plan_set(sum, "kernel", "cusparse"));
        assert_ok(FtB_Plan_set(sum, "algorithm", "default")); /* which SDDMM calls its own, too */
        assert_ok(planned_descriptor(&desc, NULL, sum));
        ask(&p);
        is_by(&p, true);
        const int before = by_cusparse.made();
        assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, p.A, p.X, desc));
        check_sums(&p, C);
        assert_int_equal(by_cusparse.made(), before + 1);
        is_by(&p, true);
        assert_true(by_cusparse.live() <= 1 + KEPT * OF_A_PRODUCT);
        FtB_Descriptor_free(&desc);
        FtB_Plan_free(&sum);
        FtB_Block_free(&C);
        if (n == KEPT + 3) {
            by_cusparse_gives_way();
            is_by(&p, true);
        }
        assert_ok(FtB_Context_set_relaxed(NULL, false));
        end(&p);
    }
}

/* It is in no graph: its workspace might be given up before that is launched. */
static void unrecorded(void **state)
{
    const ftb_backend *b = &by_cusparse_device()->row;
    struct ftb_recording *recording;
    rng r = rng_new();
    product p;
    void *numbers;
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    begin(&p, &r, false, 8, 0, 0);
    ask(&p);
    is_by(&p, true);
    const int before = by_cusparse.made();
    assert_ok(b->memory->replays->begin(b, ftb_context(), 0, &numbers));
    (void)FtB_mxm(p.S, p.A, NULL, p.text, p.Y, p.X, p.desc); /* by the host, if at all */
    assert_ok(b->memory->replays->end(b, true, &recording));
    assert_null(recording);
    assert_int_equal(by_cusparse.made(), before);
    is_by(&p, true);
    end(&p);
}

/* ---- measured */

static void assert_measured(product *p, const char *takes, const char *slow, const char *words)
{
    setenv("FAKE_CUSPARSE_TAKES", takes, 1);
    setenv("FAKE_CUDA_SLOW", slow, 1);
    plan(p, FTB_MEASURE);
    assert_plan_says(p->plan, words);
    unsetenv("FAKE_CUSPARSE_TAKES");
    unsetenv("FAKE_CUDA_SLOW");
}

/* By the device's clock; the output stays as it was. What was found is used by calls without a plan, and by
 * nobody for whom it was not found. */
static void measured(void **state)
{
    rng r = rng_new();
    product p, other;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    begin(&p, &r, true, 8, 0, 0);
    begin(&other, &r, true, 8, 0, 0);
    run(&p);
    const size_t bytes = (size_t)p.A->pattern->nvals * sizeof(float);
    float *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, matrix_values(p.S), bytes);
    assert_ok(FtB_Block_changed(p.X));
    assert_measured(&p, "9,9,9,9", "", "on the GPU       direct <- measured; ");
    assert_memory_equal(matrix_values(p.S), before, bytes);
    follow(&p);
    is_by(&p, false);
    assert_ok(FtB_Wisdom_forget(NULL));
    assert_measured(&p, "7,9,9,9", "sddmm_direct", "cuSPARSE's SDDMM <- measured; 0.007 s");
    assert_memory_equal(matrix_values(p.S), before, bytes);
    assert_true(planned_figure(p.plan, "gpu_seconds") > 0.006);
    follow(&p);
    is_by(&p, true);
    FtB_Descriptor_free(&p.desc);
    is_by(&p, true); /* from wisdom */
    is_by(&other, false);
    plan(&p, FTB_ESTIMATE);
    assert_plan_says(p.plan, "cuSPARSE's SDDMM <- measured, from wisdom; 0.007 s");
    assert_ok(FtB_Context_set_deterministic(NULL, true));
    is_by(&p, false);
    plan(&p, FTB_MEASURE);
    assert_plan_says(p.plan, "on the GPU       direct <- chosen");
    assert_ok(FtB_Context_set_deterministic(NULL, false));
    FtB_Descriptor_free(&p.desc);
    is_by(&p, true);
    by_cusparse_remembered(multiply, &p);
    assert_ok(FtB_Wisdom_forget(NULL));
    free(before);
    end(&p);
    end(&other);
}

/* What fails for want of memory is not the fastest. */
static void without_room(void **state)
{
    rng r = rng_new();
    product p;
    (void)state;
    if (!fake_gpu_emulates())
        return;
    begin(&p, &r, false, 8, 0, 0);
    setenv("FAKE_CUSPARSE_FAILS", "cusparseSDDMM=6", 1);
    assert_measured(&p, "1,1,1,1", "sddmm_direct", "on the GPU       direct <- measured");
    unsetenv("FAKE_CUSPARSE_FAILS");
    assert_ok(FtB_Wisdom_forget(NULL));
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(forced, fake_gpu_clean),
                                       cmocka_unit_test_teardown(others, fake_gpu_clean),
                                       cmocka_unit_test_teardown(fails, fake_gpu_clean),
                                       cmocka_unit_test_teardown(kept, fake_gpu_clean),
                                       cmocka_unit_test_teardown(unrecorded, fake_gpu_clean),
                                       cmocka_unit_test_teardown(measured, fake_gpu_clean),
                                       cmocka_unit_test_teardown(without_room, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, by_cusparse_start, NULL);
}
