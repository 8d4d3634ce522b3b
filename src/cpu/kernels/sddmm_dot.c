/* out(e, h) = scale * dot(y(i, h), x(j, h)) for entries e = (i, j), visit by visit
 * (cpu/kernels/sddmm_kernels.h).
 *
 * The destination's row stays in L1 or registers, source rows come from L2 if they are a packed segment. Four
 * dot products are summed side by side and reduced by one transposed reduction; results are consecutive,
 * since a visit's entries are. What limits it is L2's read bandwidth: at d = 128 a product reads 512 bytes
 * and takes 16 vector operations. Method: Hu et al., "FeatGraph", SC 2020 (partitioned SDDMM);
 * docs/kernels.md.
 *
 * Cells: f32, f64 */
#include "cpu/kernels/dots.h"

#define AHEAD 8 /* visits: their destination rows come from memory, in jumps */

FTB_INLINE void prefetch_visit(const ftb_sddmm_job *s, int64_t visit, int64_t last)
{
    if (visit >= last)
        return;
    const char *y = (const char *)((const real *)s->y + ftb_visit_row(&s->visits, visit) * s->yld);
    int64_t bytes = s->heads * s->width * FTB_REAL_SIZE;
    for (int64_t b = 0; b < bytes && b < 1024; b += 64)
        __builtin_prefetch(y + b, 0, 2); /* to L2: misses of L1 are for the sources */
    __builtin_prefetch((real *)s->out + ftb_visit_entry(&s->visits, visit) * s->heads, 1);
}

FTB_INLINE void dot_visits(const ftb_sddmm_job *s, int64_t first, int64_t last, int size, bool one,
                           int64_t groups, int64_t narrow)
{
    const ftb_visits *v = &s->visits;
    const int64_t limit = v->start[last];
    for (int64_t visit = first; visit < last; visit++) {
        prefetch_visit(s, visit + AHEAD, last);
        const real *y = (const real *)s->y + ftb_visit_row(v, visit) * s->yld;
        real *out = (real *)s->out + ftb_visit_entry(v, visit) * s->heads;
        int64_t at = v->start[visit], n = v->start[visit + 1] - at;
        if (n == 0)
            continue;
        dot_visit(s, size, one, groups, narrow, at, n, y, out, limit);
    }
}

#define ONE(name, one, groups, narrow, size)                                                                 \
    static void name##_##size(const ftb_sddmm_job *s, int64_t first, int64_t last)                           \
    {                                                                                                        \
        dot_visits(s, first, last, size, one, groups, narrow);                                               \
    }
#define DEFINE(name, one, groups, narrow)                                                                    \
    ONE(name, one, groups, narrow, 2)                                                                        \
    ONE(name, one, groups, narrow, 4)
FTB_SDDMM_KERNELS(DEFINE)

/* Of any heads: columns of eight bytes are those of patterns with more than 2^31, which are few. */
static void dot_wide(const ftb_sddmm_job *s, int64_t first, int64_t last)
{
    dot_visits(s, first, last, 8, s->heads == 1, 0, s->width < FTB_LANES ? s->width : 0);
}

ftb_sddmm_kernel FTB_REAL_CELL(ftb_sddmm_pick)(int64_t heads, int64_t width, int column_size)
{
#define ROW(name, one, groups, narrow) {one, groups, narrow, {name##_2, name##_4, dot_wide}},
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
