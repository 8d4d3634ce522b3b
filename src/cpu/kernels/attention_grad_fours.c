/* The gradient of attention (cpu/kernels/attention_grad.c), of four heads of sixteen features together, as
 * they are in the forward pass (cpu/kernels/attention_fours.c): rows are mixed, scores are in units of ln 2.
 *
 * A sum of products begins with what is to be subtracted from it: of scores -lse, of the products with dC
 * -delta, in the first of the four lanes that a head has. Where lse is -infinity there is no weight: it is
 * not negated, and 2^-infinity is 0. All of a row's state is in registers during a visit. The scale of dQ, or
 * dK, is that of all entries: it comes in the end.
 *
 * Cells: instruction sets */
#include "cpu/kernels/attention_fours.h"

#include "cpu/kernels/fours.h"

#define AHEAD 4 /* visits whose rows are brought from memory */

enum { Y, VALUES = FTB_FOURS, GRAD = 2 * FTB_FOURS, ACC = 3 * FTB_FOURS }; /* in a state */
/* In a state over rows, in the place of ACC: -lse and -delta, four of each and zeros, then -delta repeated.
 */
enum { LSE = ACC, DELTA = ACC + FTB_LANES, DELTAS = ACC + 2 * FTB_LANES };

/* -lse, of scores in units of ln 2, and -delta of four heads, from what `of` and `delta` point at. */
FTB_INLINE void less(float *to, const float *lse, const float *delta)
{
    for (int h = 0; h < HEADS; h++) {
        to[h] = lse[h] == -INFINITY ? -INFINITY : (float)-(lse[h] * LOG2_E);
        to[HEADS + h] = -delta[h];
    }
}

void FTB_CELL(ftb_fours_less)(float *to, int64_t to_ld, const ftb_attention_job *a, int64_t first,
                              int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        less(to + i * to_ld, (const float *)a->lse + (first + i) * a->lse_ld,
             (const float *)a->delta + (first + i) * a->lse_ld);
}

void FTB_CELL(ftb_fours_grad_begin)(const ftb_fours_job *f, int64_t first, int64_t last)
{
    const ftb_attention_job *a = f->a;
    const lanes scale = lanes_all((real)(a->scale * LOG2_E));
    for (int64_t i = first; i < last; i++) {
        float *state = f->state + (i - f->first_row) * FTB_FOURS_GRAD_STATE;
        memset(state + GRAD, 0, (FTB_FOURS_GRAD_STATE - GRAD) * sizeof *state);
        fours_mix(state + Y, (const float *)a->y + i * a->yld);
        fours_mix(state + VALUES, (const float *)a->y_values + i * a->y_values_ld);
        for (int g = 0; g < GROUPS; g++)
            lanes_store(state + Y + g * FTB_LANES, lanes_mul(lanes_load(state + Y + g * FTB_LANES), scale));
        if (a->by_source)
            continue;
        float both[2 * HEADS];
        less(both, (const float *)a->lse + i * a->lse_ld, (const float *)a->delta + i * a->lse_ld);
        memcpy(state + LSE, both, HEADS * sizeof *both);
        memcpy(state + DELTA, both + HEADS, HEADS * sizeof *both);
        lanes_store(state + DELTAS, lanes_repeat(both + HEADS));
    }
}

/* Four heads of a row as they were. */
FTB_INLINE void unmix(float *to, const float *from, real factor)
{
    for (int g = 0; g < GROUPS; g++) {
        float out[FTB_LANES];
        lanes_store(out, lanes_mul(lanes_load(from + g * FTB_LANES), lanes_all(factor)));
        fours_transpose(to + g * 4, FTB_LANES, out, HEADS);
    }
}

void FTB_CELL(ftb_fours_grad_end)(const ftb_fours_job *f, int64_t first, int64_t last)
{
    const ftb_attention_job *a = f->a;
    for (int64_t i = first; i < last; i++) {
        const float *state = f->state + (i - f->first_row) * FTB_FOURS_GRAD_STATE;
        unmix((float *)a->grad + i * a->grad_ld, state + GRAD, (real)a->scale);
        if (a->acc)
            unmix((float *)a->acc + i * a->acc_ld, state + ACC, 1);
    }
}

/* ---- visits */

/* What kernels are compiled for: walks over sources or over rows, with dropout or without. */
typedef struct form {
    bool by_source, drop;
    int64_t ld; /* of sources' rows */
} form;

/* A row's state during a visit: without acc where it is of rows, else without the last three. */
typedef struct row_state {
    lanes y[GROUPS], values[GROUPS], grad[GROUPS], acc[GROUPS], lse, delta, deltas;
} row_state;

/* Weights of four entries, of which the first n have a meaning: of x for grad, and of x's values for acc. */
FTB_INLINE void weights(const ftb_fours_job *f, form is, const row_state *s, const float *const x[ENTRIES],
                        int64_t entry, int64_t n, real *slope, real *weight)
{
    lanes score[ENTRIES], d[ENTRIES];
    for (int e = 0; e < ENTRIES; e++) {
        const float *less = x[e] + 2 * FTB_FOURS;
        score[e] = is.by_source ? lanes_low(less) : s->lse;
        d[e] = is.drop ? lanes_all(0) : is.by_source ? lanes_low(less + HEADS) : s->delta;
        for (int g = 0; g < GROUPS; g++)
            score[e] = lanes_madd(lanes_load(x[e] + g * FTB_LANES), s->y[g], score[e]);
        for (int g = 0; g < GROUPS; g++)
            d[e] = lanes_madd(lanes_load(x[e] + FTB_FOURS + g * FTB_LANES), s->values[g], d[e]);
    }
    lanes p = lanes_exp2(lanes_quarters(score)), all = lanes_quarters(d), kept = p;
    if (is.drop) {
        const int at = 2 * FTB_FOURS + HEADS;
        lanes_store(weight, lanes_all(1));
        FTB_CELL(ftb_attention_drop_f32)(f->a, entry, n, weight);
        all =
            lanes_madd(all, lanes_load(weight),
                       is.by_source ? lanes_of_fours(x[0] + at, x[1] + at, x[2] + at, x[3] + at) : s->deltas);
        kept = lanes_mul(p, lanes_load(weight));
    }
    lanes_store(slope, lanes_mul(p, all));
    lanes_store(weight, kept);
}

/* n <= 4 entries of one row from `entry` on; n is a constant if it is 4. */
FTB_INLINE void grad_step(const ftb_fours_job *f, form is, row_state *s, const uint16_t *column,
                          int64_t entry, int64_t n)
{
    const float *x[ENTRIES];
    real slope[FTB_LANES], weight[FTB_LANES];
    for (int e = 0; e < ENTRIES; e++)
        x[e] = f->x + (int64_t)column[e < n ? e : 0] * is.ld;
    weights(f, is, s, x, entry, n, slope, weight);
    for (int64_t e = 0; e < n; e++) {
        lanes four = lanes_repeat(slope + e * HEADS);
        for (int g = 0; g < GROUPS; g++)
            s->grad[g] = lanes_madd(lanes_load(x[e] + g * FTB_LANES), four, s->grad[g]);
        if (!is.by_source)
            continue;
        four = lanes_repeat(weight + e * HEADS);
        for (int g = 0; g < GROUPS; g++)
            s->acc[g] = lanes_madd(lanes_load(x[e] + FTB_FOURS + g * FTB_LANES), four, s->acc[g]);
    }
}

FTB_INLINE void load_state(row_state *s, const float *state, form is)
{
    for (int g = 0; g < GROUPS; g++) {
        s->y[g] = lanes_load(state + Y + g * FTB_LANES);
        s->values[g] = lanes_load(state + VALUES + g * FTB_LANES);
        s->grad[g] = lanes_load(state + GRAD + g * FTB_LANES);
        if (is.by_source)
            s->acc[g] = lanes_load(state + ACC + g * FTB_LANES);
    }
    if (is.by_source)
        return;
    s->lse = lanes_load(state + LSE);
    s->delta = lanes_load(state + DELTA);
    s->deltas = lanes_load(state + DELTAS);
}

FTB_INLINE void visit_all(const ftb_fours_job *f, form is, int64_t first, int64_t last)
{
    const ftb_visits *v = &f->a->visits;
    for (int64_t visit = first; visit < last; visit++) {
        float *state = f->state + (ftb_visit_row(v, visit) - f->first_row) * FTB_FOURS_GRAD_STATE;
        const uint16_t *column = (const uint16_t *)v->column + v->start[visit];
        int64_t n = v->start[visit + 1] - v->start[visit], entry = ftb_visit_entry(v, visit);
        row_state s;
        if (visit + AHEAD < last) {
            const float *next =
                f->state + (ftb_visit_row(v, visit + AHEAD) - f->first_row) * FTB_FOURS_GRAD_STATE;
            for (int b = 0; b < FTB_FOURS_GRAD_STATE; b += 64 / FTB_REAL_SIZE)
                __builtin_prefetch(next + b, 1);
        }
        load_state(&s, state, is);
        for (; n >= ENTRIES; n -= ENTRIES, column += ENTRIES, entry += ENTRIES)
            grad_step(f, is, &s, column, entry, ENTRIES);
        if (n > 0)
            grad_step(f, is, &s, column, entry, n);
        for (int g = 0; g < GROUPS; g++) {
            lanes_store(state + GRAD + g * FTB_LANES, s.grad[g]);
            if (is.by_source)
                lanes_store(state + ACC + g * FTB_LANES, s.acc[g]);
        }
    }
}

void FTB_CELL(ftb_attention_grad_fours)(const ftb_fours_job *f, int64_t first, int64_t last)
{
    const bool by_source = f->a->by_source, drop = f->a->drop > 0;
    if (by_source && drop)
        visit_all(f, (form){true, true, FTB_FOURS_SOURCE}, first, last);
    else if (by_source)
        visit_all(f, (form){true, false, FTB_FOURS_SOURCE}, first, last);
    else if (drop)
        visit_all(f, (form){false, true, 2 * FTB_FOURS}, first, last);
    else
        visit_all(f, (form){false, false, 2 * FTB_FOURS}, first, last);
}
