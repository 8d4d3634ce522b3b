/* Calls that are made twice (twice.h). */
#include "support/check.h"

#include "support/twice.h"

float *twice_host(FtB_Block X)
{
    assert_ok(ftb_buffer_ask(X->owner, FTB_READ));
    return ftb_block_data(X);
}

FtB_Block twice_block(int64_t nrows, int64_t heads, int64_t width)
{
    FtB_Block whole, X;
    assert_ok(FtB_Block_new(&whole, nrows, heads * width, FTB_FP32));
    assert_ok(FtB_Block_heads(&X, whole, heads));
    FtB_Block_free(&whole);
    return X;
}

int twice_add(operands *o, rng *r, int64_t nrows, int64_t heads, int64_t width)
{
    const int n = o->count++;
    const int64_t count = nrows * heads * width;
    assert_true(n < MOST);
    o->X[0][n] = twice_block(nrows, heads, width);
    o->X[1][n] = twice_block(nrows, heads, width);
    for (int64_t t = 0; t < count; t++)
        twice_host(o->X[0][n])[t] = (float)(rng_unit(r) * 2 - 1);
    memcpy(twice_host(o->X[1][n]), twice_host(o->X[0][n]), (size_t)count * sizeof(float));
    return n;
}

bool twice_at_home;

static void send_all(operands *o)
{
    for (int n = 0; n < o->count; n++) {
        FtB_Block *const X = &o->X[1][n], old = *X;
        if (!twice_at_home) {
            pretend_send(old->owner);
            continue;
        }
        *X = twice_block(old->nrows, old->heads, old->ncols / old->heads);
        memcpy(twice_host(*X), twice_host(old), (size_t)(old->nrows * old->ncols) * sizeof(float));
        FtB_Block_free(&old);
    }
}

void twice_assert_same(const operands *o, const char *what)
{
    for (int n = 0; n < o->count; n++) {
        const FtB_Block X = o->X[0][n];
        if (memcmp(twice_host(X), twice_host(o->X[1][n]), (size_t)(X->nrows * X->ncols) * sizeof(float)) != 0)
            fail_msg("%s: operand %d differs from the host's", what, n);
    }
}

void twice_free(operands *o)
{
    for (int n = 0; n < o->count; n++) {
        FtB_Block_free(&o->X[0][n]);
        FtB_Block_free(&o->X[1][n]);
    }
    FtB_Matrix_free(&o->A);
}

void twice_run(operands *o, GrB_Info (*call)(const operands *o, const FtB_Block *X), int verbs,
               const char *what)
{
    int64_t home[2], away[2];
    send_all(o);
    assert_ok(FtB_Context_set_device(NULL, "cpu"));
    assert_ok(call(o, o->X[0]));
    assert_ok(FtB_Context_set_device(NULL, "pretend"));
    const int64_t ran = pretend_products();
    pretend_moved(&home[0], &away[0]);
    assert_ok(call(o, o->X[1]));
    pretend_moved(&home[1], &away[1]);
    const bool moved = home[0] != home[1] || away[0] != away[1];
    if ((verbs >= 0 && (pretend_products() - ran != verbs || (verbs && moved))) ||
        (verbs == STILL && (pretend_products() == ran || moved)))
        fail_msg("%s: %d verbs, expected %d; moved %lld home, %lld there", what,
                 (int)(pretend_products() - ran), verbs, (long long)(home[1] - home[0]),
                 (long long)(away[1] - away[0]));
    twice_assert_same(o, what);
}
