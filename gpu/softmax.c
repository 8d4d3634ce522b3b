/* The verb `softmax` on a GPU: by row, or by what rows a list names (a column's entries), in FP32
 * (kernels/softmax.cu). A value's bits depend on its row, the heads and the pattern's mean row. */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/kernels/softmax_rows.h"
#include "gpu/launch.h"
#include "gpu/pieces.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/softmax.cu"

bool ftb_gpu_softmax_fits(const ftb_softmax_product *s)
{
    if (s->type != FTB_FP32 || s->p->nrows > INT_MAX || s->heads > INT_MAX)
        return false;
    return ftb_gpu_load(ftb_gpu_of(ftb_device(s->ctx)), SOURCE) == GrB_SUCCESS;
}

static GrB_Info launch(ftb_gpu_device *d, ftb_softmax_arguments *a, const ftb_softmax_product *s,
                       const ftb_gpu_pieces *p)
{
    const char *const what = s->gradient ? "GRADIENT" : "FORWARD";
    /* Eight lanes keep 32 values: more would be read again. */
    const int lanes = s->p->nvals * s->heads > 32 * s->p->nrows ? 32 : 8, groups = FTB_SOFTMAX_BLOCK / lanes;
    char name[40], cut[40];
    snprintf(name, sizeof name, "softmax_f32_%s_%d", what, lanes);
    snprintf(cut, sizeof cut, "softmax_f32_%s_cut", what);
    GrB_Info info = ftb_gpu_launch(
        d, s->ctx, SOURCE, name,
        (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups, .y = 1, .threads = FTB_SOFTMAX_BLOCK},
        (void *[]){a});
    if (info != GrB_SUCCESS)
        return info;
    info = ftb_gpu_launch(d, s->ctx, SOURCE, cut,
                          (ftb_gpu_grid){.x = p->ncuts, .y = 1, .threads = FTB_SOFTMAX_BLOCK},
                          (void *[]){a, (void *)&p->cuts});
    return ftb_gpu_half_done(info, s->out == s->in || s->out == s->d);
}

GrB_Info ftb_gpu_softmax(const ftb_softmax_product *s)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    const int64_t *rowptr = NULL;
    const long long *from = NULL;
    const void *colidx;
    ftb_gpu_pieces p;
    GrB_Info info = ftb_gpu_pieces_ask(&p, s->p, d);
    if (info == GrB_SUCCESS && p.ncuts > 0)
        info = ftb_pattern_ask_at(s->p, &d->row, &rowptr, &colidx);
    if (info == GrB_SUCCESS && s->from)
        info = ftb_gpu_from_ask(&from, s->p, s->from, d);
    if (info != GrB_SUCCESS)
        return info;
    ftb_softmax_arguments a = {.npieces = p.npieces - (s->lse ? 0 : p.nempty),
                               .pieces = p.pieces,
                               .rowptr = (const long long *)rowptr,
                               .from = from,
                               .in = s->in,
                               .d = s->d,
                               .out = s->out,
                               .lse = s->lse,
                               .heads = (int)s->heads,
                               .drop = ftb_gpu_edge_dropout(s->dropout, s->seed, s->seed_at)};
    return launch(d, &a, s, &p);
}
