/* Sparse x sparse on a GPU: tiles, blocks, which rows are hashed, which columns are bits, and how much is
 * done at a time.
 *
 *     steps    products / 32 lanes, or a step for each row of B that a warp looks into, if that is more;
 *              + searches for where a tile begins in a row of B; + each cell, cleared and read once
 *
 * Smaller tiles let more blocks run side by side on a multiprocessor, larger ones look into fewer rows. A
 * row costs a block its cells, and a look into each of its rows of B, whatever it has. Hashed, a short one
 * costs a warp the square of its entries, and a longer one a block sorting them.
 *
 * Counts may have their most frequent columns as bits, 1,024 to a line: a left entry then costs a warp some
 * steps for each line, however many of its columns have entries, and 128 bytes of L2 or memory. (Bits of rows
 * and columns, of which AND is counted pair by pair, would cost ninner / 32 population counts a pair, which a
 * multiprocessor does 16 of a clock; by position the pair costs the row's left entries / 1,024 times as many
 * steps, of four times the rate, and these are ninner at most.) */
#include "plan/gpu_spgemm_plan.h"

#include <math.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define WARP 32.0
#define THREADS 2048.0    /* of a multiprocessor */
#define SHARED (48 << 10) /* bytes, where it is not known */
#define HEAD 1024         /* of a block's, that are no cells */
#define RESERVED 1024     /* of a multiprocessor's, that each block takes beside what it may have */
#define LINE_BYTES 128.0  /* of a row of B's bits */
/* The following rest on no measurement. */
#define STEP 12.0                      /* instructions of a warp for 32 products */
#define SEARCH 60.0                    /* for the beginnings and ends of 32 rows of B */
#define CELL 6.0                       /* for 32 cells */
#define BLOCK 100.0                    /* for a warp of a block */
#define HASHED 30.0                    /* for 32 products, by hashing */
#define RANK 3.0                       /* to compare an entry's column with another's, 32 side by side */
#define SORT 8.0                       /* to compare 32 entries with others, of log2(n)^2 / 2 times */
#define BITS 7.0                       /* for a left entry and a line of bits */
#define COUNTS 1000.0                  /* for the counts of a line, from bits of their digits */
#define PART 64.0                      /* left entries that warps share a line from */
#define SPLIT 25.0                     /* for 32 entries of B, into bits and others */
#define SCHEDULERS 4.0                 /* instructions that a multiprocessor begins at a time */
#define ENOUGH 32.0                    /* warps of a multiprocessor that hide what each waits for */
#define L2_SHARE 0.8                   /* of L2, for bits */
#define L2_GAIN 2.0                    /* L2's rate over the memory's, where it is not known */
#define SHARE 8                        /* of memory, for a chunk, and for bits */
#define MARGIN 0.9                     /* of the seconds without bits, that those with them must stay below */
#define LEAST_CHUNK (INT64_C(1) << 20) /* entries, so that a chunk takes longer than a launch */
#define CHUNKS 8                       /* at least, so that most of the copies home are hidden */

static double tiles_of(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    return ceil((double)f->ncols / (double)plan->tile);
}

/* Lines of bits that a row's tiles look at: each at the least at one. */
static double lines_of(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    return plan->hot > 0 ? ceil((double)plan->hot / FTB_GPU_SPGEMM_LINE) + tiles_of(plan, f) - 1 : 0;
}

/* Of so many rows of so many left entries and products, gathered densely one by one. */
static double dense_steps(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, double rows,
                          double left, double products)
{
    const double tiles = tiles_of(plan, f), parts = f->counts ? tiles : tiles * plan->warps;
    const double groups = f->counts ? WARP / plan->lanes : 1, looks = rows * left * parts;
    return STEP * fmax(rows * products / WARP, looks / groups) + (parts > 1 ? SEARCH * looks / WARP : 0) +
           rows * ((double)f->ncols / WARP * CELL + tiles * plan->warps * BLOCK);
}

/* What bits cost beside. */
static double hot_steps(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    const double lines = lines_of(plan, f), left = (double)f->avals / fmax(f->rows, 1);
    const double parts = fmax(1, fmin(left / PART, plan->warps / fmax(lines, 1)));
    if (plan->hot == 0)
        return 0;
    return BITS * (double)f->avals * lines + COUNTS * f->rows * lines * parts +
           SPLIT * (double)f->bvals / WARP + CELL * (double)f->ninner * lines;
}

static double table_bytes(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    return ceil((double)plan->hot / FTB_GPU_SPGEMM_LINE) * LINE_BYTES * (double)f->ninner;
}

/* Seconds in which bits are made, and come from L2 or memory. */
static double moving(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    const double bytes = table_bytes(plan, f), read = (double)f->avals * lines_of(plan, f) * LINE_BYTES;
    const double l2_rate = f->gpu.l2_rate > 0 ? f->gpu.l2_rate : L2_GAIN * f->gpu.memory_rate;
    const double near = fmin(1, L2_SHARE * (double)f->gpu.l2 / fmax(bytes, 1));
    return bytes / f->gpu.memory_rate + read * (near / l2_rate + (1 - near) / f->gpu.memory_rate);
}

/* Which share of what a multiprocessor can begin it does, with blocks of so many warps and bytes. */
static double busy(double shared, double bytes, int warps)
{
    const double blocks = fmin(floor(shared / (bytes + RESERVED)), THREADS / (WARP * warps));
    return fmin(1, fmax(blocks, 1) * warps / ENOUGH);
}

static double dense_busy(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, double shared)
{
    return busy(shared, (double)(plan->tile * f->cell_bytes + HEAD), plan->warps);
}

static double seconds_of(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, double share,
                         double shared)
{
    const double rows = fmax(f->rows, 1);
    const double steps =
        dense_steps(plan, f, f->rows, (double)f->avals / rows, f->products * (1 - share) / rows) +
        hot_steps(plan, f);
    const double seconds =
        steps / (f->gpu.multiprocessors * SCHEDULERS * f->gpu.clock * dense_busy(plan, f, shared));
    return plan->hot > 0 ? fmax(seconds, moving(plan, f)) : seconds;
}

/* Whether a row of as many entries as a hash is for, in as many products, of rows of B as long as all are, is
 * hashed in less time. */
static bool hashes(const ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f, int kind, double shared)
{
    const double entries = (double)ftb_gpu_spgemm_hash[kind], log = log2(entries);
    const double left = fmin(fmax(entries * (double)f->avals / fmax(f->products, 1), 1), entries);
    const bool warp = kind < FTB_GPU_SPGEMM_OF_WARPS;
    const int warps = 4;
    const double order = warp ? RANK * entries : warps * BLOCK * WARP / entries + SORT / 4 * log * log;
    const double looks = warp ? left : left / (f->counts ? warps : 1);
    const double hash = HASHED * fmax(entries / WARP, looks) + entries / WARP * (CELL * 2 + order);
    return hash / busy(shared, (double)f->hash_bytes[kind], warps) <
           dense_steps(plan, f, 1, left, entries) / dense_busy(plan, f, shared);
}

static int64_t chunk_of(const ftb_gpu_spgemm_facts *f)
{
    const int64_t most = f->gpu.memory / SHARE / MAX(f->entry_bytes, 1);
    const int64_t wanted = MAX((int64_t)(f->entries / CHUNKS), LEAST_CHUNK);
    return MAX(MIN(wanted, most), MAX(f->longest_row, 1));
}

/* The best of some shares of shared memory and sizes of blocks, for so many columns as bits that have a share
 * of the products. */
static ftb_gpu_spgemm_plan best_of(const ftb_gpu_spgemm_facts *f, int64_t hot, double share_of_hot,
                                   int64_t shared)
{
    static const int warps[] = {4, 16};
    ftb_gpu_spgemm_plan best = {.seconds = INFINITY};
    for (int share = 1; share <= 4; share *= 2)
        for (int w = 0; w < 2; w++) {
            const int64_t most = MAX((shared / share - RESERVED - HEAD) / f->cell_bytes, 1),
                          tiles = (MAX(f->ncols, 1) + most - 1) / most;
            ftb_gpu_spgemm_plan one = {
                .tile = (MAX(f->ncols, 1) + tiles - 1) / tiles, .warps = warps[w], .hot = hot};
            const double products = f->products * (1 - share_of_hot);
            one.lanes = products < WARP / 2 * (double)f->avals * (double)tiles ? 8 : 32;
            one.seconds = seconds_of(&one, f, share_of_hot, (double)shared);
            if (one.seconds < best.seconds)
                best = one;
        }
    return best;
}

void ftb_rule_gpu_spgemm(ftb_gpu_spgemm_plan *plan, const ftb_gpu_spgemm_facts *f)
{
    const int64_t shared = (f->gpu.shared > 0 ? f->gpu.shared : SHARED) + RESERVED; /* of a multiprocessor */
    *plan = best_of(f, 0, 0, shared);
    const double plain = plan->seconds;
    for (int c = 0; c < FTB_GPU_SPGEMM_HOTS && f->counts && f->hot != 0; c++) {
        const int64_t hot =
            f->hot > 0 ? MIN(MIN(f->hot, FTB_GPU_SPGEMM_MOST_HOT), f->ncols) : INT64_C(1024) << c;
        const ftb_gpu_spgemm_plan one = best_of(f, hot, f->hot_share[c], shared);
        const double below = plan->hot > 0 ? plan->seconds : MARGIN * plain;
        if (f->hot > 0 ? c == 0
                       : f->hot_share[c] > 0 && hot <= f->ncols && one.seconds < below &&
                             table_bytes(&one, f) <= (double)f->gpu.memory / SHARE)
            *plan = one;
    }
    plan->plain_seconds = plain;
    while (plan->hashes < FTB_GPU_SPGEMM_HASHES && f->hash_bytes[plan->hashes] <= shared - RESERVED - HEAD &&
           hashes(plan, f, plan->hashes, (double)shared))
        plan->hashes++;
    plan->chunk_entries = chunk_of(f);
}
