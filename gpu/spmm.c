/* The verb `spmm` on a GPU: the direct kernels (kernels/spmm_direct.cuh), FP32 from sources of FP32 and 16
 * bits. Sums are in the order of the entries, but for rows that are cut (pieces.h). */
#include "gpu/entries.h"
#include "gpu/gpu_verbs.h"
#include "gpu/launch.h"
#include "gpu/pieces.h"
#include "plan/gpu_spmm_plan.h"

#include <limits.h>
#include <stdio.h>

#define SOURCE "gpu/kernels/spmm_direct.cu" /* and what joins pieces, however sources are stored */
#define SOURCE_16 "gpu/kernels/spmm_direct_16.cu"

static const char *source_of(const ftb_spmm_product *s) { return s->stored == FTB_FP32 ? SOURCE : SOURCE_16; }

static const char *stored_of(const ftb_spmm_product *s)
{
    return s->stored == FTB_FP32 ? "f32" : s->stored == FTB_FP16 ? "f16" : "bf16";
}

static const char *edge_of(const ftb_spmm_product *s)
{
    return s->form == FTB_FORM_COPY ? "COPY" : s->yheads == 1 ? "EDGE" : "HEADS";
}

/* The plan that comes with a product is the host's, and has no say here. */
bool ftb_gpu_spmm_fits(const ftb_spmm_product *s)
{
    const bool copy = s->form == FTB_FORM_COPY;
    const bool stored = s->stored == FTB_FP32 || s->stored == FTB_FP16 || s->stored == FTB_BF16;
    if (s->kind.type != FTB_FP32 || !stored || s->rows || s->p->wide || s->p->nrows > INT_MAX ||
        s->heads * s->width > INT_MAX)
        return false;
    if (!copy && (s->form != FTB_FORM_MUL || s->ystored != FTB_FP32 || s->ywidth != 1))
        return false;
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    return ftb_gpu_load(d, SOURCE) == GrB_SUCCESS && ftb_gpu_load(d, source_of(s)) == GrB_SUCCESS;
}

static bool aligned(const void *at, int64_t ld, FtB_Type type)
{
    return (uintptr_t)at % (4 * FtB_Type_size(type)) == 0 && ld % 4 == 0;
}

/* For the GPU that a description has, if there is one. */
static ftb_gpu_spmm_plan plan_of(const ftb_gpu_device *d, const ftb_spmm_product *s)
{
    const int64_t value = sizeof(float);
    const ftb_spmm_facts facts = {.nrows = s->p->nrows,
                                  .ncols = s->p->ncols,
                                  .nvals = s->p->nvals,
                                  .features = s->heads * s->width,
                                  .value_bytes = value,
                                  .stored_bytes = (int64_t)FtB_Type_size(s->stored),
                                  .edge_bytes = s->form == FTB_FORM_COPY ? 0 : s->yheads * value};
    const bool vectors =
        s->width % 4 == 0 && aligned(s->x, s->ldx, s->stored) && aligned(s->out, s->ldo, FTB_FP32);
    const ftb_gpu_facts *described = &ftb_machine_here()->gpu;
    ftb_gpu_spmm_plan plan;
    ftb_rule_gpu_spmm(&plan, &facts, vectors, described->multiprocessors ? described : &d->facts);
    return plan;
}

static GrB_Info launch(ftb_gpu_device *d, ftb_spmm_direct_arguments *a, const ftb_spmm_product *s,
                       const ftb_gpu_pieces *p)
{
    const ftb_gpu_spmm_plan of = plan_of(d, s);
    const int groups = FTB_SPMM_DIRECT_BLOCK / of.lanes, tile = of.lanes * of.values;
    char name[64], merge[64];
    const char *const reduce = s->kind.best ? "BEST" : "PLUS";
    snprintf(name, sizeof name, "spmm_direct_%s_%s_%s_%dx%d", stored_of(s), reduce, edge_of(s), of.lanes,
             of.values);
    snprintf(merge, sizeof merge, "spmm_direct_f32_%s_merge", reduce);
    GrB_Info info = ftb_gpu_launch(d, source_of(s), name,
                                   (ftb_gpu_grid){.x = (a->npieces + groups - 1) / groups,
                                                  .y = (a->d + tile - 1) / tile,
                                                  .threads = FTB_SPMM_DIRECT_BLOCK},
                                   (void *[]){a});
    if (info == GrB_SUCCESS)
        info = ftb_gpu_half_done(
            ftb_gpu_join_cuts(d, p, SOURCE, merge,
                              (ftb_gpu_grid){.x = (a->d + FTB_SPMM_DIRECT_BLOCK - 1) / FTB_SPMM_DIRECT_BLOCK,
                                             .threads = FTB_SPMM_DIRECT_BLOCK},
                              a),
            s->add);
    return info;
}

GrB_Info ftb_gpu_spmm(const ftb_spmm_product *s, const ftb_spmm_plan *plan)
{
    ftb_gpu_device *d = ftb_gpu_of(ftb_device(s->ctx));
    const int64_t features = s->heads * s->width;
    const int *colidx;
    void *partial = NULL;
    ftb_gpu_pieces p;
    (void)plan;
    GrB_Info info = ftb_gpu_rows_ask(&p, &colidx, s->p, d);
    const int64_t bytes = p.nslots * features * (int64_t)sizeof(float);
    const long long *from = NULL;
    if (info == GrB_SUCCESS && s->at)
        info = ftb_gpu_from_ask(&from, s->p, s->at, d);
    if (info == GrB_SUCCESS && bytes > 0)
        info = d->row.memory->alloc(&d->row, s->ctx, &partial, bytes);
    if (info != GrB_SUCCESS)
        return info;
    ftb_spmm_direct_arguments a = {.npieces = p.npieces - (s->add ? p.nempty : 0),
                                   .pieces = p.pieces,
                                   .colidx = colidx,
                                   .x = s->x,
                                   .w = s->y,
                                   .from = from,
                                   .y = s->out,
                                   .partial = partial,
                                   .ldx = s->ldx,
                                   .ldw = s->ldy,
                                   .ldy = s->ldo,
                                   .ldp = features,
                                   .d = (int)features,
                                   .width = (int)s->width,
                                   .mean = s->mean,
                                   .least = s->least,
                                   .add = s->add};
    info = launch(d, &a, s, &p);
    if (partial)
        d->row.memory->free(&d->row, partial, bytes);
    return info;
}
