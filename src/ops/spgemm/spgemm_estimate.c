/* How many entries a product will have, by sampled rows: distinct columns are counted in a bitmap, of which
 * only the words that were set are cleared again, so that a row costs what its products cost, however many
 * columns there are. What the triangle, the filters over vertices, a mask and top-k keep is counted as well;
 * what filters over weights keep is not known. */
#include "ops/spgemm/spgemm.h"

#include <math.h>

#define SAMPLED_PRODUCTS 2e7 /* about 0.1 s */
#define SAMPLED_ROWS 64.0    /* at least */

/* y / x of a few rows, of whose others the x are known: the ratio estimator. */
typedef struct ratio {
    double x, y, xx, xy, yy;
} ratio;

static void add(ratio *r, double x, double y)
{
    r->x += x;
    r->y += y;
    r->xx += x * x;
    r->xy += x * y;
    r->yy += y * y;
}

static double ratio_of(const ratio *r) { return r->x > 0 ? r->y / r->x : 0; }

/* Relative standard error. */
static double error_of(const ratio *r)
{
    double q = ratio_of(r);
    return r->y > 0 ? sqrt(fmax(r->yy - 2 * q * r->xy + q * q * r->xx, 0)) / r->y : 0;
}

static bool wanted(const ftb_spgemm_product *product, int64_t i)
{
    return !product->keep_rows || product->keep_rows[i];
}

static int64_t most_computed(const ftb_spgemm_product *product, int64_t i)
{
    return ftb_min(product->row_products[i], product->p.ncols);
}

/* Most entries of row i that are delivered; `columns`: how many may be. */
static int64_t most_kept(const ftb_spgemm_product *product, int64_t i, int64_t columns)
{
    const ftb_finish *finish = &product->finish;
    bool own = finish->drop_diagonal && (!finish->keep || finish->keep[i]);
    int64_t most = ftb_min(most_computed(product, i), columns - own);
    if (finish->upper_only)
        most = ftb_min(most, product->p.ncols - i - finish->drop_diagonal);
    if (product->mask)
        most = ftb_min(most, product->mask->pattern->rowptr[i + 1] - product->mask->pattern->rowptr[i]);
    return finish->use_top_k ? ftb_min(most, finish->top_k) : most;
}

static bool keeps(const ftb_finish *finish, int64_t i, int64_t j)
{
    return (!finish->keep || finish->keep[j]) && !(finish->drop_diagonal && i == j) &&
           !(finish->upper_only && j < i);
}

/* Entries of the mask's row i whose bits are set. */
static int64_t count_masked(const ftb_spgemm_product *product, int64_t i, const uint64_t *seen)
{
    const ftb_pattern *mask = product->mask->pattern;
    int64_t count = 0;
    for (int64_t e = mask->rowptr[i]; e < mask->rowptr[i + 1]; e++) {
        int64_t j = ftb_col(mask, e);
        count += seen[j / 64] >> (j % 64) & 1 && ftb_mask_admits(&product->admits, e);
    }
    return count;
}

/* Row i's distinct columns and, of them, those that are delivered; a row that has all columns is looked at no
 * further. `seen` is clear before and after. */
static void count_row(const ftb_spgemm_product *product, int64_t i, uint64_t *seen, int64_t *distinct,
                      int64_t *kept)
{
    const ftb_spgemm *p = &product->p;
    const ftb_finish *finish = &product->finish;
    const int32_t *col = product->right->colidx;
    int64_t end = p->arow[i];
    *distinct = *kept = 0;
    for (; end < p->arow[i + 1] && *distinct < p->ncols; end++)
        for (int64_t e = ftb_spgemm_first(p, end); e < ftb_spgemm_last(p, end); e++) {
            uint64_t bit = UINT64_C(1) << (col[e] % 64), *word = &seen[col[e] / 64];
            if (*word & bit)
                continue;
            *word |= bit;
            ++*distinct;
            *kept += keeps(finish, i, col[e]);
        }
    if (product->mask)
        *kept = count_masked(product, i, seen);
    if (finish->use_top_k)
        *kept = ftb_min(*kept, finish->top_k);
    for (int64_t x = p->arow[i]; x < end; x++)
        for (int64_t e = ftb_spgemm_first(p, x); e < ftb_spgemm_last(p, x); e++)
            seen[col[e] / 64] = 0;
}

static int64_t columns_kept(const ftb_spgemm_product *product)
{
    const uint8_t *keep = product->finish.keep;
    int64_t count = 0;
    for (int64_t j = 0; keep && j < product->p.ncols; j++)
        count += keep[j] != 0;
    return keep ? count : product->p.ncols;
}

GrB_Info ftb_product_estimate(ftb_spgemm_product *product)
{
    const ftb_spgemm *p = &product->p;
    ftb_spgemm_facts *f = &product->facts;
    int64_t columns = columns_kept(product), rows = 0, at = 0;
    f->kept_bound = 0;
    for (int64_t i = 0; i < p->nrows; i++)
        if (wanted(product, i)) {
            rows++;
            f->kept_bound += (double)most_kept(product, i, columns);
        }
    f->entries_estimate = f->kept_estimate = -1;
    if (product->p.column || rows == 0 || f->products < 1)
        return GrB_SUCCESS;
    uint64_t *seen = ftb_new0(product->ctx, p->ncols / 64 + 1, sizeof *seen);
    if (!seen)
        return ftb_nomem();
    double share = fmax(fmin(1, SAMPLED_PRODUCTS / f->products), SAMPLED_ROWS / (double)rows);
    int64_t step = ftb_max((int64_t)(1 / fmin(share, 1)), 1) | 1; /* odd: no beat with powers of two */
    ratio computed = {0}, delivered = {0};
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t distinct, kept;
        if (!wanted(product, i) || at++ % step != step / 2)
            continue;
        count_row(product, i, seen, &distinct, &kept);
        add(&computed, (double)most_computed(product, i), (double)distinct);
        add(&delivered, (double)most_kept(product, i, columns), (double)kept);
    }
    ftb_delete(seen);
    f->entries_estimate = ratio_of(&computed) * f->entries_bound;
    f->kept_estimate = ratio_of(&delivered) * f->kept_bound;
    f->kept_error = step == 1 ? 0 : error_of(&delivered);
    return GrB_SUCCESS;
}
