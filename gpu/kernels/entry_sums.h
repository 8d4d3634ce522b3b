/* What the host and the kernels of sums over rows' entries (entry_sums.cuh) agree on. Read by C, nvcc and
 * NVRTC. */
#ifndef FTB_ENTRY_SUMS_H
#define FTB_ENTRY_SUMS_H

#include "gpu/kernels/spmm_direct.h" /* pieces of rows, and those that were cut */

typedef struct ftb_entry_sums {
    long long npieces;
    const ftb_spmm_piece *pieces;
    double *partial; /* of slots of pieces, packed rows of `width` values */
    int width;       /* values of an entry */
} ftb_entry_sums;

enum { FTB_ENTRY_SUMS_BLOCK = 128 };

#endif
