/* Verbs on a device that does not exist (support/pretend.h): operands that are valid there alone stay there,
 * and the bits are the host's; what a verb's product does not say is done on the host, and is as right. */
#include <GraphBLAS.h>

#include "support/check.h"

#include "support/twice.h"

/* ---- sums and messages */

enum { C, B, D, W };

typedef struct product {
    const char *text;
    bool transposed; /* A is, and its entries then lie in another order */
    int heads;       /* of the edges' values; 0: there are none */
    int verbs;       /* that a device is asked for, of a result that is replaced */
} product;
static const product *called;
static FtB_Arg accum;

static GrB_Info make_semiring(FtB_Semiring *s, const FtB_Block *X)
{
    FtB_Semiring plain;
    FtB_Binding bindings[2];
    size_t count = 0;
    GrB_Info info = FtB_Semiring_new(s, called->text);
    if (strstr(called->text, "near"))
        bindings[count++] = (FtB_Binding){"near", FTB_ARG(X[D])};
    if (strchr(called->text, '@'))
        bindings[count++] = (FtB_Binding){"W", FTB_ARG(X[W])};
    if (info != GrB_SUCCESS || count == 0)
        return info;
    plain = *s;
    info = (FtB_Semiring_bind)(s, plain, bindings, count);
    FtB_Semiring_free(&plain);
    return info;
}

static GrB_Info multiply(const operands *o, const FtB_Block *X)
{
    FtB_Semiring s = NULL;
    GrB_Info info = make_semiring(&s, X);
    if (info == GrB_SUCCESS)
        info = FtB_mxm(X[C], NULL, accum, s, o->A, X[B], called->transposed ? FTB_DESC_T0 : NULL);
    FtB_Semiring_free(&s);
    return info;
}

/* Every text is done there or on the host as its row says, replaced and added to, and has the host's bits. */
static void products(void **state)
{
    (void)state;
    static const product list[] = {{"plus : src", false, 0, 1},
                                   {"plus : src", true, 0, 1},
                                   {"mean : src", false, 0, 1},
                                   {"max : src", false, 0, 1},
                                   {"plus : edge * src", false, 1, 1},
                                   {"plus : edge * src", true, 1, 1},
                                   {"plus : edge * src", false, HEADS, 1},
                                   {"plus : edge * src", true, HEADS, 1},
                                   {"min : edge + src", true, HEADS, 1},
                                   {"plus : tanh(src * edge)", false, 1, 1},
                                   {"plus : tanh(src * edge)", true, HEADS, 1},
                                   {"max : abs(src * edge)", false, 1, 1},
                                   {"plus : abs(src - near[i])", false, 0, 1},
                                   {"mean : tanh(src * edge)", false, 1, 2},
                                   {"plus : tanh(src)", false, 0, 2},
                                   {"plus : tanh(src) * near[i]", true, 0, 3},
                                   {"max : exp(src * 2)", false, 0, 2},
                                   {"max : tanh(src + near[i]) @ W", true, 0, 1},
                                   {"plus : [tanh(near[i] * edge), src[2] - edge] @ W", false, 1, 3},
                                   {"plus : tanh(src * edge) @ W", false, HEADS, 2},
                                   {"plus : (tanh(src) @ W) * near[i]", false, 0, 3},
                                   {"max : relu((src + near[i]) @ W)", false, 0, 4}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        called = &list[n];
        const int64_t rows = called->transposed ? COLS : ROWS, sources = called->transposed ? ROWS : COLS;
        const bool best = strncmp(called->text, "max", 3) == 0 || strncmp(called->text, "min", 3) == 0,
                   adds = !best || called->verbs > 1; /* what is left behind a reduction is a sum's or not */
        operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, COLS, called->heads, 0.05)};
        twice_add(&o, &r, rows, HEADS, WIDTH);
        twice_add(&o, &r, sources, HEADS, WIDTH);
        twice_add(&o, &r, rows, HEADS, WIDTH);
        twice_add(&o, &r, strchr(called->text, '[') && strchr(called->text, ',') ? WIDTH + 1 : WIDTH, 1,
                  WIDTH);
        pretend_send(o.A->values);
        twice_run(&o, multiply, called->verbs, called->text);
        accum = FTB_ARG("x + y");
        twice_run(&o, multiply, adds ? called->verbs : 0, called->text);
        accum = FTB_ARG("x * y");
        twice_run(&o, multiply, 0, called->text);
        accum = FtB_Arg_none();
        twice_free(&o);
    }
}

/* Sums of a domain of fewer bits wrap to it, wherever they are made. */
static void wraps(void **state)
{
    (void)state;
    const int64_t I[] = {0, 0}, J[] = {0, 1};
    FtB_Matrix A;
    FtB_Block X, sum;
    assert_ok(FtB_Matrix_build(&A, FTB_INT64, 1, 2, 0, 2, I, J, NULL, FTB_DUP_SUM, NULL));
    assert_ok(FtB_Block_new(&X, 2, 1, FTB_INT32));
    assert_ok(FtB_Block_new(&sum, 1, 1, FTB_INT64));
    ((int32_t *)block_values(X))[0] = ((int32_t *)block_values(X))[1] = INT32_MAX;
    assert_ok(FtB_Block_changed(X));
    assert_ok(FtB_mxm(sum, NULL, NULL, GxB_PLUS_SECOND_INT32, A, X, NULL));
    assert_int_equal(((const int64_t *)block_values(sum))[0], -2);
    FtB_Matrix_free(&A);
    FtB_Block_free(&X);
    FtB_Block_free(&sum);
}

/* A device writes what an operator or a semiring is bound to, after it was bound. */
static void bound_before(void **state)
{
    (void)state;
    rng r = rng_new();
    FtB_Op add_w, applied;
    FtB_Semiring plain, weighed;
    operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, ROWS, 0, 0.1)};
    for (int n = 0; n < 4; n++)
        twice_add(&o, &r, ROWS, 1, WIDTH);
    assert_ok(FtB_Op_new(&add_w, "x + w[i]"));
    assert_ok(FtB_Semiring_new(&plain, "plus : src * w[i]"));
    for (int on = 0; on < 2; on++) {
        const FtB_Block *X = o.X[on];
        assert_ok(FtB_Context_set_device(NULL, on ? "pretend" : "cpu"));
        assert_ok(FtB_Op_bind(&applied, add_w, FTB_BIND("w", X[0])));
        assert_ok(FtB_Semiring_bind(&weighed, plain, FTB_BIND("w", X[0])));
        assert_ok(FtB_mxm(X[0], NULL, NULL, FTB_PLUS_SRC, o.A, X[1], NULL));
        assert_ok(FtB_apply(X[2], NULL, NULL, applied, X[1], NULL));
        assert_ok(FtB_mxm(X[3], NULL, NULL, weighed, o.A, X[1], NULL));
        FtB_Op_free(&applied);
        FtB_Semiring_free(&weighed);
    }
    twice_assert_same(&o, "bound before it was written");
    FtB_Op_free(&add_w);
    FtB_Semiring_free(&plain);
    twice_free(&o);
}

/* ---- plans */

static GrB_Info plan_of(FtB_Plan *plan, int kind, const operands *o)
{
    const FtB_Block *X = o->X[1];
    switch (kind) {
    case 0:
        return FtB_mxm_plan(plan, X[C], NULL, NULL, "plus : edge * src", o->A, X[B], NULL, FTB_ESTIMATE);
    case 1:
        return FtB_mxm_plan(plan, X[C], NULL, "x * y", "plus : src", o->A, X[B], NULL, FTB_ESTIMATE);
    case 2:
        return FtB_mxm_plan(plan, o->A, o->A, NULL, "plus : dot(src, dst)", X[C], X[B], FTB_DESC_RST1,
                            FTB_ESTIMATE);
    case 3:
        return FtB_mxm_plan(plan, o->A, NULL, NULL, "plus : a * b", o->A, o->A, NULL, FTB_ESTIMATE);
    default:
        return FtB_attention_plan(plan, X[C], o->A, NULL, "plus : dot(src, dst)", X[D], X[B], X[B], NULL,
                                  NULL, FTB_ESTIMATE);
    }
}

static GrB_Info run_it(int kind, const operands *o)
{
    const FtB_Block *X = o->X[1];
    switch (kind) {
    case 0:
        return FtB_mxm(X[C], NULL, NULL, "plus : edge * src", o->A, X[B], NULL);
    case 1:
        return FtB_mxm(X[C], NULL, "x * y", "plus : src", o->A, X[B], NULL);
    case 2:
        return FtB_mxm(o->A, o->A, NULL, "plus : dot(src, dst)", X[C], X[B], FTB_DESC_RST1);
    case 3:
        return FtB_mxm(o->A, NULL, NULL, "plus : a * b", o->A, o->A, NULL);
    default:
        return FtB_attention(X[C], o->A, NULL, "plus : dot(src, dst)", X[D], X[B], X[B], NULL, NULL);
    }
}

/* A plan says who will run the product, and how many bytes move first: as many as do. */
static void plans(void **state)
{
    (void)state;
    rng r = rng_new();
    for (int kind = 0; kind < 5; kind++)
        for (int sent = 0; sent < 2; sent++) {
            char text[4096] = "";
            int64_t before, after, home[2];
            double moves, seconds;
            FtB_Plan plan;
            operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, ROWS, 1, 0.05)};
            for (int n = 0; n < 3; n++) {
                twice_add(&o, &r, ROWS, 1, WIDTH);
                if (sent)
                    pretend_send(o.X[1][n]->owner);
            }
            if (sent)
                pretend_send(o.A->values);
            assert_ok(FtB_Context_set_device(NULL, "pretend"));
            FILE *file = fmemopen(text, sizeof text, "w");
            assert_ok(plan_of(&plan, kind, &o));
            assert_ok(FtB_Plan_explain(plan, file));
            fclose(file);
            assert_ok(FtB_Plan_get(plan, "moved_bytes", &moves));
            assert_ok(FtB_Plan_get(plan, "moved_seconds", &seconds));
            assert_true(seconds == moves / PRETEND_RATE);
            const bool by_device = kind != 1;
            if (!strstr(text, by_device ? "pretend runs it" : "pretend does not have it"))
                fail_msg("plan %d: who runs it is not in %s", kind, text);
            pretend_moved(&home[0], &before);
            assert_ok(run_it(kind, &o));
            pretend_moved(&home[1], &after);
            const int64_t moved = by_device ? after - before : home[1] - home[0];
            if (moves != (double)moved || (moved == 0) != (sent == by_device))
                fail_msg("plan %d: %.0f bytes are to move, %lld did", kind, moves, (long long)moved);
            assert_ok(FtB_Plan_free(&plan));
            twice_free(&o);
        }
}

/* ---- winners */

enum { FIRST = 3 };               /* column of winners_of's views */
static FtB_Block winners_of[2];   /* [on the device]: views of wider blocks */
static FtB_Block winners_mask[2]; /* NULL: none */

static GrB_Info multiply_arg(const operands *o, const FtB_Block *X)
{
    const bool on = X == o->X[1];
    FtB_Semiring s = NULL;
    GrB_Info info = make_semiring(&s, X);
    if (info == GrB_SUCCESS)
        info = FtB_mxm_arg(X[C], winners_of[on], winners_mask[on], s, o->A, X[B],
                           called->transposed ? FTB_DESC_T0 : NULL);
    FtB_Semiring_free(&s);
    return info;
}

static void new_winners(FtB_Block *E, int64_t nrows)
{
    FtB_Block whole;
    assert_ok(FtB_Block_new(&whole, nrows, HEADS * WIDTH + FIRST + 1, FTB_INT64));
    for (int64_t t = 0; t < whole->nrows * whole->ncols; t++)
        ((int64_t *)ftb_block_data(whole))[t] = -7;
    assert_ok(FtB_Block_changed(whole));
    assert_ok(FtB_Block_columns(E, whole, FIRST, HEADS * WIDTH));
    FtB_Block_free(&whole);
}

/* Winners are the host's, -1 in rows without entries, and nothing beside them is written. */
static void check_winners(int64_t nrows)
{
    const int64_t *won[2];
    int64_t winning = 0, missing = 0;
    for (int on = 0; on < 2; on++) {
        assert_ok(ftb_buffer_ask(winners_of[on]->owner, FTB_READ));
        won[on] = winners_of[on]->owner->host;
    }
    for (int64_t t = 0; t < nrows * winners_of[0]->ld; t++) {
        const int64_t column = t % winners_of[0]->ld;
        const bool ours = column >= FIRST && column < FIRST + HEADS * WIDTH;
        if (won[0][t] != won[1][t] || (!ours && won[1][t] != -7))
            fail_msg("%s: winner %d is %d, the host's %d", called->text, (int)t, (int)won[1][t],
                     (int)won[0][t]);
        winning += ours && won[1][t] >= 0;
        missing += ours && won[1][t] == -1;
    }
    assert_true(winning > 0 && missing > 0);
}

static void winners(void **state)
{
    (void)state;
    static const product list[] = {{"max : src", false, 0, 1},
                                   {"min : edge * src", true, HEADS, 1},
                                   {"max : abs(src - near[i])", false, 0, 1},
                                   {"max : exp(src * 2)", false, 0, 2},
                                   {"min : tanh(src) * 2 + near[i]", false, 0, STILL},
                                   {"max : relu(src - near[i]) @ W", false, 0, 1}};
    rng r = rng_new();
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        called = &list[n];
        const int64_t rows = called->transposed ? COLS : ROWS, sources = called->transposed ? ROWS : COLS;
        for (int masked = 0; masked < 2; masked++) {
            operands o = {.A = rng_matrix(&r, FTB_FP32, ROWS, COLS, called->heads, 0.05)};
            twice_add(&o, &r, rows, HEADS, WIDTH);
            twice_add(&o, &r, sources, HEADS, WIDTH);
            twice_add(&o, &r, rows, HEADS, WIDTH);
            twice_add(&o, &r, WIDTH, 1, WIDTH);
            pretend_send(o.A->values);
            for (int on = 0; on < 2; on++) {
                new_winners(&winners_of[on], rows);
                if (masked)
                    assert_ok(FtB_Block_new(&winners_mask[on], rows, 1, FTB_FP32));
                for (int64_t i = 0; masked && i < rows; i++)
                    ((float *)ftb_block_data(winners_mask[on]))[i] = i % 2 != 0;
            }
            pretend_send(winners_of[1]->owner);
            twice_run(&o, multiply_arg, masked ? 0 : called->verbs, called->text);
            check_winners(rows);
            for (int on = 0; on < 2; on++) {
                FtB_Block_free(&winners_of[on]);
                FtB_Block_free(&winners_mask[on]);
            }
            twice_free(&o);
        }
    }
}

/* ---- attention */

enum { Q, K, V, OUT, LSE, D_OUT, DQ, DK, DV };

typedef struct scored {
    const char *text;
    int64_t width;
} scored;
static const scored *score;
static double dropout;
static FtB_Descriptor forced;
static FtB_Plan plan;

static GrB_Info attend(const operands *o, const FtB_Block *X)
{
    const FtB_Attention_options options = {
        .size = sizeof options, .dropout = dropout, .seed = 7, .lse = X[LSE]};
    return FtB_attention(X[OUT], o->A, accum, score->text, X[Q], X[K], X[V], &options, forced);
}

static GrB_Info attend_grad(const operands *o, const FtB_Block *X)
{
    const FtB_Attention_options options = {
        .size = sizeof options, .dropout = dropout, .seed = 7, .lse = X[LSE]};
    return FtB_attention_grad(X[DQ], X[DK], X[DV], X[D_OUT], o->A, score->text, X[Q], X[K], X[V], X[OUT],
                              &options, forced);
}

static operands attention_operands(rng *r)
{
    operands o = {.A = rng_matrix(r, FTB_FP32, ROWS, COLS, 0, 0.2)};
    twice_add(&o, r, ROWS, HEADS, score->width);
    twice_add(&o, r, COLS, HEADS, score->width);
    twice_add(&o, r, COLS, HEADS, WIDTH);
    twice_add(&o, r, ROWS, HEADS, WIDTH);
    twice_add(&o, r, ROWS, 1, HEADS);
    twice_add(&o, r, ROWS, HEADS, WIDTH);
    twice_add(&o, r, ROWS, HEADS, score->width);
    twice_add(&o, r, COLS, HEADS, score->width);
    twice_add(&o, r, COLS, HEADS, WIDTH);
    return o;
}

static void choose(const operands *o, const char *kernel)
{
    const FtB_Block *X = o->X[0];
    assert_ok(FtB_attention_plan(&plan, X[OUT], o->A, NULL, score->text, X[Q], X[K], X[V], NULL, NULL,
                                 FTB_ESTIMATE));
    assert_ok(FtB_Plan_set(plan, "kernel", kernel));
    assert_ok(FtB_Descriptor_new(&forced));
    assert_ok(FtB_Descriptor_set(forced, FTB_PLAN, plan));
}

static void forget(void)
{
    FtB_Descriptor_free(&forced);
    FtB_Plan_free(&plan);
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
            choose(&o, "fused");
            twice_run(&o, attend, 1, score->text);
            twice_run(&o, attend_grad, 1, score->text);
            accum = FTB_ARG("x + y");
            twice_run(&o, attend, 0, "accumulated");
            accum = FtB_Arg_none();
            forget();
            choose(&o, "staged"); /* scores, softmax, weighted sums, and the logs of sums put where they are
                                     wanted */
            twice_run(&o, attend, 4, score->text);
            accum = FTB_ARG("x + y");
            twice_run(&o, attend, ANY, "in steps, accumulated");
            accum = FtB_Arg_none();
            forget();
            twice_free(&o);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(wraps, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(winners, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(plans, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(bound_before, pretend_setup, pretend_teardown),
        cmocka_unit_test_setup_teardown(attention, pretend_setup, pretend_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
