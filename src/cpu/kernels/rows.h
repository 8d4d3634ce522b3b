/* Steps over the values of one row, of FP32 or FP64: what operations on blocks' rows are made of. Element by
 * element in order, so that every instruction set gives the same bits. */
#ifndef FTB_CPU_ROWS_H
#define FTB_CPU_ROWS_H

#include "core/isa.h"

#include <stdbool.h>
#include <stdint.h>

/* y[f] += x[f] */
#define FTB_ROW_ADD(name) FTB_CELLS(void, name, (void *restrict y, const void *restrict x, int64_t count))
/* y[f] = y[f] where that is above 0 or NaN, else 0 */
#define FTB_ROW_RELU(name) FTB_CELLS(void, name, (void *y, int64_t count))
/* y[f] = x[f] factor[f], or that added; y may be x. */
#define FTB_ROW_SCALE(name)                                                                                  \
    FTB_CELLS(void, name, (void *y, const void *x, const float *factor, int64_t count, bool add))
/* y[f] = factor times the sum over heads of x[h width + f] */
#define FTB_HEADS_SUM(name)                                                                                  \
    FTB_CELLS(void, name,                                                                                    \
              (void *restrict y, const void *restrict x, int64_t heads, int64_t width, double factor))
/* x[h width + f] = factor y[f], or that added, for every head. */
#define FTB_HEADS_SPREAD(name)                                                                               \
    FTB_CELLS(                                                                                               \
        void, name,                                                                                          \
        (void *restrict x, const void *restrict y, int64_t heads, int64_t width, double factor, bool add))

/* clang-format off */
FTB_ROW_ADD(ftb_row_add_f32)
FTB_ROW_ADD(ftb_row_add_f64)
FTB_ROW_RELU(ftb_row_relu_f32)
FTB_ROW_RELU(ftb_row_relu_f64)
FTB_ROW_SCALE(ftb_row_scale_f32)
FTB_ROW_SCALE(ftb_row_scale_f64)
FTB_HEADS_SUM(ftb_heads_sum_f32)
FTB_HEADS_SUM(ftb_heads_sum_f64)
FTB_HEADS_SPREAD(ftb_heads_spread_f32)
FTB_HEADS_SPREAD(ftb_heads_spread_f64)
/* clang-format on */

#endif
