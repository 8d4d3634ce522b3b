/* Rows of a pattern as kernels share them out. */
#ifndef FTB_GPU_PIECES_H
#define FTB_GPU_PIECES_H

#include "gpu/context.h"
#include "gpu/kernels/spmm_direct.h"
#include "gpu/launch.h"

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
/* The same on the host, for what is made of them there. */
GrB_Info ftb_gpu_pieces_here(const ftb_spmm_piece **pieces, int64_t *npieces, ftb_pattern *p);
/* The same with the pattern's columns, which are narrow. */
GrB_Info ftb_gpu_rows_ask(ftb_gpu_pieces *to, const int **colidx, ftb_pattern *p, const ftb_gpu_device *d);
/* Runs a kernel of the arguments and the cuts for the rows that were cut, `grid` being that of one. */
GrB_Info ftb_gpu_join_cuts(ftb_gpu_device *d, FtB_Context ctx, const ftb_gpu_pieces *p, const char *source,
                           const char *kernel, ftb_gpu_grid grid, void *arguments);

#endif
