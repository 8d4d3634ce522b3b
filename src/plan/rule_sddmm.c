/* Segments or rows as they lie: by the bytes that each moves, from which cache.
 *
 *     direct     entries x source bytes, from the cache that holds all sources
 *     segments   entries x source bytes from L2, and for each visit (row, segment) the row's bytes and a line
 *                of results from memory
 *
 * Visits of a row of degree d among n segments, its columns scattered: n (1 - exp(-d / n)). The rates are
 * those of one Sapphire Rapids core (2 MB L2); on rand-100k with d = 128 the model gives 0.53 and 1.53 s,
 * measured were 0.53 and 1.55. Only ratios matter to the choice. Segments take three quarters of L2, or half
 * where a visit moves more beside them: dot products, d = 128, 2048 rows 0.61 s, 3072 rows 0.55 s. */
#include "plan/sddmm.h"

#include <math.h>

#define L2_RATE 90e9 /* bytes a second */
#define L3_RATE 16e9 /* scattered rows */
#define MEMORY_RATE 8e9
#define ROWS_RATE 12e9 /* rows in order, with gaps */
#define ENTRY_SECONDS 1e-9
#define LINE 64.0
#define SPARSE 0.25      /* visits per row of a segment, below which rows are not read in order any more */
#define STAGE_MARGIN 0.9 /* steps must be this much faster: they keep weights */
#define MARGIN 0.8       /* segments must be this much faster: they take time to build */
#define LEAST_SEGMENT 256

void ftb_sddmm_degrees(ftb_sddmm_facts *facts, const int64_t *rowptr, int64_t nrows)
{
    for (int c = 0; c < FTB_DEGREE_CLASSES; c++)
        facts->rows[c] = 0;
    for (int64_t i = 0; i < nrows; i++) {
        int64_t degree = rowptr[i + 1] - rowptr[i];
        if (degree > 0) {
            int c = 63 - __builtin_clzll((unsigned long long)degree);
            facts->rows[c < FTB_DEGREE_CLASSES ? c : FTB_DEGREE_CLASSES - 1]++;
        }
    }
}

static double visits_of(const ftb_sddmm_facts *facts, double segments)
{
    double visits = 0;
    for (int c = 0; c < FTB_DEGREE_CLASSES; c++)
        visits += facts->rows[c] * segments * (1 - exp(-1.5 * ldexp(1, c) / segments));
    return visits < (double)facts->nvals ? visits : (double)facts->nvals;
}

/* Of rows in no order, `bytes` all together. */
static double scattered_rate(double bytes, const ftb_machine_facts *machine)
{
    return bytes <= (double)machine->l2 / 2   ? L2_RATE
           : bytes <= (double)machine->l3 / 2 ? L3_RATE
                                              : MEMORY_RATE;
}

static double direct_seconds(const ftb_sddmm_facts *facts, const ftb_machine_facts *machine)
{
    double rate = scattered_rate((double)facts->ncols * (double)facts->source_bytes, machine);
    return (double)facts->nvals *
               ((double)facts->source_bytes / rate + ENTRY_SECONDS + (double)facts->entry_bytes / ROWS_RATE) +
           (double)facts->nrows * (double)facts->row_bytes / ROWS_RATE;
}

static double segment_seconds(const ftb_sddmm_facts *facts, const ftb_machine_facts *machine, int64_t segment,
                              int64_t tile, double *visits)
{
    double passes = ceil((double)facts->source_bytes / (double)tile);
    double part = (double)tile / (double)facts->source_bytes;
    double segments = ceil((double)facts->ncols / (double)segment);
    *visits = visits_of(facts, segments);
    double scattered = scattered_rate((double)facts->nrows * (double)facts->row_bytes, machine);
    double rate = *visits > SPARSE * segments * (double)facts->nrows ? ROWS_RATE
                  : scattered < ROWS_RATE                            ? scattered
                                                                     : ROWS_RATE;
    double row = part * (double)facts->row_bytes + 2 * LINE;
    return passes * ((double)facts->nvals * ((double)tile / L2_RATE + ENTRY_SECONDS) + *visits * row / rate +
                     2 * (double)facts->nvals * (double)facts->entry_bytes / ROWS_RATE);
}

/* The largest power of two of rows that fit, or half as many more; 0 if even the least does not. */
static int64_t largest_segment(int64_t bytes, int64_t tile, int64_t ncols)
{
    int64_t segment = FTB_MOST_SEGMENT;
    while (segment * tile > bytes || segment / 2 >= ncols)
        if ((segment /= 2) < LEAST_SEGMENT)
            return 0;
    int64_t more = segment / 2 * 3;
    return segment < ncols && more * tile <= bytes && more <= FTB_MOST_SEGMENT ? more : segment;
}

/* Whether segments were asked for, be they slower. */
static bool must_segment(const ftb_sddmm_asked *asked)
{
    if (asked->forced & FTB_SDDMM_SET_KERNEL && asked->family != FTB_SDDMM_AUTO &&
        asked->family != FTB_SDDMM_FUSED)
        return asked->family == FTB_SDDMM_SEGMENTS;
    return asked->forced & FTB_SDDMM_SET_SEGMENT;
}

static bool may_segment(const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts)
{
    return !facts->program && facts->nvals > 0 && facts->source_bytes > 0 &&
           facts->nrows < INT64_C(1) << 32 &&
           !(asked->forced & FTB_SDDMM_SET_KERNEL && asked->family == FTB_SDDMM_ROWS);
}

/* Segments for the tile, if they are better than what plan has. */
static void consider(ftb_sddmm_plan *plan, const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts,
                     const ftb_machine_facts *machine, int64_t tile)
{
    bool must = must_segment(asked);
    int64_t segment =
        largest_segment(facts->attention ? machine->l2 / 2 : machine->l2 / 4 * 3, tile, facts->ncols);
    if (must && segment == 0)
        segment = LEAST_SEGMENT;
    if (asked->forced & FTB_SDDMM_SET_SEGMENT)
        segment = asked->segment;
    if (segment == 0)
        return;
    double visits, seconds = segment_seconds(facts, machine, segment, tile, &visits);
    double bytes = (double)facts->threads * (double)machine->l2 + 2.0 * (double)facts->nvals;
    bool better = plan->segment > 0 ? seconds < plan->seconds : must || seconds < MARGIN * plan->direct;
    if (better && bytes + 20 * visits < (double)facts->memory_left) {
        plan->segment = segment;
        plan->tile = tile;
        plan->visits = visits;
        plan->seconds = seconds;
    }
}

static void choose_segments(ftb_sddmm_plan *plan, const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts,
                            const ftb_machine_facts *machine)
{
    int64_t piece = facts->piece_bytes > 0 ? facts->piece_bytes : facts->source_bytes;
    if (asked->forced & FTB_SDDMM_SET_TILE) {
        int64_t tile = (asked->tile + piece - 1) / piece * piece;
        consider(plan, asked, facts, machine, tile < facts->source_bytes ? tile : facts->source_bytes);
        return;
    }
    int64_t tile = piece; /* of one piece, two, four, ... and the whole row */
    for (; tile < facts->source_bytes && !facts->one_piece; tile *= 2)
        consider(plan, asked, facts, machine, tile);
    consider(plan, asked, facts, machine, facts->one_piece ? piece : facts->source_bytes);
}

/* Whether steps are for the rule to choose. */
static bool may_stage(const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts)
{
    const unsigned fused = FTB_SDDMM_SET_SEGMENT | FTB_SDDMM_SET_TILE;
    bool kernel = asked->forced & FTB_SDDMM_SET_KERNEL && asked->family != FTB_SDDMM_AUTO;
    return facts->can_stage && ftb_attention_weights_fit(facts) && !kernel && !(asked->forced & fused);
}

/* Attention is done in steps where that is asked for, or faster. */
static void consider_steps(ftb_sddmm_plan *plan, const ftb_sddmm_asked *asked, const ftb_sddmm_facts *facts,
                           const ftb_machine_facts *machine)
{
    bool must = asked->forced & FTB_SDDMM_SET_KERNEL && asked->family == FTB_SDDMM_STAGED && facts->can_stage;
    plan->seconds = plan->fused = ftb_attention_fused_seconds(plan, facts);
    plan->in_steps = facts->can_stage ? ftb_attention_staged_seconds(facts, machine) : 0;
    if (!must && !(may_stage(asked, facts) && plan->in_steps < STAGE_MARGIN * plan->fused))
        return;
    plan->staged = true;
    plan->segment = 0;
    plan->tile = facts->source_bytes;
    plan->visits = 0;
    plan->seconds = plan->in_steps;
}

void ftb_rule_sddmm(ftb_sddmm_plan *plan, const ftb_sddmm_facts *facts, const ftb_machine_facts *machine)
{
    const ftb_sddmm_asked asked = plan->asked;
    if (facts->standard)
        machine = ftb_machine_standard();
    double direct = direct_seconds(facts, machine);
    *plan = (ftb_sddmm_plan){.tile = facts->source_bytes,
                             .threads = asked.forced & FTB_SDDMM_SET_THREADS ? asked.threads : facts->threads,
                             .seconds = direct,
                             .direct = direct,
                             .asked = asked};
    if (may_segment(&asked, facts))
        choose_segments(plan, &asked, facts, machine);
    plan->visited = plan->seconds;
    if (facts->attention)
        consider_steps(plan, &asked, facts, machine);
}
