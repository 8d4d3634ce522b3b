/* FtB_apply, FtB_eWiseAdd and FtB_eWiseMult on blocks: dtypes, views, broadcasting, heads, masks,
 * accumulators, aliases, against loops over plain numbers. */
#include "support/check.h"

#include "core/isa.h"
#include "ops/block/block_map.h"
#include "oracle/ref_block.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- element-wise */

/* How an operand's columns stand to those of the result, which has heads x width. */
typedef enum shape { HEADS, PLAIN, ONE, PER_HEAD, PER_HEAD_VIEW, SHARED, SHAPES } shape;

typedef struct operand {
    shape how;
    bool one_row;
    FtB_Block X;
    ref_block *values;
} operand;

static operand operand_new(rng *r, shape how, int64_t nrows, int64_t heads, int64_t width)
{
    const int64_t columns[SHAPES] = {heads * width, heads * width, 1, heads, heads, width};
    operand a = {how, rng_below(r, 4) == 0, NULL, NULL};
    FtB_Block X = ref_block_random(r, rng_type(r), a.one_row ? 1 : nrows, columns[how]);
    a.X = X;
    if (how == HEADS || how == PER_HEAD_VIEW) {
        assert_ok(FtB_Block_heads(&a.X, X, heads));
        FtB_Block_free(&X);
    }
    a.values = ref_block_read(a.X);
    return a;
}

static ref_number operand_at(const operand *a, int64_t i, int64_t f, int64_t width)
{
    const int64_t at[SHAPES] = {f, f, 0, f / width, f / width, f % width};
    return *ref_block_at(a->values, a->one_row ? 0 : i, at[a->how]);
}

typedef struct write_case {
    ref_flags flags;
    double fill;
    FtB_Descriptor desc;
    FtB_Block C, M;
    const ref_op *accum;
    ref_block *old, *mask;
    void *before;
} write_case;

static write_case write_case_new(rng *r, int64_t nrows, int64_t ncols)
{
    write_case w = {.flags = ref_flags_of((int)rng_below(r, REF_FLAGS)), .fill = (double)rng_below(r, 3)};
    w.flags.transpose0 = w.flags.transpose1 = false;
    w.desc = ref_block_descriptor(&w.flags, w.fill);
    w.C = ref_block_random(r, rng_type(r), nrows, ncols);
    w.M = rng_below(r, 2) ? ref_block_random(r, rng_type(r), nrows, 1) : NULL;
    w.accum = rng_below(r, 2) ? ref_op_of((int)rng_below(r, ref_ops())) : NULL;
    w.old = ref_block_read(w.C);
    w.mask = ref_block_read(w.M);
    w.before = ref_block_snapshot(w.C);
    return w;
}

static void write_case_check(write_case *w, ref_block *T, const char *what)
{
    ref_block_check(w->C, ref_block_write(w->old, w->mask, &w->flags, w->fill, w->accum, T, NULL), w->before,
                    1e-6, what);
    ref_block_free(T);
    ref_block_free(w->old);
    ref_block_free(w->mask);
    FtB_Descriptor_free(&w->desc);
    FtB_Block_free(&w->C);
    FtB_Block_free(&w->M);
}

static void random_ewise(rng *r, int64_t nrows, int64_t width)
{
    int64_t heads = rng_below(r, 2) ? 1 : 2 + rng_below(r, 4);
    shape other = (shape)rng_below(r, SHAPES);
    if (other == SHARED && (width == 1 || width == heads))
        other = ONE;
    operand a = operand_new(r, HEADS, nrows, heads, width), b = operand_new(r, other, nrows, heads, width);
    if (rng_below(r, 2)) {
        operand swap = a;
        a = b;
        b = swap;
    }
    write_case w = write_case_new(r, nrows, heads * width);
    const ref_op *op = ref_op_of((int)rng_below(r, ref_ops()));
    ref_block *T = ref_block_new(FTB_FP64, nrows, heads * width);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < heads * width; f++)
            *ref_block_at(T, i, f) =
                ref_op_apply(op, operand_at(&a, i, f, width), operand_at(&b, i, f, width));
    FtB_Arg text = ref_op_arg(op), accum = ref_op_arg(w.accum);
    if (rng_below(r, 2))
        assert_ok(FtB_eWiseAdd(w.C, w.M, accum, text, a.X, b.X, w.desc));
    else
        assert_ok(FtB_eWiseMult(w.C, w.M, accum, text, a.X, b.X, w.desc));
    write_case_check(&w, T, op->text ? op->text : "GraphBLAS operator");
    FtB_Block_free(&a.X);
    FtB_Block_free(&b.X);
    ref_block_free(a.values);
    ref_block_free(b.values);
}

static void random_elementwise(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1500; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        ftb_isa_force(t % 4 - 1);
        random_ewise(&r, ref_block_dimension(&r), 1 + ref_block_dimension(&r) % 400);
    }
    for (int t = 0; t < 20; t++) /* rows of more than a piece */
        random_ewise(&r, 1 + rng_below(&r, 4), 1000 + rng_below(&r, 2 * FTB_BLOCK_PIECE));
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- apply */

typedef struct row { /* of one head */
    const ref_number *x;
    int64_t width, i;
} row;

static ref_number twice_and_one(row x, int64_t f)
{
    return ref_add(ref_multiply(x.x[f], ref_integer(2)), ref_integer(1));
}
static ref_number plus_index(row x, int64_t f) { return ref_add(x.x[f], ref_integer(x.i)); }
static ref_number sum_of(row x, int64_t f)
{
    (void)f;
    ref_number sum = ref_integer(0);
    for (int64_t g = 0; g < x.width; g++)
        sum = ref_add(sum, x.x[g]);
    return sum;
}
static ref_number less_sum(row x, int64_t f) { return ref_subtract(x.x[f], sum_of(x, 0)); }
static ref_number pair(row x, int64_t f)
{
    return f < x.width ? x.x[f] : ref_multiply(x.x[f - x.width], ref_integer(3));
}
static ref_number relu(row x, int64_t f) { return ref_greatest(x.x[f], ref_integer(0)); }

static const struct {
    const char *text;
    ref_number (*f)(row x, int64_t f);
} texts[] = {{"x * 2 + 1", twice_and_one}, {"x + i", plus_index}, {"sum(x)", sum_of},
             {"x - sum(x)", less_sum},     {"[x, x * 3]", pair},  {"relu(x)", relu}};

static int64_t columns_of(int which, int64_t width)
{
    return which == 2 ? 1 : which == 4 ? 2 * width : width;
}

static void random_apply(rng *r)
{
    int which = (int)rng_below(r, 6);
    int64_t nrows = ref_block_dimension(r), heads = rng_below(r, 2) ? 1 : 2 + rng_below(r, 4);
    int64_t width = 1 + ref_block_dimension(r) % 400, columns = columns_of(which, width);
    operand a = operand_new(r, HEADS, nrows, heads, width);
    if (a.one_row && nrows != 1) { /* only pairs broadcast rows */
        FtB_Block_free(&a.X);
        ref_block_free(a.values);
        return;
    }
    write_case w = write_case_new(r, nrows, heads * columns);
    ref_block *T = ref_block_new(FTB_FP64, nrows, heads * columns);
    for (int64_t i = 0; i < nrows; i++)
        for (int64_t f = 0; f < heads * columns; f++) {
            const row x = {ref_block_at(a.values, i, f / columns * width), width, i};
            *ref_block_at(T, i, f) = texts[which].f(x, f % columns);
        }
    assert_ok(FtB_apply(w.C, w.M, ref_op_arg(w.accum), texts[which].text, a.X, w.desc));
    write_case_check(&w, T, texts[which].text);
    FtB_Block_free(&a.X);
    ref_block_free(a.values);
}

static void random_applies(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int t = 0; t < 1500; t++) {
        assert_ok(FtB_Context_set_threads(NULL, 1 + t % 3));
        ftb_isa_force(t % 4 - 1);
        random_apply(&r);
    }
    ftb_isa_force(-1);
    assert_ok(FtB_Context_set_threads(NULL, 0));
}

/* ---- what only shows in special places */

/* C may be an operand, a part of one, or bound; also where rows are many pieces. */
static void aliases(void **state)
{
    (void)state;
    enum { ROWS = 1000, COLS = 33 };
    float goal[ROWS], *x;
    FtB_Block X, head, tail, first;
    FtB_Op text, op;
    for (int way = 0; way < 6; way++) {
        assert_ok(FtB_Block_new(&X, ROWS + 1, COLS, FTB_FP32));
        x = block_values(X);
        for (int64_t e = 0; e < (ROWS + 1) * COLS; e++)
            x[e] = (float)(e % 11);
        assert_ok(FtB_Block_wrap(&head, x, ROWS, COLS, COLS, FTB_FP32));
        assert_ok(FtB_Block_wrap(&tail, x + COLS, ROWS, COLS, COLS, FTB_FP32));
        assert_ok(FtB_Block_columns(&first, head, 0, 1));
        for (int64_t i = 0; i < ROWS; i++) { /* of column 2 */
            float here = x[i * COLS + 2], above = x[(i + 1) * COLS + 2];
            const float goals[] = {here + 1,    here + above, here + x[i * COLS],
                                   here * here, above + 1,    here + x[2]};
            goal[i] = goals[way];
        }
        if (way == 0)
            assert_ok(FtB_apply(head, NULL, NULL, "x + 1", head, NULL));
        else if (way == 1)
            assert_ok(FtB_eWiseAdd(head, NULL, NULL, "x + y", head, tail, NULL));
        else if (way == 2)
            assert_ok(FtB_eWiseAdd(head, NULL, NULL, "x + y", head, first, NULL));
        else if (way == 3) {
            assert_ok(FtB_Op_new(&text, "x * w[i]"));
            assert_ok(FtB_Op_bind(&op, text, FTB_BIND("w", head)));
            assert_ok(FtB_apply(head, NULL, NULL, op, head, NULL));
            FtB_Op_free(&text);
            FtB_Op_free(&op);
        } else if (way == 4)
            assert_ok(FtB_apply(head, NULL, NULL, "x + 1", tail, NULL));
        else {
            FtB_Block top;
            assert_ok(FtB_Block_wrap(&top, x, 1, COLS, COLS, FTB_FP32));
            assert_ok(FtB_eWiseAdd(head, NULL, NULL, "x + y", head, top, NULL));
            FtB_Block_free(&top);
        }
        for (int64_t i = 0; i < ROWS; i++)
            if (x[i * COLS + 2] != goal[i])
                fail_msg("way %d, row %lld: %g, expected %g", way, (long long)i, (double)x[i * COLS + 2],
                         (double)goal[i]);
        FtB_Block *const all[] = {&X, &head, &tail, &first};
        for (int b = 0; b < 4; b++)
            FtB_Block_free(all[b]);
    }
}

/* 16-bit storage: arithmetic in FP32, rounded once. (1 + 2^-8) + 2^-8 is 1 + 2^-7 in bf16; rounding in
 * between would give 1. */
static void halves(void **state)
{
    (void)state;
    float one = 1, small = 0x1p-8f, big = 60000, values[2];
    FtB_Block x, y, z, h;
    assert_ok(FtB_Block_wrap(&x, &one, 1, 1, 1, FTB_FP32));
    assert_ok(FtB_Block_wrap(&y, &small, 1, 1, 1, FTB_FP32));
    assert_ok(FtB_Block_new(&z, 1, 1, FTB_BF16));
    assert_ok(FtB_eWiseAdd(z, NULL, NULL, "x + y + y", x, y, NULL));
    assert_true(ftb_get_real(block_values(z), FTB_BF16, 0) == 1 + 0x1p-7);
    assert_ok(FtB_apply(z, NULL, "x + y", "x", y, NULL)); /* accum in FP32 too */
    assert_ok(FtB_Block_new(&h, 1, 1, FTB_FP16));
    values[0] = big;
    assert_ok(FtB_Block_free(&x));
    assert_ok(FtB_Block_wrap(&x, values, 1, 1, 1, FTB_FP32));
    assert_ok(FtB_apply(h, NULL, NULL, "x", x, NULL));
    assert_ok(FtB_eWiseMult(h, NULL, NULL, "x * y / 4", h, h, NULL)); /* beyond FP16 in between, and after */
    assert_true(isinf(ftb_get_real(block_values(h), FTB_FP16, 0)));
    assert_ok(FtB_apply(h, NULL, NULL, "x", x, NULL));
    assert_ok(FtB_eWiseMult(h, NULL, NULL, "x * y / 60000", h, h, NULL));
    assert_true(ftb_get_real(block_values(h), FTB_FP16, 0) == 60000);
    FtB_Block *const all[] = {&x, &y, &z, &h};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(all[b]);
}

static void nan_and_infinity(void **state)
{
    (void)state;
    const float a[] = {NAN, 1, INFINITY, -INFINITY, NAN}, b[] = {1, NAN, -INFINITY, INFINITY, NAN};
    float c[5];
    int32_t n[5];
    FtB_Block A, B, C, N;
    assert_ok(FtB_Block_wrap_const(&A, a, 1, 5, 5, FTB_FP32));
    assert_ok(FtB_Block_wrap_const(&B, b, 1, 5, 5, FTB_FP32));
    assert_ok(FtB_Block_wrap(&C, c, 1, 5, 5, FTB_FP32));
    assert_ok(FtB_Block_wrap(&N, n, 1, 5, 5, FTB_INT32));
    assert_ok(FtB_eWiseAdd(C, NULL, NULL, "max(x, y)", A, B, NULL));
    assert_true(c[0] == 1 && c[1] == 1 && isinf(c[2]) && c[2] > 0 && c[3] > 0 && isnan(c[4]));
    assert_ok(FtB_eWiseAdd(C, NULL, NULL, "x + y", A, B, NULL));
    for (int f = 0; f < 5; f++)
        assert_true(isnan(c[f]));
    assert_ok(FtB_apply(N, NULL, NULL, "x", A, NULL)); /* to integers: NaN is 0, infinities saturate */
    assert_true(n[0] == 0 && n[1] == 1 && n[2] == INT32_MAX && n[3] == INT32_MIN && n[4] == 0);
    FtB_Block *const all[] = {&A, &B, &C, &N};
    for (int x = 0; x < 4; x++)
        FtB_Block_free(all[x]);
}

/* Integers stay integers: beyond 2^53 too, and wrap. */
static void whole_numbers(void **state)
{
    (void)state;
    int64_t a[] = {INT64_MAX, (INT64_C(1) << 53) + 1, -3}, c[3];
    int32_t small[] = {INT32_MAX, 7, -7}, out[3];
    uint8_t truth[] = {0, 2, 1}, t[3]; /* a true that is not 1 */
    FtB_Block A, C, S, O, T, U;
    assert_ok(FtB_Block_wrap(&A, a, 3, 1, 1, FTB_INT64));
    assert_ok(FtB_Block_wrap(&C, c, 3, 1, 1, FTB_INT64));
    assert_ok(FtB_Block_wrap(&S, small, 3, 1, 1, FTB_INT32));
    assert_ok(FtB_Block_wrap(&O, out, 3, 1, 1, FTB_INT32));
    assert_ok(FtB_Block_wrap(&T, truth, 3, 1, 1, FTB_BOOL));
    assert_ok(FtB_Block_wrap(&U, t, 3, 1, 1, FTB_BOOL));
    assert_ok(FtB_apply(C, NULL, NULL, "x + 1", A, NULL));
    assert_true(c[0] == INT64_MIN && c[1] == (INT64_C(1) << 53) + 2 && c[2] == -2);
    assert_ok(FtB_eWiseAdd(O, NULL, NULL, "x + y", S, S, NULL));
    assert_true(out[0] == -2 && out[1] == 14 && out[2] == -14);
    assert_ok(FtB_apply(O, NULL, NULL, "x + x", T, NULL)); /* BOOL as 0 and 1 */
    assert_true(out[0] == 0 && out[1] == 2 && out[2] == 2);
    assert_ok(FtB_apply(U, NULL, NULL, "x", T, NULL));
    assert_true(t[0] == 0 && t[1] == 1 && t[2] == 1);
    FtB_Block *const all[] = {&A, &C, &S, &O, &T, &U};
    for (int b = 0; b < 6; b++)
        FtB_Block_free(all[b]);
}

/* Whole blocks right of @, and rows of bound blocks. */
static void bound_blocks(void **state)
{
    (void)state;
    double x[] = {1, 2, 3, 4}, w[] = {1, 0, 2, 0, 1, 3}, norm[] = {10, 100}, c[6];
    FtB_Block X, W, N, C;
    FtB_Op text, op;
    assert_ok(FtB_Block_wrap(&X, x, 2, 2, 2, FTB_FP64));
    assert_ok(FtB_Block_wrap(&W, w, 2, 3, 3, FTB_FP64));
    assert_ok(FtB_Block_wrap(&N, norm, 2, 1, 1, FTB_FP64));
    assert_ok(FtB_Block_wrap(&C, c, 2, 3, 3, FTB_FP64));
    assert_ok(FtB_Op_new(&text, "x @ W + n[i]"));
    assert_ok(FtB_Op_bind(&op, text, FTB_BIND("W", W), FTB_BIND("n", N)));
    assert_ok(FtB_apply(C, NULL, NULL, op, X, NULL));
    const double goal[] = {11, 12, 18, 103, 104, 118};
    assert_memory_equal(c, goal, sizeof goal);
    FtB_Op_free(&text);
    FtB_Op_free(&op);
    FtB_Block *const all[] = {&X, &W, &N, &C};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(all[b]);
}

/* Rows that lie more than 2^31 values apart, in memory of which only their pages exist. */
static void far_rows(void **state)
{
    (void)state;
    const int64_t ld = (INT64_C(1) << 31) + 7, last = 2 * ld;
    const size_t bytes = (size_t)last + 5;
    int8_t *x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (x == MAP_FAILED) {
        print_message("no room for 4 GiB of addresses\n");
        skip();
    }
    int64_t sums[3], columns[5], rows[] = {2, 0};
    int8_t picked[10];
    FtB_Block X, row_sums, column_sums, Y;
    assert_ok(FtB_Block_wrap(&X, x, 3, 5, ld, FTB_INT8));
    assert_ok(FtB_Block_wrap(&row_sums, sums, 3, 1, 1, FTB_INT64));
    assert_ok(FtB_Block_wrap(&column_sums, columns, 1, 5, 5, FTB_INT64));
    assert_ok(FtB_Block_wrap(&Y, picked, 2, 5, 5, FTB_INT8));
    assert_ok(FtB_apply(X, NULL, NULL, "x + i + 1", X, NULL));
    assert_ok(FtB_eWiseMult(X, NULL, "x + y", "x * y", X, X, NULL));
    assert_true(x[0] == 2 && x[ld + 4] == 6 && x[last] == 12 && x[last + 4] == 12 && x[5] == 0 &&
                x[last - 1] == 0);
    assert_ok(FtB_reduce(row_sums, NULL, NULL, "plus", X, NULL));
    assert_true(sums[0] == 10 && sums[1] == 30 && sums[2] == 60);
    assert_ok(FtB_reduce(column_sums, NULL, NULL, "plus", X, FTB_DESC_T0));
    assert_true(columns[0] == 20 && columns[4] == 20);
    assert_ok(FtB_gather(Y, X, rows, 2));
    assert_true(picked[0] == 12 && picked[4] == 12 && picked[5] == 2 && picked[9] == 2);
    rows[0] = 0;
    rows[1] = 2;
    assert_ok(FtB_scatter(X, "x + y", Y, rows, 2));
    assert_true(x[0] == 14 && x[last + 4] == 14 && x[ld] == 6);
    FtB_Block *const all[] = {&X, &row_sums, &column_sums, &Y};
    for (int b = 0; b < 4; b++)
        FtB_Block_free(all[b]);
    munmap(x, bytes);
}

/* Views outlive what they were made from; handles that are none are refused. */
static void views(void **state)
{
    (void)state;
    FtB_Block X, heads, columns, of_view;
    FtB_Matrix A;
    FtB_Block V;
    const int64_t I[] = {0, 1}, J[] = {1, 0};
    const float values[] = {1, 2, 3, 4};
    assert_ok(FtB_Block_new(&X, 3, 6, FTB_FP32));
    for (int e = 0; e < 18; e++)
        ((float *)block_values(X))[e] = (float)e;
    assert_ok(FtB_Block_heads(&heads, X, 3));
    assert_ok(FtB_Block_columns(&columns, heads, 2, 3));
    assert_ok(FtB_Block_columns(&of_view, columns, 1, 2));
    assert_true(heads->heads == 3 && columns->heads == 1);
    assert_fails(GrB_INVALID_VALUE, "heads is 4", FtB_Block_heads(&V, X, 4));
    assert_null(V);
    assert_fails(GrB_INVALID_VALUE, "heads is 0", FtB_Block_heads(&V, X, 0));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "3 columns from column 4", FtB_Block_columns(&V, X, 4, 3));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "from column -1", FtB_Block_columns(&V, X, -1, 3));
    assert_fails(GrB_INDEX_OUT_OF_BOUNDS, "", FtB_Block_columns(&V, X, 1, INT64_MAX));
    assert_fails(GrB_NULL_POINTER, "X is NULL", FtB_Block_heads(&V, NULL, 1));
    assert_fails(GrB_NULL_POINTER, "V is NULL", FtB_Block_columns(NULL, X, 0, 1));
    assert_ok(FtB_Block_free(&X));
    assert_ok(FtB_Block_free(&heads));
    assert_ok(FtB_Block_free(&columns));
    assert_ok(FtB_apply(of_view, NULL, NULL, "x * 2", of_view, NULL));
    int64_t ncols, ld;
    void *data;
    assert_ok(FtB_Block_shape(of_view, NULL, &ncols, &ld, NULL, &data));
    assert_true(ncols == 2 && ld == 6 && ((float *)data)[0] == 6 && ((float *)data)[1] == 8);
    assert_true(((float *)data)[6] == 18 && ((float *)data)[2] == 5);
    assert_ok(FtB_Block_free(&of_view));
    /* the values of a matrix, which may be written through views after it is gone */
    assert_ok(FtB_Matrix_build(&A, FTB_FP32, 2, 2, 2, 2, I, J, values, FTB_DUP_ERROR, NULL));
    assert_ok(FtB_Matrix_values(&V, A));
    assert_ok(FtB_Block_heads(&heads, V, 2));
    assert_ok(FtB_eWiseMult(V, NULL, NULL, "x * y", V, heads, NULL));
    assert_true(((const float *)matrix_values(A))[3] == 16);
    FtB_Matrix_free(&A);
    assert_ok(FtB_apply(heads, NULL, NULL, "x - sum(x)", heads, NULL));
    assert_true(((float *)block_values(V))[3] == 0);
    FtB_Block_free(&V);
    FtB_Block_free(&heads);
}

static void refusals(void **state)
{
    (void)state;
    FtB_Block A, B, C, H2, H3, K, Z;
    FtB_Matrix S;
    const float fixed[12] = {0};
    assert_ok(FtB_Block_new(&A, 3, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&B, 2, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&C, 3, 6, FTB_FP32));
    assert_ok(FtB_Block_new(&Z, 3, 0, FTB_FP32));
    assert_ok(FtB_Block_heads(&H2, A, 2));
    assert_ok(FtB_Block_heads(&H3, A, 3));
    assert_ok(FtB_Block_wrap_const(&K, fixed, 3, 4, 4, FTB_FP32));
    assert_ok(FtB_Matrix_new(&S, FTB_FP32, 3, 6, 1));
    assert_fails(GrB_INVALID_VALUE, "must not be written", FtB_apply(K, NULL, NULL, "x", K, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "B is 2 x 6, but C is 3 x 6",
                 FtB_eWiseAdd(C, NULL, NULL, "x + y", A, B, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "op makes 1 values of a row, but C has 6",
                 FtB_apply(C, NULL, NULL, "sum(x)", A, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "widths 6 and 4", FtB_eWiseAdd(C, NULL, NULL, "x + y", A, K, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has 2 heads and B 3",
                 FtB_eWiseAdd(C, NULL, NULL, "x + y", H2, H3, NULL));
    assert_fails(GrB_DIMENSION_MISMATCH, "A has no columns", FtB_apply(C, NULL, NULL, "sum(x)", Z, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'j'", FtB_apply(C, NULL, NULL, "x + j", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "unknown name 'y'", FtB_apply(C, NULL, NULL, "x + y", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Matrix; expected an FtB_Block",
                 FtB_apply(C, NULL, NULL, "x", S, NULL));
    assert_fails(GrB_INVALID_VALUE, "A is an FtB_Block; expected an FtB_Matrix",
                 FtB_apply(S, NULL, NULL, "x", A, NULL));
    assert_fails(GrB_INVALID_VALUE, "transpose", FtB_apply(C, NULL, NULL, "x", A, FTB_DESC_T0));
    assert_fails(GrB_DIMENSION_MISMATCH, "M is 3 x 6", FtB_apply(C, A, NULL, "x", A, NULL));
    assert_ok(FtB_apply(Z, NULL, NULL, "x", Z, NULL));
    FtB_Block *const all[] = {&A, &B, &C, &H2, &H3, &K, &Z};
    for (int b = 0; b < 7; b++)
        FtB_Block_free(all[b]);
    FtB_Matrix_free(&S);
}

static GrB_Info call(void *arg)
{
    FtB_Block C = arg, A = NULL, B = NULL, H = NULL;
    GrB_Info info;
    if ((info = FtB_Block_new(&A, 3, 4, FTB_INT32)) == GrB_SUCCESS &&
        (info = FtB_Block_new(&B, 3, 2, FTB_FP64)) == GrB_SUCCESS &&
        (info = FtB_Block_heads(&H, A, 2)) == GrB_SUCCESS) {
        ((int32_t *)block_values(A))[0] = 1;
        info = FtB_eWiseAdd(C, NULL, "x + y", "x + y", H, B, NULL);
    }
    if (info == GrB_SUCCESS) {
        ((double *)block_values(C))[0] = 0;
        info = FtB_eWiseAdd(C, NULL, NULL, "x * 0 + y * 0", C, C, NULL);
    }
    FtB_Block_free(&A);
    FtB_Block_free(&B);
    FtB_Block_free(&H);
    return info;
}

static void untouched(void *arg)
{
    FtB_Block C = arg;
    for (int e = 0; e < 12; e++)
        assert_true(((double *)block_values(C))[e] == 0);
}

static void failing_allocations(void **state)
{
    (void)state;
    FtB_Block C;
    assert_ok(FtB_Block_new(&C, 3, 4, FTB_FP64));
    fail_every_allocation(call, untouched, C);
    FtB_Block_free(&C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_elementwise),
        cmocka_unit_test(random_applies),
        cmocka_unit_test(aliases),
        cmocka_unit_test(halves),
        cmocka_unit_test(nan_and_infinity),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(bound_blocks),
        cmocka_unit_test(far_rows),
        cmocka_unit_test(views),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
