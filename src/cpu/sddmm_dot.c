/* out(e, h) = scale * dot(y(i, h), x(j, h)) for entries e = (i, j), visit by visit (cpu/sddmm.h).
 *
 * The destination's row stays in L1 or registers, source rows come from L2 if they are a packed segment. Four
 * dot products are summed side by side and reduced by one transposed reduction; results are consecutive,
 * since a visit's entries are. What limits it is L2's read bandwidth: at d = 128 a product reads 512 bytes
 * and takes 16 vector operations. Method: Hu et al., "FeatGraph", SC 2020 (partitioned SDDMM); DESIGN.md, CPU
 * kernels. */
#include "cpu/lanes.h"
#include "cpu/sddmm.h"

#define AHEAD 4 /* visits: their destination rows come from memory, in jumps that hardware does not foresee  \
                 */

FTB_INLINE void prefetch_visit(const ftb_sddmm_job *s, int64_t visit, int64_t last)
{
    if (visit >= last)
        return;
    const char *y = (const char *)((const real *)s->y + ftb_visit_row(&s->visits, visit) * s->yld);
    int64_t bytes = s->heads * s->width * FTB_REAL_SIZE;
    for (int64_t b = 0; b < bytes && b < 1024; b += 64)
        __builtin_prefetch(y + b);
    __builtin_prefetch((real *)s->out + ftb_visit_entry(&s->visits, visit) * s->heads, 1);
}

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

/* Of one head: four entries at a time; past the end the last is repeated. */
FTB_INLINE void dot_visit_one(const ftb_sddmm_job *s, int size, int64_t groups, int64_t at, int64_t n,
                              const real *y, real *out)
{
    const real *const ys[4] = {y, y, y, y};
    for (int64_t e = 0; e < n; e += 4) {
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

FTB_INLINE void dot_visit_narrow(const ftb_sddmm_job *s, int size, int64_t width, int64_t at, int64_t n,
                                 const real *y, real *out)
{
    real scale = (real)s->scale;
    for (int64_t e = 0; e < n; e++) {
        const real *x = (const real *)s->x + lanes_column(s->visits.column, size, at + e) * s->xld;
        for (int64_t h = 0; h < s->heads; h++)
            out[e * s->heads + h] = lanes_dot_narrow(x + h * width, y + h * width, width) * scale;
    }
}

FTB_INLINE void dot_visits(const ftb_sddmm_job *s, int64_t first, int64_t last, int size, bool one,
                           int64_t groups, int64_t narrow)
{
    const ftb_visits *v = &s->visits;
    for (int64_t visit = first; visit < last; visit++) {
        prefetch_visit(s, visit + AHEAD, last);
        const real *y = (const real *)s->y + ftb_visit_row(v, visit) * s->yld;
        real *out = (real *)s->out + ftb_visit_entry(v, visit) * s->heads;
        int64_t at = v->start[visit], n = v->start[visit + 1] - at;
        if (n == 0)
            continue;
        if (narrow)
            dot_visit_narrow(s, size, narrow, at, n, y, out);
        else if (one)
            dot_visit_one(s, size, groups ? groups : s->width / FTB_LANES, at, n, y, out);
        else if (s->heads % 4 == 0)
            dot_visit_fours(s, size, groups ? groups : s->width / FTB_LANES, at, n, y, out);
        else
            dot_visit_heads(s, size, groups ? groups : s->width / FTB_LANES, at, n, y, out);
    }
}

#define ONE(name, one, groups, narrow, size)                                                                 \
    static void name##_##size(const ftb_sddmm_job *s, int64_t first, int64_t last)                           \
    {                                                                                                        \
        dot_visits(s, first, last, size, one, groups, narrow);                                               \
    }
#define DEFINE(name, one, groups, narrow)                                                                    \
    ONE(name, one, groups, narrow, 2)                                                                        \
    ONE(name, one, groups, narrow, 4)                                                                        \
    ONE(name, one, groups, narrow, 8)
FTB_SDDMM_KERNELS(DEFINE)

ftb_sddmm_kernel FTB_REAL_CELL(ftb_sddmm_pick)(int64_t heads, int64_t width, int column_size)
{
#define ROW(name, one, groups, narrow) {one, groups, narrow, {name##_2, name##_4, name##_8}},
    static const struct {
        bool one;
        int64_t groups, narrow;
        ftb_sddmm_kernel kernel[3];
    } registry[] = {FTB_SDDMM_KERNELS(ROW)};
    int64_t narrow = width < FTB_LANES ? width : 0, groups = width / FTB_LANES;
    for (size_t r = 0; r < sizeof registry / sizeof *registry; r++)
        if (registry[r].narrow == narrow && (!registry[r].one || heads == 1) &&
            (registry[r].groups == 0 || registry[r].groups == groups))
            return registry[r].kernel[column_size == 2 ? 0 : column_size == 4 ? 1 : 2];
    return NULL;
}
