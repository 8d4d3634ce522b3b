/* Kernels that reduce segments of entries by a monoid, compiled once per instruction set. */
#ifndef FTB_REDUCE_ROWS_H
#define FTB_REDUCE_ROWS_H

#include "core/isa.h"
#include "expr/scalar.h"

/* Row r has n entries: start[r] to start[r + 1], which count from start[0] and lie behind each other, or,
 * start being NULL, `count` from r * step values on. An entry has `width` values, `ld` behind the one before.
 */
typedef struct ftb_segments {
    const void *x;
    const int64_t *start;
    int64_t nrows, count, step;
    int64_t width, ld;
} ftb_segments;

/* out[r * width + f] = value f of row r's entries reduced; rows without entries are left alone. Values are of
 * one compute type. */
typedef void (*ftb_reduce_kernel)(void *restrict out, const ftb_segments *s);

extern const ftb_reduce_kernel ftb_reduce_rows_baseline[FTB_NMONOIDS][FTB_NCLASSES];
#ifdef FTB_X86_CELLS
extern const ftb_reduce_kernel ftb_reduce_rows_avx2[FTB_NMONOIDS][FTB_NCLASSES];
extern const ftb_reduce_kernel ftb_reduce_rows_avx512[FTB_NMONOIDS][FTB_NCLASSES];
#endif

#endif
