/* Sparse x block on a GPU, direct: which shape of group, and how long it takes.
 *
 *     bytes    entries x (tiles x (column + weight) + sectors of a source's row) + rows of the result
 *     steps    entries x tiles x lanes / 32 warps, each with a few instructions
 *
 * A tile is lanes x values features. More lanes than features are idle, fewer read columns once a tile; loads
 * take whole sectors of 32 bytes. What is greater decides, and the other is seen a little. Sources that L2
 * holds come from there. */
#include "plan/gpu_spmm_plan.h"

#include <math.h>

#define SECTOR 32.0
#define WARP 32.0
#define COLUMN 4.0
/* The following rest on no measurement. */
#define STEP 6.0       /* instructions of a group for an entry, beside one for each value */
#define SCHEDULERS 4.0 /* instructions that a multiprocessor begins at a time */
#define L2_SHARE 0.8   /* of L2, for sources */
#define L2_GAIN 2.0    /* L2's rate over the memory's, where it is not known */
#define SEEN 0.1       /* of the lesser of the two */
#define LAUNCH 3e-6    /* seconds */

typedef struct shape {
    int lanes, values;
} shape;

static const shape of_vectors[] = {{32, 4}, {8, 4}}, of_values[] = {{32, 1}, {4, 1}};

static double seconds_of(const shape *s, const ftb_spmm_facts *f, const ftb_gpu_facts *gpu)
{
    const double d = (double)f->features, value = (double)f->stored_bytes, tile = s->lanes * s->values;
    const double tiles = ceil(d / tile), loaded = fmin(d, tile) * value;
    const double sectors = tiles * ceil(loaded / SECTOR) * SECTOR;
    const double sources = (double)f->ncols * d * value;
    const double l2_rate = gpu->l2_rate > 0 ? gpu->l2_rate : L2_GAIN * gpu->memory_rate;
    const double rate = sources <= L2_SHARE * (double)gpu->l2 ? l2_rate : gpu->memory_rate;
    const double bytes = (double)f->nvals * (tiles * (COLUMN + (double)f->edge_bytes) + sectors) +
                         (double)f->nrows * d * (double)f->value_bytes;
    const double steps = (double)f->nvals * tiles * s->lanes / WARP * (STEP + s->values);
    const double moving = bytes / rate, working = steps / (gpu->multiprocessors * SCHEDULERS * gpu->clock);
    return LAUNCH + fmax(moving, working) + SEEN * fmin(moving, working);
}

void ftb_rule_gpu_spmm(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, bool vectors,
                       const ftb_gpu_facts *gpu)
{
    const shape *shapes = vectors ? of_vectors : of_values;
    for (int n = 0; n < 2; n++) {
        const double seconds = seconds_of(&shapes[n], facts, gpu);
        if (n == 0 || seconds < plan->seconds)
            *plan = (ftb_gpu_spmm_plan){shapes[n].lanes, shapes[n].values, seconds};
    }
}
