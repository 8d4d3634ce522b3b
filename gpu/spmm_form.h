/* Which sources blocks of pieces share, and the form of a pattern that the hybrid kernels walk. */
#ifndef FTB_GPU_SPMM_FORM_H
#define FTB_GPU_SPMM_FORM_H

#include "gpu/kernels/spmm_hybrid.h"
#include "gpu/pieces.h"
#include "plan/gpu_spmm_plan.h"

/* On the device. The first `npieces` pieces are walked by blocks, nblocks of them; those behind have no hot
 * columns. */
struct ftb_gpu_form;
typedef struct ftb_gpu_hybrid {
    struct ftb_gpu_form *form;                /* held until ftb_gpu_hybrid_end */
    int64_t nblocks, npieces, nhot, nentries; /* entries: of tiles, and all of these pieces */
    const int *tile_start, *column_start, *columns, *entry_start, *cold_start, *cold, *order;
    const unsigned short *count, *entries;
} ftb_gpu_hybrid;

/* What kernels are told of it. */
static inline ftb_spmm_hybrid_arguments ftb_gpu_hybrid_arguments(const ftb_spmm_direct_arguments *direct,
                                                                 const ftb_gpu_hybrid *h, int64_t tile)
{
    return (ftb_spmm_hybrid_arguments){.direct = *direct,
                                       .tile_start = h->tile_start,
                                       .column_start = h->column_start,
                                       .columns = h->columns,
                                       .entry_start = h->entry_start,
                                       .count = h->count,
                                       .entries = h->entries,
                                       .tile = (int)tile};
}

/* How often blocks of pieces use their sources, estimated from some of them; counted once for a pattern. */
GrB_Info ftb_gpu_density_ask(ftb_gpu_density *to, ftb_pattern *p);
/* The form of a threshold and a tile, made once for a pattern and sent once, of which the host keeps nothing;
 * order, 4 bytes an entry, only where `ordered`. Columns are narrow, and entries no more than INT_MAX. Forms
 * that were not used for the longest are dropped where all of a GPU would take more than their share of it;
 * _end: work with it was begun, and it may be. */
GrB_Info ftb_gpu_hybrid_ask(ftb_gpu_hybrid *to, ftb_pattern *p, const ftb_gpu_device *d, int threshold,
                            int64_t tile, bool ordered);
void ftb_gpu_hybrid_end(const ftb_gpu_hybrid *h);
/* Drops all forms on a GPU that are not in use, whose memory somebody wants; false: there were none. */
bool ftb_gpu_forms_drop(const ftb_gpu_device *d);

#endif
