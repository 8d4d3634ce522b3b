/* Sums of outer products, in FP64: parts of the items side by side, which are added in their order. Parts do
 * not depend on the number of threads, and so the bits do not. */
#include "cpu/outer_run.h"

#define BATCH 32 /* items that are multiplied together: both sides of them stay in L1 */

static const char *item_of(const void *x, FtB_Type type, int64_t t, int64_t width)
{
    return (const char *)x + (size_t)(t * width) * FtB_Type_size(type);
}

static void add_rows(double *restrict sum, const ftb_outer_product *p, int64_t first, int64_t last,
                     double *restrict row)
{
    const int64_t b = p->b;
    for (int64_t t = first; t < last; t++) {
        ftb_cast(row, FTB_FP64, item_of(p->r, p->rtype, t, b), p->rtype, b);
        for (int64_t y = 0; y < b; y++)
            sum[y] += row[y];
    }
}

/* sum += l' r over items first .. last - 1. */
static void add_outer(double *sum, const ftb_outer_product *p, int64_t first, int64_t last, double *scratch)
{
    const int64_t a = p->a, b = p->b;
    for (int64_t t = first; t < last; t += BATCH) {
        const int64_t items = ftb_min(BATCH, last - t);
        double *left = scratch, *right = scratch + BATCH * a;
        ftb_cast(left, FTB_FP64, item_of(p->l, p->ltype, t, a), p->ltype, items * a);
        ftb_cast(right, FTB_FP64, item_of(p->r, p->rtype, t, b), p->rtype, items * b);
        for (int64_t x = 0; x < a; x++)
            for (int64_t n = 0; n < items; n++) {
                double factor = left[n * a + x];
                for (int64_t y = 0; y < b; y++)
                    sum[x * b + y] += factor * right[n * b + y];
            }
    }
}

static int64_t parts_of(const ftb_outer_product *p)
{
    const int64_t most = !p->l ? 64 : p->a * p->b > 65536 ? 4 : 16;
    return ftb_max(1, ftb_min(most, p->items / (p->l ? 64 : 256)));
}

GrB_Info ftb_outer_run(const ftb_outer_product *p)
{
    int64_t cells;
    if (__builtin_mul_overflow(p->a + BATCH, p->b + BATCH, &cells))
        return ftb_fail(GrB_INVALID_VALUE, "semiring: a gradient of %lld x %lld values is too large",
                        (long long)p->a, (long long)p->b);
    double *sum = p->sum;
    const int64_t parts = parts_of(p), each = (p->items + parts - 1) / parts,
                  room = p->a * p->b + BATCH * (p->a + p->b);
    double *partial = ftb_new0(p->ctx, parts * room, sizeof *partial);
    if (!partial)
        return ftb_nomem();
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads_for(p->ctx, p->items * p->b))
    for (int64_t part = 0; part < parts; part++)
        (p->l ? add_outer : add_rows)(partial + part * room, p, part * each,
                                      ftb_min((part + 1) * each, p->items),
                                      partial + part * room + p->a * p->b);
    for (int64_t part = 0; part < parts; part++)
        for (int64_t x = 0; x < p->a * p->b; x++)
            sum[x] = (part || p->add ? sum[x] : 0) + partial[part * room + x];
    ftb_delete(partial);
    return GrB_SUCCESS;
}
