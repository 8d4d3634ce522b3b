/* Sparse x block on a GPU that does not exist, hybrid, by bulk copies, whose bits are those of others; and by
 * tensor cores: where the context allows that operands are
 * rounded, results are off by no more than the bound that is documented, and are others than in FP32; where
 * it does not, they are FP32's, bit for bit. Beside slow sums in double. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/kernels/spmm_tensor.h"
#include "ops/plan_object.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/real_gpu.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct product {
    const char *text;
    int heads; /* of the edges' values; 0: they have none */
    bool mean, add;
    FtB_Type stored;
    int64_t nheads, width, gap;
    bool parallel; /* some entries are there twice */
} product;

static const product products[] = {{"plus : src", 0, false, false, FTB_FP32, 1, 40, 0, false},
                                   {"plus : edge * src", 1, false, true, FTB_FP32, 1, 32, 4, false},
                                   {"mean : src", 0, true, false, FTB_FP32, 1, 19, 1, false},
                                   {"plus : edge * src", 3, false, false, FTB_FP32, 3, 16, 0, false},
                                   {"plus : edge * src", 1, false, false, FTB_FP16, 1, 36, 0, false},
                                   {"plus : edge * src", 2, false, true, FTB_BF16, 2, 8, 0, false},
                                   {"mean : edge * src", 1, true, true, FTB_BF16, 1, 5, 0, false},
                                   {"plus : edge * src", 4, false, false, FTB_FP16, 4, 8, 3, false},
                                   {"plus : edge * src", 1, false, false, FTB_FP32, 1, 8, 0, true}};
static const FtB_Precision allowed[] = {FTB_PRECISION_TF32, FTB_PRECISION_FP16, FTB_PRECISION_BF16};

/* 16-bit values are no operands of another kind of 16 bits. */
static bool has_kernel(const product *p, FtB_Precision precision)
{
    return p->stored == FTB_FP32 || precision == FTB_PRECISION_TF32 ||
           (p->stored == FTB_FP16) == (precision == FTB_PRECISION_FP16);
}

/* Half of all rows have most of the low columns, the others few; every ninth is empty. Of the first row there
 * are more entries than a piece has. */
static FtB_Matrix matrix(rng *r, int64_t nrows, int64_t ncols, const product *p)
{
    const int64_t most = nrows * ncols * 2;
    int64_t *I = malloc((size_t)most * sizeof *I), *J = malloc((size_t)most * sizeof *J), n = 0;
    assert_true(I && J);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t j = 0; j < ncols && i % 9 != 8; j++)
            if (i == 0 || rng_below(r, 100) < (j < 75 ? (i / 16 % 2 ? 12 : 70) : 2))
                for (int64_t twice = p->parallel && rng_below(r, 600) == 0 ? 2 : 1; twice > 0; twice--) {
                    I[n] = i;
                    J[n++] = j;
                }
    float *w = malloc((size_t)(n * ftb_max(1, p->heads) + 1) * sizeof *w);
    FtB_Matrix A;
    rng_reals(r, w, FTB_FP32, n * ftb_max(1, p->heads));
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, nrows, ncols, p->heads, n, I, J, p->heads ? w : NULL,
                               p->parallel ? FTB_DUP_KEEP : FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(w);
    return A;
}

static FtB_Block block(rng *r, const product *p, int64_t nrows, FtB_Type type)
{
    const int64_t d = p->nheads * p->width;
    FtB_Block all, part, X;
    assert_ok(FtB_Block_new(&all, nrows, d + p->gap, type));
    rng_reals(r, ftb_block_data(all), type, nrows * (d + p->gap));
    assert_ok(FtB_Block_columns(&part, all, p->gap, d));
    assert_ok(FtB_Block_heads(&X, part, p->nheads));
    FtB_Block_free(&part);
    FtB_Block_free(&all);
    return X;
}

static float *copy_of(FtB_Block X)
{
    float *kept = malloc((size_t)(X->nrows * X->ncols + 1) * sizeof *kept);
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    for (int64_t i = 0; i < X->nrows; i++)
        ftb_cast(kept + i * X->ncols, FTB_FP32,
                 (const char *)ftb_block_data(X) + (size_t)(i * X->ld) * FtB_Type_size(X->type), X->type,
                 X->ncols);
    return kept;
}

static double unit(FtB_Precision precision)
{
    return precision == FTB_PRECISION_FP32 ? 0 : precision == FTB_PRECISION_BF16 ? 0x1p-8 : 0x1p-11;
}

/* What is no finite number must be the same as in double. */
static void check(const product *p, FtB_Matrix A, const float *x, const float *got, const float *before,
                  FtB_Precision precision)
{
    const int64_t *rowptr = A->pattern->rowptr, d = p->nheads * p->width;
    const float *w = p->heads ? matrix_values(A) : NULL;
    const double u = unit(precision);
    for (int64_t i = 0; i < A->pattern->nrows; i++)
        for (int64_t f = 0; f < d; f++) {
            const double n = (double)(rowptr[i + 1] - rowptr[i]), by = p->mean && n > 0 ? n : 1;
            double sum = before ? before[i * d + f] : 0, size = fabs(sum);
            for (int64_t e = rowptr[i]; e < rowptr[i + 1]; e++) {
                const double weight = w ? w[e * p->heads + (p->heads > 1 ? f / p->width : 0)] : 1,
                             term = weight * x[ftb_col(A->pattern, e) * d + f];
                sum += term / by;
                size += fabs(term) / by;
            }
            const double small = precision == FTB_PRECISION_FP16 ? n * 0x1p-24 : 0;
            const double bound = (2 * u + u * u + (n + 2) * 0x1p-22) * size + small;
            const double found = got[i * d + f];
            if (isfinite(sum) ? !(fabs(found - sum) <= bound)
                              : (isnan(sum) ? !isnan(found) : !(found >= sum && found <= sum)))
                fail_msg("%s, %s, %d of %s: (%d, %d) is %.9g, not %.9g +- %g", p->text,
                         FtB_Type_name(p->stored), (int)precision, p->parallel ? "parallel edges" : "a graph",
                         (int)i, (int)f, found, sum, bound);
        }
}

typedef struct call {
    const product *p;
    FtB_Matrix A;
    FtB_Block X, C;
    FtB_Semiring s;
    FtB_Descriptor desc;
    FtB_Plan plan;
    float *before; /* what C has before each product */
} call;

static call call_new(rng *r, const product *p, int64_t nrows, int64_t ncols)
{
    call c = {.p = p,
              .A = matrix(r, nrows, ncols, p),
              .X = block(r, p, ncols, p->stored),
              .C = block(r, p, nrows, FTB_FP32)};
    c.before = copy_of(c.C);
    assert_ok(FtB_Semiring_new(&c.s, p->text));
    assert_ok(FtB_Descriptor_new(&c.desc));
    assert_ok(FtB_mxm_plan(&c.plan, c.C, NULL, p->add ? FTB_ARG("x + y") : FtB_Arg_none(), c.s, c.A, c.X,
                           NULL, FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(c.plan, "threshold", "8"));
    assert_ok(FtB_Plan_set(c.plan, "segment", "32"));
    return c;
}

static void call_free(call *c)
{
    free(c->before);
    FtB_Plan_free(&c->plan);
    FtB_Descriptor_free(&c->desc);
    FtB_Semiring_free(&c->s);
    FtB_Block_free(&c->X);
    FtB_Block_free(&c->C);
    FtB_Matrix_free(&c->A);
}

/* By a form, of what may be rounded so. */
static float *result(const call *c, const char *kernel, FtB_Precision precision)
{
    const int64_t d = c->C->ncols;
    float *to = block_values(c->C);
    for (int64_t i = 0; i < c->C->nrows; i++)
        memcpy(to + i * c->C->ld, c->before + i * d, (size_t)d * sizeof *to);
    assert_ok(FtB_Block_changed(c->C));
    assert_ok(FtB_Context_set_matmul_precision(NULL, precision));
    assert_ok(FtB_Plan_set(c->plan, "kernel", kernel));
    assert_ok(FtB_Descriptor_set(c->desc, FTB_PLAN, c->plan));
    assert_ok(FtB_mxm(c->C, NULL, c->p->add ? FTB_ARG("x + y") : FtB_Arg_none(), c->s, c->A, c->X, c->desc));
    assert_ok(FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_FP32));
    return copy_of(c->C);
}

static int64_t differing(const call *c, const float *a, const float *b)
{
    int64_t n = 0;
    for (int64_t k = 0; k < c->C->nrows * c->C->ncols; k++)
        n += memcmp(&a[k], &b[k], sizeof *a) != 0;
    return n;
}

static int (*asked)(const char *part);

static void try_product(rng *r, const product *p, int64_t nrows, int64_t ncols)
{
    call c = call_new(r, p, nrows, ncols);
    float *const x = copy_of(c.X), *const before = p->add ? c.before : NULL;
    float *const plain = result(&c, "auto", FTB_PRECISION_FP32),
                 *const hybrid = result(&c, "hybrid", FTB_PRECISION_FP32),
                 *const unallowed = result(&c, "tensor", FTB_PRECISION_FP32);
    assert_int_equal(differing(&c, plain, unallowed), 0);
    check(p, c.A, x, plain, before, FTB_PRECISION_FP32);
    for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++) {
        const int ran = asked("spmm_tensor_"), times = k == (size_t)(p - products) % 3 ? 2 : 1;
        float *const rounded = result(&c, "tensor", allowed[k]);
        check(p, c.A, x, rounded, before, has_kernel(p, allowed[k]) ? allowed[k] : FTB_PRECISION_FP32);
        if (times > 1) {
            float *const again = result(&c, "tensor", allowed[k]), *const other =
                                                                       result(&c, "hybrid", allowed[k]);
            assert_int_equal(differing(&c, rounded, again), 0); /* whatever ran first */
            assert_int_equal(differing(&c, other, hybrid), 0);  /* which asks for no rounding */
            free(again);
            free(other);
        }
        if (fake_gpu_emulates() && !real_gpu())
            assert_int_equal(asked("spmm_tensor_") - ran, has_kernel(p, allowed[k]) ? times : 0);
        if (fake_gpu_emulates()) {
            const int64_t least = has_kernel(p, allowed[k]) ? c.C->nrows * c.C->ncols / 8 : 0;
            const int64_t differ = differing(&c, rounded, has_kernel(p, allowed[k]) ? hybrid : plain);
            if (least ? differ < least : differ > 0)
                fail_msg("%s, %s, %d: %d values differ from FP32's", p->text, FtB_Type_name(p->stored),
                         (int)allowed[k], (int)differ);
        }
        free(rounded);
    }
    free(plain);
    free(hybrid);
    free(unallowed);
    free(x);
    call_free(&c);
}

/* Less than a block of pieces, and a row that is cut; more than one. */
static void bounds(void **state)
{
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        skip();
    fake_find("fake_cuda", "fake_cuda_asked", &asked);
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        try_product(&r, &products[k], 70, 100);
    try_product(&r, &products[0], 600, 50);
    try_product(&r, &products[1], 40, 1200);
}

/* No number, or none in FP16: what has no such entry stays as it is, and what has one is as in FP32. */
static void no_numbers(void **state)
{
    static const float odd[] = {INFINITY, -INFINITY, NAN, 1e30F, 65520, 3.4e38F};
    rng r = rng_new();
    (void)state;
    for (size_t k = 0; k < 2 * sizeof odd / sizeof *odd; k++) {
        const product *p = &products[k % 2 ? 3 : 1];
        call c = call_new(&r, p, 50, 60);
        float *const values = block_values(c.X), *const w = matrix_values(c.A);
        const float v = odd[k / 2];
        if (k % 4 < 2)
            values[7 * c.X->ld + 5] = v;
        else
            w[rng_below(&r, c.A->pattern->nvals) * p->heads] = v;
        assert_ok(FtB_Block_changed(c.X));
        assert_ok(FtB_Matrix_changed(c.A));
        float *const x = copy_of(c.X);
        for (size_t a = 0; a < sizeof allowed / sizeof *allowed; a++) {
            float *const got = result(&c, "tensor", allowed[a]);
            check(p, c.A, x, got, p->add ? c.before : NULL, allowed[a]);
            free(got);
        }
        free(x);
        call_free(&c);
    }
}

/* Bulk copies are used where rows are multiples of 16 bytes, unless the plan says otherwise: the same bits.
 */
static void bulk_copies(void **state)
{
    static const struct {
        FtB_Type stored;
        int64_t width, gap;
        int bulk;
    } list[] = {{FTB_FP32, 12, 0, 1}, {FTB_FP32, 13, 3, 0}, {FTB_FP16, 16, 0, 1}, {FTB_FP16, 12, 4, 0},
                {FTB_BF16, 8, 4, 0},  {FTB_BF16, 16, 8, 1}, {FTB_BF16, 40, 4, 0}};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates() || real_gpu())
        return;
    fake_find("fake_cuda", "fake_cuda_asked", &asked);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const product p = {.text = "plus : src",
                           .stored = list[k].stored,
                           .nheads = 1,
                           .width = list[k].width,
                           .gap = list[k].gap};
        call c = call_new(&r, &p, 50, 90);
        float *const x = copy_of(c.X), *got[2];
        for (int bulk = 0; bulk < 2; bulk++) {
            const int before = asked("_bulk"), all = asked("spmm_hybrid_");
            assert_ok(FtB_Plan_set(c.plan, "bulk", bulk ? "1" : "0"));
            got[bulk] = result(&c, "hybrid", FTB_PRECISION_FP32);
            assert_int_equal(asked("spmm_hybrid_") - all, 1);
            assert_int_equal(asked("_bulk") - before, bulk ? list[k].bulk : 0);
        }
        if (k == 0) { /* tiles that leave no room for barriers: 227 KiB */
            const int before = asked("_bulk"), all = asked("spmm_hybrid_");
            assert_ok(FtB_Plan_set(c.plan, "segment", "908"));
            float *const full = result(&c, "hybrid", FTB_PRECISION_FP32);
            assert_int_equal(differing(&c, got[0], full), 0);
            assert_int_equal(asked("spmm_hybrid_") - all, 1);
            assert_int_equal(asked("_bulk") - before, 0);
            free(full);
        }
        assert_int_equal(differing(&c, got[0], got[1]), 0);
        check(&p, c.A, x, got[1], NULL, FTB_PRECISION_FP32);
        free(got[0]);
        free(got[1]);
        free(x);
        call_free(&c);
    }
}

/* ---- trials */

/* What a trial takes: least by tensor cores. */
static GrB_Info take(void *run, const ftb_any_plan *any, double *seconds)
{
    const ftb_gpu_spmm_plan *of = &any->spmm.gpu;
    int *by_tensor = run;
    *by_tensor += of->tensor;
    *seconds = of->sparse ? 2 : of->tensor ? 0.25 : of->hybrid ? 0.5 : 1;
    return GrB_SUCCESS;
}

static bool runs_by_tensor(const call *c, FtB_Precision precision)
{
    const int before = asked("spmm_tensor_");
    assert_ok(FtB_Context_set_matmul_precision(NULL, precision));
    assert_ok(FtB_mxm(c->C, NULL, NULL, c->s, c->A, c->X, NULL));
    assert_ok(FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_FP32));
    return asked("spmm_tensor_") > before;
}

/* Trials have the way where the context allows the operands that it has, and there alone; wisdom of one
 * precision is none of another's. */
static void measured(void **state)
{
    const product p = {.text = "plus : src", .stored = FTB_FP32, .nheads = 1, .width = 32};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates() || real_gpu())
        return;
    fake_find("fake_cuda", "fake_cuda_asked", &asked);
    for (int precision = FTB_PRECISION_FP32; precision <= FTB_PRECISION_BF16; precision++) {
        const bool may = precision != FTB_PRECISION_FP32;
        call c = call_new(&r, &p, 600, 50);
        FtB_Plan made = NULL;
        int by_tensor = 0;
        assert_ok(FtB_Context_set_matmul_precision(NULL, (FtB_Precision)precision));
        assert_ok(FtB_mxm_plan(&made, c.C, NULL, NULL, c.s, c.A, c.X, NULL, FTB_ESTIMATE));
        ftb_any_plan found = made->plan;
        assert_ok(ftb_plan_measure(&found, FTB_PLAN_GPU_SPMM, &made->facts, take, &by_tensor, ftb_context()));
        assert_true(found.spmm.gpu.tensor == may && (by_tensor > 0) == may);
        FtB_Plan_free(&made);
        for (int other = FTB_PRECISION_FP32; other <= FTB_PRECISION_BF16; other++)
            assert_true(runs_by_tensor(&c, (FtB_Precision)other) == (may && other == precision));
        assert_ok(FtB_Wisdom_forget(NULL));
        const int before = asked("spmm_tensor_");
        assert_ok(FtB_Context_set_matmul_precision(NULL, (FtB_Precision)precision));
        assert_ok(FtB_mxm_plan(&made, c.C, NULL, NULL, c.s, c.A, c.X, NULL, FTB_MEASURE));
        assert_true((asked("spmm_tensor_") > before) == may); /* tried, whatever it took */
        FtB_Plan_free(&made);
        assert_ok(FtB_Context_set_matmul_precision(NULL, FTB_PRECISION_FP32));
        assert_ok(FtB_Wisdom_forget(NULL));
        call_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(bounds, fake_gpu_clean),
                                       cmocka_unit_test_teardown(no_numbers, fake_gpu_clean),
                                       cmocka_unit_test_teardown(measured, fake_gpu_clean),
                                       cmocka_unit_test_teardown(bulk_copies, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
