/* Operations on a device that does not exist (support/pretend.h): operands that are valid there alone stay
 * there, and the bits are the host's; a call that the verb's product does not say is done on the host, and is
 * as right. */
#include "support/check.h"

#include "core/core.h"
#include "support/pretend.h"
#include "support/rng.h"

enum { ROWS = 70, COLS = 45, MOST = 6 };

/* What a call reads and writes, twice: for the host, and for the device. */
typedef struct operands {
    FtB_Block X[MOST];
    FtB_Matrix A[MOST];
} operands;

static void fill(rng *r, void *values, FtB_Type type, int64_t count)
{
    (ftb_type_float(type) ? rng_reals : rng_values)(r, values, type, count);
}

static FtB_Block block(uint64_t seed, FtB_Type type, int64_t nrows, int64_t ncols)
{
    FtB_Block X;
    rng r = {seed};
    assert_ok(FtB_Block_new(&X, nrows, ncols, type));
    fill(&r, ftb_block_data(X), type, nrows * ncols);
    return X;
}

static FtB_Matrix matrix(uint64_t seed, FtB_Type type, int64_t width)
{
    rng r = {seed};
    return rng_matrix(&r, type, ROWS, COLS, width, 0.2);
}

/* As many values of A's pattern as of another. */
static FtB_Matrix like(uint64_t seed, FtB_Matrix A, FtB_Type type, int64_t width)
{
    FtB_Matrix S;
    rng r = {seed};
    assert_ok(FtB_Matrix_like(&S, A, width, type));
    fill(&r, ftb_values(S), type, A->pattern->nvals * width);
    return S;
}

static void free_operands(operands *o)
{
    for (int n = 0; n < MOST; n++) {
        FtB_Block_free(&o->X[n]);
        FtB_Matrix_free(&o->A[n]);
    }
}

static void assert_same(ftb_buffer *a, ftb_buffer *b, const char *what, int n)
{
    if (!a || !b)
        return;
    assert_ok(ftb_buffer_ask(a, FTB_READ));
    assert_ok(ftb_buffer_ask(b, FTB_READ));
    assert_int_equal(a->bytes, b->bytes);
    if (memcmp(a->host, b->host, (size_t)a->bytes) != 0)
        fail_msg("%s: operand %d differs from the host's", what, n);
}

/* Runs a call on the host and, on operands that are valid there alone, on the device. `verbs`: how many that
 * runs; where it is any, nothing moves. */
static void both(operands (*make)(void), GrB_Info (*call)(const operands *o), int verbs, const char *what)
{
    int64_t home[2], away[2];
    operands o[2];
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    o[0] = make();
    assert_ok(call(&o[0]));
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    o[1] = make();
    for (int n = 0; n < MOST; n++) {
        pretend_send(o[1].X[n] ? o[1].X[n]->owner : NULL);
        pretend_send(o[1].A[n] ? o[1].A[n]->values : NULL);
    }
    const int64_t ran = pretend_products();
    pretend_moved(&home[0], &away[0]);
    assert_ok(call(&o[1]));
    pretend_moved(&home[1], &away[1]);
    if (pretend_products() - ran != verbs)
        fail_msg("%s: %d verbs ran, not %d", what, (int)(pretend_products() - ran), verbs);
    if (verbs && (home[0] != home[1] || away[0] != away[1]))
        fail_msg("%s: %d bytes came home, %d left", what, (int)(home[1] - home[0]), (int)(away[1] - away[0]));
    for (int n = 0; n < MOST; n++) {
        if (o[0].X[n])
            assert_same(o[0].X[n]->owner, o[1].X[n]->owner, what, n);
        if (o[0].A[n])
            assert_same(o[0].A[n]->values, o[1].A[n]->values, what, n);
    }
    free_operands(&o[0]);
    free_operands(&o[1]);
}

/* ---- softmax */

static FtB_Type dtype, result;
static FtB_By by;

static operands entries(void)
{
    operands o = {.A = {NULL, NULL, NULL, matrix(1, dtype, 3)}};
    o.A[0] = like(2, o.A[3], dtype, 3);
    o.A[1] = like(3, o.A[3], dtype, 3);
    o.A[2] = like(4, o.A[3], result, 3);
    assert_ok(FtB_Matrix_new(&o.A[4], result, ROWS, COLS, 3));
    return o;
}

static GrB_Info normalise(const operands *o) { return FtB_softmax(o->A[2], o->A[0], by); }
static GrB_Info normalise_anew(const operands *o) { return FtB_softmax(o->A[4], o->A[0], by); }
static GrB_Info normalise_grad(const operands *o) { return FtB_softmax_grad(o->A[2], o->A[0], o->A[1], by); }

static void softmax(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        dtype = t & 1 ? FTB_FP64 : FTB_FP32;
        by = t & 2 ? FTB_BY_COLUMN : FTB_BY_ROW;
        result = dtype;
        both(entries, normalise, 1, "softmax");
        both(entries, normalise_anew, 1, "softmax into new memory");
        both(entries, normalise_grad, 1, "its gradient");
        result = FTB_FP16;
        both(entries, normalise, 0, "softmax, cast");
        both(entries, normalise_grad, 0, "its gradient, cast");
    }
}

/* ---- picking and spreading rows */

static const int64_t picked[] = {3, 69, 0, 3, 17, 44, 3, 21, 22, 69};
enum { PICKED = sizeof picked / sizeof *picked };
static FtB_Arg accum;

static operands rows(void)
{
    return (operands){.X = {block(1, dtype, ROWS, 9), block(2, result, PICKED, 9)}};
}

static GrB_Info gather(const operands *o) { return FtB_gather(o->X[1], o->X[0], picked, PICKED); }
static GrB_Info scatter(const operands *o) { return FtB_scatter(o->X[0], accum, o->X[1], picked, PICKED); }
static GrB_Info scatter_columns(const operands *o)
{
    FtB_Block Y = NULL, X = NULL;
    GrB_Info info = FtB_Block_columns(&Y, o->X[0], 2, 4);
    if (info == GrB_SUCCESS)
        info = FtB_Block_columns(&X, o->X[1], 5, 4);
    if (info == GrB_SUCCESS)
        info = FtB_scatter(Y, accum, X, picked, PICKED);
    FtB_Block_free(&Y);
    FtB_Block_free(&X);
    return info;
}
static GrB_Info gather_own(const operands *o)
{
    int64_t all[ROWS];
    for (int64_t t = 0; t < ROWS; t++)
        all[t] = (t * 11 + 5) % ROWS;
    return FtB_gather(o->X[0], o->X[0], all, ROWS);
}

static void moving_rows(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) {
        dtype = result = t ? FTB_FP64 : FTB_FP32;
        both(rows, gather, 1, "gather");
        both(rows, gather_own, 0, "gather from what it writes");
        accum = FtB_Arg_none();
        both(rows, scatter, 1, "scatter");
        accum = FTB_ARG("x + y");
        both(rows, scatter, 1, "scatter, added");
        both(rows, scatter_columns, 1, "scatter, columns added");
        accum = FTB_ARG("max(x, y)");
        both(rows, scatter, 0, "scatter, maximum");
        accum = FTB_ARG("x - 2 * y");
        both(rows, scatter, 0, "scatter, text");
        result = FTB_FP16;
        both(rows, gather, 0, "gather, cast");
        accum = FTB_ARG("x + y");
        both(rows, scatter, 0, "scatter, cast");
    }
    accum = FtB_Arg_none();
}

/* ---- reductions */

static const char *monoid;

static operands reduced(void)
{
    FtB_Matrix A = matrix(9, dtype, 3);
    operands o = {.X = {block(1, dtype, ROWS, 9), block(2, result, ROWS, 1), block(3, result, 1, 9),
                        block(4, result, ROWS, 3), block(5, FTB_BOOL, ROWS, 1)},
                  .A = {like(6, A, dtype, 3)}};
    FtB_Matrix_free(&A);
    return o;
}

static GrB_Info reduce_rows(const operands *o)
{
    return FtB_reduce(o->X[1], NULL, accum, monoid, o->X[0], NULL);
}
static GrB_Info reduce_columns(const operands *o)
{
    return FtB_reduce(o->X[2], NULL, accum, monoid, o->X[0], FTB_DESC_T0);
}
static GrB_Info reduce_entries(const operands *o)
{
    return FtB_reduce(o->X[3], NULL, accum, monoid, o->A[0], NULL);
}
static GrB_Info reduce_heads(const operands *o)
{
    FtB_Block heads = NULL;
    GrB_Info info = FtB_Block_heads(&heads, o->X[0], 3);
    if (info == GrB_SUCCESS)
        info = FtB_reduce(o->X[3], NULL, accum, monoid, heads, NULL);
    FtB_Block_free(&heads);
    return info;
}
static GrB_Info reduce_masked(const operands *o)
{
    return FtB_reduce(o->X[1], o->X[4], accum, monoid, o->X[0], NULL);
}
static GrB_Info reduce_transposed(const operands *o)
{
    FtB_Block y = NULL;
    GrB_Info info = FtB_Block_new(&y, COLS, 3, result);
    if (info == GrB_SUCCESS)
        info = FtB_reduce(y, NULL, accum, monoid, o->A[0], FTB_DESC_T0);
    FtB_Block_free(&y);
    return info;
}

static void reductions(void **state)
{
    (void)state;
    static const char *const monoids[] = {"plus", "max"};
    for (int t = 0; t < 8; t++) {
        dtype = t & 1 ? FTB_FP64 : FTB_FP32;
        monoid = monoids[t >> 1 & 1];
        accum = t & 4 ? FTB_ARG("x + y") : FtB_Arg_none();
        result = dtype;
        both(reduced, reduce_rows, 1, "rows");
        both(reduced, reduce_columns, 1, "columns");
        both(reduced, reduce_entries, 1, "entries of rows");
        both(reduced, reduce_heads, 1, "heads of rows");
        both(reduced, reduce_masked, 0, "rows, masked");
        both(reduced, reduce_transposed, 0, "entries of columns");
        result = FTB_INT32;
        both(reduced, reduce_columns, 0, "columns, cast");
        both(reduced, reduce_entries, 0, "entries of rows, cast");
    }
    accum = FtB_Arg_none();
}

/* What is reduced to one entry is told to the caller, and nothing else moves. */
static void reduction_of_all(void **state)
{
    (void)state;
    dtype = result = FTB_FP32;
    operands o = reduced();
    double sums[3], wanted[3];
    int64_t home[2], away[2];
    assert_ok(FtB_reduce_scalar(wanted, FTB_FP64, "plus", o.A[0]));
    pretend_send(o.A[0]->values);
    const int64_t ran = pretend_products();
    pretend_moved(&home[0], &away[0]);
    assert_ok(FtB_reduce_scalar(sums, FTB_FP64, "plus", o.A[0]));
    pretend_moved(&home[1], &away[1]);
    assert_int_equal(pretend_products(), ran + 1);
    assert_int_equal(home[1] - home[0], 3 * (int64_t)sizeof(float));
    assert_int_equal(away[1] - away[0], 0);
    assert_memory_equal(sums, wanted, sizeof sums);
    free_operands(&o);
}

/* ---- texts */

static const char *text;
static int shared; /* how y stands to x: a block like it, one row, one column, one value */

static operands blocks(void)
{
    const int64_t nrows = shared & 1 ? 1 : ROWS, ncols = shared & 2 ? 1 : 9;
    return (operands){.X = {block(1, dtype, ROWS, 9), block(2, dtype, nrows, ncols),
                            block(3, result, ROWS, 9), block(4, FTB_BOOL, ROWS, 1)}};
}

static GrB_Info apply(const operands *o) { return FtB_apply(o->X[2], NULL, accum, text, o->X[0], NULL); }
static GrB_Info apply_in_place(const operands *o)
{
    return FtB_apply(o->X[0], NULL, accum, text, o->X[0], NULL);
}
static GrB_Info apply_masked(const operands *o)
{
    return FtB_apply(o->X[2], o->X[3], accum, text, o->X[0], NULL);
}
static GrB_Info ewise(const operands *o)
{
    return FtB_eWiseMult(o->X[2], NULL, accum, text, o->X[0], o->X[1], NULL);
}
static GrB_Info ewise_heads(const operands *o)
{
    FtB_Block x = NULL, out = NULL;
    GrB_Info info = FtB_Block_heads(&x, o->X[0], 3);
    if (info == GrB_SUCCESS)
        info = FtB_Block_columns(&out, o->X[2], 0, 9);
    if (info == GrB_SUCCESS)
        info = FtB_eWiseAdd(out, NULL, accum, text, x, o->X[1], NULL);
    FtB_Block_free(&x);
    FtB_Block_free(&out);
    return info;
}
static GrB_Info ewise_columns(const operands *o)
{
    FtB_Block x = NULL, out = NULL;
    GrB_Info info = FtB_Block_columns(&x, o->X[0], 1, 4);
    if (info == GrB_SUCCESS)
        info = FtB_Block_columns(&out, o->X[0], 5, 4);
    if (info == GrB_SUCCESS)
        info = FtB_eWiseAdd(out, NULL, accum, text, x, x, NULL);
    FtB_Block_free(&x);
    FtB_Block_free(&out);
    return info;
}

static operands values(void)
{
    operands o = entries();
    accum = FtB_Arg_none();
    return o;
}
static GrB_Info apply_entries(const operands *o)
{
    return FtB_apply(o->A[2], NULL, NULL, text, o->A[0], NULL);
}
static GrB_Info apply_entries_masked(const operands *o)
{
    return FtB_apply(o->A[2], o->A[1], NULL, text, o->A[0], FTB_DESC_S);
}
static GrB_Info apply_transposed(const operands *o)
{
    FtB_Matrix T = NULL;
    GrB_Info info = FtB_Matrix_new(&T, result, COLS, ROWS, 3);
    if (info == GrB_SUCCESS)
        info = FtB_apply(T, NULL, NULL, "x + i", o->A[0], FTB_DESC_T0);
    FtB_Matrix_free(&T);
    return info;
}

static void texts_of_entries(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) {
        dtype = result = t ? FTB_FP64 : FTB_FP32;
        text = "x > 0 ? x : 0.2 * x";
        both(values, apply_entries, 1, "apply to entries");
        both(values, apply_entries_masked, 0, "apply to entries, masked");
        both(values, apply_transposed, 0, "apply to entries, transposed");
        text = "x + di";
        both(values, apply_entries, 0, "apply to entries, with their row's degree");
        result = FTB_FP16;
        text = "2 * x";
        both(values, apply_entries, 0, "apply to entries, cast");
    }
}

static void texts(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        dtype = result = t & 1 ? FTB_FP64 : FTB_FP32;
        accum = t & 2 ? FTB_ARG("x + y") : FtB_Arg_none();
        text = "x > 0 ? x : 0.2 * x";
        both(blocks, apply, 1, "apply");
        both(blocks, apply_in_place, 1, "apply in place");
        both(blocks, apply_masked, 0, "apply, masked");
        text = "x - sum(x)";
        both(blocks, apply, 0, "apply, rows as a whole");
        text = dtype == FTB_FP64 ? "x * y + i" : "x * y"; /* of FP32 and an index are reals of FP64 */
        for (shared = 0; shared < 4; shared++) {
            both(blocks, ewise, 1, "two blocks");
            both(blocks, ewise_heads, 1, "two blocks, heads");
        }
        shared = 0;
        both(blocks, ewise_columns, 1, "columns of a block to others");
        result = FTB_FP16;
        both(blocks, ewise, 0, "two blocks, cast");
        result = dtype;
        accum = FTB_ARG("x * y");
        both(blocks, ewise, 0, "two blocks, multiplied into a third");
    }
    accum = FtB_Arg_none();
}

/* Blocks that a text is bound to are read on the host, wherever they were written. */
static void bound_blocks(void **state)
{
    (void)state;
    dtype = result = FTB_FP32;
    FtB_Matrix A = matrix(1, FTB_FP32, 1), wanted, got;
    FtB_Block N = block(2, FTB_FP32, ROWS, 1), X = block(3, FTB_FP32, ROWS, 5), Y[2];
    FtB_Op plain, op;
    assert_ok(FtB_Matrix_new(&wanted, FTB_FP32, ROWS, COLS, 1));
    assert_ok(FtB_Matrix_new(&got, FTB_FP32, ROWS, COLS, 1));
    assert_ok(FtB_Op_new(&plain, "x + n[i]"));
    assert_ok(FtB_Op_bind(&op, plain, FTB_BIND("n", N)));
    for (int sent = 0; sent < 2; sent++) {
        if (sent)
            pretend_send(N->owner);
        assert_ok(FtB_apply(sent ? got : wanted, NULL, NULL, op, A, NULL));
        if (sent)
            pretend_send(N->owner);
        assert_ok(FtB_Block_new(&Y[sent], ROWS, 5, FTB_FP32));
        assert_ok(FtB_apply(Y[sent], NULL, NULL, op, X, NULL));
    }
    assert_same(wanted->values, got->values, "entries", 0);
    assert_same(Y[0]->owner, Y[1]->owner, "rows", 0);
    FtB_Op_free(&plain);
    FtB_Op_free(&op);
    FtB_Block_free(&N);
    FtB_Block_free(&X);
    FtB_Block_free(&Y[0]);
    FtB_Block_free(&Y[1]);
    FtB_Matrix_free(&A);
    FtB_Matrix_free(&wanted);
    FtB_Matrix_free(&got);
}

/* ---- values of entries */

enum { DOTS = 3 }; /* heads */
static FtB_Type mask_type;

static FtB_Block with_heads(uint64_t seed, FtB_Type of, int64_t nrows, int64_t width)
{
    FtB_Block whole = block(seed, of, nrows, DOTS * width), X;
    assert_ok(FtB_Block_heads(&X, whole, DOTS));
    FtB_Block_free(&whole);
    return X;
}

static operands scores(void)
{
    const int64_t width = strstr(text, "dot") ? 5 : 1;
    operands o = {.X = {with_heads(1, dtype, ROWS, width), with_heads(2, result, COLS, width)},
                  .A = {matrix(3, mask_type, 1)}};
    o.A[1] = like(4, o.A[0], dtype, DOTS);
    assert_ok(FtB_Matrix_new(&o.A[2], dtype, ROWS, COLS, DOTS));
    return o;
}

static GrB_Info score(const operands *o)
{
    return FtB_mxm(o->A[1], o->A[0], accum, text, o->X[0], o->X[1], FTB_DESC_RST1);
}
static GrB_Info score_anew(const operands *o)
{
    return FtB_mxm(o->A[2], o->A[0], accum, text, o->X[0], o->X[1], FTB_DESC_ST1);
}
static GrB_Info score_admitted(const operands *o)
{
    return FtB_mxm(o->A[1], o->A[0], accum, text, o->X[0], o->X[1], FTB_DESC_T1);
}

static void scores_of_entries(void **state)
{
    (void)state;
    static const char *const known[] = {"plus : dot(src, dst) * 0.25", "plus : leaky_relu(src + dst, 0.2)"};
    for (int t = 0; t < 4; t++) {
        dtype = result = t & 1 ? FTB_FP64 : FTB_FP32;
        mask_type = FTB_FP32;
        text = known[t >> 1];
        accum = FtB_Arg_none();
        both(scores, score, 1, text);
        both(scores, score_anew, 1, "into new memory");
        accum = FTB_ARG("x + y");
        both(scores, score, 0, "accumulated");
        accum = FtB_Arg_none();
        mask_type = FTB_BOOL;
        both(scores, score_admitted, 0, "where the mask's values admit");
        result = FTB_FP16;
        both(scores, score, 0, "of two types");
        result = dtype;
        text = t >> 1 ? "plus : src * dst" : "plus : dot(src, dst) + edge";
        both(scores, score, 1, "of another text");
        text = "plus : relu(src) - exp(dst * dst)"; /* of which two parts depend on a vertex each */
        both(scores, score, 3, text);
        both(scores, score_anew, 3, "into new memory");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_of_entries, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(scores_of_entries, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(texts, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(bound_blocks, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(reductions, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(reduction_of_all, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(moving_rows, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(softmax, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
