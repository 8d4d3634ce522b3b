/* The verb `outer` on a GPU: of FP32 and FP64 (kernels/outer.cu). */
#include "gpu/columns.h"
#include "gpu/gpu_verbs.h"
#include "gpu/items.h"
#include "gpu/kernels/outer_sums.h"

#include <stdio.h>

#define SOURCE "gpu/kernels/outer.cu"

static bool is_real(FtB_Type type) { return type == FTB_FP32 || type == FTB_FP64; }

bool ftb_gpu_outer_fits(const ftb_outer_product *p)
{
    int64_t cells;
    return is_real(p->rtype) && (!p->ltype || is_real(p->ltype)) &&
           !__builtin_mul_overflow(p->a, p->b, &cells);
}

GrB_Info ftb_gpu_outer(const ftb_outer_product *p)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(p->ctx));
    ftb_gpu_columns c;
    char name[40];
    snprintf(name, sizeof name, "outer_%s_%s", p->l ? ftb_gpu_real(p->ltype) : "none",
             ftb_gpu_real(p->rtype));
    GrB_Info info = ftb_gpu_columns_new(&c, d, p->ctx, p->items, p->a * p->b, 1);
    if (info != GrB_SUCCESS)
        return info;
    ftb_outer_arguments a = {.parts = c.parts, .l = p->l, .r = p->r, .sum = p->sum, .b = p->b, .add = p->add};
    info = ftb_gpu_launch(d, p->ctx, SOURCE, name, c.first, (void *[]){&a});
    if (info == GrB_SUCCESS)
        info = ftb_gpu_launch(d, p->ctx, SOURCE, "outer_join", c.second, (void *[]){&a});
    ftb_gpu_columns_delete(&c, d);
    return info;
}
