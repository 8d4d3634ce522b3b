/* Sparse x block on a GPU: direct or hybrid, which shape of group, which sources are staged, and how long it
 * takes. Direct:
 *
 *     bytes    entries x (tiles x (column + weight) + sectors of a source's row) + rows of the result
 *     steps    entries x tiles x lanes / 32 warps, each with a few instructions
 *
 * A tile is lanes x values features. More lanes than features are idle, fewer read columns once a tile; loads
 * take whole sectors of 32 bytes. Of a source's row so much comes from L2 as L2 holds of all sources' tile,
 * and, where it is known how often blocks of rows use their sources, all but the first use by each block.
 *
 * Hybrid, of the sources that a block uses `threshold` times and more:
 *
 *     bytes    of each block and source a row, once; entries x tiles x place; where the pieces' entries are
 *     shared   entries x row, at 128 bytes a clock of each multiprocessor
 *     steps    as above, and for each piece and tile of sources, entries or none
 *
 * and the other entries as direct, from sums that are written and read once more; weights are brought into
 * the form's order first. What is greatest decides, and the others are seen a little. Every power of two is
 * tried as threshold, so that what is staged follows from the density of the columns.
 *
 * cuSPARSE is taken where it is asked for, by hand or by what was measured: how long it takes nothing here
 * foretells. Of its algorithms that one whose bits are the same at every run, unless a context is relaxed. */
#include "plan/spmm_plan.h"

#include <math.h>

#define SECTOR 32.0
#define WARP 32.0
#define COLUMN 4.0
#define PIECES 512.0 /* of a block (gpu/kernels/spmm_hybrid.h) */
#define LINE 128.0   /* bytes that a multiprocessor reads of its shared memory a clock */
/* The following rest on no measurement. */
#define STEP 6.0         /* instructions of a group for an entry, beside one for each value */
#define TILE_STEP 5.0    /* the same of an entry that is read from a tile */
#define VISIT 8.0        /* of a piece in a tile of sources */
#define SCHEDULERS 4.0   /* instructions that a multiprocessor begins at a time */
#define L2_SHARE 0.8     /* of L2, for sources */
#define L2_GAIN 2.0      /* L2's rate over the memory's, where it is not known */
#define FAR_BYTES 32.0   /* that a row from memory costs beside its own */
#define SHARED_RATE 0.7  /* of what shared memory could */
#define SEEN 0.1         /* of what does not decide */
#define LAUNCH 3e-6      /* seconds */
#define MARGIN 0.9       /* of the direct form's seconds, that hybrid must stay below */
#define MEMORY_SHARE 0.3 /* of the GPU's, for the form */
/* Measured: 38 ns of processor time an entry of rand-100k's form, of two threads of a busy Sapphire Rapids.
 */
#define BUILD_ENTRY 20e-9 /* seconds of the host */

enum {
    WIDE_TILE = 32,
    NARROW_TILE = 16,
    MOST_TILE = 1024,
    GRAIN = 32,
    SHARED = 48 << 10,
    RESERVED = 1 << 10
};

typedef struct shape {
    int lanes, values;
} shape;

/* The kernels of 16 bits take eight values, or eight lanes of four, those of FP64 two. */
static const shape shapes[] = {{16, 8}, {4, 8}, {32, 4}, {8, 4}, {32, 2}, {8, 2}, {32, 1}, {4, 1}};

typedef struct model {
    const ftb_spmm_facts *f;
    const ftb_gpu_spmm_facts *of;
    double d, value, l2_rate;
} model;

/* Entries of a product, and their pairs of a block and a source. */
typedef struct share {
    double entries, columns;
} share;

static double sectors(double bytes) { return ceil(bytes / SECTOR) * SECTOR; }

/* Seconds to move what is read once from memory, or L2, and rows of sources, so many of them for the first
 * time by a block, so many features at a time. */
static double moving(const model *m, double once, double rows, double first, double features)
{
    const double whole = floor(m->d / features), rest = m->d - whole * features;
    const double bytes = whole * sectors(features * m->value) + sectors(rest * m->value);
    const double held = (double)m->f->ncols * fmin(m->d, features) * m->value;
    const double near = fmin(1, L2_SHARE * (double)m->of->gpu.l2 / fmax(held, 1));
    const double far = fmin(first, rows) * (1 - near);
    return once * (near / m->l2_rate + (1 - near) / m->of->gpu.memory_rate) +
           (rows - far) * bytes / m->l2_rate +
           far * (bytes + ceil(m->d / features) * FAR_BYTES) / m->of->gpu.memory_rate;
}

static double working(const model *m, double steps)
{
    return steps / (m->of->gpu.multiprocessors * SCHEDULERS * m->of->gpu.clock);
}

static double together(double a, double b, double c)
{
    const double most = fmax(a, fmax(b, c));
    return most + SEEN * (a + b + c - most);
}

/* Without the launch. */
static double direct_seconds(const model *m, const shape *s, const share *of)
{
    const double tile = s->lanes * s->values, tiles = ceil(m->d / tile);
    const double once = of->entries * tiles * (COLUMN + (double)m->f->edge_bytes) +
                        (double)m->f->nrows * m->d * (double)m->f->value_bytes;
    return together(moving(m, once, of->entries, of->columns, tile),
                    working(m, of->entries * tiles * s->lanes / WARP * (STEP + s->values)), 0);
}

static bool is_wide(const model *m) { return m->of->at_once >= 4; }

static bool has_kernel(const model *m, const shape *s)
{
    return s->values == m->of->at_once && (s->values != 4 || s->lanes == 8 || m->f->stored_bytes == 4);
}

static double best_direct(const model *m, const share *of, shape *best)
{
    double least = INFINITY;
    *best = shapes[sizeof shapes / sizeof *shapes - 1];
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const double seconds = has_kernel(m, &shapes[k]) ? direct_seconds(m, &shapes[k], of) : INFINITY;
        if (seconds < least) {
            least = seconds;
            *best = shapes[k];
        }
    }
    return least;
}

/* Two blocks of a multiprocessor, of two tiles each, in what one block may have. */
static int64_t tile_of(const model *m)
{
    const int64_t shared = m->of->gpu.shared > 0 ? (m->of->gpu.shared + RESERVED) / 2 - RESERVED : SHARED;
    const int64_t row = (is_wide(m) ? WIDE_TILE : NARROW_TILE) * m->f->stored_bytes;
    const int64_t tile = shared / (2 * row) / GRAIN * GRAIN;
    return tile < GRAIN ? GRAIN : tile > MOST_TILE ? MOST_TILE : tile;
}

/* Of sources that are used 2^class times and more; of blocks, those that have such. */
static share uses_from(const ftb_gpu_density *d, int class, double *blocks)
{
    share of = {0, 0};
    *blocks = 0;
    for (int b = class; b < FTB_GPU_USES; b++) {
        of.entries += d->entries[b];
        of.columns += d->columns[b];
        *blocks += d->blocks[b];
    }
    return of;
}

static double form_bytes(const model *m, const share *hot, double tiles)
{
    return (double)m->f->nvals * (COLUMN + COLUMN) + hot->columns * COLUMN + tiles * PIECES * 2.5;
}

static double hybrid_seconds(const model *m, const ftb_gpu_spmm_plan *plan, int class, shape *cold,
                             double *part)
{
    double blocks;
    const share all = uses_from(&m->of->density, 0, &blocks),
                hot = uses_from(&m->of->density, class, &blocks);
    const share rest = {fmax(0, (double)m->f->nvals - hot.entries), all.columns - hot.columns};
    const double features = is_wide(m) ? WIDE_TILE : NARROW_TILE, ft = ceil(m->d / features);
    const double lanes = is_wide(m) ? 8 : 16, values = features / lanes;
    const double tiles = hot.columns / (double)plan->tile + blocks / 2, visits = fmax(tiles * PIECES, 1);
    const double row = fmin(m->d, features) * m->value, edge = (double)m->f->edge_bytes;
    const double order =
        edge > 0 ? (double)m->f->nvals * (COLUMN + sectors(edge) + edge) : 0; /* weights, once */
    const double once = ft * (hot.columns * COLUMN + hot.entries * (2 + edge) + visits * 2.5) + order +
                        2 * (double)m->f->nrows * m->d * (double)m->f->value_bytes;
    const double apart = 1 + sqrt(visits / fmax(hot.entries, 1)); /* a warp's groups wait for the longest */
    const double steps = ft * lanes / WARP * (hot.entries * (TILE_STEP + values) * apart + visits * VISIT);
    const double shared = ft * (hot.entries + hot.columns) * row /
                          (m->of->gpu.multiprocessors * LINE * m->of->gpu.clock * SHARED_RATE);
    *part = (double)m->f->nvals > 0 ? fmin(1, hot.entries / (double)m->f->nvals) : 0;
    if (form_bytes(m, &hot, tiles) > MEMORY_SHARE * (double)m->of->gpu.memory && m->of->gpu.memory > 0)
        return INFINITY;
    return (edge > 0 ? 3 : 2) * LAUNCH +
           together(moving(m, once, hot.columns, hot.columns, features), working(m, steps), shared) +
           best_direct(m, &rest, cold);
}

/* Returns what of the seconds is for making the form. */
static double choose_hybrid(ftb_gpu_spmm_plan *plan, const model *m, const ftb_spmm_asked *asked)
{
    const bool given = asked->forced & FTB_SPMM_SET_THRESHOLD;
    const double build =
        asked->forced & FTB_SPMM_SET_USES ? BUILD_ENTRY * (double)m->f->nvals / (double)asked->uses : 0;
    plan->tile = asked->forced & FTB_SPMM_SET_SEGMENT ? asked->segment : tile_of(m);
    for (int b = 1; b < FTB_GPU_USES; b++) {
        if (given && b != (int)fmin(FTB_GPU_USES - 1, log2((double)asked->threshold)))
            continue;
        double part = 0;
        shape cold = {0, 0};
        const double seconds = build + hybrid_seconds(m, plan, b, &cold, &part);
        if (!(seconds < plan->hybrid_seconds))
            continue;
        plan->threshold = given ? (int)asked->threshold : 1 << b;
        plan->hybrid_seconds = seconds;
        plan->hot = part;
        plan->lanes = cold.lanes;
        plan->values = cold.values;
    }
    return build;
}

/* What was asked for of tiles, no larger than a block may have. */
static bool tile_fits(const model *m, int64_t tile)
{
    const int64_t most = m->of->gpu.shared > 0 ? m->of->gpu.shared : SHARED;
    return 2 * tile * (is_wide(m) ? WIDE_TILE : NARROW_TILE) * m->f->stored_bytes <= most;
}

/* Why the direct form is, where the other was looked at and could be. */
static const char *why_direct(const model *m, const ftb_gpu_spmm_plan *hybrid, bool dearer)
{
    if (!m->of->density.known)
        return "how sources are shared was not counted";
    double blocks;
    if (uses_from(&m->of->density, 1, &blocks).entries <= 0)
        return "rows share no sources";
    if (hybrid->threshold == 0)
        return "the form would take too much of the GPU's memory";
    if (!tile_fits(m, hybrid->tile))
        return "so large a segment does not fit shared memory";
    return dearer ? "few products would not pay for the form" : "rows share too few sources";
}

/* What keeps the other form from being looked at; NULL: nothing. */
static const char *why_not(const model *m, ftb_spmm_family wanted, bool small)
{
    if (!m->of->staged)
        return m->f->nvals > 0 ? "the hybrid form has no kernel for it" : "there are no entries";
    if (wanted == FTB_SPMM_DIRECT)
        return "asked for";
    if (small)
        return "too short for sources to be staged";
    return m->of->fixed && !m->of->exact && wanted != FTB_SPMM_HYBRID
               ? "no bit may depend on the GPU's figures"
               : NULL;
}

void ftb_rule_gpu_spmm(ftb_gpu_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_gpu_spmm_facts *of,
                       const ftb_spmm_asked *asked)
{
    const ftb_gpu_facts *gpu = &of->gpu;
    const model m = {.f = facts,
                     .of = of,
                     .d = (double)facts->features,
                     .value = (double)facts->stored_bytes,
                     .l2_rate = gpu->l2_rate > 0 ? gpu->l2_rate : L2_GAIN * gpu->memory_rate};
    const ftb_spmm_family wanted = asked->forced & FTB_SPMM_SET_KERNEL ? asked->family : FTB_SPMM_AUTO;
    double blocks;
    const share known = uses_from(&of->density, 0, &blocks),
                all = {(double)facts->nvals, of->density.known ? known.columns : (double)facts->nvals};
    shape s;
    ftb_gpu_spmm_plan out = {.hybrid_seconds = INFINITY}, hybrid = out;
    out.direct_seconds = hybrid.direct_seconds = LAUNCH + best_direct(&m, &all, &s);
    out.lanes = s.lanes;
    out.values = s.values;
    out.seconds = out.direct_seconds;
    if (wanted == FTB_SPMM_CUSPARSE && of->sparse) { /* lanes and values are those without it */
        out.sparse = true;
        out.algorithm = asked->forced & FTB_SPMM_SET_ALGORITHM && of->relaxed ? asked->algorithm
                                                                              : FTB_GPU_SPARSE_CSR_ALG3;
        out.seconds = 0;
        *plan = out;
        return;
    }
    out.why = why_not(&m, wanted, out.seconds < FTB_GPU_SPMM_SMALL && wanted != FTB_SPMM_HYBRID);
    if (!out.why && of->density.known) {
        const double build = choose_hybrid(&hybrid, &m, asked);
        hybrid.hybrid = true;
        hybrid.bulk = !(asked->forced & FTB_SPMM_SET_BULK) || asked->bulk;
        hybrid.vectors = is_wide(&m);
        hybrid.seconds = out.hybrid_seconds = hybrid.hybrid_seconds;
        const bool fits = hybrid.threshold > 0 && tile_fits(&m, hybrid.tile);
        if (fits && (wanted == FTB_SPMM_HYBRID || hybrid.seconds < MARGIN * out.direct_seconds))
            out = hybrid;
        else
            out.why = why_direct(&m, &hybrid, hybrid.seconds - build < MARGIN * out.direct_seconds);
    } else if (!out.why) {
        out.why = why_direct(&m, &hybrid, false);
    }
    *plan = out;
}
