/* acc(i, h) = sum over entries (i, j) of exp(score(i, j, h) - most(i, h)) value(j, h), of four heads of
 * sixteen features together.
 *
 * Rows are mixed: feature f of head h is value 4 f + h, so that a vector holds four features of each head.
 * Products of an entry are then added lane by lane, and two foldings (not four, as for one head) make one
 * vector of the scores of four entries; its four weights of an entry, repeated, meet its values lane by lane
 * as well. All of a row's state is in registers during a visit.
 *
 * most is not the greatest score but a number that no score exceeds by more than THRESHOLD: sums are rescaled
 * when one does, which is seldom, and exact in the end since the same factor divides out. Scores are in units
 * of ln 2, so that their exponentials are those of 2: rows are scaled by that ahead. Additions are fused
 * where there are such. Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et
 * al., "FlashAttention", 2022.
 *
 * Cells: instruction sets */
#include "cpu/kernels/attention_fours.h"

#include "cpu/kernels/fours.h"

#include <float.h>

#define AHEAD 4 /* visits whose rows are brought from memory */
#define THRESHOLD 8.0F
#define LN2 0x1.62e42fefa39efp-1

FTB_INLINE bool lanes_any_greater(lanes x, lanes y)
{
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)x.at[0], (__m512)y.at[0], _CMP_GT_OQ) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps((__m256)x.at[0], (__m256)y.at[0], _CMP_GT_OQ),
                                           _mm256_cmp_ps((__m256)x.at[1], (__m256)y.at[1], _CMP_GT_OQ))) != 0;
#else
    words any = {0};
    for (int p = 0; p < FTB_PARTS; p++)
        any |= (words)(x.at[p] > y.at[p]);
    return (any[0] | any[1] | any[2] | any[3]) != 0;
#endif
}

void FTB_CELL(ftb_fours_mix)(float *to, int64_t to_ld, const float *from, int64_t from_ld, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        fours_mix(to + i * to_ld, from + i * from_ld);
}

void FTB_CELL(ftb_fours_begin)(const ftb_fours_job *f, int64_t first, int64_t last)
{
    const ftb_attention_job *a = f->a;
    const lanes scale = lanes_all((real)(a->scale * LOG2_E));
    for (int64_t i = first; i < last; i++) {
        float *state = f->state + (i - f->first_row) * FTB_FOURS_STATE, *acc = state + FTB_FOURS;
        fours_mix(state, (const float *)a->y + i * a->yld);
        for (int g = 0; g < GROUPS; g++) {
            lanes_store(state + g * FTB_LANES, lanes_mul(lanes_load(state + g * FTB_LANES), scale));
            lanes_store(acc + g * FTB_LANES, lanes_all(0));
        }
        lanes_store(acc + FTB_FOURS, lanes_all(-FLT_MAX)); /* -infinity less it is no NaN */
        lanes_store(acc + FTB_FOURS + FTB_LANES, lanes_all(0));
    }
}

void FTB_CELL(ftb_fours_end)(const ftb_fours_job *f, int64_t first, int64_t last)
{
    const ftb_attention_job *a = f->a;
    for (int64_t i = first; i < last; i++) {
        const float *acc = f->state + (i - f->first_row) * FTB_FOURS_STATE + FTB_FOURS;
        const float *most = acc + FTB_FOURS, *sum = most + FTB_LANES;
        float factor[HEADS];
        for (int h = 0; h < HEADS; h++) {
            double all = (sum[h] + sum[h + 2 * HEADS]) + (sum[h + HEADS] + sum[h + 3 * HEADS]);
            ((float *)a->most)[i * a->state_ld + h] =
                all == 0 ? -INFINITY : (float)(most[h] * LN2 + log(all));
            factor[h] = all == 0 ? 0 : (float)(1 / all);
        }
        for (int g = 0; g < GROUPS; g++) {
            float out[FTB_LANES];
            lanes_store(out, lanes_mul(lanes_load(acc + g * FTB_LANES), lanes_repeat(factor)));
            fours_transpose((float *)a->acc + i * a->acc_ld + g * 4, FTB_LANES, out, HEADS);
        }
    }
}

/* ---- visits */

/* A row's state during a visit. */
typedef struct row_state {
    lanes y[GROUPS], acc[GROUPS], most, sum;
} row_state;

/* most becomes the greatest score so far of each head. */
FTB_INLINE void rise(row_state *s, lanes score)
{
    real at[FTB_LANES];
    lanes_store(at, lanes_greater(s->most, score));
    for (int h = 0; h < HEADS; h++) {
        for (int e = 1; e < ENTRIES; e++)
            at[h] = at[e * HEADS + h] > at[h] ? at[e * HEADS + h] : at[h];
        for (int e = 1; e < ENTRIES; e++)
            at[e * HEADS + h] = at[h];
    }
    lanes most = lanes_load(at), factor = lanes_exp2(lanes_subtract(s->most, most));
    s->most = most;
    s->sum = lanes_mul(s->sum, factor);
    for (int g = 0; g < GROUPS; g++)
        s->acc[g] = lanes_mul(s->acc[g], factor);
}

/* Scores of n entries, -infinity for the others. */
FTB_INLINE lanes first_entries(lanes score, int64_t n)
{
    static const real entry_of[FTB_LANES] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    lanes entry = lanes_load(entry_of);
    for (int p = 0; p < FTB_PARTS; p++)
        score.at[p] =
            part_choose((words)(entry.at[p] < (part){0} + (real)n), score.at[p], (part){0} - INFINITY);
    return score;
}

/* n <= 4 entries of one row from `entry` on; n is a constant if it is 4. */
FTB_INLINE void fours_step(const ftb_fours_job *f, row_state *s, const uint16_t *column, int64_t entry,
                           int64_t n)
{
    const float *x[ENTRIES];
    real weight[FTB_LANES];
    lanes dot[ENTRIES];
    for (int e = 0; e < ENTRIES; e++) {
        x[e] = f->x + (int64_t)column[e < n ? e : 0] * (2 * FTB_FOURS);
        dot[e] = lanes_mul(lanes_load(x[e]), s->y[0]);
        for (int g = 1; g < GROUPS; g++)
            dot[e] = lanes_madd(lanes_load(x[e] + g * FTB_LANES), s->y[g], dot[e]);
    }
    lanes score = lanes_quarters(dot);
    if (n < ENTRIES)
        score = first_entries(score, n);
    lanes above = lanes_subtract(score, s->most);
    if (__builtin_expect(lanes_any_greater(above, lanes_all(THRESHOLD)), false)) {
        rise(s, score);
        above = lanes_subtract(score, s->most);
    }
    above = lanes_exp2(above);
    s->sum = lanes_add(s->sum, above);
    lanes_store(weight, above);
    if (f->a->drop)
        FTB_CELL(ftb_attention_drop_f32)(f->a, entry, n, weight);
    for (int64_t e = 0; e < n; e++) {
        lanes four = lanes_repeat(weight + e * HEADS);
        for (int g = 0; g < GROUPS; g++)
            s->acc[g] = lanes_madd(lanes_load(x[e] + FTB_FOURS + g * FTB_LANES), four, s->acc[g]);
    }
}

void FTB_CELL(ftb_attention_fours)(const ftb_fours_job *f, int64_t first, int64_t last)
{
    const ftb_visits *v = &f->a->visits;
    for (int64_t visit = first; visit < last; visit++) {
        float *state = f->state + (ftb_visit_row(v, visit) - f->first_row) * FTB_FOURS_STATE;
        const uint16_t *column = (const uint16_t *)v->column + v->start[visit];
        int64_t n = v->start[visit + 1] - v->start[visit], entry = ftb_visit_entry(v, visit);
        row_state s;
        if (visit + AHEAD < last) {
            const float *next = f->state + (ftb_visit_row(v, visit + AHEAD) - f->first_row) * FTB_FOURS_STATE;
            for (int b = 0; b < FTB_FOURS_STATE; b += 64 / FTB_REAL_SIZE)
                __builtin_prefetch(next + b, 1);
        }
        for (int g = 0; g < GROUPS; g++) {
            s.y[g] = lanes_load(state + g * FTB_LANES);
            s.acc[g] = lanes_load(state + FTB_FOURS + g * FTB_LANES);
        }
        s.most = lanes_load(state + 2 * FTB_FOURS);
        s.sum = lanes_load(state + 2 * FTB_FOURS + FTB_LANES);
        for (; n >= ENTRIES; n -= ENTRIES, column += ENTRIES, entry += ENTRIES)
            fours_step(f, &s, column, entry, ENTRIES);
        if (n > 0)
            fours_step(f, &s, column, entry, n);
        for (int g = 0; g < GROUPS; g++)
            lanes_store(state + FTB_FOURS + g * FTB_LANES, s.acc[g]);
        lanes_store(state + 2 * FTB_FOURS, s.most);
        lanes_store(state + 2 * FTB_FOURS + FTB_LANES, s.sum);
    }
}
