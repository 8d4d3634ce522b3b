/* Dense products of tapes whose passes over the result are made with it, or whose input is the first rows of
 * another variable: beside the same where neither can be, and finite differences; any threads. */
#include "support/check.h"

#include "core/core.h"
#include "nn/nn.h"
#include "support/gradients.h"
#include "support/rng.h"
#include "support/tapes.h"

#include <math.h>
#include <stdlib.h>

/* What a record gives: the result, and gradients of x, w and b. */
enum { PARTS = 4 };
typedef struct outcome {
    void *part[PARTS];
    size_t bytes[PARTS];
} outcome;

static void keep(outcome *o, int k, FtB_Block X)
{
    o->bytes[k] = (size_t)(X->nrows * X->ncols) * FtB_Type_size(X->type);
    o->part[k] = malloc(o->bytes[k] + 1);
    for (int64_t i = 0; i < X->nrows; i++) {
        const size_t row = (size_t)X->ncols * FtB_Type_size(X->type);
        memcpy((char *)o->part[k] + (size_t)i * row,
               (char *)block_values(X) + (size_t)(i * X->ld) * FtB_Type_size(X->type), row);
    }
}

static void forget(outcome *o)
{
    for (int k = 0; k < PARTS; k++)
        free(o->part[k]);
}

static void same_bits(const outcome *a, const outcome *b, const char *what)
{
    for (int k = 0; k < PARTS; k++)
        if (a->bytes[k] != b->bytes[k] || memcmp(a->part[k], b->part[k], a->bytes[k]) != 0)
            fail_msg("%s: part %d differs", what, k);
}

typedef struct shape {
    int64_t n, rows, in, out; /* rows of x, and those that are multiplied */
    FtB_Type type;
    bool bias, odd; /* odd: some of x is NaN, infinite, -0 */
} shape;

enum { ALONE, KEPT, READ_BEFORE, READ_AFTER, WAYS };

/* relu(x w + b), of which nothing, or x w + b too, is read. */
static outcome relu_of(const shape *s, int way)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0};
    FtB_Tape tape;
    FtB_Parameter x = drawn_parameter("x", s->n, s->in, s->type, 1),
                  w = drawn_parameter("w", s->in, s->out, s->type, 2),
                  b = drawn_parameter("b", 1, s->out, s->type, 3);
    outcome o;
    FtB_Block Y;
    for (int64_t k = 0; s->odd && k < s->n * s->in; k += 3)
        ftb_cast((char *)block_values(x->value) + (size_t)k * FtB_Type_size(s->type), s->type, &odd[k % 4],
                 FTB_FP64, 1);
    assert_ok(FtB_Block_changed(x->value));
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var z = FtB_linear(FtB_parameter(tape, x), w, s->bias ? b : NULL), before = FTB_NO_VAR;
    if (way == KEPT)
        (void)FtB_keep(z);
    if (way == READ_BEFORE)
        before = FtB_scale(z, 0);
    FtB_Var y = FtB_relu(z), sum = y;
    (void)FtB_keep(y);
    if (way == READ_BEFORE || way == READ_AFTER)
        sum = FtB_add(y, way == READ_BEFORE ? before : FtB_scale(z, 0));
    FtB_Block T = drawn_block(s->n, s->out, s->type, 4);
    assert_ok(FtB_backward(FtB_squared_error(sum, FtB_input(tape, T), NULL)));
    assert_ok(FtB_value(&Y, y));
    keep(&o, 0, Y);
    keep(&o, 1, x->gradient);
    keep(&o, 2, w->gradient);
    keep(&o, 3, s->bias ? b->gradient : b->value);
    FtB_Block_free(&Y);
    FtB_Block_free(&T);
    FtB_Tape_free(&tape);
    FtB_Parameter_free(&x);
    FtB_Parameter_free(&w);
    FtB_Parameter_free(&b);
    return o;
}

static void relus(void **state)
{
    (void)state;
    static const shape shapes[] = {
        {1, 1, 1, 1, FTB_FP64, true, false},      {7, 7, 5, 3, FTB_FP32, true, false},
        {700, 700, 9, 17, FTB_FP32, true, false}, {700, 700, 9, 17, FTB_FP64, false, false},
        {60, 60, 4, 6, FTB_FP32, true, true},     {60, 60, 4, 6, FTB_FP64, false, true}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const shape *s = &shapes[k];
        outcome apart = relu_of(s, KEPT);
        const size_t size = FtB_Type_size(s->type);
        for (size_t v = 0; v < apart.bytes[0] / size; v++) {
            const double y = ftb_get_real(apart.part[0], s->type, (int64_t)v);
            assert_true((y >= 0 && !signbit(y)) || (s->odd && isnan(y)));
        }
        for (int way = 0; way < WAYS; way++)
            for (int threads = 1; threads <= 8; threads += way == ALONE ? 1 : 7) {
                char what[80];
                snprintf(what, sizeof what, "shape %zu, way %d, %d threads", k, way, threads);
                assert_ok(FtB_Context_set_threads(NULL, threads));
                outcome together = relu_of(s, way);
                if (way >= READ_BEFORE && s->odd) /* 0 times infinity is added there */
                    assert_memory_equal(apart.part[0], together.part[0], apart.bytes[0]);
                else
                    same_bits(&apart, &together, what);
                forget(&together);
            }
        assert_ok(FtB_Context_set_threads(NULL, 0));
        forget(&apart);
    }
}

/* Rows 0, 1, 2 ... of x: as such, or by turning x around twice. */
static FtB_Var first_of(FtB_Var x, int64_t n, int64_t count, bool plain)
{
    int64_t *rows = malloc(sizeof *rows * (size_t)(n + 1));
    for (int64_t t = 0; t < n; t++)
        rows[t] = plain ? t : n - 1 - t;
    FtB_Var first = plain ? FtB_rows(x, rows, count) : FtB_rows(FtB_rows(x, rows, n), rows, count);
    free(rows);
    return first;
}

/* The same of its rows alone, added to x's other use; compared, or by finite differences. */
static outcome rows_of(const shape *s, bool plain, int twice, bool differences)
{
    FtB_Tape tape;
    FtB_Parameter x = drawn_parameter("x", s->n, s->in, s->type, 1),
                  w = drawn_parameter("w", s->in, s->out, s->type, 2),
                  b = drawn_parameter("b", 1, s->out, s->type, 3);
    const FtB_Parameter all[] = {x, w, b};
    outcome o = {{NULL}, {0}};
    FtB_Block Y, T = drawn_block(s->rows, s->out, s->type, 4), S = drawn_block(s->n, s->in, s->type, 5);
    assert_ok(FtB_Tape_new(&tape, 1));
    FtB_Var v = FtB_scale(FtB_parameter(tape, x), 2), other = twice == 1 ? FtB_tanh(v) : v,
            y = FtB_linear(first_of(v, s->n, s->rows, plain), w, b);
    if (twice == 2) /* whose gradient comes first */
        other = FtB_tanh(v);
    (void)FtB_keep(y);
    FtB_Var loss = FtB_squared_error(y, FtB_input(tape, T), NULL);
    if (twice)
        loss = FtB_add(loss, FtB_squared_error(other, FtB_input(tape, S), NULL));
    if (differences) {
        assert_gradients(loss, all, 3, 1e-6);
    } else {
        assert_ok(FtB_backward(loss));
        assert_ok(FtB_value(&Y, y));
        assert_int_equal(Y->nrows, s->rows);
        keep(&o, 0, Y);
        for (int k = 0; k < 3; k++)
            keep(&o, k + 1, all[k]->gradient);
        FtB_Block_free(&Y);
    }
    FtB_Block_free(&T);
    FtB_Block_free(&S);
    FtB_Tape_free(&tape);
    FtB_Parameter_free(&x);
    FtB_Parameter_free(&w);
    FtB_Parameter_free(&b);
    return o;
}

static void first_rows(void **state)
{
    (void)state;
    static const shape shapes[] = {{1, 1, 2, 3, FTB_FP64, true, false},
                                   {9, 1, 4, 3, FTB_FP64, true, false},
                                   {9, 8, 4, 3, FTB_FP64, true, false},
                                   {9, 9, 4, 3, FTB_FP64, true, false},
                                   {600, 400, 7, 5, FTB_FP64, true, false}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int twice = 0; twice < 3; twice++) {
            const shape *s = &shapes[k];
            outcome apart = rows_of(s, false, twice, false), plain = rows_of(s, true, twice, false);
            assert_memory_equal(apart.part[0], plain.part[0], apart.bytes[0]);
            for (int g = 1; g < PARTS; g++) {
                assert_int_equal(apart.bytes[g], plain.bytes[g]);
                for (size_t v = 0; v < apart.bytes[g] / sizeof(double); v++) {
                    const double a = ((double *)apart.part[g])[v], b = ((double *)plain.part[g])[v];
                    assert_true(fabs(a - b) <= 1e-12 * fmax(1, fabs(a)));
                }
            }
            forget(&apart);
            forget(&plain);
            if (s->n < 100)
                (void)rows_of(s, true, twice, true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(relus), cmocka_unit_test(first_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
