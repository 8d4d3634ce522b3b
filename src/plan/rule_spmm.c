/* How a sparse x block product is run: a cost model in seconds for one thread, of the direct form and of
 * partitions over every tile and share of L2 that are worth trying.
 *
 *     direct       entries x (features x bytes / rate where the block fits + the entry's own bytes)
 *     partitioned  tiles x (entries x tile x bytes / rate of L2 + visits x what a visit costs
 *                           + lines of edge values, which lie scattered) + parts x packing
 *     ordered      the same, but the lines once, and then the values in order for every tile
 *     sliced       entries x (what one costs + its word) + lines of sources, which every slice reads in order
 *
 * Between two visits of a row the other rows of its part go by, with their edges' values: as long as that
 * stays in L3, rows and lines cost little; more parts shorten it, and pack the sources again. rand-100k, 8 x
 * 16 weights, in 1, 4, 8 and 16 parts: 0.98, 0.68, 0.61 and 0.66 s.
 *
 * A row of degree g meets segments x (1 - exp(-g / segments)) of them, if columns are spread evenly.
 * What each costs stands in costs.h. */
#include "core/isa.h"
#include "core/slices.h"
#include "plan/spmm_plan.h"

#include "plan/spmm_tiles.h"

#include <math.h>

#define PACKED_SHARE 0.6 /* of L2: bytes of a segment that stay in it */
#define LONG_ROW 1024    /* bytes */
#define MARGIN 0.75      /* partitions must be this much faster: no model is better than that */
#define VISIT_OVERLAP 6  /* rows of the tile come while others are worked on, if most are visited */
#define ORDERED_BYTES (INT64_C(1) << 28)  /* of a part's values */
#define RESULT_BYTES (INT64_C(256) << 20) /* of tiles of the result, of all threads */
#define PACK_ENTRIES 64                   /* entries a source, for every time that it is packed */
#define FIRST_LINES 3                     /* of a visit's edge values, that are waited for */
#define SMALL_SECONDS 250e-6              /* of a direct product: a partition is not worth looking for */
#define MOST_PARTS 16                     /* times the fewest */
#define SLICED_AHEAD 64                   /* entries that sources of slices are fetched early */
#define AHEAD_BYTES 4096                  /* of sources that are fetched early, and least and most entries */
#define LEAST_AHEAD 12
#define MOST_AHEAD 32

typedef struct model {
    const ftb_spmm_facts *facts;
    ftb_costs costs;
    int64_t l2, l3;
    bool near_l3;
    double l3_bytes, l3_share; /* what one core gets of it; a thread, where all read segments from it */
} model;

int ftb_spmm_round_vectors(int64_t vectors)
{
#define ENTRY(first, vectors) vectors,
    static const int counts[] = {FTB_SPMM_COUNTS(ENTRY, 0)};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        if (counts[c] >= vectors)
            return counts[c];
    return FTB_SPMM_VECTORS;
}

/* Bytes a second of rows of `row` bytes that are read from anywhere in `bytes`. Where these are few times L2,
 * rows of many lines come as fast as if they were in order: 2000 sources, 13706 entries, 256 features 49 GB/s
 * and 602 features 32 GB/s. From memory, in pages of 4 KiB, rows of 128, 512 and 2408 bytes came at 0.38,
 * 0.85 and 1 of its rate. A near L3 keeps a share of what is larger than it: it takes what L2 drops.
 */
static double gather_rate(const model *m, double bytes, double row)
{
    if (bytes <= 0.5 * (double)m->l2)
        return m->costs.near_gather * m->costs.l2_read;
    bool streams = row >= LONG_ROW && bytes <= 8 * (double)m->l2;
    double middle = (streams ? 1 : m->costs.far_gather) * m->costs.l3_read;
    double memory = row / (row + m->costs.far_bytes) * m->costs.memory_read;
    double kept = bytes <= m->l3_bytes ? 1 : m->near_l3 ? m->l3_bytes / bytes : 0;
    double far = 1 / (kept / middle + (1 - kept) / memory);
    double near = fmin(1, (streams ? 0.85 : 0.5) * (double)m->l2 / bytes); /* what stays in L2 of itself */
    return 1 / (near / (m->costs.near_gather * m->costs.l2_read) + (1 - near) / far);
}

/* Seconds of a row of a segment, which was packed: segments share L2 with what streams past. */
static double packed_seconds(const model *m, double row, double packed)
{
    const double near = fmin(1, PACKED_SHARE * (double)m->l2 / packed);
    return near * row / (m->costs.near_gather * m->costs.l2_read) +
           (1 - near) * (row / (m->costs.far_gather * m->costs.l3_read) + m->costs.far_row);
}

static double direct_seconds(const model *m)
{
    const ftb_spmm_facts *f = m->facts;
    double row = (double)(f->features * f->value_bytes), entries = (double)f->entries;
    double chunks = ceil((double)f->features / (double)(FTB_SPMM_VECTORS * f->lanes));
    double lines = ceil(row / 64) * 64; /* of a narrow row, a line is read */
    double whole = row * (double)f->ncols;
    double near = ftb_degrees_near(&f->degrees, 0.25 * (double)m->l2 /
                                                    lines); /* sources that stay in L2 from row to row */
    const double piece = row / chunks;                      /* of a row, read at once */
    double far = lines * ((1 - near) / gather_rate(m, whole, piece) +
                          near / gather_rate(m, fmin(whole, 0.5 * (double)m->l2), piece));
    double gather = fmax(far, m->costs.chain * chunks);
    double own = (4 + (double)f->edge_bytes) / m->costs.memory_read + m->costs.entry * chunks;
    if (f->vector) {
        const double gathered = whole <= 0.5 * (double)m->l2 ? 0 : far;
        return entries * (fmax(m->costs.vector_entry, gathered) +
                          (4 + (double)f->edge_bytes) / m->costs.memory_read) +
               (double)f->listed * m->costs.row;
    }
    if (f->ordered)
        return entries * (far + 4 / m->costs.memory_read + m->costs.ordered_entry) +
               (double)f->listed * m->costs.ordered_row;
    bool kept = row * (double)(f->listed + f->ncols) <= 8 * (double)m->l2; /* the result stays near, too */
    double result = 2 * row / (kept ? m->costs.l3_read : m->costs.memory_read);
    return entries * (gather + own) + (double)f->listed * (result + m->costs.row * chunks) +
           (f->stored_bytes == f->value_bytes ? 0 : 2 * row * (double)f->ncols / m->costs.memory_read);
}

/* Pairs (row, segment) that hold entries, about: those near the diagonal are in one segment. */
static double visits_of(const ftb_spmm_facts *f, double segments, double near)
{
    double visits = near * (double)f->listed;
    for (int b = 0; b < FTB_DEGREES; b++)
        if (f->degrees.rows[b] > 0) {
            double degree = (double)f->degrees.entries[b] / (double)f->degrees.rows[b];
            visits += (double)f->degrees.rows[b] * segments * -expm1(-(1 - near) * degree / segments);
        }
    return visits;
}

/* How far the part's rows are from L3 between two visits: 0 where they stay, 1 where they come from memory.
 * What a system says of L3 may be more than a core gets. */
static double distance(const model *m, const ftb_spmm_plan *plan)
{
    const ftb_spmm_facts *f = m->facts;
    double parts = (double)plan->parts, segments = ceil((double)f->ncols / (double)plan->segment);
    double rows = (double)(plan->tile * f->value_bytes) * (double)f->listed / parts;
    double values = (double)(f->entries * f->edge_bytes) / (parts * segments);
    double share = (double)m->l3 / plan->threads;
    double near = fmin(8 * (double)m->l2, 0.25 * share), far = fmin(32 * (double)m->l2, 0.75 * share);
    return fmin(1, fmax(0, (rows + values - near) / (far - near)));
}

/* Of reading the edges' values: a line comes from memory the first time, and again for every visit that
 * begins within it. The first lines of a visit are waited for; of a long one, the processor has fetched the
 * others by then. rand-100k and proteins-like, one value an edge, 16384 sources a segment: 40 and 70 ms
 * beside the sum's 120 and 195; 3072: 90 and 215 beside 100 and 155. */
static double edge_seconds(const model *m, const ftb_spmm_plan *plan, double visits, double far)
{
    double entries = (double)m->facts->entries, bytes = entries * (double)m->facts->edge_bytes;
    double lines = bytes / 64, first = fmin(lines, FIRST_LINES * visits);
    double again = m->costs.line + far * (m->costs.far_line - m->costs.line);
    if (m->facts->edge_bytes == 0)
        return 0;
    return plan->ordered ? (visits + lines) * m->costs.order_line +
                               (double)(plan->ntiles + 1) * bytes / m->costs.memory_read
                         : (double)plan->ntiles * (visits * again + first * fmax(m->costs.first_line, again) +
                                                   (lines - first) * m->costs.line);
}

static int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

/* Features of the kernel that takes so many: it works on whole vectors, and not on any number of them. */
static int64_t padded(const ftb_spmm_facts *f, int64_t tile)
{
    return ftb_spmm_round_vectors(ceil_div(tile, f->lanes)) * f->lanes;
}

/* Of all tiles together. */
static double padded_features(const ftb_spmm_facts *f, int64_t ntiles)
{
    int64_t vectors = ceil_div(f->features, f->lanes), least = vectors / ntiles, longer = vectors % ntiles;
    return (double)(longer * padded(f, (least + 1) * f->lanes) +
                    (ntiles - longer) * padded(f, least * f->lanes));
}

static double partitioned_seconds(const model *m, const ftb_spmm_plan *plan, double visits)
{
    const ftb_spmm_facts *f = m->facts;
    const int64_t tile = padded(f, plan->tile), segment = plan->segment;
    double bytes = (double)(tile * f->value_bytes), packed = bytes * (double)segment;
    double segments = ceil((double)f->ncols / (double)segment), entries = (double)f->entries;
    double block = (double)(f->ncols * f->features), result = (double)(f->listed * f->features);
    double gather = fmax(packed_seconds(m, bytes, packed), m->costs.chain) + 2 / m->costs.memory_read +
                    m->costs.visit_entry;
    double far = distance(m, plan), packs = (double)plan->parts;
    double visited = fmin(1, visits / (segments * fmax(1, (double)f->listed)));
    double visit = m->costs.visit + 20 / m->costs.memory_read +
                   2 * bytes / (1 + (VISIT_OVERLAP - 1) * visited * visited) *
                       ((1 - far) / m->costs.l3_read + far / m->costs.memory_read);
    double tiles = padded_features(f, plan->ntiles) / (double)tile; /* of the longest */
    double seconds = tiles * (entries * gather + visits * visit) + edge_seconds(m, plan, visits, far) +
                     packs * block * (double)(f->stored_bytes + f->value_bytes) / m->costs.memory_read +
                     3 * result * (double)f->value_bytes / m->costs.l3_read;
    if (plan->ntiles > 1) /* a part of a row is another page, or soon is */
        seconds += (double)plan->ntiles * (packs * (double)f->ncols + (double)f->listed) * m->costs.stride;
    double build = entries * m->costs.build_entry + visits * m->costs.build_visit;
    return seconds + (f->cached_segment == segment ? 0 : build / (double)plan->uses);
}

/* Sources whose tile takes so much. */
static int64_t segment_for(const ftb_spmm_facts *f, int64_t tile, double bytes)
{
    double fit = bytes / (double)(tile * f->value_bytes);
    int64_t segment = fit > FTB_MOST_SEGMENT ? FTB_MOST_SEGMENT : (int64_t)fit / 64 * 64;
    if (segment < 64)
        segment = 64;
    return segment > f->ncols && f->ncols > 0 ? f->ncols : segment;
}

/* Most rows of a part: threads hold a tile of the result for each. Sources are packed again for every part,
 * so that parts are many only where sources have many entries. */
static int64_t choose_most(const ftb_spmm_plan *plan, const ftb_spmm_facts *f)
{
    double room = fmin((double)RESULT_BYTES, 0.25 * (double)f->memory_left) / plan->threads;
    double fit = room / (double)(plan->tile * f->value_bytes);
    double least = (double)f->nrows * PACK_ENTRIES * (double)f->ncols / fmax(1, (double)f->nvals);
    return (int64_t)ceil(fmin(fmax(1, fmax(fit, least)), fmax(1, (double)f->nrows)));
}

/* Fewest parts. */
static int64_t least_parts(const ftb_spmm_plan *plan, const ftb_spmm_facts *f)
{
    int64_t parts = f->nrows > 0 ? ceil_div(f->nrows, plan->most) : 1;
    int64_t full = plan->ordered ? ceil_div(f->entries * f->edge_bytes, ORDERED_BYTES) : 1;
    return parts > full ? parts : full;
}

/* Items of work are tiles x parts, or parts if edges are ordered: as many parts as share out evenly, or as
 * make threads' ends meet. */
static int64_t even_parts(const ftb_spmm_plan *plan, int64_t parts)
{
    int64_t threads = plan->threads;
    if (plan->ordered)
        return ceil_div(parts, threads) * threads;
    while (plan->ntiles * parts % threads != 0 && plan->ntiles * parts < 4 * threads)
        parts++;
    return parts;
}

static bool partition_fits(ftb_spmm_plan *plan, const ftb_spmm_facts *f)
{
    double segments = (double)ceil_div(f->ncols, plan->segment);
    double visits = fmin((double)f->nvals, (double)f->nrows * segments);
    double rows = fmin((double)plan->most, (double)f->nrows / (double)plan->parts * 1.5);
    double bytes =
        (double)plan->threads * (double)(plan->tile * f->value_bytes) * ((double)plan->segment + rows);
    if (plan->ordered)
        bytes += (double)(plan->threads * f->entries * f->edge_bytes) / (double)plan->parts * 1.1;
    plan->partition_bytes =
        f->cached_segment == plan->segment ? 0 : (int64_t)(2 * (double)f->nvals + 20 * visits + 8 * segments);
    plan->bytes = (int64_t)bytes;
    return bytes + (double)plan->partition_bytes <= (double)f->memory_left;
}

/* The best of a plan in few and many parts, and of the best so far, which may be none. */
static void keep_better(ftb_spmm_plan *best, ftb_spmm_plan *plan, const model *m, double visits)
{
    bool forced = plan->asked.forced & FTB_SPMM_SET_PARTS;
    plan->most = choose_most(plan, m->facts);
    int64_t parts = forced ? plan->asked.parts : least_parts(plan, m->facts);
    for (int64_t most = forced ? parts : parts * MOST_PARTS; parts <= most; parts += parts / 2 + 1) {
        plan->parts = forced ? parts : even_parts(plan, parts);
        plan->partitioned_seconds = partitioned_seconds(m, plan, visits);
        if (plan->partitioned_seconds < best->partitioned_seconds && partition_fits(plan, m->facts))
            *best = *plan;
    }
}

static void choose_partition(ftb_spmm_plan *plan, const model *m)
{
#define ENTRY(first, vectors) vectors,
    static const int vectors[] = {FTB_SPMM_COUNTS(ENTRY, 0)};
    static const double shares[] = {0.25, 0.375, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8}; /* of L2 */
    const ftb_spmm_facts *f = m->facts;
    const ftb_spmm_asked *asked = &plan->asked;
    int64_t all = ceil_div(f->features, f->lanes);
    int64_t forced = asked->forced & FTB_SPMM_SET_TILE ? ceil_div(asked->tile, f->lanes) : 0;
    int64_t segment = asked->forced & FTB_SPMM_SET_SEGMENT ? asked->segment : 0;
    ftb_spmm_plan trial = *plan;
    plan->partitioned_seconds = INFINITY;
    for (size_t v = 0; v < (forced > 0 ? 1 : sizeof vectors / sizeof *vectors); v++)
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
            int64_t most = forced > 0 ? (forced > FTB_SPMM_VECTORS ? FTB_SPMM_VECTORS : forced) : vectors[v];
            trial.ntiles = ceil_div(all, most);
            trial.tile = ceil_div(all, trial.ntiles) * f->lanes;
            const int64_t before = trial.segment;
            trial.segment =
                segment > 0 ? segment : segment_for(f, padded(f, trial.tile), shares[s] * (double)m->l2);
            if (s > 0 &&
                (trial.segment == before || (shares[s] > 0.5 && shares[s] * (double)m->l2 > m->l3_share)))
                break;
            double near = ftb_degrees_near(&f->degrees, 0.5 * (double)trial.segment);
            double visits = visits_of(f, ceil((double)f->ncols / (double)trial.segment), near);
            for (int ordered = 0; ordered <= (f->edge_bytes > 0); ordered++)
                if (!(asked->forced & FTB_SPMM_SET_ORDERED) || f->edge_bytes == 0 ||
                    asked->ordered == ordered) {
                    trial.ordered = ordered;
                    keep_better(plan, &trial, m, visits);
                }
        }
}

/* ---- slices */

/* Every slice reads the lines of its entries' sources, in order: of those near the diagonal few, of the
 * others as many as chance meets. */
static double sliced_seconds(const model *m, const ftb_spmm_plan *plan)
{
    const ftb_spmm_facts *f = m->facts;
    const double entries = (double)f->entries, row = (double)(f->features * f->value_bytes),
                 sources = row * (double)f->ncols, lines = ceil(sources / 64),
                 slices = ceil((double)f->nrows / FTB_SLICE_ROWS), each = entries / slices,
                 near = ftb_degrees_near(&f->degrees, FTB_SLICE_ROWS);
    const double read = slices * (fmin(near * each, 2 * FTB_SLICE_ROWS * row / 64) +
                                  lines * -expm1(-(1 - near) * each / lines));
    const double kept = sources <= m->l3_bytes ? 1 : m->near_l3 ? m->l3_bytes / sources : 0;
    const double seconds =
        entries * (m->costs.slice_entry + m->costs.slice_byte * row + 4 / m->costs.memory_read) +
        m->costs.slice_line * read * 64 * (kept / m->costs.l3_read + (1 - kept) / m->costs.memory_read) +
        2 * (double)f->listed * row / m->costs.memory_read;
    return seconds + (f->slices_there ? 0 : entries * m->costs.slice_build / (double)plan->uses);
}

static int64_t longest_row(const ftb_spmm_facts *f)
{
    int b = FTB_DEGREES - 1;
    while (b >= 0 && f->degrees.rows[b] == 0)
        b--;
    return INT64_C(1) << (b + 1);
}

static void slice(ftb_spmm_plan *plan, const model *m)
{
    const ftb_spmm_facts *f = m->facts;
    const double row = (double)(f->features * f->value_bytes);
    plan->family = FTB_SPMM_SLICED;
    plan->segment = FTB_SLICE_ROWS;
    plan->ordered = false;
    plan->parts = plan->ntiles = 1;
    plan->tile = f->features;
    if (!(plan->asked.forced & FTB_SPMM_SET_AHEAD))
        plan->ahead = row * (double)f->ncols <= 0.5 * (double)m->l2 ? 0 : SLICED_AHEAD;
    plan->seconds = plan->sliced_seconds = sliced_seconds(m, plan);
    plan->partition_bytes = f->slices_there ? 0 : f->slices_bytes;
    plan->bytes = (int64_t)(row * ((double)f->ncols + 2.0 * FTB_SLICE_ROWS * plan->threads));
    if (!f->slices_there)
        plan->bytes += ftb_slices_scratch(f->nvals, longest_row(f), plan->threads);
}

static bool slices_fit(const ftb_spmm_plan *plan, const ftb_spmm_facts *f)
{
    return (double)plan->bytes + (double)plan->partition_bytes <= (double)f->memory_left;
}

/* Entries that sources are fetched ahead: enough for some fifty lines to be on their way. */
static int64_t sources_ahead(const ftb_spmm_facts *f)
{
    int64_t row = f->features * f->value_bytes;
    if (row * MOST_AHEAD <= AHEAD_BYTES)
        return MOST_AHEAD;
    return row * LEAST_AHEAD < AHEAD_BYTES ? AHEAD_BYTES / row : LEAST_AHEAD;
}

static void use_direct(ftb_spmm_plan *plan, const model *m)
{
    const ftb_spmm_facts *f = m->facts;
    bool near = (double)(f->ncols * f->features * f->value_bytes) <= 0.5 * (double)m->l2;
    plan->family = f->tuned ? FTB_SPMM_DIRECT : FTB_SPMM_PROGRAM;
    plan->segment = 0;
    plan->ordered = false;
    plan->parts = 1;
    plan->partition_bytes = plan->bytes = 0;
    if (!(plan->asked.forced & FTB_SPMM_SET_AHEAD))
        plan->ahead = near ? 0 : sources_ahead(f);
    if (!(plan->asked.forced & FTB_SPMM_SET_TILE))
        plan->tile = FTB_SPMM_VECTORS * f->lanes;
    plan->ntiles = ceil_div(f->features, plan->tile > 0 ? plan->tile : 1);
    plan->seconds = plan->direct_seconds;
}

/* The GPU's, of what was asked for by hand and what a trial found there with that: what was chosen is the
 * host's.
 */
static void plan_there(ftb_spmm_plan *plan, const ftb_spmm_facts *facts)
{
    ftb_spmm_plan there = *plan;
    there.asked.forced &= ~plan->asked.chosen;
    there.asked.chosen = 0;
    if (!plan->there.family || !ftb_gpu_spmm_choose(&there, facts, &plan->there, FTB_ORIGIN_TRIAL)) {
        ftb_rule_gpu_spmm(&there.gpu, facts, &facts->gpu, &there.asked);
        ftb_rule_gpu_tensor(&there.gpu, facts, &facts->gpu, &there.asked);
    }
    plan->gpu = there.gpu;
}

static bool may_slice(const ftb_spmm_facts *f, const ftb_spmm_asked *asked, ftb_spmm_family wanted)
{
    const bool by_hand = wanted == FTB_SPMM_SLICED && !(asked->chosen & FTB_SPMM_SET_KERNEL);
    return f->tuned && ((f->sliced == FTB_SLICES && (wanted == FTB_SPMM_AUTO || wanted == FTB_SPMM_SLICED)) ||
                        (f->sliced == FTB_SLICES_ASKED && by_hand));
}

/* What is better than the direct form, or asked for, in place of *out. */
static void leave_rows(ftb_spmm_plan *out, const model *m, ftb_spmm_family wanted)
{
    const ftb_spmm_facts *f = m->facts;
    const bool small = out->direct_seconds < SMALL_SECONDS;
    double best = out->direct_seconds;
    if (f->tuned && f->partitioned && f->ncols > 0 && f->features > 0 &&
        (wanted == FTB_SPMM_PARTITIONED || (wanted == FTB_SPMM_AUTO && !small))) {
        ftb_spmm_plan parted = *out;
        choose_partition(&parted, m);
        parted.family = FTB_SPMM_PARTITIONED;
        parted.seconds = parted.partitioned_seconds;
        out->partitioned_seconds = parted.partitioned_seconds;
        if (isfinite(parted.seconds) && (wanted == FTB_SPMM_PARTITIONED || parted.seconds < MARGIN * best)) {
            *out = parted;
            best = parted.seconds;
        }
    }
    if (may_slice(f, &out->asked, wanted) && (wanted == FTB_SPMM_SLICED || !small)) {
        ftb_spmm_plan sliced = *out;
        slice(&sliced, m);
        out->sliced_seconds = sliced.sliced_seconds;
        if (slices_fit(&sliced, f) && (wanted == FTB_SPMM_SLICED || sliced.seconds < MARGIN * best))
            *out = sliced;
    }
}

void ftb_rule_spmm(ftb_spmm_plan *plan, const ftb_spmm_facts *facts, const ftb_machine_facts *machine)
{
    const int isa = ftb_isa_for(facts->features * facts->value_bytes);
    model m = {.facts = facts,
               .costs = ftb_machine_costs_of(machine, isa),
               .l2 = machine->l2,
               .l3 = machine->l3,
               .near_l3 = machine->near_l3,
               .l3_bytes = ftb_machine_l3(machine)};
    const ftb_spmm_asked *asked = &plan->asked;
    ftb_spmm_plan out = {.asked = *asked,
                         .there = plan->there,
                         .threads = facts->threads,
                         .partitioned_seconds = INFINITY,
                         .sliced_seconds = INFINITY};
    ftb_spmm_family wanted = asked->forced & FTB_SPMM_SET_KERNEL && asked->family < FTB_SPMM_HYBRID
                                 ? asked->family
                                 : FTB_SPMM_AUTO;
    out.uses = asked->forced & FTB_SPMM_SET_USES ? asked->uses
               : facts->uses > 0                 ? facts->uses
                                                 : FTB_SPMM_USES;
    out.tile = asked->forced & FTB_SPMM_SET_TILE ? asked->tile : 0;
    out.ahead = asked->forced & FTB_SPMM_SET_AHEAD ? asked->ahead : 0;
    if (asked->forced & FTB_SPMM_SET_THREADS)
        out.threads = (int)asked->threads;
    m.l3_share = fmin(m.l3_bytes, 0.5 * (double)machine->l3 / out.threads);
    out.direct_seconds = direct_seconds(&m);
    leave_rows(&out, &m, wanted);
    if (out.family != FTB_SPMM_PARTITIONED && out.family != FTB_SPMM_SLICED)
        use_direct(&out, &m);
    if (!facts->tuned || wanted == FTB_SPMM_PROGRAM) {
        out.family = FTB_SPMM_PROGRAM;
        out.seconds = fmax(out.direct_seconds,
                           m.costs.program_value * (double)facts->entries * (double)facts->features);
    }
    out.seconds /= out.threads;
    if (facts->gpu.gpu.multiprocessors > 0)
        plan_there(&out, facts);
    *plan = out;
}
