/* Kernels of optimisers: one pass over a parameter's values, gradient and moments. Compiled once per dtype
 * and instruction set, with the same bits. */
#ifndef FTB_NN_UPDATE_H
#define FTB_NN_UPDATE_H

#include "core/isa.h"
#include "verbs/update_product.h"

/* clang-format off */
FTB_CELLS(void, ftb_update_sgd_f32, (const ftb_update *u, void *w, const void *g, void *m, int64_t count))
FTB_CELLS(void, ftb_update_sgd_f64, (const ftb_update *u, void *w, const void *g, void *m, int64_t count))
FTB_CELLS(void, ftb_update_adam_f32, (const ftb_update *u, void *w, const void *g, void *m, void *v, int64_t count))
FTB_CELLS(void, ftb_update_adam_f64, (const ftb_update *u, void *w, const void *g, void *m, void *v, int64_t count))
/* The sum of the squares of gradients cut to `clip`, in FP64. */
FTB_CELLS(double, ftb_sum_squares_f32, (const void *g, int64_t count, double clip))
FTB_CELLS(double, ftb_sum_squares_f64, (const void *g, int64_t count, double clip))
/* clang-format on */

#endif
