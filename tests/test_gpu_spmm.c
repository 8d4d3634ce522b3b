/* Sparse x block on a GPU that does not exist (support/fake_cuda): the library's own calls, through its
 * driver's calls, to kernels that the emulator runs. Results are those of slow loops in double, those of FP64
 * of long double; what the GPU has no kernel for is done on the host; operands that are there stay there.
 * Where there is no emulator the host does all of it. */
#include "support/check.h"

#include "core/core.h"
#include "gpu/memory.h"
#include "gpu/pieces.h"
#include "support/fake_gpu.h"
#include "support/fakes.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Three sources, once each: no text becomes one. */
static int clean(void **state)
{
    int (*compiled)(void);
    fake_find("fake_nvrtc", "fake_nvrtc_compiled", &compiled);
    assert_true(!fake_gpu_emulates() || compiled() <= 3);
    return fake_gpu_clean(state);
}

/* ---- a product, and what it is in double */

typedef struct product {
    const char *text;
    int heads; /* of the edges' values; 0: they have none */
    bool mean;
    int best;        /* 1: max, -1: min */
    bool transposed; /* by a matrix that is given as its transpose */
    FtB_Type type;   /* of the matrix's values */
} product;

#define F4 FTB_FP32
#define F8 FTB_FP64

static const product products[] = {
    {"plus : src", 0, false, 0, false, F4},        {"plus : edge * src", 1, false, 0, false, F4},
    {"plus : edge * src", 3, false, 0, false, F4}, {"plus : edge * src", 4, false, 0, false, F4},
    {"mean : src", 0, true, 0, false, F4},         {"mean : edge * src", 1, true, 0, false, F4},
    {"max : src", 0, false, 1, false, F4},         {"min : src", 0, false, -1, false, F4},
    {"max : edge * src", 3, false, 1, false, F4},  {"plus : edge * src", 1, false, 0, true, F4},
    {"plus : edge * src", 3, false, 0, true, F4}};
/* In FP64: of it, and of FP32 with it. */
static const product wide[] = {
    {"plus : src", 0, false, 0, false, F8},        {"plus : edge * src", 1, false, 0, false, F8},
    {"plus : edge * src", 3, false, 0, false, F8}, {"mean : edge * src", 1, true, 0, false, F4},
    {"mean : src", 0, true, 0, false, F8},         {"max : src", 0, false, 1, false, F8},
    {"min : edge * src", 3, false, -1, false, F4}, {"plus : edge * src", 3, false, 0, true, F8}};

typedef struct shape {
    int64_t nrows, ncols, heads, width, gap; /* gap: values between rows of blocks */
    int64_t hub;                             /* entries of one row */
} shape;

/* Rows without entries, with few, and one with many, whose columns repeat nothing. */
static FtB_Matrix matrix(rng *r, const shape *of, int heads, FtB_Type type)
{
    const int64_t most = of->hub + 8 * of->nrows;
    int64_t *I = malloc((size_t)most * sizeof *I), *J = malloc((size_t)most * sizeof *J), n = 0;
    for (int64_t i = 0; i < of->nrows; i++) {
        const int64_t degree = i == of->nrows / 2 ? of->hub : rng_below(r, 7);
        int64_t step = ftb_max(1, of->ncols / ftb_max(1, degree)), j = rng_below(r, step);
        for (int64_t k = 0; k < degree && j < of->ncols; k++, j += step, n++) {
            I[n] = i;
            J[n] = j;
        }
    }
    const int64_t values = n * ftb_max(1, heads);
    double *w = malloc((size_t)(values + 1) * sizeof *w);
    rng_reals(r, w, type, values);
    FtB_Matrix A;
    assert_ok(FtB_Matrix_build(&A, type, of->nrows, of->ncols, heads, n, I, J, heads ? w : NULL,
                               FTB_DUP_ERROR, NULL));
    free(I);
    free(J);
    free(w);
    return A;
}

static FtB_Block block(rng *r, const shape *of, int64_t nrows, FtB_Type type)
{
    const int64_t d = of->heads * of->width;
    FtB_Block all, part, X;
    assert_ok(FtB_Block_new(&all, nrows, d + of->gap, type));
    rng_reals(r, ftb_block_data(all), type, nrows * (d + of->gap));
    const float minus = -0.0F;
    for (int64_t k = 0; k < nrows * (d + of->gap); k += 5)
        ftb_cast((char *)ftb_block_data(all) + (size_t)k * FtB_Type_size(type), type, &minus, FTB_FP32, 1);
    assert_ok(FtB_Block_columns(&part, all, 0, d));
    assert_ok(FtB_Block_heads(&X, part, of->heads));
    FtB_Block_free(&part);
    FtB_Block_free(&all);
    return X;
}

/* -0 is below 0. */
static bool wins(int best, long double one, long double over)
{
    if (one == over)
        return signbit(one) != signbit(over) && !signbit(one) == (best > 0);
    return best > 0 ? one > over : one < over;
}

/* Of one value of the result: what it is, and the size of what was added; *won: which entry, -1 for none. */
static double slow(const product *p, FtB_Matrix A, const double *x, int64_t ldx, const shape *of, int64_t i,
                   int64_t f, double *size, int64_t *won)
{
    const ftb_pattern *pattern = A->pattern;
    const void *w = p->heads ? matrix_values(A) : NULL;
    const int64_t begin = pattern->rowptr[i], end = pattern->rowptr[i + 1];
    long double sum = 0;
    *size = 0;
    *won = -1;
    for (int64_t e = begin; e < end; e++) {
        const int64_t at = e * p->heads + (p->heads > 1 ? f / of->width : 0);
        const double weight = w ? ftb_get_real(w, A->type, at) : 1;
        const long double one = (long double)weight * x[ftb_col(pattern, e) * ldx + f];
        if (p->best && (*won < 0 || wins(p->best, one, sum))) {
            sum = one;
            *won = e;
        } else if (!p->best) {
            sum += one;
        }
        *size += (double)fabsl(one);
    }
    return (double)(p->mean && end > begin ? sum / (long double)(end - begin) : sum);
}

static void check(const product *p, const shape *of, FtB_Matrix A, const double *x, FtB_Block C,
                  const double *before)
{
    const int64_t d = of->heads * of->width, ld = d + of->gap;
    const void *c = block_values(C);
    const double unit = C->type == FTB_FP64 ? 1e-14 : 1e-6;
    for (int64_t i = 0; i < of->nrows; i++)
        for (int64_t f = 0; f < d; f++) {
            int64_t won;
            double size, old = before ? before[i * ld + f] : 0;
            const int64_t *rowptr = A->pattern->rowptr;
            const double got = ftb_get_real(c, C->type, i * ld + f);
            if (before && rowptr[i] == rowptr[i + 1]) /* nothing is added, to the bit */
                assert_memory_equal(&got, &old, sizeof old);
            const double wanted = slow(p, A, x, ld, of, i, f, &size, &won) + old;
            if (!(fabs(got - wanted) <= unit * (size + fabs(old))))
                fail_msg("%s, %lld x %lld of %lld, d = %lld x %lld: (%lld, %lld) is %.17g, not %.17g",
                         p->text, (long long)of->nrows, (long long)of->ncols, (long long)A->pattern->nvals,
                         (long long)of->heads, (long long)of->width, (long long)i, (long long)f, got, wanted);
        }
}

static double *copy_of(FtB_Block X, int64_t count)
{
    double *kept = malloc((size_t)ftb_max(count, 1) * sizeof *kept);
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    ftb_cast(kept, FTB_FP64, ftb_block_data(X), X->type, ftb_max(count, 0));
    return kept;
}

static void multiply(rng *r, const product *p, const shape *of, bool add, FtB_Type stored, FtB_Type type)
{
    const int64_t ld = of->heads * of->width + of->gap;
    FtB_Matrix A = matrix(r, of, p->heads, p->type);
    FtB_Block X = block(r, of, of->ncols, stored), C = block(r, of, of->nrows, type),
              D = block(r, of, of->nrows, type);
    double *x = copy_of(X, of->ncols * ld - of->gap), *before = copy_of(C, of->nrows * ld - of->gap);
    FtB_Semiring s;
    int64_t home[2], there[2];
    assert_ok(FtB_Semiring_new(&s, p->text));
    assert_ok(FtB_Block_to_device(X));
    const FtB_Arg accum = add ? FTB_ARG("x + y") : FtB_Arg_none();
    const FtB_Arg how = p->transposed ? FTB_ARG(FTB_DESC_T0) : FtB_Arg_none();
    FtB_Matrix B;
    if (p->transposed)
        assert_ok(ftb_matrix_transpose(&B, A));
    else
        assert_ok(FtB_Matrix_dup(&B, A));
    const int ran = fake_gpu_launches();
    assert_ok(FtB_Context_moved(NULL, &home[0], NULL));
    assert_ok(FtB_mxm(C, NULL, accum, s, B, X, how));
    const bool on_gpu = fake_gpu_emulates() && !(p->best && add);
    if (on_gpu) {
        /* Again: pattern, pieces and the block are there. */
        assert_ok(FtB_mxm(D, NULL, NULL, s, B, X, how));
        assert_ok(FtB_Context_moved(NULL, NULL, &there[0]));
        assert_ok(FtB_mxm(D, NULL, NULL, s, B, X, how));
        assert_ok(FtB_Context_moved(NULL, &home[1], &there[1]));
        assert_int_equal(there[0], there[1]);
        assert_int_equal(home[0], home[1]);
        check(p, of, A, x, D, NULL);
    }
    check(p, of, A, x, C, add ? before : NULL);
    assert_int_equal(fake_gpu_launches() > ran, on_gpu); /* late, but now */
    free(x);
    free(before);
    FtB_Semiring_free(&s);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    FtB_Block_free(&D);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
}

/* All products, in shapes that every variant of the kernel takes, and one that is cut into pieces. */
static void shapes(void **state)
{
    static const shape list[] = {{20, 30, 1, 1, 0, 9},     {20, 30, 1, 3, 2, 9}, {17, 40, 3, 4, 0, 30},
                                 {17, 40, 3, 4, 4, 30},    {9, 25, 3, 3, 0, 20}, {9, 25, 3, 12, 1, 20},
                                 {7, 20, 3, 24, 0, 12},    {5, 9, 1, 130, 0, 9}, {6, 2100, 1, 8, 0, 2050},
                                 {6, 3100, 3, 1, 0, 3073}, {9, 25, 4, 3, 0, 20}, {9, 25, 4, 8, 0, 20}};
    static const FtB_Type stored[] = {FTB_FP32, FTB_FP16, FTB_BF16};
    enum { WIDE = sizeof wide / sizeof *wide };
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++)
        for (size_t k = 0; k < sizeof products / sizeof *products; k++)
            if (products[k].heads <= 1 || products[k].heads == list[n].heads)
                for (int add = 0; add < 2; add++)
                    multiply(&r, &products[k], &list[n], add, stored[(n + k) % 3], FTB_FP32);
    for (size_t n = 0; n < sizeof list / sizeof *list; n++)
        for (size_t k = 0; k < WIDE; k++)
            if (wide[k].heads <= 1 || wide[k].heads == list[n].heads)
                multiply(&r, &wide[k], &list[n], (n + k) % 2,
                         wide[k].heads && wide[k].type == F8 && n % 2 ? F4 : F8, F8);
}

/* With the entries that won, in one pass and by a kernel: no text becomes a source. Also of what is a text's:
 * its winners are the same. */
static void winners(void **state)
{
    static const shape list[] = {{20, 30, 1, 1, 0, 9},    {17, 40, 3, 4, 4, 30},  {9, 25, 3, 3, 1, 20},
                                 {7, 20, 3, 8, 0, 12},    {5, 40, 1, 130, 2, 30}, {6, 2100, 1, 8, 0, 2050},
                                 {6, 3100, 3, 1, 0, 3073}};
    static const product best[] = {{"max : src", 0, false, 1, false, F4},
                                   {"min : src", 0, false, -1, false, F8},
                                   {"min : edge * src", 3, false, -1, false, F4},
                                   {"max : edge * src", 1, false, 1, false, F8}};
    static const FtB_Type stored[][2] = {
        {FTB_FP32, FTB_FP16}, {FTB_FP64, FTB_FP64}, {FTB_BF16, FTB_FP32}, {FTB_FP32, FTB_FP64}};
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++)
        for (size_t k = 0; k < sizeof best / sizeof *best; k++) {
            const shape *of = &list[n];
            const product *p = &best[k];
            const int64_t d = of->heads * of->width, ld = d + of->gap, ldwon = ld + 1;
            shape other = *of; /* of winners, whose rows need not be aligned */
            other.gap++;
            if (p->heads > 1 && p->heads != of->heads)
                continue;
            FtB_Matrix A = matrix(&r, of, p->heads, p->type);
            FtB_Block X = block(&r, of, of->ncols, stored[k][n % 2]), C = block(&r, of, of->nrows, p->type),
                      E = block(&r, &other, of->nrows, FTB_INT64);
            double *x = copy_of(X, of->ncols * ld - of->gap);
            FtB_Semiring s;
            assert_ok(FtB_Semiring_new(&s, p->text));
            const int ran = fake_gpu_launches();
            assert_ok(FtB_mxm_arg(C, E, NULL, s, A, X, NULL));
            check(p, of, A, x, C, NULL);
            const int64_t *e = block_values(E);
            assert_int_equal(fake_gpu_launches() > ran, fake_gpu_emulates());
            for (int64_t i = 0; i < of->nrows; i++)
                for (int64_t f = 0; f < d; f++) {
                    double size;
                    int64_t won;
                    (void)slow(p, A, x, ld, of, i, f, &size, &won);
                    if (e[i * ldwon + f] != won)
                        fail_msg("%s, d = %lld: (%lld, %lld) won by %lld, not %lld", p->text, (long long)d,
                                 (long long)i, (long long)f, (long long)e[i * ldwon + f], (long long)won);
                }
            free(x);
            FtB_Semiring_free(&s);
            FtB_Matrix_free(&A);
            FtB_Block_free(&X);
            FtB_Block_free(&C);
            FtB_Block_free(&E);
        }
}

/* Without rows, columns or entries. */
static void empty(void **state)
{
    static const shape list[] = {{0, 5, 1, 4, 0, 0}, {5, 0, 1, 4, 0, 0}, {4, 6, 1, 4, 0, 0}};
    rng r = rng_new();
    (void)state;
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        FtB_Matrix A;
        FtB_Block X = block(&r, &list[n], list[n].ncols, FTB_FP32),
                  C = block(&r, &list[n], list[n].nrows, FTB_FP32);
        assert_ok(FtB_Matrix_build(&A, FTB_FP32, list[n].nrows, list[n].ncols, 0, 0, NULL, NULL, NULL,
                                   FTB_DUP_SUM, NULL));
        assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
        check(&products[0], &list[n], A, NULL, C, NULL);
        FtB_Matrix_free(&A);
        FtB_Block_free(&X);
        FtB_Block_free(&C);
    }
}

/* The pieces of a pattern: each entry once, in order within its row; the longest first; rows without entries
 * last. */
static void pieces(void **state)
{
    (void)state;
    const int64_t lengths[] = {
        0, 1, FTB_GPU_PIECE - 1, FTB_GPU_PIECE, FTB_GPU_PIECE + 1, 0, 5 * FTB_GPU_PIECE, 3};
    enum { ROWS = sizeof lengths / sizeof *lengths };
    int64_t n = 0, *I, *J, at = 0;
    for (int i = 0; i < ROWS; i++)
        n += lengths[i];
    I = malloc((size_t)n * sizeof *I);
    J = malloc((size_t)n * sizeof *J);
    for (int i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < lengths[i]; k++, at++) {
            I[at] = i;
            J[at] = k;
        }
    FtB_Matrix A;
    FtB_Block X, C;
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, ROWS, n, 0, n, I, J, NULL, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Block_new(&X, n, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&C, ROWS, 1, FTB_FP32));
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    const ftb_derived *made = A->pattern->derived;
    if (fake_gpu_emulates()) {
        assert_non_null(made);
        assert_ok(ftb_buffer_ask(made->buffers[0], FTB_READ));
        assert_ok(ftb_buffer_ask(made->buffers[1], FTB_READ));
        const ftb_spmm_piece *p = ftb_buffer_data(made->buffers[0]);
        const ftb_spmm_cut *cuts = ftb_buffer_data(made->buffers[1]);
        const int64_t npieces = made->counts[0], ncuts = made->counts[2];
        int64_t rows_of_slot[8] = {0}, covered[ROWS] = {0};
        assert_int_equal(npieces, 6 + 2 + 5);
        assert_int_equal(made->counts[1], 2);
        assert_int_equal(ncuts, 2);
        assert_int_equal(made->counts[3], 7);
        for (int64_t k = 0; k < npieces; k++) {
            assert_true(k == 0 || p[k - 1].end - p[k - 1].begin >= p[k].end - p[k].begin);
            assert_true(p[k].begin >= A->pattern->rowptr[p[k].row] &&
                        p[k].end <= A->pattern->rowptr[p[k].row + 1]);
            covered[p[k].row] += p[k].end - p[k].begin;
            assert_true(p[k].end - p[k].begin <= FTB_GPU_PIECE);
            assert_int_equal(p[k].slot < 0, lengths[p[k].row] <= FTB_GPU_PIECE);
            if (p[k].slot >= 0)
                rows_of_slot[p[k].slot] = p[k].row + 1;
        }
        for (int i = 0; i < ROWS; i++)
            assert_int_equal(covered[i], lengths[i]);
        for (int64_t k = 0; k < ncuts; k++)
            for (int s = 0; s < cuts[k].count; s++)
                assert_int_equal(rows_of_slot[cuts[k].slot + s], cuts[k].row + 1);
    } else {
        assert_null(made);
    }
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
    free(I);
    free(J);
}

/* A kernel that cannot be launched: the host does the product, and what the driver said can be read. */
static void failures(void **state)
{
    const shape of = {12, 30, 1, 8, 0, 9};
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    const shape cut = {3, 3100, 1, 8, 0, 3073};
    FtB_Matrix A = matrix(&r, &of, 0, F4), B = matrix(&r, &cut, 0, F4);
    FtB_Block X = block(&r, &of, of.ncols, FTB_FP32), C = block(&r, &of, of.nrows, FTB_FP32),
              Y = block(&r, &cut, cut.ncols, FTB_FP32), D = block(&r, &cut, cut.nrows, FTB_FP32);
    double *x = copy_of(X, of.ncols * of.width);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    assert_non_null(strstr(FtB_error(), "cuLaunchKernel fails with CUDA_ERROR_UNKNOWN"));
    unsetenv("FAKE_CUDA_FAILS");
    check(&products[0], &of, A, x, C, NULL);
    assert_ok(FtB_mxm(C, NULL, NULL, FTB_PLUS_SRC, A, X, NULL));
    check(&products[0], &of, A, x, C, NULL);
    /* Cut rows were begun, and are not begun again where they were added to. */
    double *y = copy_of(Y, cut.ncols * cut.width);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    setenv("FAKE_CUDA_AT", "2", 1);
    assert_ok(FtB_mxm(D, NULL, NULL, FTB_PLUS_SRC, B, Y, NULL));
    unsetenv("FAKE_CUDA_FAILS");
    check(&products[0], &cut, B, y, D, NULL);
    setenv("FAKE_CUDA_FAILS", "cuLaunchKernel", 1);
    setenv("FAKE_CUDA_AT", "2", 1);
    assert_fails(GrB_PANIC, "half of a product was done: gpu:0: cuLaunchKernel fails with CUDA_ERROR_UNKNOWN",
                 FtB_mxm(D, NULL, "x + y", FTB_PLUS_SRC, B, Y, NULL));
    free(x);
    free(y);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&B);
    FtB_Block_free(&Y);
    FtB_Block_free(&D);
    FtB_Block_free(&X);
    FtB_Block_free(&C);
}

/* Memory that a product of cut rows takes cannot be had, each piece in turn: the host does it, and none is
 * kept. */
static void no_room(void **state)
{
    const shape of = {3, 3100, 1, 8, 0, 3073};
    int (*live)(void), failures = 0;
    const ftb_backend *gpu = ftb_device(ftb_context());
    rng r = rng_new();
    (void)state;
    if (!fake_gpu_emulates())
        return;
    fake_find("fake_cuda", "fake_cuda_live", &live);
    for (bool done = false; !done; failures += !done) {
        char text[24];
        assert_ok(ftb_gpu_trim(gpu)); /* so that memory is asked for */
        const int before = live();
        FtB_Matrix A = matrix(&r, &of, 0, F4);
        FtB_Block X = block(&r, &of, of.ncols, FTB_FP32), C = block(&r, &of, of.nrows, FTB_FP32),
                  E = block(&r, &of, of.nrows, FTB_INT64);
        snprintf(text, sizeof text, "%d", failures + 1);
        setenv("FAKE_CUDA_AT", text, 1);
        setenv("FAKE_CUDA_FAILS", "cuMemAlloc", 1);
        assert_ok(FtB_mxm_arg(C, E, NULL, FTB_MAX_SRC, A, X, NULL));
        done = getenv("FAKE_CUDA_AT") != NULL;
        unsetenv("FAKE_CUDA_AT");
        unsetenv("FAKE_CUDA_FAILS");
        FtB_Matrix_free(&A);
        FtB_Block_free(&X);
        FtB_Block_free(&C);
        FtB_Block_free(&E);
        assert_ok(ftb_gpu_trim(gpu));
        if (live() != before)
            fail_msg("without piece %s %d are left", text, live() - before);
    }
    assert_true(failures >= 9); /* the last two: values and winners of cut rows */
}

int main(void)
{
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(shapes, clean),   cmocka_unit_test_teardown(winners, clean),
        cmocka_unit_test_teardown(empty, clean),    cmocka_unit_test_teardown(pieces, clean),
        cmocka_unit_test_teardown(failures, clean), cmocka_unit_test_teardown(no_room, clean)};
    return cmocka_run_group_tests(tests, fake_gpu_start, NULL);
}
