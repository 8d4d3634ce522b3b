/* Attention in one walk or in three steps.
 *
 *  - fused: what moving bytes takes (rule_sddmm.c), or the work if that is more: visits of a head, and
 *    steps of sixteen entries, which are as much work when they are not full;
 *  - steps: dot products and the weighted sum, as planned for themselves, and a softmax that reads and writes
 *    the weights.
 *
 * The walk wins where rows have many entries in a segment; steps where they have few, where heads are narrow
 * or no multiple of a vector, and where scores are of a form that no kernel knows. What each
 * costs stands in costs.h. On a Sapphire Rapids core, 20 thousand to 10 million entries; 8 heads of 16, four
 * of them together in the walk, fused / steps, ms: 20,000 vertices of degree 20, 28 / 26, of degree 100, 47 /
 * 96, of degree 400, 112 / 273; 200,000 of degree 4, 363 / 190. */
#include "plan/sddmm_plan.h"
#include "plan/spmm_plan.h"

#include <math.h>

#define STEP 16      /* entries */
#define ALONE 0.68   /* of all that, of one head of few features: nothing is in its way */
#define LONELY 160   /* features */
#define INDEX 4      /* bytes of an entry's column */
#define START 8      /* of where a row begins */
#define LONE_ROW 0.3 /* of a row of softmax, of one head: short rows go together */

static double rows_with_entries(const ftb_sddmm_facts *f)
{
    int64_t rows = 0;
    for (int c = 0; c < FTB_DEGREES; c++)
        rows += f->degrees.rows[c];
    return (double)rows;
}

static bool program_scores(const ftb_sddmm_facts *f) { return f->value_features == f->features; }

/* Where heads are walked together. The fewer rows a segment visits, the farther their state lies. */
static double together_seconds(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *f, const ftb_costs *k)
{
    const double groups = (double)f->heads / (double)f->piece, entries = STEP / (double)f->piece;
    const double segments = ceil((double)f->ncols / (double)plan->segment);
    const double share = fmin(1, plan->visits / (segments * rows_with_entries(f)));
    const double steps = (double)f->nvals / entries + plan->visits * (entries - 1) / (2 * entries);
    return groups * (plan->visits * k->together_visit / sqrt(share) + steps * k->together_step) +
           (double)(f->nrows * f->heads) * k->together_row + k->together_moved * plan->gathered;
}

double ftb_attention_fused_seconds(const ftb_sddmm_plan *plan, const ftb_sddmm_facts *f, const ftb_costs *k)
{
    const double heads = (double)f->heads, entries = (double)f->nvals * heads;
    if (plan->segment && f->piece > 1)
        return together_seconds(plan, f, k);
    const double visits = heads * (plan->segment ? plan->visits : rows_with_entries(f));
    double work =
        visits * k->any_visit + entries * (k->any_entry + (program_scores(f) ? k->program_score : 0));
    if (f->one_piece)
        work = visits * k->head_visit +
               (entries / STEP + visits / 2) * (k->head_step + k->head_feature * (double)f->features / heads);
    double moved = plan->visited + 2 * (double)f->nrows * (double)f->row_bytes / k->state;
    if (f->one_piece && f->heads > 1 && plan->segment)
        moved *= k->head_moved;
    double seconds = fmax(work, moved) + 0.3 * fmin(work, moved);
    return f->one_piece && f->heads == 1 && f->features <= LONELY ? ALONE * seconds : seconds;
}

/* As if the scores alone were wanted. */
static double score_seconds(const ftb_sddmm_facts *f, const ftb_machine_facts *machine, const ftb_costs *k)
{
    const int64_t features = f->features - f->value_features;
    ftb_sddmm_facts scores = *f;
    ftb_sddmm_plan plan = {0};
    if (program_scores(f))
        return (double)f->nvals * (double)f->heads * k->staged_score;
    scores.attention = scores.can_stage = scores.one_piece = false;
    scores.source_bytes = scores.row_bytes = features * f->value_bytes;
    scores.entry_bytes = f->heads * f->value_bytes;
    scores.piece_bytes = 0;
    scores.features = features;
    ftb_rule_sddmm(&plan, &scores, machine);
    return plan.seconds;
}

static double sum_seconds(const ftb_sddmm_facts *f, const ftb_machine_facts *machine)
{
    ftb_spmm_plan plan = {0};
    ftb_spmm_facts sum = {.nrows = f->nrows,
                          .ncols = f->ncols,
                          .nvals = f->nvals,
                          .listed = f->nrows,
                          .entries = f->nvals,
                          .features = f->value_features,
                          .value_bytes = f->value_bytes,
                          .stored_bytes = f->value_bytes,
                          .edge_bytes = f->heads * f->value_bytes,
                          .lanes = f->lanes,
                          .degrees = f->degrees,
                          .threads = 1,
                          .memory_left = INT64_MAX,
                          .tuned = true,
                          .partitioned = true};
    ftb_rule_spmm(&plan, &sum, machine);
    return plan.seconds;
}

double ftb_attention_staged_seconds(const ftb_sddmm_facts *f, const ftb_machine_facts *machine)
{
    const ftb_costs costs = ftb_machine_costs(machine), *k = &costs;
    return score_seconds(f, machine, k) + sum_seconds(f, machine) +
           (double)f->nvals * (double)f->heads * k->softmax_entry +
           rows_with_entries(f) * k->softmax_row * (f->heads == 1 ? LONE_ROW : 1);
}

/* Of one head in FP32 they are as large as the columns of the pattern, and always fit. */
bool ftb_attention_weights_fit(const ftb_sddmm_facts *f)
{
    double weights = (double)f->nvals * (double)(f->heads * f->value_bytes);
    double operands = (double)(f->nrows + f->ncols) * (double)(f->features * f->value_bytes);
    double pattern = (double)f->nvals * INDEX + (double)f->nrows * START;
    return weights <= operands + pattern;
}
