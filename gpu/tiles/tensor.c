/* Launches the kernels of tensor cores (kernels/spmm_tensor.cuh), which walk the hybrid form (spmm_form.h).
 */
#include "gpu/tiles/tensor.h"

#include "gpu/kernels/spmm_tensor.h"
#include "gpu/launch.h"

#include <stdio.h>

#define SOURCE "gpu/kernels/spmm_tensor.cu"
#define SOURCE_16 "gpu/kernels/spmm_tensor_16.cu"
enum { AMPERE = 8 }; /* the first generation that has them for all of these types */

static const char *source_of(const ftb_spmm_product *s) { return s->stored == FTB_FP32 ? SOURCE : SOURCE_16; }

/* 16 bits that are stored are the operands, or those of TF32; no others. */
static bool has_kernel(const ftb_spmm_product *s, FtB_Precision precision)
{
    const bool others = (s->stored == FTB_FP16 && precision == FTB_PRECISION_BF16) ||
                        (s->stored == FTB_BF16 && precision == FTB_PRECISION_FP16);
    const bool heads = s->form != FTB_FORM_COPY && s->yheads > 1;
    return !others && s->kind.type == FTB_FP32 && !s->kind.best &&
           !(heads && s->width % FTB_SPMM_TENSOR_PART != 0);
}

FtB_Precision ftb_gpu_tensor_precision(ftb_gpu_device *d, const ftb_spmm_product *s)
{
    const FtB_Precision precision = ftb_precision(s->ctx);
    const bool well = precision != FTB_PRECISION_FP32 && has_kernel(s, precision) &&
                      d->gpu->major >= AMPERE && ftb_gpu_load(d, source_of(s)) == GrB_SUCCESS;
    return well ? precision : FTB_PRECISION_FP32;
}

static bool aligned(const void *at, int64_t ld, size_t value)
{
    return (uintptr_t)at % (4 * value) == 0 && ld % 4 == 0;
}

GrB_Info ftb_gpu_launch_tensor(ftb_gpu_device *d, const ftb_spmm_direct_arguments *a,
                               const ftb_spmm_product *s, const ftb_gpu_hybrid *h,
                               const ftb_gpu_spmm_plan *plan)
{
    static const char *const operands[] = {
        [FTB_PRECISION_TF32] = "tf32", [FTB_PRECISION_FP16] = "f16", [FTB_PRECISION_BF16] = "bf16"};
    const FtB_Precision precision = ftb_precision(s->ctx);
    const size_t stored = FtB_Type_size(s->stored);
    const bool vectors = a->d % 4 == 0 && aligned(a->x, a->ldx, stored) &&
                         aligned(a->start, a->ldstart, sizeof(float)) &&
                         aligned(a->partial, a->ldp, sizeof(float));
    ftb_spmm_tensor_arguments t = {
        .hybrid = ftb_gpu_hybrid_arguments(a, h, plan->tile), .dense = plan->dense, .vectors = vectors};
    char name[64];
    snprintf(name, sizeof name, "spmm_tensor_%s_%s_PLUS_%s",
             s->stored == FTB_FP32   ? "f32"
             : s->stored == FTB_FP16 ? "f16"
                                     : "bf16",
             operands[precision],
             !a->w            ? "COPY"
             : s->yheads == 1 ? "EDGE"
                              : "HEADS");
    return ftb_gpu_launch(
        d, s->ctx, source_of(s), name,
        (ftb_gpu_grid){.x = h->nblocks,
                       .y = (a->d + FTB_SPMM_TENSOR_FEATURES - 1) / FTB_SPMM_TENSOR_FEATURES,
                       .threads = FTB_SPMM_TENSOR_BLOCK,
                       .shared = (unsigned)ftb_spmm_tensor_shared(plan->tile, (int)stored,
                                                                  precision == FTB_PRECISION_TF32 ? 4 : 2)},
        (void *[]){&t});
}
