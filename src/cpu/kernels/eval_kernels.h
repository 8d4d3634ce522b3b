/* What a program's instructions run: loops over a tile of items, compiled once per instruction set. */
#ifndef FTB_KERNELS_H
#define FTB_KERNELS_H

#include "core/isa.h"
#include "expr/program.h"

/* How a kernel sees an argument: value f of item t is at data[t * item + f * feature]. */
typedef struct ftb_view {
    const void *data;
    int64_t item, feature; /* values; feature is 0 (one value for all) or 1 */
} ftb_view;

/* out[t * width + f] from the arguments' values; for those over features, out[t]. */
typedef void (*ftb_kernel)(int64_t items, int64_t width, void *restrict out, const ftb_view *x);
/* out[t, :] = x[t, 0 .. depth) W, W packed in panels of FTB_PANEL columns. */
typedef void (*ftb_matmul)(int64_t items, int64_t depth, int64_t width, void *restrict out, const ftb_view *x,
                           const void *restrict panels);

typedef struct ftb_kernel_set {
    ftb_kernel op[FTB_NOPERATORS][FTB_NCLASSES]; /* by the operands' class; NULL where there is none */
    ftb_kernel cast[FTB_NCLASSES][FTB_NCLASSES]; /* to, from */
    ftb_kernel copy[FTB_NCLASSES];               /* of values, by their class */
    ftb_kernel select[FTB_NCLASSES];             /* x[0] (BOOL) ? x[1] : x[2] */
    ftb_matmul matmul[FTB_NCLASSES];
} ftb_kernel_set;

extern const ftb_kernel_set ftb_kernel_sets_baseline[1];
#ifdef FTB_X86_CELLS
extern const ftb_kernel_set ftb_kernel_sets_avx2[1];
extern const ftb_kernel_set ftb_kernel_sets_avx512[1];
#endif

/* Kernels over features (feature_kernels.c), which the sets refer to. */
#define FTB_FEATURE(name)                                                                                    \
    FTB_CELLS(void, name, (int64_t items, int64_t width, void *restrict out, const ftb_view *x))
#define FTB_MATMUL(name)                                                                                     \
    FTB_CELLS(void, name,                                                                                    \
              (int64_t items, int64_t depth, int64_t width, void *restrict out, const ftb_view *x,           \
               const void *restrict panels))
/* clang-format off */
FTB_FEATURE(ftb_dot_u64)
FTB_FEATURE(ftb_dot_f32)
FTB_FEATURE(ftb_dot_f64)
FTB_FEATURE(ftb_sum_u64)
FTB_FEATURE(ftb_sum_f32)
FTB_FEATURE(ftb_sum_f64)
FTB_FEATURE(ftb_mean_f32)
FTB_FEATURE(ftb_mean_f64)
FTB_FEATURE(ftb_hypergeometric)
FTB_MATMUL(ftb_matmul_u64)
FTB_MATMUL(ftb_matmul_f32)
FTB_MATMUL(ftb_matmul_f64)
/* clang-format on */

#endif
