/* The verbs `update` and `sum_squares` on a GPU. What a step makes is the host's, to the bit; a sum of
 * squares is added in another order. */
#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/update_steps.h"

#include <stdio.h>

#define SOURCE "gpu/kernels/update.cu"

_Static_assert(offsetof(ftb_update, rate) == 0 && offsetof(ftb_update_numbers, rate) == 0 &&
                   offsetof(ftb_update, scale) == offsetof(ftb_update_numbers, scale) &&
                   offsetof(ftb_update, eps) == offsetof(ftb_update_numbers, eps) &&
                   offsetof(ftb_update, nesterov) == sizeof(ftb_update_numbers),
               "the kernels' numbers are the first of the product's");

static const char *rule_of(const ftb_update_product *p)
{
    return p->adam ? "ADAM" : !p->first ? "SGD" : p->how.nesterov ? "NESTEROV" : "MOMENTUM";
}

GrB_Info ftb_gpu_update(const ftb_update_product *p)
{
    const int64_t size = (int64_t)FtB_Type_size(p->type);
    const bool vectors = ftb_gpu_vectors(p->values, 0, size) && ftb_gpu_vectors(p->gradient, 0, size) &&
                         ftb_gpu_vectors(p->first, 0, size) && ftb_gpu_vectors(p->second, 0, size);
    const int values = vectors ? (int)(16 / size) : 1;
    ftb_update_arguments a = {.count = p->count,
                              .gradient = p->gradient,
                              .values = p->values,
                              .first = p->first,
                              .second = p->second,
                              .how_at = (const ftb_update_numbers *)p->how_at};
    memcpy(&a.how, &p->how, sizeof a.how);
    char name[64];
    const ftb_gpu_grid grid = ftb_gpu_items(&a.items, 1, (p->count + values - 1) / values);
    snprintf(name, sizeof name, "update_%s_%s_%d", ftb_gpu_real(p->type), rule_of(p), values);
    return ftb_gpu_launch(ftb_gpu_of(ftb_device(p->ctx)), p->ctx, SOURCE, name, grid, (void *[]){&a});
}

GrB_Info ftb_gpu_sum_squares(const ftb_sum_squares_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    ftb_gpu_columns c;
    char name[64];
    GrB_Info info = ftb_gpu_columns_new(&c, d, p->ctx, p->count, 1, 1);
    if (info != GrB_SUCCESS)
        return info;
    ftb_sum_squares_arguments a = {.parts = c.parts, .gradient = p->gradient, .clip = p->clip, .sum = p->sum};
    snprintf(name, sizeof name, "sum_squares_%s", ftb_gpu_real(p->type));
    info = ftb_gpu_launch(d, p->ctx, SOURCE, name, c.first, (void *[]){&a});
    if (info == GrB_SUCCESS)
        info = ftb_gpu_launch(d, p->ctx, SOURCE, "sum_squares_join", c.second, (void *[]){&a});
    ftb_gpu_columns_delete(&c, d);
    return info;
}
