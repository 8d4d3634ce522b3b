/* Sparse x sparse on a GPU: tiles, blocks, which rows are hashed, and how much is done at a time.
 *
 *     steps    products / 32 lanes, or a step for each row of B that a warp looks into, if that is more;
 *              + searches for where a tile begins in a row of B; + each cell, cleared and read once
 *
 * Smaller tiles let more blocks run side by side on a multiprocessor, larger ones look into fewer rows. A
 * row costs a block its cells, whatever it has. Hashed, a short one costs a warp the square of its entries,
 * and a longer one a block sorting them. */
#include "plan/gpu_spgemm_plan.h"

#include <math.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define WARP 32.0
#define THREADS 2048.0    /* of a multiprocessor */
#define SHARED (48 << 10) /* bytes, where it is not known */
#define HEAD 1024         /* of a block's, that are no cells */
#define RESERVED 1024     /* of a multiprocessor's, that each block takes beside what it may have */
/* The following rest on no measurement. */
#define STEP 12.0                      /* instructions of a warp for 32 products */
#define SEARCH 60.0                    /* for the beginnings and ends of 32 rows of B */
#define CELL 6.0                       /* for 32 cells */
#define BLOCK 100.0                    /* for a warp of a block */
#define HASHED 30.0                    /* for 32 products, by hashing */
#define RANK 3.0                       /* to compare an entry's column with another's, 32 side by side */
#define SORT 8.0                       /* to compare 32 entries with others, of log2(n)^2 / 2 times */
#define SCHEDULERS 4.0                 /* instructions that a multiprocessor begins at a time */
#define ENOUGH 32.0                    /* warps of a multiprocessor that hide what each waits for */
#define SHARE 8                        /* of memory, for a chunk */
#define LEAST_CHUNK (INT64_C(1) << 20) /* entries, so that a chunk takes longer than a launch */
#define CHUNKS 8                       /* at least, so that most of the copies home are hidden */

static double steps_of(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    const double tiles = ceil((double)f->ncols / (double)plan->tile),
                 parts = f->counts ? tiles : tiles * plan->warps, rows = (double)f->avals * parts;
    const double groups = f->counts ? WARP / plan->lanes : 1;
    return STEP * fmax(f->products / WARP, rows / groups) + (parts > 1 ? SEARCH * rows / WARP : 0) +
           f->rows * ((double)f->ncols / WARP * CELL + tiles * plan->warps * BLOCK);
}

static double seconds_of(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f,
                         const ftb_gpu_facts *gpu, double shared)
{
    const double blocks = fmin(floor(shared / (double)(plan->tile * f->cell_bytes + HEAD + RESERVED)),
                               THREADS / (WARP * plan->warps));
    const double busy = fmin(1, fmax(blocks, 1) * plan->warps / ENOUGH);
    return steps_of(plan, f) / (gpu->multiprocessors * SCHEDULERS * gpu->clock * busy);
}

/* Whether a row of as many entries as a hash is for, in as many products, is hashed in less. */
static bool hashes(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, int kind)
{
    const double entries = (double)ftb_gpu_spgemm_hash[kind], log = log2(entries);
    const bool warp = kind < FTB_GPU_SPGEMM_OF_WARPS;
    const double order = warp ? RANK * entries : 4 * BLOCK * WARP / entries + SORT / 4 * log * log;
    const double hash = entries / WARP * (HASHED + CELL * 2 + order),
                 dense = STEP * entries / WARP + CELL * (double)f->ncols / WARP + BLOCK * plan->warps;
    return hash < dense;
}

static int64_t chunk_of(const ftb_gpu_spgemm_facts *f, const ftb_gpu_facts *gpu)
{
    const int64_t most = gpu->memory / SHARE / MAX(f->entry_bytes, 1);
    const int64_t wanted = MAX((int64_t)(f->entries / CHUNKS), LEAST_CHUNK);
    return MAX(MIN(wanted, most), MAX(f->longest_row, 1));
}

void ftb_rule_gpu_spgemm(ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, const ftb_gpu_facts *gpu)
{
    static const int warps[] = {4, 16};
    const int64_t shared = (gpu->shared > 0 ? gpu->shared : SHARED) + RESERVED; /* of a multiprocessor */
    plan->seconds = INFINITY;
    for (int share = 1; share <= 4; share *= 2)
        for (int w = 0; w < 2; w++) {
            const int64_t most = MAX((shared / share - RESERVED - HEAD) / f->cell_bytes, 1),
                          tiles = (MAX(f->ncols, 1) + most - 1) / most;
            ftb_gpu_spgemm_plan one = {.tile = (MAX(f->ncols, 1) + tiles - 1) / tiles, .warps = warps[w]};
            one.lanes = f->products < WARP / 2 * (double)f->avals * (double)tiles ? 8 : 32;
            one.seconds = seconds_of(&one, f, gpu, (double)shared);
            if (one.seconds < plan->seconds)
                *plan = one;
        }
    while (plan->hashes < FTB_GPU_SPGEMM_HASHES && f->hash_bytes[plan->hashes] <= shared - RESERVED - HEAD &&
           hashes(plan, f, plan->hashes))
        plan->hashes++;
    plan->chunk_entries = chunk_of(f, gpu);
}
