/* Verbs of networks as their products' comments say them. */
#include "oracle/ref_nn_verbs.h"

#include <Random123/philox.h>
#include <math.h>

/* x[k] = value, or += where `add`. */
static void give(void *x, FtB_Type type, int64_t k, double value, bool add)
{
    ref_put(x, type, k, value + (add ? ref_get(x, type, k) : 0));
}

GrB_Info ref_copy(const ftb_copy_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = 0; j < p->ncols; j++)
            give(p->y, p->type, i * p->ldy + j, p->x ? ref_get(p->x, p->type, i * p->ldx + j) : p->value,
                 p->add && p->x);
    return GrB_SUCCESS;
}

/* The 16 bits of value number k. */
static uint32_t draw(uint64_t seed, int64_t k)
{
    const uint64_t counter = (uint64_t)(k / 128 * 16 + k % 16);
    philox4x32_ctr_t at = {{(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const uint32_t word = philox4x32(at, key).v[k / 16 % 4];
    return k / 64 % 2 ? word >> 16 : word & 0xffff;
}

GrB_Info ref_dropout(const ftb_dropout_product *p)
{
    const double threshold = rint(p->probability * 65536);
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t j = 0; j < p->ncols; j++) {
            const bool kept = draw(p->seed, i * p->ncols + j) >= threshold;
            const double x = ref_get(p->x, p->type, i * p->ldx + j);
            give(p->y, p->type, i * p->ldy + j, kept ? x / (1 - threshold / 65536) : 0 * x, p->add);
        }
    return GrB_SUCCESS;
}

GrB_Info ref_head_dots(const ftb_head_dots_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t h = 0; h < p->heads; h++) {
            double sum = 0;
            for (int64_t k = 0; k < p->width; k++)
                sum += ref_get(p->x, p->type, i * p->ldx + h * p->width + k) *
                       ref_get(p->a, p->type, h * p->width + k);
            ref_put(p->y, p->type, i * p->ldy + h, sum);
        }
    return GrB_SUCCESS;
}

GrB_Info ref_head_dots_grad(const ftb_head_dots_product *p)
{
    const int64_t columns = p->heads * p->width;
    for (int64_t k = 0; p->da && k < columns; k++) {
        double sum = 0;
        for (int64_t i = 0; i < p->nrows; i++)
            sum +=
                ref_get(p->dy, p->type, i * p->lddy + k / p->width) * ref_get(p->x, p->type, i * p->ldx + k);
        give(p->da, p->type, k, sum, p->add_da);
    }
    for (int64_t i = 0; p->dx && i < p->nrows; i++)
        for (int64_t k = 0; k < columns; k++)
            give(p->dx, p->type, i * p->lddx + k,
                 ref_get(p->dy, p->type, i * p->lddy + k / p->width) * ref_get(p->a, p->type, k), p->add_dx);
    return GrB_SUCCESS;
}

GrB_Info ref_mean_heads(const ftb_mean_heads_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t f = 0; f < p->width; f++) {
            double sum = 0;
            for (int64_t h = 0; h < p->heads; h++)
                sum += ref_get(p->x, p->type, i * p->ldx + h * p->width + f);
            ref_put(p->y, p->type, i * p->ldy + f, sum / (double)p->heads);
        }
    return GrB_SUCCESS;
}

GrB_Info ref_mean_heads_grad(const ftb_mean_heads_product *p)
{
    for (int64_t i = 0; i < p->nrows; i++)
        for (int64_t k = 0; k < p->heads * p->width; k++)
            give(p->y, p->type, i * p->ldy + k,
                 ref_get(p->x, p->type, i * p->ldx + k % p->width) / (double)p->heads, p->add);
    return GrB_SUCCESS;
}
