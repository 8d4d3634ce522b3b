/* Picks by weight on a GPU (kernels/sample_weighted.cu): drawn as they are counted, since how many a row has
 * is known no sooner. */
#ifndef FTB_GPU_WEIGHTED_PICKS_H
#define FTB_GPU_WEIGHTED_PICKS_H

#include "gpu/sample/device_picks.h"

/* Draws for all rows of picking->keys.rows, and has its `to` say how many each has; waits for how much room
 * that takes, and how many rows draws were not enough for. */
GrB_Info ftb_gpu_weighted_draw(ftb_gpu_rooms *rooms, ftb_gpu_picking *picking, ftb_gpu_counters *counters);
/* After `to` was summed: their entries and columns. */
GrB_Info ftb_gpu_weighted_put(ftb_gpu_rooms *rooms, ftb_gpu_picking *picking);

#endif
