/* Rows of a pattern as kernels share them out. */
#ifndef FTB_GPU_PIECES_H
#define FTB_GPU_PIECES_H

#include "gpu/context.h"
#include "gpu/kernels/spmm_direct.h"

/* Entries of a piece at most. Sums depend on it, so it is the same on all GPUs: rows up to it are added as
 * the host adds them. */
enum { FTB_GPU_PIECE = 1024 };

typedef struct ftb_gpu_pieces {
    const ftb_spmm_piece *pieces; /* on the device: those with entries by falling length, then rows without */
    const ftb_spmm_cut *cuts;
    int64_t npieces, nempty, ncuts, nslots;
} ftb_gpu_pieces;

/* Of all rows; made once for a pattern, and sent once. */
GrB_Info ftb_gpu_pieces_ask(ftb_gpu_pieces *to, ftb_pattern *p, const ftb_gpu_device *d);

#endif
