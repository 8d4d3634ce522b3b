/* acc(i, h) = sum over entries (i, j) of exp(score(i, j, h) - most) value(j, h), with the greatest score so
 * far.
 *
 * Online softmax: a step takes the scores of up to 32 entries of a row, their maximum, and rescales what the
 * row has gathered so far once, if the maximum rose. The row's state stays in memory between the visits of
 * its segments, so that keys and values come from L2 (cpu/kernels/heads.h). The order of additions is that of
 * the entries; where sums are rescaled depends on the segments, which are a part of the plan. One head at a
 * time, scores are vectors of sixteen entries (cpu/kernels/head.h), two of which are computed together.
 * Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention",
 * 2022.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/attention_kernels.h"

#include "cpu/kernels/head.h"
#include "cpu/kernels/softmax.h"

#define AHEAD 4 /* visits whose rows are brought from memory */

/* A step's memory. */
typedef struct step {
    real *score, *most, *sum, *factor;
    int64_t period, lanes_count;
} step;

/* Entries at `at`, n of them, of one row. */
FTB_INLINE void attend_step(const ftb_attention_job *a, const step *w, int64_t row, int64_t at, int64_t entry,
                            int64_t n, void *arg)
{
    int64_t heads = a->heads, values = n * heads, column[FTB_ATTENTION_EDGES];
    real *most = (real *)a->most + row * a->state_ld, *sum = (real *)a->sum + row * a->state_ld;
    const real *y = (const real *)a->y + row * a->yld;
    attend_columns(&a->visits, at, n, column);
    if (a->scores)
        a->scores(arg, row, entry, n, w->score);
    else if (a->add)
        attend_sums(a, column, n, y, w->score, NULL);
    else
        FTB_REAL_CELL(ftb_attend_dots)(heads, a->x, a->xld, a->width, a->scale, column, n, y, w->score);
    for (int64_t l = 0; l < w->lanes_count; l++)
        w->most[l] = l < heads ? most[l] : -INFINITY;
    row_greatest(w->score, values, w->most, w->period);
    combine(w->most, w->lanes_count, heads, true);
    for (int64_t h = 0; h < heads; h++) {
        real rise = w->most[h] == most[h] ? 0 : most[h] - w->most[h];
        w->factor[h] = rise == 0 ? 1 : real_exp(rise);
        most[h] = w->most[h];
    }
    for (int64_t l = 0; l < w->lanes_count; l++) {
        w->most[l] = w->most[l] == -INFINITY ? 0 : w->most[l]; /* all are, and their exponentials 0 */
        w->sum[l] = 0;
    }
    row_exp(w->score, w->score, values, w->most, w->sum, w->period);
    combine(w->sum, w->lanes_count, heads, false);
    for (int64_t h = 0; h < heads; h++)
        sum[h] = sum[h] * w->factor[h] + w->sum[h];
    if (a->drop)
        FTB_REAL_CELL(ftb_attention_drop)(a, entry, n, w->score);
    FTB_REAL_CELL(ftb_attend_weigh)
    (heads, (real *)a->acc + row * a->acc_ld, w->factor, w->score, a->x_values, a->x_values_ld,
     a->value_width, column, n);
}

/* ---- one head */

/* Entries whose scores are computed together: two vectors, so that one's steps fill the other's waits. */
#define TOGETHER (2 * FTB_LANES)

FTB_INLINE lanes head_scores(const ftb_attention_job *a, const head_form *form, const void *column,
                             const real *y, int64_t n)
{
    lanes score;
    if (a->add && !form->narrow) {
        score = head_sums(a, column, n, y);
        score = lanes_mul(score, head_slope(score, (real)a->slope));
    } else {
        score = lanes_mul(head_dots(form, form->groups, a->x, form->xld, column, n, y),
                          lanes_all((real)a->scale));
    }
    return n < FTB_LANES ? head_cut(score, n, -INFINITY) : score;
}

/* n <= 16 vectors entries at `at` of one row; vectors is 1 or 2, a constant; `sum` has sixteen lanes. */
FTB_INLINE void head_step(const ftb_attention_job *a, const head_form *form, int64_t limit, int vectors,
                          int64_t row, int64_t at, int64_t entry, int64_t n, lanes *sum)
{
    real *most = (real *)a->most + row * a->state_ld, weight[TOGETHER], factor = 1;
    const real *y = (const real *)a->y + row * a->yld;
    head_room room;
    lanes score[2];
    for (int v = 0; v < vectors; v++) {
        int64_t first = v * FTB_LANES, some = v == vectors - 1 ? n - first : FTB_LANES;
        const void *column = head_columns(form, &a->visits, at + first, some, limit, &room, first);
        score[v] = head_scores(a, form, column, y, some);
    }
    lanes above = vectors == 2 ? lanes_greater(score[0], score[1]) : score[0];
    if (lanes_any_above(above, *most)) {
        real greatest = lanes_greatest(above, *most);
        factor = real_exp(*most - greatest);
        *most = greatest;
        *sum = lanes_mul(*sum, lanes_all(factor));
    }
    const lanes less = lanes_all(*most == -INFINITY ? 0 : *most);
    for (int v = 0; v < vectors; v++) {
        score[v] = lanes_exp(lanes_subtract(score[v], less));
        *sum = lanes_add(*sum, score[v]);
        lanes_store(weight + v * FTB_LANES, score[v]);
    }
    if (a->drop)
        FTB_REAL_CELL(ftb_attention_drop)(a, entry, n, weight);
    head_weigh(form, form->value_groups, (real *)a->acc + row * a->acc_ld, factor, weight, a->x_values,
               form->values_ld, head_begin(form, &a->visits, at, &room), n);
}

FTB_INLINE void attend_head(const ftb_attention_job *a, const head_form *form, int64_t first, int64_t last)
{
    const ftb_visits *v = &a->visits;
    for (int64_t visit = first; visit < last; visit++) {
        int64_t at = v->start[visit], end = v->start[visit + 1], entry = ftb_visit_entry(v, visit) - at;
        int64_t row = ftb_visit_row(v, visit);
        real *total = (real *)a->sum + row * a->state_ld;
        if (visit + AHEAD < last) {
            int64_t next_row = ftb_visit_row(v, visit + AHEAD);
            attend_prefetch((const real *)a->y + next_row * a->yld, a->width);
            attend_prefetch((const real *)a->acc + next_row * a->acc_ld, a->value_width);
            __builtin_prefetch((const real *)a->most + next_row * a->state_ld, 1);
            __builtin_prefetch((const real *)a->sum + next_row * a->state_ld, 1);
        }
        lanes sum = head_cut(lanes_all(*total), 1, 0);
        for (; end - at > FTB_LANES; at += TOGETHER)
            head_step(a, form, v->start[last], 2, row, at, entry + at,
                      end - at < TOGETHER ? end - at : TOGETHER, &sum);
        if (at < end)
            head_step(a, form, v->start[last], 1, row, at, entry + at, end - at, &sum);
        *total = lanes_total(sum);
    }
}

static void attend(const ftb_attention_job *a, int64_t first, int64_t last, real *scratch, void *arg)
{
    const ftb_visits *v = &a->visits;
    step w = {.period = ftb_softmax_period(a->heads)};
    w.lanes_count = w.period * FTB_LANES;
    w.score = scratch;
    w.most = w.score + (FTB_ATTENTION_EDGES + FTB_LANES) * a->heads;
    w.sum = w.most + w.lanes_count;
    w.factor = w.sum + w.lanes_count;
    for (int64_t visit = first; visit < last; visit++) {
        int64_t at = v->start[visit], end = v->start[visit + 1], entry = ftb_visit_entry(v, visit) - at;
        if (visit + AHEAD < last) {
            int64_t next_row = ftb_visit_row(v, visit + AHEAD);
            attend_prefetch((const real *)a->y + next_row * a->yld, a->heads * a->width);
            attend_prefetch((const real *)a->acc + next_row * a->acc_ld, a->heads * a->value_width);
        }
        for (; at < end; at += FTB_ATTENTION_EDGES) {
            int64_t n = end - at < FTB_ATTENTION_EDGES ? end - at : FTB_ATTENTION_EDGES;
            attend_step(a, &w, ftb_visit_row(v, visit), at, entry + at, n, arg);
        }
    }
}

void FTB_REAL_CELL(ftb_attention)(const ftb_attention_job *a, int64_t first, int64_t last, void *scratch,
                                  void *arg)
{
    const head_form any = head_form_of(a);
    if (head_fits(a) && head_is_narrow(a))
        attend_head(a, &head_narrow, first, last);
    else if (head_fits(a))
        attend_head(a, &any, first, last);
    else
        attend(a, first, last, scratch, arg);
}
