/* Columns by frequency, and the hottest of them as bits: a counting message needs no multiplication, so the
 * counts of 512 columns are summed together by carry-save adders (cpu/spgemm_bits.c). Half the entries of a
 * ratings matrix, and three quarters of its products, are in a few thousand columns. */
#include "ops/spgemm.h"

#define MANY_DEGREES 65536

/* order[id] = column and rank[column] = id, by falling number of entries; equal ones by column. */
GrB_Info ftb_product_rank(ftb_product *product)
{
    const ftb_pattern *right = product->right;
    FtB_Context ctx = product->ctx;
    int64_t n = right->ncols;
    if (product->order)
        return GrB_SUCCESS;
    uint32_t *order = ftb_product_own(product, ftb_new(ctx, n, sizeof *order));
    uint32_t *rank = ftb_product_own(product, ftb_new(ctx, n, sizeof *rank));
    int64_t *start = ftb_new0(ctx, MANY_DEGREES + 1, sizeof *start);
    uint32_t *degree = ftb_new0(ctx, n, sizeof *degree);
    GrB_Info info = GrB_SUCCESS;
    if (!order || !rank || !start || !degree) {
        info = ftb_nomem();
        goto done;
    }
    for (int64_t e = 0; e < right->nvals; e++)
        degree[((const int32_t *)right->colidx)[e]]++;
    for (int64_t j = 0; j < n; j++) /* bucket 1 holds the largest */
        start[MANY_DEGREES - ftb_min(degree[j], MANY_DEGREES - 1)]++;
    for (int64_t d = 0; d < MANY_DEGREES; d++)
        start[d + 1] += start[d];
    for (int64_t j = 0; j < n; j++) {
        int64_t id = start[MANY_DEGREES - 1 - ftb_min(degree[j], MANY_DEGREES - 1)]++;
        order[id] = (uint32_t)j;
        rank[j] = (uint32_t)id;
    }
    product->order = order;
    product->rank = rank;
done:
    ftb_delete(start);
    ftb_delete(degree);
    return info;
}

GrB_Info ftb_product_hot_facts(ftb_product *product)
{
    const ftb_pattern *right = product->right;
    ftb_spgemm_facts *f = &product->facts;
    memset(f->hot_share, 0, sizeof f->hot_share);
    if (product->p.message != FTB_MESSAGE_PAIR || product->p.awide || right->wide || right->multi ||
        product->mask || f->products <= 0)
        return GrB_SUCCESS;
    GrB_Info info = ftb_product_rank(product);
    if (info != GrB_SUCCESS)
        return info;
    double within[FTB_HOT_CHOICES] = {0}, all = 0;
    for (int64_t k = 0; k < right->nrows; k++) { /* row k is met about as often as it has entries */
        int64_t length = right->rowptr[k + 1] - right->rowptr[k];
        int64_t inside[FTB_HOT_CHOICES] = {0};
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = product->rank[((const int32_t *)right->colidx)[e]];
            for (int c = 0; c < FTB_HOT_CHOICES; c++)
                inside[c] += id < 512u << c;
        }
        for (int c = 0; c < FTB_HOT_CHOICES; c++)
            within[c] += (double)length * (double)inside[c];
        all += (double)length * (double)length;
    }
    for (int c = 0; c < FTB_HOT_CHOICES; c++)
        f->hot_share[c] = all > 0 ? within[c] / all : 0;
    return GrB_SUCCESS;
}

/* Where each left entry starts in the cold rows, when that is not the row's start. */
static GrB_Info cold_starts(ftb_product *product)
{
    const ftb_spgemm *p = &product->p;
    uint32_t hot = (uint32_t)product->plan.hot;
    int64_t nvals = product->right->nvals;
    int64_t *at = ftb_new(product->ctx, nvals + 1, sizeof *at); /* cold entries before each right entry */
    int64_t *start = ftb_product_own(product, ftb_new(product->ctx, product->left->nvals, sizeof *start));
    if (!at || !start) {
        ftb_delete(at);
        return ftb_nomem();
    }
    at[0] = 0;
    for (int64_t e = 0; e < nvals; e++)
        at[e + 1] = at[e] + (ftb_spgemm_id(p, e) >= hot);
#pragma omp parallel for num_threads(product->plan.threads)
    for (int64_t x = 0; x < product->left->nvals; x++)
        start[x] = at[p->bstart[x] + p->skip];
    ftb_delete(at);
    product->cold.bstart = start;
    product->cold.skip = 0;
    return GrB_SUCCESS;
}

GrB_Info ftb_product_hot(ftb_product *product)
{
    const ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    FtB_Context ctx = product->ctx;
    int64_t hot = product->plan.hot, nrows = right->nrows, words = hot / 64;
    size_t id_size = p->id16 ? 2 : 4;
    product->bits = ftb_product_own(product, ftb_new0(ctx, nrows * words, sizeof *product->bits));
    int64_t *row = ftb_product_own(product, ftb_new(ctx, nrows + 1, sizeof *row));
    if (!product->bits || !row)
        return ftb_nomem();
    row[0] = 0;
    for (int64_t k = 0; k < nrows; k++) {
        int64_t cold = 0;
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++)
            cold += ftb_spgemm_id(p, e) >= (uint32_t)hot;
        row[k + 1] = row[k] + cold;
    }
    char *ids = ftb_product_own(product, ftb_new(ctx, row[nrows], id_size));
    if (!ids)
        return ftb_nomem();
#pragma omp parallel for num_threads(product->plan.threads) schedule(static)
    for (int64_t k = 0; k < nrows; k++) {
        int64_t to = row[k];
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            if (id < (uint32_t)hot) {
                product->bits[k * words + id / 64] |= UINT64_C(1) << (id % 64);
            } else {
                memcpy(ids + (size_t)to * id_size, (const char *)p->bid + (size_t)e * id_size, id_size);
                to++;
            }
        }
    }
    product->cold = *p;
    product->cold.brow = row;
    product->cold.bid = ids;
    return p->bstart ? cold_starts(product) : GrB_SUCCESS;
}
