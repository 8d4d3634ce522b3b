/* Dot products of a row with the sources of some of its entries, head by head (cpu/kernels/sddmm_kernels.h):
 * what kernels over visits are made of. */
#ifndef FTB_CPU_DOTS_H
#define FTB_CPU_DOTS_H

#include "cpu/kernels/sddmm_kernels.h"
#include "cpu/kernels/sixteen.h"

#define ENTRIES_AHEAD 8 /* whose sources are brought to L1: a jump costs L2's latency */

/* Four dot products, of which `count` are stored, on top of what is there if s->add. */
FTB_INLINE void dots(const ftb_sddmm_job *s, const real *const x[4], const real *const y[4], int64_t groups,
                     real *out, int64_t count)
{
    quad q = {0};
    if (count >= 4) {
        if (s->add)
            q = *(const quad_unaligned *)out;
        *(quad_unaligned *)out = lanes_dots_add(q, s->add, x, y, groups) * (real)s->scale;
        return;
    }
    for (int64_t k = 0; s->add && k < count; k++)
        q[k] = out[k];
    q = lanes_dots_add(q, s->add, x, y, groups) * (real)s->scale;
    for (int64_t k = 0; k < count; k++)
        out[k] = q[k];
}

FTB_INLINE const real *source(const ftb_sddmm_job *s, int size, int64_t at)
{
    return (const real *)s->x + lanes_column(s->visits.column, size, at) * s->xld;
}

/* Brings the sources of entries `at` .. at + 3, those of the next visit among them, if they are below
 * `limit`: d = 128, rand-100k, 0.67 s without and 0.58 s with it. */
FTB_INLINE void prefetch_sources(const ftb_sddmm_job *s, int size, int64_t groups, int64_t at, int64_t limit)
{
    int64_t bytes = groups * FTB_LANES * FTB_REAL_SIZE;
    if (at + 4 > limit)
        return;
    for (int64_t k = 0; k < 4; k++)
        for (int64_t b = 0; b < bytes && b < 512; b += 64)
            __builtin_prefetch((const char *)source(s, size, at + k) + b);
}

/* Of one head: four entries at a time; past the end the last is repeated. */
FTB_INLINE void dot_visit_one(const ftb_sddmm_job *s, int size, int64_t groups, int64_t at, int64_t n,
                              const real *y, real *out, int64_t limit)
{
    const real *const ys[4] = {y, y, y, y};
    for (int64_t e = 0; e < n; e += 4) {
        prefetch_sources(s, size, groups, at + e + ENTRIES_AHEAD, limit);
        const real *const xs[4] = {source(s, size, at + e), source(s, size, at + (e + 1 < n ? e + 1 : e)),
                                   source(s, size, at + (e + 2 < n ? e + 2 : e)),
                                   source(s, size, at + (e + 3 < n ? e + 3 : e))};
        dots(s, xs, ys, groups, out + e, n - e);
    }
}

/* Of several: four (entry, head) pairs at a time, in the order in which results are stored. */
FTB_INLINE void dot_visit_heads(const ftb_sddmm_job *s, int size, int64_t groups, int64_t at, int64_t n,
                                const real *y, real *out)
{
    int64_t heads = s->heads, width = groups * FTB_LANES, total = n * heads, e = 0, h = 0;
    const real *row = source(s, size, at);
    for (int64_t t = 0; t < total; t += 4) {
        const real *xs[4], *ys[4];
        for (int k = 0; k < 4; k++) {
            xs[k] = row + h * width;
            ys[k] = y + h * width;
            if (t + k + 1 < total && ++h == heads) {
                h = 0;
                row = source(s, size, at + ++e);
            }
        }
        dots(s, xs, ys, groups, out + t, total - t);
    }
}

/* Of heads that come in fours. */
FTB_INLINE void dot_visit_fours(const ftb_sddmm_job *s, int size, int64_t groups, int64_t at, int64_t n,
                                const real *y, real *out)
{
    int64_t width = groups * FTB_LANES;
    for (int64_t e = 0; e < n; e++) {
        const real *x = source(s, size, at + e);
        for (int64_t h = 0; h < s->heads; h += 4) {
            const real *const xs[4] = {x + h * width, x + (h + 1) * width, x + (h + 2) * width,
                                       x + (h + 3) * width};
            const real *const ys[4] = {y + h * width, y + (h + 1) * width, y + (h + 2) * width,
                                       y + (h + 3) * width};
            dots(s, xs, ys, groups, out + e * s->heads + h, 4);
        }
    }
}

/* Of 8 (or 4) heads of one vector each: those of two (or four) entries at once. */
FTB_INLINE void dot_visit_sixteens(const ftb_sddmm_job *s, int size, int64_t heads, int64_t at, int64_t n,
                                   const real *y, real *out, int64_t limit)
{
    const int64_t entries = FTB_LANES / heads;
    int64_t e = 0;
    sixteen p = {.groups = 1};
    for (int64_t k = 0; k < FTB_LANES; k++)
        p.y[k] = y + k % heads * FTB_LANES;
    for (; e + entries <= n; e += entries) {
        if (e % 4 == 0)
            prefetch_sources(s, size, heads, at + e + ENTRIES_AHEAD, limit);
        for (int64_t k = 0; k < FTB_LANES; k++)
            p.x[k] = source(s, size, at + e + k / heads) + k % heads * FTB_LANES;
        lanes_store(out + e * heads, lanes_mul(sixteen_totals(&p), lanes_all((real)s->scale)));
    }
    if (e < n)
        dot_visit_fours(s, size, 1, at + e, n - e, y, out + e * heads);
}

FTB_INLINE void dot_visit_narrow(const ftb_sddmm_job *s, int size, int64_t width, int64_t at, int64_t n,
                                 const real *y, real *out)
{
    real scale = (real)s->scale;
    for (int64_t e = 0; e < n; e++) {
        const real *x = (const real *)s->x + lanes_column(s->visits.column, size, at + e) * s->xld;
        int64_t h = 0;
        for (; width == 8 && h + 8 <= s->heads; h += 8) {
            lanes_dots_of_8(out + e * s->heads + h, x + h * 8, y + h * 8);
            for (int64_t k = h; k < h + 8; k++)
                out[e * s->heads + k] *= scale;
        }
        for (; h < s->heads; h++)
            out[e * s->heads + h] = lanes_dot_narrow(x + h * width, y + h * width, width) * scale;
    }
}

/* out(e, h) for entries at `at` .. at + n - 1 of the columns, of which `limit` will be read by this call;
 * one, groups and narrow are constants, as in the registry. */
FTB_INLINE void dot_visit(const ftb_sddmm_job *s, int size, bool one, int64_t groups, int64_t narrow,
                          int64_t at, int64_t n, const real *y, real *out, int64_t limit)
{
    if (narrow)
        dot_visit_narrow(s, size, narrow, at, n, y, out);
    else if (one)
        dot_visit_one(s, size, groups ? groups : s->width / FTB_LANES, at, n, y, out, limit);
    else if (SIXTEEN_FOLDS && groups == 1 && s->heads == 8 && !s->add)
        dot_visit_sixteens(s, size, 8, at, n, y, out, limit);
    else if (SIXTEEN_FOLDS && groups == 1 && s->heads == 4 && !s->add)
        dot_visit_sixteens(s, size, 4, at, n, y, out, limit);
    else if (s->heads % 4 == 0)
        dot_visit_fours(s, size, groups ? groups : s->width / FTB_LANES, at, n, y, out);
    else
        dot_visit_heads(s, size, groups ? groups : s->width / FTB_LANES, at, n, y, out);
}

#endif
