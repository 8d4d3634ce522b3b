/* Sums of messages (y - dot(x, z)) x (cpu/error_rows.h). Bits are those of the interpreter: dot products in
 * lanes, nothing fused, messages added in the order of entries. Four entries at a time, whose sums of lanes
 * become one vector; those behind a row's last are 0, which changes no sum.
 *
 * Cells: f32, f64 */
#include "cpu/error_rows.h"
#include "cpu/kernels/lanes.h"

enum { FOUR = 4, AHEAD = 16, MOST = FTB_LANES_PIECE };

FTB_INLINE void fetch(const ftb_error_rows *f, int64_t e)
{
    const char *row =
        (const char *)((const real *)f->x + (int64_t)((const int32_t *)f->p->colidx)[e] * f->ldx);
    for (int64_t at = 0; at < f->width * FTB_REAL_SIZE; at += 64)
        __builtin_prefetch(row + at);
}

FTB_INLINE void rows_of(const ftb_error_rows *f, int64_t first, int64_t last, int64_t groups)
{
    static const real none[MOST * FTB_LANES];
    const int32_t *column = f->p->colidx;
    const int64_t *rowptr = f->p->rowptr, limit = f->p->nvals;
    for (int64_t t = first; t < last; t++) {
        const int64_t i = f->rows ? f->rows[t] : t, end = rowptr[i + 1];
        const real *z = (const real *)f->z + i * f->ldz, *const own[FOUR] = {z, z, z, z};
        lanes sum[MOST];
        for (int64_t g = 0; g < groups; g++)
            sum[g] = lanes_all(0);
        for (int64_t e = rowptr[i]; e < end; e += FOUR) {
            const real *x[FOUR];
            real y[FOUR];
            for (int64_t k = 0; k < FOUR; k++) {
                const bool there = e + k < end;
                x[k] = there ? (const real *)f->x + column[e + k] * f->ldx : none;
                y[k] = there ? ((const real *)f->y)[(f->at ? f->at[e + k] : e + k) * f->ldy] : 0;
                if (e + k + AHEAD < limit)
                    fetch(f, e + k + AHEAD);
            }
            const quad error = *(const quad_unaligned *)y - lanes_dots(x, own, groups);
            for (int64_t g = 0; g < groups; g++)
                for (int k = 0; k < FOUR; k++)
                    sum[g] =
                        lanes_add(sum[g], lanes_mul(lanes_all(error[k]), lanes_load(x[k] + g * FTB_LANES)));
        }
        for (int64_t g = 0; g < groups; g++)
            lanes_store((real *)f->out + i * f->ld + g * FTB_LANES, sum[g]);
    }
}

void FTB_REAL_CELL(ftb_error_sums)(const ftb_error_rows *f, int64_t first, int64_t last)
{
    if (f->width == 2 * FTB_LANES)
        rows_of(f, first, last, 2);
    else
        rows_of(f, first, last, f->width / FTB_LANES);
}
