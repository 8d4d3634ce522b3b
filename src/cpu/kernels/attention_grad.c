/* The gradient of attention, visit by visit, from the log-sum-exp of each row and head:
 *
 *     p = exp(score - lse(i)),  ds = p (kept * dot(dC(i), V(j)) - delta(i)),  delta(i) = dot(dC(i), C(i))
 *     dQ(i) += scale ds K(j),   dK(j) += scale ds Q(i),   dV(j) += kept p dC(i)
 *
 * Over the pattern, y is Q and y_values dC, x is K and x_values V, and grad is dQ. Over its transpose the
 * roles change: y is K, y_values V, x is Q, x_values dC, grad is dK and acc dV; lse and delta are of the
 * sources. Scores are computed again from both rows, as in Dao et al., "FlashAttention", 2022, section 3.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/attention_kernels.h"

#include "cpu/kernels/head.h"

#define AHEAD 4
#define EDGES (FTB_ATTENTION_EDGES / 2) /* the sources' rows are read twice: they must stay in L1 */

typedef struct step {
    real *score, *slope, *weight, *dot, *lse, *one;
} step;

FTB_INLINE real lse_of(const ftb_attention_job *a, const void *of, int64_t row, int64_t column, int64_t h)
{
    int64_t i = a->by_source ? column : row;
    return ((const real *)of)[i * a->lse_ld + h];
}

/* score becomes p, then ds; weight: what is kept of p. */
FTB_INLINE void grad_scores(const ftb_attention_job *a, const step *w, int64_t row, const int64_t *column,
                            int64_t entry, int64_t n)
{
    int64_t heads = a->heads, values = n * heads;
    for (int64_t e = 0; e < n; e++)
        for (int64_t h = 0; h < heads; h++)
            w->lse[e * heads + h] = lse_of(a, a->lse, row, column[e], h);
    for (int64_t t = values; t < values + FTB_LANES; t++)
        w->score[t] = w->lse[t] = 0;
    for (int64_t t = 0; t < values; t++) /* a row of nothing but -infinity has no weights */
        w->score[t] = w->lse[t] == -INFINITY ? -INFINITY : w->score[t] - w->lse[t];
    for (int64_t t = 0; t < values; t += FTB_LANES)
        lanes_store(w->score + t, lanes_exp(lanes_load(w->score + t)));
    for (int64_t t = 0; t < values; t++)
        w->weight[t] = 1;
    if (a->drop)
        FTB_REAL_CELL(ftb_attention_drop)(a, entry, n, w->weight);
    for (int64_t e = 0; e < n; e++)
        for (int64_t h = 0; h < heads; h++)
            w->lse[e * heads + h] = lse_of(a, a->delta, row, column[e], h);
    for (int64_t t = 0; t < values; t++) {
        real p = w->score[t];
        w->score[t] = p * (w->dot[t] * w->weight[t] - w->lse[t]) * w->slope[t];
        w->weight[t] *= p;
    }
}

FTB_INLINE void grad_step(const ftb_attention_job *a, const step *w, int64_t row, int64_t at, int64_t entry,
                          int64_t n)
{
    const int64_t heads = a->heads;
    const real *y = (const real *)a->y + row * a->yld;
    const real *y_values = (const real *)a->y_values + row * a->y_values_ld;
    real *grad = (real *)a->grad + row * a->grad_ld;
    int64_t column[EDGES];
    attend_columns(&a->visits, at, n, column);
    if (a->add) {
        attend_sums(a, column, n, y, w->score, w->slope);
    } else {
        FTB_REAL_CELL(ftb_attend_dots)(heads, a->x, a->xld, a->width, a->scale, column, n, y, w->score);
        for (int64_t t = 0; t < n * heads; t++)
            w->slope[t] = (real)a->scale;
    }
    FTB_REAL_CELL(ftb_attend_dots)
    (heads, a->x_values, a->x_values_ld, a->value_width, 1, column, n, y_values, w->dot);
    grad_scores(a, w, row, column, entry, n);
    if (a->acc)
        FTB_REAL_CELL(ftb_attend_weigh)
    (heads, (real *)a->acc + row * a->acc_ld, w->one, w->weight, a->x_values, a->x_values_ld, a->value_width,
     column, n);
    if (!a->add) {
        FTB_REAL_CELL(ftb_attend_weigh)(heads, grad, w->one, w->score, a->x, a->xld, a->width, column, n);
        return;
    }
    for (int64_t e = 0; e < n; e++)
        for (int64_t h = 0; h < a->heads; h++)
            grad[h] += w->score[e * a->heads + h];
}

static void attend_grad(const ftb_attention_job *a, int64_t first, int64_t last, real *scratch)
{
    const ftb_visits *v = &a->visits;
    int64_t room = EDGES * a->heads + FTB_LANES;
    step w = {.score = scratch,
              .slope = scratch + room,
              .weight = scratch + 2 * room,
              .dot = scratch + 3 * room,
              .lse = scratch + 4 * room,
              .one = scratch + 5 * room};
    for (int64_t h = 0; h < a->heads; h++)
        w.one[h] = 1;
    for (int64_t visit = first; visit < last; visit++) {
        int64_t at = v->start[visit], end = v->start[visit + 1], entry = ftb_visit_entry(v, visit) - at;
        if (visit + AHEAD < last) {
            int64_t next_row = ftb_visit_row(v, visit + AHEAD);
            attend_prefetch((const real *)a->y + next_row * a->yld, a->heads * a->width);
            attend_prefetch((const real *)a->y_values + next_row * a->y_values_ld, a->heads * a->value_width);
            attend_prefetch((const real *)a->grad + next_row * a->grad_ld, a->heads * a->width);
        }
        for (; at < end; at += EDGES)
            grad_step(a, &w, ftb_visit_row(v, visit), at, entry + at, end - at < EDGES ? end - at : EDGES);
    }
}

/* ---- one head */

/* lse or delta of sixteen entries, all of which have a source, as head_columns gives them. */
FTB_INLINE lanes head_of(const ftb_attention_job *a, const head_form *form, const void *of_, int64_t row,
                         const void *column)
{
    const real *of = of_;
    real some[FTB_LANES];
    if (!a->by_source)
        return lanes_all(of[row * a->lse_ld]);
    for (int k = 0; k < FTB_LANES; k++)
        some[k] = *attend_source(of, head_column(form, column, k), a->lse_ld);
    return lanes_load(some);
}

/* exp(score - lse), and nothing where lse is -infinity. */
FTB_INLINE lanes head_weights(lanes score, lanes lse)
{
    for (int p = 0; p < FTB_PARTS; p++) {
        part least = (part){0} - (real)INFINITY;
        score.at[p] = part_choose((words)(lse.at[p] != least), score.at[p] - lse.at[p], least);
    }
    return lanes_exp(score);
}

FTB_INLINE lanes head_kept(const ftb_attention_job *a, int64_t entry, int64_t n)
{
    real keep[FTB_LANES];
    lanes_store(keep, lanes_all(1));
    if (a->drop)
        FTB_REAL_CELL(ftb_attention_drop)(a, entry, n, keep);
    return lanes_load(keep);
}

FTB_INLINE void head_grad_step(const ftb_attention_job *a, const head_form *form, int64_t limit, int64_t row,
                               int64_t at, int64_t entry, int64_t n)
{
    const real *y = (const real *)a->y + row * a->yld;
    const real *y_values = (const real *)a->y_values + row * a->y_values_ld;
    real *grad = (real *)a->grad + row * a->grad_ld, weight[FTB_LANES];
    lanes slope = lanes_all((real)a->scale), score;
    head_room room;
    const void *column = head_columns(form, &a->visits, at, n, limit, &room, 0);
    if (a->add && !form->narrow) {
        score = head_sums(a, column, n, y);
        slope = head_slope(score, (real)a->slope);
    } else {
        score = head_dots(form, form->groups, a->x, form->xld, column, n, y);
    }
    lanes p = head_weights(lanes_mul(score, slope), head_of(a, form, a->lse, row, column));
    lanes kept = head_kept(a, entry, n);
    lanes d = head_dots(form, form->value_groups, a->x_values, form->values_ld, column, n, y_values);
    d = lanes_subtract(lanes_mul(d, kept), head_of(a, form, a->delta, row, column));
    d = lanes_mul(lanes_mul(p, d), slope);
    if (a->acc) {
        lanes_store(weight, lanes_mul(kept, p));
        head_weigh(form, form->value_groups, (real *)a->acc + row * a->acc_ld, 1, weight, a->x_values,
                   form->values_ld, column, n);
    }
    if (a->add && !form->narrow) {
        *grad += lanes_total(head_cut(d, n, 0));
        return;
    }
    lanes_store(weight, d);
    head_weigh(form, form->groups, grad, 1, weight, a->x, form->xld, column, n);
}

FTB_INLINE void attend_head_grad(const ftb_attention_job *a, const head_form *form, int64_t first,
                                 int64_t last)
{
    const ftb_visits *v = &a->visits;
    for (int64_t visit = first; visit < last; visit++) {
        int64_t at = v->start[visit], end = v->start[visit + 1], entry = ftb_visit_entry(v, visit) - at;
        if (visit + AHEAD < last) {
            int64_t next_row = ftb_visit_row(v, visit + AHEAD);
            attend_prefetch((const real *)a->y + next_row * a->yld, a->width);
            attend_prefetch((const real *)a->y_values + next_row * a->y_values_ld, a->value_width);
            attend_prefetch((const real *)a->grad + next_row * a->grad_ld, a->width);
            if (a->acc)
                attend_prefetch((const real *)a->acc + next_row * a->acc_ld, a->value_width);
        }
        for (; at < end; at += FTB_LANES)
            head_grad_step(a, form, v->start[last], ftb_visit_row(v, visit), at, entry + at,
                           end - at < FTB_LANES ? end - at : FTB_LANES);
    }
}

void FTB_REAL_CELL(ftb_attention_grad)(const ftb_attention_job *a, int64_t first, int64_t last, void *scratch,
                                       void *arg)
{
    (void)arg;
    const head_form any = head_form_of(a);
    if (head_fits(a) && head_is_narrow(a))
        attend_head_grad(a, &head_narrow, first, last);
    else if (head_fits(a))
        attend_head_grad(a, &any, first, last);
    else
        attend_grad(a, first, last, scratch);
}
