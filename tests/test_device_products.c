/* Verbs on a device that does not exist (support/pretend.h): operands that are valid there alone stay there,
 * and the bits are the host's; what a verb's product does not say is done on the host, and is as right. */
#include "support/check.h"

#include "core/core.h"
#include "support/fail_alloc.h"
#include "support/pretend.h"
#include "support/rng.h"

#include <stdlib.h>

enum { ROWS = 60, COLS = 45, HEADS = 4, WIDTH = 16, MOST = 9 };

static int begin(void **state)
{
    (void)state;
    pretend_begin(5);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pretend_end();
    return 0;
}

/* What a call reads and writes, twice: for the host, and for the device. */
typedef struct operands {
    FtB_Matrix A;
    int count;
    FtB_Block X[2][MOST]; /* [on the device][n] */
} operands;

/* X's values on the host, whose address stays ours: what was lent is brought home after every verb. */
static float *host(FtB_Block X)
{
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    return ftb_block_data(X);
}

static FtB_Block new_block(int64_t nrows, int64_t heads, int64_t width)
{
    FtB_Block whole, X;
    assert_ok(FtB_Block_new(&whole, nrows, heads * width, FTB_FP32));
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

static int add(operands *o, rng *r, int64_t nrows, int64_t heads, int64_t width)
{
    const int n = o->count++;
    const int64_t count = nrows * heads * width;
    assert_true(n < MOST);
    o->X[0][n] = new_block(nrows, heads, width);
    o->X[1][n] = new_block(nrows, heads, width);
    for (int64_t t = 0; t < count; t++)
        host(o->X[0][n])[t] = (float)(rng_unit(r) * 2 - 1);
    memcpy(host(o->X[1][n]), host(o->X[0][n]), (size_t)count * sizeof(float));
    return n;
}

static void send(const operands *o)
{
    for (int n = 0; n < o->count; n++)
        pretend_send(o->X[1][n]->owner);
}

static void assert_same(const operands *o, const char *what)
{
    for (int n = 0; n < o->count; n++) {
        const FtB_Block X = o->X[0][n];
        if (memcmp(host(X), host(o->X[1][n]), (size_t)(X->nrows * X->ncols) * sizeof(float)) != 0)
            fail_msg("%s: operand %d differs from the host's", what, n);
    }
}

static void free_operands(operands *o)
{
    for (int n = 0; n < o->count; n++) {
        FtB_Block_free(&o->X[0][n]);
        FtB_Block_free(&o->X[1][n]);
    }
    FtB_Matrix_free(&o->A);
}

/* Runs a call on the host and on the device. `verbs`: how many the device runs, and then nothing moves. */
static void both(operands *o, GrB_Info (*call)(const operands *o, const FtB_Block *X), int verbs,
                 const char *what)
{
    int64_t home[2], away[2];
    send(o);
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(call(o, o->X[0]));
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    const int64_t ran = pretend_products();
    assert_ok(FtB_Context_moved(NULL, &home[0], &away[0]));
    assert_ok(call(o, o->X[1]));
    assert_ok(FtB_Context_moved(NULL, &home[1], &away[1]));
    assert_int_equal(pretend_products() - ran, verbs);
    if (verbs)
        assert_true(home[0] == home[1] && away[0] == away[1]);
    assert_same(o, what);
}

/* ---- attention */

enum { Q, K, V, OUT, LSE, D_OUT, DQ, DK, DV };

typedef struct scored {
    const char *text;
    int64_t width;
} scored;
static const scored *score;
static double dropout;
static FtB_Arg accum;
static FtB_Descriptor fused;
static FtB_Plan plan;

static GrB_Info attend(const operands *o, const FtB_Block *X)
{
    const FtB_Attention_options options = {
        .size = sizeof options, .dropout = dropout, .seed = 7, .lse = X[LSE]};
    return FtB_attention(X[OUT], o->A, accum, score->text, X[Q], X[K], X[V], &options, fused);
}

static GrB_Info attend_grad(const operands *o, const FtB_Block *X)
{
    const FtB_Attention_options options = {
        .size = sizeof options, .dropout = dropout, .seed = 7, .lse = X[LSE]};
    return FtB_attention_grad(X[DQ], X[DK], X[DV], X[D_OUT], o->A, score->text, X[Q], X[K], X[V], X[OUT],
                              &options, fused);
}

static operands attention_operands(rng *r)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, 0, 0.2)};
    add(&o, r, ROWS, HEADS, score->width);
    add(&o, r, COLS, HEADS, score->width);
    add(&o, r, COLS, HEADS, WIDTH);
    add(&o, r, ROWS, HEADS, WIDTH);
    add(&o, r, ROWS, 1, HEADS);
    add(&o, r, ROWS, HEADS, WIDTH);
    add(&o, r, ROWS, HEADS, score->width);
    add(&o, r, COLS, HEADS, score->width);
    add(&o, r, COLS, HEADS, WIDTH);
    return o;
}

static void choose_fused(const operands *o)
{
    const FtB_Block *X = o->X[0];
    assert_ok(FtB_attention_plan(&plan, X[OUT], o->A, NULL, score->text, X[Q], X[K], X[V], NULL, NULL,
                                 FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "kernel", "fused"));
    assert_ok(FtB_Descriptor_new(&fused));
    assert_ok(FtB_Descriptor_set(fused, FTB_PLAN, plan));
}

static void attention(void **state)
{
    (void)state;
    static const scored scores[] = {{"plus : dot(src, dst) * 0.25", WIDTH},
                                    {"plus : dot(src, dst)", 5},
                                    {"plus : leaky_relu(src + dst, 0.2)", 1}};
    rng r = rng_new();
    for (size_t s = 0; s < sizeof scores / sizeof *scores; s++)
        for (int dropped = 0; dropped < 2; dropped++) {
            score = &scores[s];
            dropout = dropped ? 0.375 : 0;
            operands o = attention_operands(&r);
            choose_fused(&o);
            both(&o, attend, 1, score->text);
            both(&o, attend_grad, 1, score->text);
            accum = FTB_ARG("x + y");
            both(&o, attend, 0, "accumulated");
            accum = FtB_Arg_none();
            FtB_Descriptor_free(&fused);
            FtB_Plan_free(&plan);
            free_operands(&o);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(attention, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
