/* Grids of kernels whose threads share out rows of items (kernels/items.cuh). */
#ifndef FTB_GPU_ITEMS_H
#define FTB_GPU_ITEMS_H

#include "gpu/kernels/row_items.h"
#include "gpu/launch.h"

ftb_gpu_grid ftb_gpu_items(ftb_row_items *to, int64_t nrows, int64_t width);
/* Of a block's rows where each is read or written in vectors of 16 bytes, and the last values of a row one
 * by one; no block, no objection. `size`: bytes of a value. */
bool ftb_gpu_vectors(const void *at, int64_t ld, int64_t size);
/* As kernels' names have it: f32, f64. */
const char *ftb_gpu_real(FtB_Type type);
/* As kernels of any type have it: FTB_STORED_... */
int ftb_gpu_stored_as(FtB_Type type);

#endif
