/* Work on a GPU that does not exist (support/fake_cuda), whose kernels the emulator runs, or on a real one
 * (real_gpu.h), for tests of verbs there: how much ran, and matrices whose rows and columns are cut into
 * pieces. */
#ifndef TESTS_FAKE_GPU_H
#define TESTS_FAKE_GPU_H

#include "featblas.h"

#include "support/rng.h"

#include <stdbool.h>

int fake_gpu_start(void **state); /* a group's set-up: all work is placed there */
int fake_gpu_clean(void **state); /* a test's tear-down: nothing was done to the driver that must not be */
int fake_gpu_launches(void);      /* so far */
bool fake_gpu_emulates(void);     /* else the host does all of it */

/* `width` values per entry in (-1, 1); rows and columns without entries, with few, and one of each with
 * `hub`, two where kernels cut them; of 0 entries where that is 0. */
FtB_Matrix fake_gpu_matrix(rng *r, int64_t nrows, int64_t ncols, int64_t width, int64_t hub);
/* Reals in (-1, 1), or small whole numbers, as rows of heads that begin `offset` values into memory that is
 * `offset` + `gap` values wider. */
FtB_Block fake_gpu_block(rng *r, int64_t nrows, int64_t heads, int64_t width, int64_t offset, int64_t gap,
                         bool whole);
/* X in FP64, on the host: what is computed of it is computed in FP64, there. */
FtB_Block fake_gpu_wide(FtB_Block X);
FtB_Matrix fake_gpu_wide_matrix(FtB_Matrix A);

#endif
