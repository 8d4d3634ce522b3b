/* Dense products on a GPU: whether our own kernel or cuBLAS makes them.
 *
 *     own        the greater of multiply-adds, those of tiles' edges among them, and bytes; fewer blocks than
 *                multiprocessors leave some idle
 *     cuBLAS     the greater of multiply-adds, at another rate, and bytes; and a dearer call
 *                (by tensor cores, where operands may be rounded)
 *
 * So what is small or only moves memory is our kernel's, and layers of a hundred features over a large graph
 * are cuBLAS's. */
#include "plan/gpu_dense_plan.h"

#include <math.h>

/* The following rest on no measurement. */
#define LANES_FP32 128.0  /* multiply-adds that a multiprocessor begins at a time */
#define LANES_FP64 64.0   /* of GPUs that are made for it */
#define OWN_SHARE 0.33    /* of them, that our kernel reaches: shared memory's bandwidth is its limit */
#define CUBLAS_SHARE 0.75 /* that cuBLAS reaches */
#define TF32_GAIN 4.0     /* of tensor cores, over those lanes at that share: half of what data sheets say */
#define HALF_GAIN 8.0     /* of operands of 16 bits */
#define OWN_CALL 3e-6     /* seconds of a launch */
#define CUBLAS_CALL 20e-6 /* of a call, which chooses among kernels, and launches one or two */

static double gain_of(const ftb_gpu_dense_facts *f)
{
    if (f->precision == FTB_PRECISION_FP32 || f->value_bytes > (int64_t)sizeof(float))
        return 1;
    return f->precision == FTB_PRECISION_TF32 ? TF32_GAIN : HALF_GAIN;
}

void ftb_rule_gpu_dense(ftb_gpu_dense_plan *plan, const ftb_gpu_dense_facts *f, bool cublas,
                        const ftb_gpu_facts *gpu)
{
    const double m = (double)f->nrows, n = (double)f->ncols, k = (double)f->inner,
                 size = (double)f->value_bytes;
    const double peak = gpu->multiprocessors * gpu->clock *
                        (f->value_bytes > (int64_t)sizeof(float) ? LANES_FP64 : LANES_FP32);
    const double moving = (m * k + k * n + m * n) * size / gpu->memory_rate;
    const double busy = fmin(1, f->blocks / gpu->multiprocessors);
    const double own = OWN_CALL + fmax(f->padded * k / (peak * OWN_SHARE * busy), moving);
    const double other = CUBLAS_CALL + fmax(m * n * k / (peak * CUBLAS_SHARE * gain_of(f)), moving);
    plan->cublas = cublas && other < own;
    plan->seconds = plan->cublas ? other : own;
}
