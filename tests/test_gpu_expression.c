/* Texts as kernels of a GPU that does not exist (support/fake_cuda): over rows, kept for entries, reduced
 * into rows. The bits are the host's, but for sums of rows that are cut, and for pow and lgamma; what has no
 * kernel is done on the host. Where there is no emulator the host does all of it. */
#include "support/check.h"

#include "core/core.h"
#include "support/fake_gpu.h"
#include "support/real_gpu.h"
#include "support/rng.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 40, COLS = 30, HUB = 17, HUB_ENTRIES = 1100, MANY = 1500 };

/* Some rows without entries; of MANY columns a row that is cut. */
static FtB_Matrix matrix(rng *r, int64_t ncols, int heads)
{
    const int64_t most = ROWS * 8 + HUB_ENTRIES;
    int64_t *I = malloc((size_t)most * sizeof *I), *J = malloc((size_t)most * sizeof *J), n = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t degree = i == HUB && ncols == MANY ? HUB_ENTRIES : rng_below(r, 7);
        for (int64_t k = 0; k < degree; k++, n++) {
            I[n] = i;
            J[n] = degree == HUB_ENTRIES ? k : (k * 5 + i) % ncols;
        }
    }
    float *w = malloc((size_t)(n * ftb_max(1, heads) + 1) * sizeof *w);
    rng_reals(r, w, FTB_FP32, n * ftb_max(1, heads));
    FtB_Matrix A;
    assert_ok(
        FtB_Matrix_build(&A, FTB_FP32, ROWS, ncols, heads, n, I, J, heads ? w : NULL, FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(w);
    return A;
}

/* `gap` columns of a wider block are not its own. */
static FtB_Block block(rng *r, FtB_Type type, int64_t nrows, int64_t heads, int64_t width, int64_t gap)
{
    const double minus = -0.0;
    FtB_Block whole, part, X;
    assert_ok(FtB_Block_new(&whole, nrows, heads * width + gap, type));
    rng_reals(r, ftb_block_data(whole), type, nrows * (heads * width + gap));
    for (int64_t k = 0; k < nrows * (heads * width + gap); k += 3)
        ftb_cast((char *)ftb_block_data(whole) + (size_t)k * FtB_Type_size(type), type, &minus, FTB_FP64, 1);
    assert_ok(FtB_Block_changed(whole));
    assert_ok(FtB_Block_columns(&part, whole, 0, heads * width));
    assert_ok(FtB_Block_heads(&X, part, heads));
    FtB_Block_free(&part);
    FtB_Block_free(&whole);
    return X;
}

typedef struct text {
    const char *text;
    FtB_Type type; /* of the blocks */
    FtB_Type result;
    int64_t heads, width;
    int edge_heads;
    /* The GPU has kernels for all of it; of texts with one value a head; A is given as its transpose. */
    enum { HOST, GPU, SUMMED, TRANSPOSED } where;
} text;

static void assert_same(const text *t, const void *here, const void *there, int64_t count, bool close)
{
    /* In FP64 such functions are the C library's on the host, and CUDA's on a real GPU. */
    const bool rounded = real_gpu() && t->type == FTB_FP64 && strstr(t->text, "tanh");
    for (int64_t k = 0; k < count; k++) {
        const double x = ftb_get_real(here, t->result, k), y = ftb_get_real(there, t->result, k);
        const size_t size = FtB_Type_size(t->result), at = (size_t)k * size;
        if (isnan(x) && isnan(y)) /* of min and max there is one NaN, whatever it came from */
            continue;
        if (close || rounded ? fabs(x - y) > (close ? 1e-4 : 1e-13) * (1 + fabs(x))
                             : memcmp((const char *)here + at, (const char *)there + at, size) != 0)
            fail_msg("%s: value %d is %.9g, on the host %.9g", t->text, (int)k, y, x);
    }
}

static FtB_Semiring semiring_of(const text *t, FtB_Block near)
{
    FtB_Semiring plain, s;
    assert_ok(FtB_Semiring_new(&plain, t->text));
    if (!strstr(t->text, "near") && !strstr(t->text, "slope"))
        return plain;
    if (strstr(t->text, "slope"))
        assert_ok(FtB_Semiring_bind(&s, plain, FTB_BIND("slope", 0.3)));
    else
        assert_ok(FtB_Semiring_bind(&s, plain, FTB_BIND("near", near)));
    FtB_Semiring_free(&plain);
    return s;
}

static void assert_launched(const text *t, int before)
{
    if (fake_gpu_emulates() && (fake_gpu_launches() > before) != (t->where != HOST))
        fail_msg("%s: %d launches", t->text, fake_gpu_launches() - before);
}

/* A, or its transpose. */
static FtB_Matrix operand(rng *r, const text *t, int64_t ncols)
{
    FtB_Matrix A = matrix(r, ncols, t->edge_heads), T;
    if (t->where != TRANSPOSED)
        return A;
    assert_ok(ftb_matrix_transpose(&T, A));
    FtB_Matrix_free(&A);
    return T;
}

/* What is there before, and may be added to. */
static FtB_Block filled(FtB_Type type, int64_t width)
{
    static const double starts[] = {3, -0.0};
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, ROWS, width, type));
    for (int64_t k = 0; k < ROWS * width; k++)
        ftb_cast((char *)ftb_block_data(C) + (size_t)k * FtB_Type_size(type), type, &starts[k % 2], FTB_FP64,
                 1);
    assert_ok(FtB_Block_changed(C));
    return C;
}

static void reduced(void **state)
{
    static const text list[] = {
        {"plus : tanh(src * edge)", FTB_FP32, FTB_FP32, 2, 3, 1, GPU},
        {"plus : tanh(src * edge)", FTB_FP64, FTB_FP64, 2, 3, 2, GPU},
        {"max : abs(src * edge - near[i])", FTB_FP32, FTB_FP32, 1, 5, 1, GPU},
        {"min : src + edge", FTB_FP16, FTB_FP32, 3, 4, 3, GPU},
        {"times : 1 + src * 0.01", FTB_BF16, FTB_FP32, 1, 8, 0, GPU},
        {"plus : src + i * j - e", FTB_INT32, FTB_INT64, 1, 3, 0, GPU},
        {"max : idiv(min(src, 3), 2)", FTB_INT8, FTB_INT64, 2, 2, 0, GPU},
        {"plus : src > 0.5 ? sigmoid(src) : exp(src) / di", FTB_FP32, FTB_FP32, 1, 7, 0, GPU},
        {"plus : leaky_relu(src * edge, slope)", FTB_FP32, FTB_FP32, 2, 2, 2, GPU},
        {"or : src > 0.9", FTB_FP32, FTB_BOOL, 1, 4, 0, GPU},
        {"mean : tanh(src * edge)", FTB_FP32, FTB_FP32, 1, 6, 1, GPU},
        {"plus : erf(src) + log1p(abs(src)) * elu(src * edge, 1)", FTB_FP32, FTB_FP32, 1, 2, 1, GPU},
        {"plus : tanh(src * edge) + i - 2 * e", FTB_FP64, FTB_FP64, 2, 3, 2, TRANSPOSED},
        {"min : src - edge * di", FTB_FP64, FTB_FP64, 1, 3, 1, TRANSPOSED},
        {"plus : dot(src, near[i]) * edge", FTB_FP32, FTB_FP32, 1, 6, 1, SUMMED},
        {"plus : dot(leaky_relu(src * edge, 0.2), near[i])", FTB_FP32, FTB_FP32, 2, 20, 2, SUMMED},
        {"max : sum(src) - dot(src, near[i]) * i", FTB_FP64, FTB_FP64, 3, 16, 0, SUMMED},
        {"min : sum(src * 3) + e", FTB_INT32, FTB_INT64, 2, 33, 0, SUMMED},
        {"plus : src * mean(src * near[i]) + 1", FTB_FP32, FTB_FP32, 2, 37, 0, GPU},
        {"plus : dot([edge, src[1]], [src[0], edge])", FTB_FP32, FTB_FP32, 1, 6, 1, SUMMED}};
    (void)state;
    rng r = rng_new();
    for (size_t n = 0; n < 2 * sizeof list / sizeof *list; n++) {
        const text *t = &list[n / 2];
        const int64_t cols = n % 2 && n < 8 ? MANY : COLS, d = t->heads * t->width;
        FtB_Matrix A = operand(&r, t, cols);
        FtB_Block X = block(&r, t->type, cols, t->heads, t->width, (int64_t)n % 3),
                  near = block(&r, t->type, ROWS, t->heads, t->width, 0), C[2];
        FtB_Semiring s = semiring_of(t, near);
        const bool adds = n % 2 && (strncmp(t->text, "plus", 4) == 0 || strncmp(t->text, "mean", 4) == 0);
        for (int on = 0; on < 2; on++) {
            C[on] = filled(t->result, t->where == HOST || t->where == SUMMED ? t->heads : d);
            assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
            const int before = fake_gpu_launches();
            const FtB_Arg accum = adds ? FTB_ARG("x + y") : FtB_Arg_none();
            assert_ok(FtB_mxm(C[on], NULL, accum, s, A, X, t->where == TRANSPOSED ? FTB_DESC_T0 : NULL));
            assert_ok(ftb_buffer_ask(C[on]->owner, FTB_READ));
            if (on)
                assert_launched(t, before);
        }
        assert_same(t, ftb_block_data(C[0]), ftb_block_data(C[1]), ROWS * C[0]->ncols, cols == MANY);
        for (int on = 0; on < 2; on++)
            FtB_Block_free(&C[on]);
        FtB_Block_free(&X);
        FtB_Block_free(&near);
        FtB_Semiring_free(&s);
        FtB_Matrix_free(&A);
    }
}

static void kept(void **state)
{
    static const text list[] = {
        {"plus : tanh(src + dst)", FTB_FP32, FTB_FP32, 2, 1, 0, GPU},
        {"plus : exp(src - dst) * near[i]", FTB_FP32, FTB_FP32, 3, 2, 0, GPU},
        {"plus : src * dst + e", FTB_INT32, FTB_INT64, 1, 4, 0, GPU},
        {"plus : src >= dst", FTB_FP64, FTB_BOOL, 1, 2, 0, GPU},
        {"plus : dot(leaky_relu(src + dst, 0.2), near[i])", FTB_FP32, FTB_FP32, 3, 18, 0, SUMMED}};
    (void)state;
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        const text *t = &list[n];
        const int64_t d = t->heads * (t->where == SUMMED ? 1 : t->width);
        FtB_Matrix A = matrix(&r, COLS, 0), C[2];
        FtB_Block X = block(&r, t->type, COLS, t->heads, t->width, 1),
                  Y = block(&r, t->type, ROWS, t->heads, t->width, 0),
                  near = block(&r, t->type, ROWS, t->heads, t->width, 2);
        FtB_Semiring s = semiring_of(t, near);
        for (int on = 0; on < 2; on++) {
            assert_ok(FtB_Matrix_like(&C[on], A, d, t->result));
            assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
            const int before = fake_gpu_launches();
            assert_ok(FtB_mxm(C[on], A, NULL, s, Y, X, FTB_DESC_RST1));
            assert_ok(ftb_buffer_ask(C[on]->values, FTB_READ));
            if (on)
                assert_launched(t, before);
        }
        assert_same(t, ftb_values(C[0]), ftb_values(C[1]), A->pattern->nvals * d, false);
        for (int on = 0; on < 2; on++)
            FtB_Matrix_free(&C[on]);
        FtB_Block_free(&X);
        FtB_Block_free(&Y);
        FtB_Block_free(&near);
        FtB_Semiring_free(&s);
        FtB_Matrix_free(&A);
    }
}

/* Who won, of few values, so that many are equal, -0 and NaN among them; with a row that is cut. */
static void make_few(rng *r, FtB_Block X)
{
    static const double few[] = {-1, -0.0, 0, 1, NAN};
    for (int64_t k = 0; k < X->nrows * X->ld - X->ld + X->ncols; k++)
        ftb_cast((char *)ftb_block_data(X) + (size_t)k * FtB_Type_size(X->type), X->type,
                 &few[rng_below(r, X->type == FTB_INT32 ? 4
                                   : k % 3              ? 5
                                                        : 1 + rng_below(r, 5))],
                 FTB_FP64, 1);
    assert_ok(FtB_Block_changed(X));
}

static void winners(void **state)
{
    static const text list[] = {{"max : src", FTB_FP32, FTB_FP32, 1, 5, 0, GPU},
                                {"min : src", FTB_FP32, FTB_FP32, 2, 4, 0, GPU},
                                {"max : src * edge", FTB_FP32, FTB_FP32, 1, 5, 1, GPU},
                                {"min : abs(src)", FTB_FP64, FTB_FP64, 1, 3, 0, GPU},
                                {"min : src", FTB_INT32, FTB_INT64, 1, 4, 0, GPU},
                                {"max : src * near[i]", FTB_FP32, FTB_FP32, 3, 2, 0, GPU},
                                {"max : src > 0", FTB_FP32, FTB_BOOL, 1, 3, 0, GPU},
                                {"min : src", FTB_FP16, FTB_FP32, 1, 8, 0, GPU}};
    (void)state;
    rng r = rng_new();
    for (size_t n = 0; n < 2 * sizeof list / sizeof *list; n++) {
        const text *t = &list[n / 2];
        const int64_t cols = n % 2 ? MANY : COLS, d = t->heads * t->width;
        FtB_Matrix A = matrix(&r, cols, t->edge_heads);
        FtB_Block X = block(&r, t->type, cols, t->heads, t->width, 0),
                  near = block(&r, t->type, ROWS, t->heads, t->width, 0), C[2], E[2], wide;
        FtB_Semiring s = semiring_of(t, near);
        make_few(&r, X);
        assert_ok(FtB_Block_new(&wide, ROWS, d + 3, FTB_INT64));
        for (int on = 0; on < 2; on++) {
            assert_ok(FtB_Block_new(&C[on], ROWS, d, t->result));
            if (on)
                assert_ok(FtB_Block_columns(&E[on], wide, 1, d));
            else
                assert_ok(FtB_Block_new(&E[on], ROWS, d, FTB_INT64));
            assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
            const int before = fake_gpu_launches();
            assert_ok(FtB_mxm_arg(C[on], E[on], NULL, s, A, X, NULL));
            assert_ok(ftb_buffer_ask(C[on]->owner, FTB_READ));
            assert_ok(ftb_buffer_ask(E[on]->owner, FTB_READ));
            if (on)
                assert_launched(t, before);
        }
        assert_same(t, ftb_block_data(C[0]), ftb_block_data(C[1]), ROWS * d, false);
        const int64_t *here = ftb_block_data(E[0]), *there = ftb_block_data(E[1]);
        for (int64_t k = 0; k < ROWS * d; k++)
            if (here[k] != there[k / d * E[1]->ld + k % d])
                fail_msg("%s: value %d was won by %d, on the host by %d", t->text, (int)k,
                         (int)there[k / d * E[1]->ld + k % d], (int)here[k]);
        for (int on = 0; on < 2; on++) {
            FtB_Block_free(&C[on]);
            FtB_Block_free(&E[on]);
        }
        FtB_Block_free(&wide);
        FtB_Block_free(&X);
        FtB_Block_free(&near);
        FtB_Semiring_free(&s);
        FtB_Matrix_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(reduced, NULL, fake_gpu_clean),
                                       cmocka_unit_test_setup_teardown(kept, NULL, fake_gpu_clean),
                                       cmocka_unit_test_setup_teardown(winners, NULL, fake_gpu_clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
