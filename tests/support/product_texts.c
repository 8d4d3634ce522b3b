/* Texts with x @ W and [...] on two devices (product_texts.h). */
#include "support/product_texts.h"

#include "support/check.h"
#include "support/fake_gpu.h"

#include <math.h>

enum { COLS = 23, HUB = 1100, MANY = 1200 };

FtB_Block text_block(rng *r, FtB_Type type, int64_t nrows, int64_t heads, int64_t width)
{
    FtB_Block whole, part, X;
    const int64_t ncols = heads * width + 3; /* wider than what is used of it */
    assert_ok(FtB_Block_new(&whole, nrows, ncols, type));
    for (int64_t k = 0; k < nrows * ncols; k++) {
        const double x =
            ftb_type_float(type) ? 2 * rng_unit(r) - 1 : (double)rng_below(r, 5) - (type == FTB_BOOL ? 2 : 1);
        ftb_cast((char *)ftb_block_data(whole) + (size_t)k * FtB_Type_size(type), type, &x, FTB_FP64, 1);
    }
    assert_ok(FtB_Block_changed(whole));
    assert_ok(FtB_Block_columns(&part, whole, 1, heads * width));
    assert_ok(FtB_Block_heads(&X, part, heads));
    FtB_Block_free(&part);
    FtB_Block_free(&whole);
    return X;
}

text_operands text_operands_new(rng *r, const text *t)
{
    const bool cut = t->flags & CUT;
    const int64_t cols = cut ? MANY : COLS;
    text_operands o = {.t = t, .A = fake_gpu_matrix(r, ROWS, cols, 1, cut ? HUB : 9)};
    FtB_Binding bindings[3];
    size_t count = 0;
    o.src = text_block(r, t->type, cols, t->heads, t->width);
    o.dst = text_block(r, t->type, ROWS, t->heads, t->width);
    o.near = text_block(r, t->type, ROWS, t->heads, t->width);
    o.W = text_block(r, t->wtype, ftb_max(1, t->w[0]), 1, ftb_max(1, t->w[1]));
    o.V = text_block(r, t->wtype, ftb_max(1, t->v[0]), 1, ftb_max(1, t->v[1]));
    FtB_Semiring plain;
    assert_ok(FtB_Semiring_new(&plain, t->text));
    if (strstr(t->text, "near"))
        bindings[count++] = (FtB_Binding){"near", FTB_ARG(o.near)};
    if (t->w[0])
        bindings[count++] = (FtB_Binding){"W", FTB_ARG(o.W)};
    if (t->v[0])
        bindings[count++] = (FtB_Binding){"V", FTB_ARG(o.V)};
    assert_ok((FtB_Semiring_bind)(&o.s, plain, bindings, count));
    FtB_Semiring_free(&plain);
    return o;
}

void text_operands_free(text_operands *o)
{
    FtB_Block *const blocks[] = {&o->src, &o->dst, &o->near, &o->W, &o->V};
    for (size_t n = 0; n < sizeof blocks / sizeof *blocks; n++)
        FtB_Block_free(blocks[n]);
    FtB_Semiring_free(&o->s);
    FtB_Matrix_free(&o->A);
}

/* ---- products */

text_made text_multiply(const text_operands *o, bool adds)
{
    const text *t = o->t;
    const int64_t d = t->heads * t->out;
    const double start = 3;
    text_made m = {.C = NULL};
    if (t->flags & ON_EDGES) {
        assert_ok(FtB_Matrix_like(&m.S, o->A, d, t->result));
        assert_ok(FtB_mxm(m.S, o->A, NULL, o->s, o->dst, o->src, FTB_DESC_RST1));
        assert_ok(ftb_buffer_ask(m.S->values, FTB_READ));
        return m;
    }
    assert_ok(FtB_Block_new(&m.C, ROWS, d, t->result));
    for (int64_t k = 0; k < ROWS * d; k++)
        ftb_cast((char *)ftb_block_data(m.C) + (size_t)k * FtB_Type_size(t->result), t->result, &start,
                 FTB_FP64, 1);
    assert_ok(FtB_Block_changed(m.C));
    if (t->flags & WON) {
        assert_ok(FtB_Block_new(&m.E, ROWS, d, FTB_INT64));
        assert_ok(FtB_mxm_arg(m.C, m.E, NULL, o->s, o->A, o->src, NULL));
        assert_ok(ftb_buffer_ask(m.E->owner, FTB_READ));
    } else {
        const FtB_Arg accum = adds ? FTB_ARG("x + y") : FtB_Arg_none();
        assert_ok(FtB_mxm(m.C, NULL, accum, o->s, o->A, o->src, NULL));
    }
    assert_ok(ftb_buffer_ask(m.C->owner, FTB_READ));
    return m;
}

void text_made_free(text_made *m)
{
    FtB_Block_free(&m->C);
    FtB_Block_free(&m->E);
    FtB_Matrix_free(&m->S);
}

static void assert_same(const text *t, const void *here, const void *there, int64_t count)
{
    const bool close = t->flags & (CUT | NEAR) && ftb_type_float(t->result);
    for (int64_t k = 0; k < count; k++) {
        const double x = ftb_get_real(here, t->result, k), y = ftb_get_real(there, t->result, k);
        const size_t size = FtB_Type_size(t->result), at = (size_t)k * size;
        if (close ? !(fabs(x - y) <= 1e-4 * (1 + fabs(x)))
                  : memcmp((const char *)here + at, (const char *)there + at, size) != 0)
            fail_msg("%s: value %d is %.9g, on the host %.9g", t->text, (int)k, y, x);
    }
}

/* On the host and on the device, which moves nothing home. */
static void check(rng *r, const text *t, bool adds)
{
    text_operands o = text_operands_new(r, t);
    text_made m[2];
    for (int on = 0; on < 2; on++) {
        int64_t home[2];
        assert_ok(FtB_Context_set_device(NULL, on ? "gpu" : "cpu"));
        assert_ok(FtB_Context_moved(NULL, &home[0], NULL));
        const int before = fake_gpu_launches();
        m[on] = text_multiply(&o, adds);
        assert_ok(FtB_Context_moved(NULL, &home[1], NULL));
        if (on && fake_gpu_emulates() && (fake_gpu_launches() > before) == ((t->flags & HOST) != 0))
            fail_msg("%s: %d launches", t->text, fake_gpu_launches() - before);
    }
    if (t->flags & ON_EDGES)
        assert_same(t, ftb_values(m[0].S), ftb_values(m[1].S), o.A->pattern->nvals * t->heads * t->out);
    else
        assert_same(t, ftb_block_data(m[0].C), ftb_block_data(m[1].C), ROWS * t->heads * t->out);
    if (t->flags & WON)
        assert_memory_equal(ftb_block_data(m[0].E), ftb_block_data(m[1].E),
                            (size_t)(ROWS * t->heads * t->out) * sizeof(int64_t));
    text_made_free(&m[0]);
    text_made_free(&m[1]);
    text_operands_free(&o);
}

void text_check(const text *list, size_t count)
{
    rng r = rng_new();
    for (size_t n = 0; n < count; n++)
        check(&r, &list[n], n % 3 == 1 && strncmp(list[n].text, "plus", 4) == 0);
}
