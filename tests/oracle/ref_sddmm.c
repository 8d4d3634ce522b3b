#include "support/check.h"

#include "oracle/ref_sddmm.h"

#include "core/core.h"

#include <stdlib.h>

static int64_t dot(double *z, const ref_edge *e)
{
    z[0] = 0;
    for (int64_t f = 0; f < e->width; f++)
        z[0] += e->src[f] * e->dst[f];
    return 1;
}
static int64_t half(double *z, const ref_edge *e)
{
    dot(z, e);
    z[0] *= 0.5;
    return 1;
}
static int64_t moved(double *z, const ref_edge *e)
{
    z[0] = 0;
    for (int64_t f = 0; f < e->width; f++)
        z[0] += (e->src[f] + 1) * (2 * e->dst[f]);
    return 1;
}
#define EACH(name, expression)                                                                               \
    static int64_t name(double *z, const ref_edge *e)                                                        \
    {                                                                                                        \
        for (int64_t f = 0; f < e->width; f++) {                                                             \
            double src = e->src[f], dst = e->dst[f];                                                         \
            z[f] = (expression);                                                                             \
        }                                                                                                    \
        return e->width;                                                                                     \
    }
EACH(add, src + dst)
EACH(subtract, dst - src)
EACH(multiply, src *dst)
EACH(left, dst + 0 * src)
EACH(weigh, e->edge *src + 0 * dst)
EACH(leaky, src + dst > 0 ? src + dst : 0.5 * (src + dst))

static const ref_score scores[] = {
    {"dot(src, dst)", dot, false, false, false},
    {"dot(dst, src) * 0.5", half, true, false, false},
    {"0.5 * dot(src, dst)", half, true, false, false},
    {"dot(src, dst) / 2", half, true, false, false},
    {"sum(src * dst)", dot, false, false, false},
    {"dot(src + 1, 2 * dst)", moved, false, false, false},
    {"a + b", add, false, false, true},
    {"dst - src", subtract, false, false, true},
    {"src * dst", multiply, false, false, true},
    {"dst", left, false, false, true},
    {"edge * src", weigh, false, true, true},
    {"leaky_relu(src + dst, 0.5)", leaky, true, false, true},
};

int ref_scores(void) { return (int)(sizeof scores / sizeof *scores); }
const ref_score *ref_score_of(int which) { return &scores[which]; }

double *ref_block(FtB_Block X)
{
    double *x = malloc(sizeof *x * (size_t)(X->nrows * X->ncols + 1));
    for (int64_t i = 0; i < X->nrows; i++)
        for (int64_t f = 0; f < X->ncols; f++)
            x[i * X->ncols + f] =
                ref_double(ftb_type_float(X->type)
                               ? ref_real(ftb_get_real(block_values(X), X->type, i * X->ld + f))
                               : ref_integer(ftb_get_integer(block_values(X), X->type, i * X->ld + f)));
    return x;
}

ref_matrix *ref_sddmm(const ref_score *s, FtB_Block Y, FtB_Block X, const ref_matrix *M,
                      const ref_flags *flags)
{
    int64_t heads = ftb_max(Y->heads, X->heads), width = X->ncols / X->heads;
    bool one = strcmp(s->text, "dst") == 0; /* reads one of the blocks only, as do messages with edges */
    bool real = s->real || (!one && ftb_type_float(X->type)) || (!s->edge && ftb_type_float(Y->type)) ||
                (s->edge && ftb_type_float(M->type) && M->width > 0);
    double *x = ref_block(X), *y = ref_block(Y), *z = malloc(sizeof *z * (size_t)(width + 1));
    int64_t values = s->wide ? width : 1;
    ref_matrix *T = ref_new(FTB_FP64, Y->nrows, X->nrows, heads * values);
    for (int64_t i = 0; i < Y->nrows; i++)
        for (int64_t j = 0; j < X->nrows; j++) {
            if (!ref_mask(M, flags, i, j))
                continue;
            *ref_at(T, i, j) = true;
            for (int64_t h = 0; h < heads; h++) {
                ref_edge e = {.src = x + j * X->ncols + (X->heads > 1 ? h * width : 0),
                              .dst = y + i * Y->ncols + (Y->heads > 1 ? h * width : 0),
                              .edge = M->width > 0 ? ref_double(ref_value(M, i, j)[0]) : 1,
                              .width = width};
                s->f(z, &e);
                for (int64_t f = 0; f < values; f++)
                    ref_value(T, i, j)[h * values + f] = real ? ref_real(z[f]) : ref_integer((int64_t)z[f]);
            }
        }
    free(x);
    free(y);
    free(z);
    return T;
}
