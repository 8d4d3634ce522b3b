/* Steps of factors along the gradient, and their error:
 *
 *     e = value - dot(own, other)      the gradient of e^2 / 2 by own is -e other, by other -e own
 *
 * A row's factors stay in registers while its ratings go by. One after the other they would wait for each
 * other's dot product, some forty cycles long: four are taken at a time, whose errors are of the factors
 * before, and whose four sums of lanes become one vector.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/factorize_lanes.h"

enum { FOUR = 4, AHEAD = 16, GROUPS = FTB_FACTORS_MOST / FTB_LANES };

/* Four ratings, of which `count` are there; those behind them are 0, by factors of 0. */
typedef struct four {
    real *other[FOUR];
    real value[FOUR];
    int64_t count;
} four;

FTB_INLINE four load_four(const ftb_factors *f, real *none, int64_t e, int64_t end, int64_t limit)
{
    four t;
    for (int64_t k = 0; k < FOUR && e + AHEAD + k < limit; k++) {
        const char *soon =
            (const char *)((const real *)f->other + f->ratings.column[e + AHEAD + k] * f->pitch);
        for (int64_t at = 0; at < f->pitch * FTB_REAL_SIZE; at += 64)
            __builtin_prefetch(soon + at);
    }
    t.count = end - e < FOUR ? end - e : FOUR;
    for (int64_t k = 0; k < FOUR; k++) {
        const bool there = k < t.count;
        t.other[k] = there ? (real *)f->other + f->ratings.column[e + k] * f->pitch : none;
        t.value[k] = there ? ((const real *)f->ratings.value)[e + k] : 0;
    }
    return t;
}

FTB_INLINE quad errors(const lanes *own, const four *t, int64_t groups)
{
    lanes sum[FOUR];
    for (int k = 0; k < FOUR; k++)
        sum[k] = lanes_mul(own[0], lanes_load(t->other[k]));
    for (int64_t g = 1; g < groups; g++)
        for (int k = 0; k < FOUR; k++)
            sum[k] = factors_madd(own[g], lanes_load(t->other[k] + g * FTB_LANES), sum[k]);
    return *(const quad_unaligned *)t->value - lanes_totals(sum[0], sum[1], sum[2], sum[3]);
}

FTB_INLINE void load_row(lanes *to, const real *row, int64_t groups)
{
    for (int64_t g = 0; g < groups; g++)
        to[g] = lanes_load(row + g * FTB_LANES);
}

FTB_INLINE void store_row(real *row, const lanes *from, int64_t groups)
{
    for (int64_t g = 0; g < groups; g++)
        lanes_store(row + g * FTB_LANES, from[g]);
}

FTB_INLINE int64_t row_of(const ftb_factors *f, int64_t visit)
{
    return f->ratings.row ? f->ratings.row[visit] : visit;
}

/* ---- stochastic */

FTB_INLINE void descend(const ftb_factors *f, int64_t first, int64_t last, int64_t groups)
{
    const real rate = (real)f->rate, keep = (real)(1 - f->rate * f->lambda);
    real none[FTB_FACTORS_MOST] = {0};
    lanes own[GROUPS];
    for (int64_t visit = first; visit < last; visit++) {
        real *row = (real *)f->own + row_of(f, visit) * f->pitch;
        const int64_t end = f->ratings.start[visit + 1];
        load_row(own, row, groups);
        for (int64_t e = f->ratings.start[visit]; e < end; e += FOUR) {
            const four t = load_four(f, none, e, end, f->ratings.start[last]);
            const quad step = errors(own, &t, groups) * rate;
            const real kept = (real)(1 - (double)t.count * f->rate * f->lambda);
            for (int64_t g = 0; g < groups; g++) {
                const lanes x = own[g];
                lanes sum = lanes_mul(x, factors_all(kept));
                for (int k = 0; k < FOUR; k++) {
                    real *at = t.other[k] + g * FTB_LANES;
                    const lanes y = lanes_load(at), by = factors_all(step[k]);
                    sum = factors_madd(by, y, sum);
                    lanes_store(at, factors_madd(by, x, lanes_mul(y, factors_all(keep))));
                }
                own[g] = sum;
            }
        }
        store_row(row, own, groups);
    }
}

void FTB_REAL_CELL(ftb_factorize_descend)(const ftb_factors *f, int64_t first, int64_t last)
{
    switch (f->pitch / FTB_LANES) {
    case 1:
        descend(f, first, last, 1);
        break;
    case 2:
        descend(f, first, last, 2);
        break;
    case 4:
        descend(f, first, last, 4);
        break;
    default:
        descend(f, first, last, f->pitch / FTB_LANES);
    }
}

/* ---- of all ratings */

FTB_INLINE void gradient(const ftb_factors *f, int64_t first, int64_t last, int64_t groups)
{
    real none[FTB_FACTORS_MOST] = {0};
    lanes own[GROUPS], sum[GROUPS];
    for (int64_t visit = first; visit < last; visit++) {
        const int64_t row = row_of(f, visit), begin = f->ratings.start[visit],
                      end = f->ratings.start[visit + 1];
        const double weight = f->once ? 1 : (double)(end - begin);
        load_row(own, (const real *)f->own + row * f->pitch, groups);
        for (int64_t g = 0; g < groups; g++)
            sum[g] = factors_all(0);
        for (int64_t e = begin; e < end; e += FOUR) {
            const four t = load_four(f, none, e, end, f->ratings.start[last]);
            const quad error = errors(own, &t, groups);
            for (int64_t g = 0; g < groups; g++)
                for (int k = 0; k < FOUR; k++)
                    sum[g] =
                        factors_madd(factors_all(error[k]), lanes_load(t.other[k] + g * FTB_LANES), sum[g]);
        }
        const lanes rate = factors_all((real)f->rate),
                    kept = factors_all((real)(1 - f->rate * f->lambda * weight));
        for (int64_t g = 0; g < groups; g++)
            own[g] = factors_madd(rate, sum[g], lanes_mul(own[g], kept));
        store_row((real *)f->next + row * f->pitch, own, groups);
    }
}

void FTB_REAL_CELL(ftb_factorize_gradient)(const ftb_factors *f, int64_t first, int64_t last)
{
    if (f->pitch == 2 * FTB_LANES)
        gradient(f, first, last, 2);
    else
        gradient(f, first, last, f->pitch / FTB_LANES);
}

FTB_INLINE double error(const ftb_factors *f, int64_t first, int64_t last, int64_t groups)
{
    real none[FTB_FACTORS_MOST] = {0};
    lanes own[GROUPS];
    double sum = 0;
    for (int64_t visit = first; visit < last; visit++) {
        const int64_t end = f->ratings.start[visit + 1];
        load_row(own, (const real *)f->own + row_of(f, visit) * f->pitch, groups);
        for (int64_t e = f->ratings.start[visit]; e < end; e += FOUR) {
            const four t = load_four(f, none, e, end, f->ratings.start[last]);
            const quad x = errors(own, &t, groups);
            for (int k = 0; k < FOUR; k++)
                sum += (double)x[k] * (double)x[k];
        }
    }
    return sum;
}

double FTB_REAL_CELL(ftb_factorize_error)(const ftb_factors *f, int64_t first, int64_t last)
{
    return f->pitch == 2 * FTB_LANES ? error(f, first, last, 2) : error(f, first, last, f->pitch / FTB_LANES);
}
