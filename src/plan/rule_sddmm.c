/* Segments or rows as they lie: by the bytes that each moves, from which cache.
 *
 *     direct     entries x source bytes, from the caches that hold all sources
 *     segments   entries x source bytes from those that hold a segment, and for each visit (row, segment) the
 *                row's bytes and a line of results from memory
 *
 * Visits of a row of degree d among n segments, its columns scattered: n (1 - exp(-d / n)). Small segments
 * are read from L2, large ones are visited less often: on a core with 1 MB of L2, rand-100k with d = 128 took
 * 0.91, 0.78, 0.60, 0.53, 0.57 and 0.65 s with segments of 512, 1024, ... 16384 sources of 512 bytes. */
#include "plan/sddmm_plan.h"

#include <math.h>

#define LINE 64.0
#define SPARSE 0.25      /* visits per row of a segment, below which rows are not read in order any more */
#define STAGE_MARGIN 0.9 /* steps must be this much faster: they keep weights */
#define MARGIN 0.8       /* segments must be this much faster: they take time to build */
#define LEAST_SEGMENT 256
#define MOST_PACKED 4 /* times L2: bytes of a segment's sources */
#define MOST_NEAR 8   /* the same, where L3 is near */

/* What is counted with. */
typedef struct model {
    const ftb_sddmm_facts *facts;
    const ftb_machine_facts *machine;
    ftb_costs costs;
} model;

static double visits_of(const ftb_sddmm_facts *f, double segments, double near)
{
    double visits = 0;
    for (int c = 0; c < FTB_DEGREES; c++)
        if (f->degrees.rows[c] > 0) {
            const double rows = (double)f->degrees.rows[c], degree = (double)f->degrees.entries[c] / rows;
            visits += rows * (near + segments * -expm1(-(1 - near) * degree / segments));
        }
    return visits < (double)f->nvals ? visits : (double)f->nvals;
}

/* Seconds of a row in no order, of rows that take `bytes` all together: what L2 holds of them comes from
 * there, the rest from the cache that holds all. */
static double scattered_seconds(const model *m, double row, double bytes)
{
    const ftb_costs *k = &m->costs;
    const bool walk = m->facts->attention, middle = bytes <= ftb_machine_l3(m->machine);
    const double near = bytes > 0 ? fmin(1, (double)m->machine->l2 / bytes) : 1;
    const double rate = middle ? walk ? k->walk_l3 : k->dot_l3 : walk ? k->walk_memory : k->dot_memory;
    const double far = row / rate + (walk ? 0 : k->dot_far_row);
    return near * row / (walk ? k->walk_l2 : k->dot_l2) + (1 - near) * far;
}

/* Of an entry beside its bytes; attention counts its heads by itself. */
static double entry_seconds(const model *m)
{
    const bool heads = !m->facts->attention && m->facts->heads > 1;
    return m->costs.dot_entry + (heads ? (double)(m->facts->heads - 1) * m->costs.dot_head : 0);
}

static double direct_seconds(const model *m)
{
    const ftb_sddmm_facts *f = m->facts;
    const double row = (double)f->source_bytes, all = (double)f->ncols * row,
                 close = 0.5 * (double)m->machine->l2;
    const double near = row > 0 ? ftb_degrees_near(&f->degrees, 0.5 * close / row) : 0;
    const double source =
        (1 - near) * scattered_seconds(m, row, all) + near * scattered_seconds(m, row, fmin(all, close));
    return (double)f->nvals * (source + entry_seconds(m) + (double)f->entry_bytes / m->costs.far_rows) +
           (double)f->nrows * (double)f->row_bytes / m->costs.far_rows;
}

/* Of the plan's segment and tile; notes what it counts with. */
static double segment_seconds(const model *m, ftb_sddmm_plan *plan)
{
    const ftb_sddmm_facts *f = m->facts;
    const double passes = ceil((double)f->source_bytes / (double)plan->tile);
    const double part = (double)plan->tile / (double)f->source_bytes;
    const double segments = ceil((double)f->ncols / (double)plan->segment);
    const double rows = part * (double)f->nrows * (double)f->row_bytes;
    /* What goes by between two visits of a row. */
    const double passing = rows + (double)f->nvals * (double)f->entry_bytes / segments;
    const double row = part * (double)f->row_bytes + 2 * LINE;
    plan->visits = visits_of(f, segments, ftb_degrees_near(&f->degrees, 0.5 * (double)plan->segment));
    double visit = row / (passing <= ftb_machine_l3(m->machine) ? m->costs.near_rows : m->costs.far_rows);
    if (plan->visits < SPARSE * segments * (double)f->nrows)
        visit = fmax(visit, scattered_seconds(m, row, rows));
    const double source =
        scattered_seconds(m, (double)plan->tile, (double)plan->segment * (double)plan->tile);
    plan->gathered = passes * (double)f->nvals * source;
    return plan->gathered +
           passes * ((double)f->nvals * entry_seconds(m) + plan->visits * (m->costs.dot_visit + visit) +
                     2 * (double)f->nvals * (double)f->entry_bytes / m->costs.far_rows);
}

/* Whether segments were asked for, be they slower. */
static bool must_segment(const ftb_sddmm_asked *asked)
{
    if (asked->forced & FTB_SDDMM_SET_KERNEL && asked->family != FTB_SDDMM_AUTO &&
        asked->family != FTB_SDDMM_FUSED && asked->family != FTB_SDDMM_CUSPARSE)
        return asked->family == FTB_SDDMM_SEGMENTS;
    return asked->forced & FTB_SDDMM_SET_SEGMENT;
}

static bool may_segment(const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts)
{
    return !facts->program && facts->nvals > 0 && facts->source_bytes > 0 &&
           facts->nrows < INT64_C(1) << 32 &&
           !(asked->forced & FTB_SDDMM_SET_KERNEL && asked->family == FTB_SDDMM_ROWS);
}

/* The segment and tile, if they are better than what plan has. */
static void consider(ftb_sddmm_plan *plan, const model *m, int64_t segment, int64_t tile)
{
    const ftb_sddmm_facts *f = m->facts;
    ftb_sddmm_plan trial = *plan;
    trial.segment = segment;
    trial.tile = tile;
    trial.visited = segment_seconds(m, &trial);
    trial.seconds = f->attention ? ftb_attention_fused_seconds(&trial, f, &m->costs) : trial.visited;
    const double packed = fmax((double)m->machine->l2, (double)segment * (double)tile);
    const double bytes = f->threads * packed + 2.0 * (double)f->nvals + 20 * trial.visits;
    const double margin = plan->segment > 0 ? 1 : MARGIN;
    bool must = plan->segment == 0 && must_segment(&plan->asked);
    if ((must || trial.seconds < margin * plan->seconds) && bytes < (double)f->memory_left)
        *plan = trial;
}

/* Segments of many sizes for the tile: powers of two, and half as many more. */
static void consider_tile(ftb_sddmm_plan *plan, const model *m, int64_t tile)
{
    const int64_t ncols = m->facts->ncols;
    const int64_t most = (m->machine->near_l3 ? MOST_NEAR : MOST_PACKED) * m->machine->l2 / tile;
    if (plan->asked.forced & FTB_SDDMM_SET_SEGMENT) {
        consider(plan, m, plan->asked.segment, tile);
        return;
    }
    for (int64_t segment = LEAST_SEGMENT; segment <= FTB_MOST_SEGMENT; segment *= 2) {
        if (segment > LEAST_SEGMENT && (segment > most || segment / 2 >= ncols))
            break;
        consider(plan, m, segment, tile);
        if (segment / 2 * 3 <= most && segment < ncols && segment < FTB_MOST_SEGMENT)
            consider(plan, m, segment / 2 * 3, tile);
    }
}

static void choose_segments(ftb_sddmm_plan *plan, const model *m)
{
    const ftb_sddmm_facts *f = m->facts;
    int64_t piece = f->piece_bytes > 0 ? f->piece_bytes : f->source_bytes;
    if (plan->asked.forced & FTB_SDDMM_SET_TILE) {
        int64_t tile = (plan->asked.tile + piece - 1) / piece * piece;
        consider_tile(plan, m, tile < f->source_bytes ? tile : f->source_bytes);
        return;
    }
    int64_t tile = piece; /* of one piece, two, four, ... and the whole row */
    for (; tile < f->source_bytes && !f->one_piece; tile *= 2)
        consider_tile(plan, m, tile);
    consider_tile(plan, m, f->one_piece ? piece : f->source_bytes);
}

/* Whether steps are for the rule to choose. */
static bool may_stage(const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts)
{
    const unsigned fused = FTB_SDDMM_SET_SEGMENT | FTB_SDDMM_SET_TILE;
    bool kernel = asked->forced & FTB_SDDMM_SET_KERNEL && asked->family != FTB_SDDMM_AUTO;
    return facts->can_stage && ftb_attention_weights_fit(facts) && !kernel && !(asked->forced & fused);
}

/* Attention is done in steps where that is asked for, or faster. */
static void consider_steps(ftb_sddmm_plan *plan, const model *m)
{
    const ftb_sddmm_facts *f = m->facts;
    const ftb_sddmm_asked *asked = &plan->asked;
    bool must = asked->forced & FTB_SDDMM_SET_KERNEL && asked->family == FTB_SDDMM_STAGED && f->can_stage;
    plan->fused = plan->seconds;
    plan->in_steps = f->can_stage ? ftb_attention_staged_seconds(f, m->machine) : 0;
    if (!must && !(may_stage(asked, f) && plan->in_steps < STAGE_MARGIN * plan->fused))
        return;
    plan->staged = true;
    plan->segment = 0;
    plan->tile = f->source_bytes;
    plan->visits = 0;
    plan->seconds = plan->in_steps;
}

void ftb_rule_sddmm(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_machine_facts *machine)
{
    const ftb_sddmm_asked asked = plan->asked;
    const ftb_choice there = plan->there;
    if (facts->standard)
        machine = ftb_machine_standard();
    const model m = {facts, machine, ftb_machine_costs(machine)};
    const double direct = direct_seconds(&m);
    *plan = (ftb_sddmm_plan){.tile = facts->source_bytes,
                             .threads = asked.forced & FTB_SDDMM_SET_THREADS ? asked.threads : facts->threads,
                             .seconds = direct,
                             .direct = direct,
                             .visited = direct,
                             .there = there,
                             .asked = asked};
    if (facts->attention)
        plan->seconds = ftb_attention_fused_seconds(plan, facts, &m.costs);
    if (may_segment(&asked, facts))
        choose_segments(plan, &m);
    if (facts->attention)
        consider_steps(plan, &m);
    if (facts->gpu.there)
        ftb_rule_gpu_sddmm_there(plan, facts);
}
