/* Columns by frequency, and the hottest of them as bits: a counting message needs no multiplication, so the
 * counts of 512 columns are summed together by carry-save adders (cpu/spgemm_bits.c). In a ratings matrix
 * 80 % of the entries are in 4,096 of 26,744 columns.
 *
 * Of one operand with its transpose C = R'R, with hot columns h and cold ones c:
 *
 *     C(h, h')  bits over the many entries of row h; of a triangle, only the lines right of h
 *     C(h, c)   bits over the few entries of row c, ahead: *cross counts*, which row h reads
 *     C(c, c')  scattered: few entries, in lists that hold cold columns alone */
#include "cpu/spgemm_bits.h"
#include "ops/spgemm.h"

#include <omp.h>

#define MANY_DEGREES 65536

/* order[id] = column and rank[column] = id, by falling number of entries; equal ones by column. */
static GrB_Info rank_columns(ftb_product *product)
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
    GrB_Info info = rank_columns(product);
    if (info != GrB_SUCCESS)
        return info;
    double within[FTB_HOT_CHOICES] = {0}, without[FTB_HOT_CHOICES] = {0}, all = 0;
    int64_t entries[FTB_HOT_CHOICES] = {0};
    for (int64_t k = 0; k < right->nrows; k++) { /* row k is met about as often as it has entries */
        int64_t length = right->rowptr[k + 1] - right->rowptr[k];
        int64_t inside[FTB_HOT_CHOICES] = {0};
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = product->rank[((const int32_t *)right->colidx)[e]];
            for (int c = 0; c < FTB_HOT_CHOICES; c++)
                inside[c] += id < 512u << c;
        }
        for (int c = 0; c < FTB_HOT_CHOICES; c++) {
            double outside = (double)(length - inside[c]);
            entries[c] += inside[c];
            within[c] += (double)length * (double)inside[c];
            without[c] += outside * outside;
        }
        all += (double)length * (double)length;
    }
    for (int c = 0; c < FTB_HOT_CHOICES && all > 0; c++) {
        f->hot_share[c] = within[c] / all;
        f->hot_entries[c] = (double)entries[c] / (double)right->nvals;
        f->cold_share[c] = without[c] / all;
    }
    return GrB_SUCCESS;
}

/* Hot ids by column: a triangle's row then needs those from some id on. */
static void sort_hot(ftb_product *product)
{
    uint32_t *order = product->order, *rank = product->rank, id = 0;
    for (int64_t j = 0; j < product->right->ncols; j++)
        if (rank[j] < (uint32_t)product->plan.hot) {
            order[id] = (uint32_t)j;
            rank[j] = id++;
        }
}

GrB_Info ftb_product_name_columns(ftb_product *product)
{
    GrB_Info info = rank_columns(product);
    if (info != GrB_SUCCESS)
        return info;
    sort_hot(product);
    product->p.order = product->order;
    product->p.rank = product->rank;
    return GrB_SUCCESS;
}

/* Each row's hot columns as bits, [line of 512 columns][row][word]; cold[k + 1] = number of its others. */
static void fill_bits(ftb_product *product, int64_t *cold)
{
    const ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    const uint32_t hot = (uint32_t)product->plan.hot;
    const int64_t words = FTB_BITS_LINE / 64;
#pragma omp parallel for num_threads(product->plan.threads) schedule(static)
    for (int64_t k = 0; k < right->nrows; k++) {
        int64_t count = 0;
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            count += id >= hot;
            if (id < hot)
                product->bits[((int64_t)(id / FTB_BITS_LINE) * right->nrows + k) * words +
                              id % FTB_BITS_LINE / 64] |= UINT64_C(1) << (id % 64);
        }
        cold[k + 1] = count;
    }
}

/* The right operand's cold entries. A triangle also notes where in row k left entry (i, k) starts; with
 * cross counts the left operand keeps its cold rows alone. */
static void fill_cold(ftb_product *product, char *ids, int64_t *next, int32_t *acol, int64_t *start)
{
    const ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    const uint32_t hot = (uint32_t)product->plan.hot;
    const size_t id_size = p->id16 ? 2 : 4;
    for (int64_t k = 0, to = 0; k < right->nrows; k++)
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            if (next && (id >= hot || !product->cross)) {
                int64_t x = next[((const int32_t *)right->colidx)[e]]++;
                if (acol)
                    acol[x] = (int32_t)k;
                if (start)
                    start[x] = to + (id >= hot ? p->skip : 0);
            }
            if (id >= hot) {
                memcpy(ids + (size_t)to * id_size, (const char *)p->bid + (size_t)e * id_size, id_size);
                to++;
            }
        }
}

/* The product without the hot columns. */
static GrB_Info make_cold(ftb_product *product, int64_t *brow)
{
    const ftb_spgemm *p = &product->p;
    FtB_Context ctx = product->ctx;
    const int64_t nrows = p->nrows, ninner = product->right->nrows;
    const bool triangle = p->bstart != NULL, cross = product->cross != NULL;
    int64_t *arow = NULL, *next = NULL, *start = NULL;
    int32_t *acol = NULL;
    char *ids = ftb_product_own(product, ftb_new(ctx, brow[ninner], p->id16 ? 2 : 4));
    GrB_Info info = GrB_SUCCESS;
    if (!ids)
        return ftb_nomem();
    if (cross || triangle) { /* where the left rows are */
        arow = ftb_product_own(product, ftb_new(ctx, nrows + 1, sizeof *arow));
        next = ftb_new(ctx, nrows + 1, sizeof *next);
        if (!arow || !next) {
            info = ftb_nomem();
            goto done;
        }
        arow[0] = 0;
        for (int64_t i = 0; i < nrows; i++) {
            bool kept = !cross || p->rank[i] >= (uint32_t)product->plan.hot;
            arow[i + 1] = arow[i] + (kept ? p->arow[i + 1] - p->arow[i] : 0);
        }
        memcpy(next, arow, (size_t)(nrows + 1) * sizeof *next);
        if (cross)
            acol = ftb_product_own(product, ftb_new(ctx, arow[nrows], sizeof *acol));
        if (triangle)
            start = ftb_product_own(product, ftb_new(ctx, arow[nrows], sizeof *start));
        if ((cross && !acol) || (triangle && !start)) {
            info = ftb_nomem();
            goto done;
        }
    }
    fill_cold(product, ids, next, acol, start);
    product->cold = *p;
    product->cold.brow = brow;
    product->cold.bid = ids;
    product->cold.arow = arow ? arow : p->arow;
    product->cold.acol = acol ? acol : p->acol;
    product->cold.bstart = start;
    product->cold.skip = 0;
done:
    ftb_delete(next);
    return info;
}

#define TILE 32 /* cold columns: one cache line of 16-bit counts */

/* Whether the counts of pairs of a hot and a cold column, at most the cold one's entries, have 16 bits. */
static bool cross_fits(const ftb_product *product)
{
    const ftb_spgemm *p = &product->p;
    for (int64_t i = 0; i < p->nrows; i++)
        if (p->rank[i] >= (uint32_t)product->plan.hot && p->arow[i + 1] - p->arow[i] > UINT16_MAX)
            return false;
    return true;
}

/* Counts of TILE cold columns with all hot ones, and their transpose into cross[hot][cold]. */
static void cross_tile(const ftb_product *product, int64_t tile, uint32_t *counts, uint16_t *cross)
{
    const ftb_spgemm *p = &product->p;
    const int64_t hot = product->plan.hot, last = ftb_min(p->nids - hot, (tile + 1) * TILE);
    for (int64_t c = tile * TILE; c < last; c++) {
        int64_t i = p->order[hot + c], x0 = p->arow[i];
        FTB_PICK(ftb_spgemm_bits)
        (product->bits, product->right->nrows, hot, (const int32_t *)p->acol + x0, p->arow[i + 1] - x0,
         counts + c % TILE * hot);
    }
    for (int64_t h = 0; h < hot; h++)
        for (int64_t c = tile * TILE; c < last; c++)
            cross[h * product->cross_row + c] = (uint16_t)counts[c % TILE * hot + h];
}

/* A cold row holds few entries, so bits give its counts with all hot columns at once; the hot columns' rows
 * read them instead of scattering their many entries. */
static GrB_Info make_cross(ftb_product *product)
{
    FtB_Context ctx = product->ctx;
    const int64_t hot = product->plan.hot, tiles = (product->p.nids - hot + TILE - 1) / TILE;
    const int threads = product->plan.threads;
    product->cross_row = tiles * TILE;
    uint16_t *cross = ftb_product_own(product, ftb_new(ctx, hot * product->cross_row, sizeof *cross));
    uint32_t *counts = ftb_new(ctx, threads * TILE * hot, sizeof *counts);
    GrB_Info info = cross && counts ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++)
            cross_tile(product, t, counts + omp_get_thread_num() * TILE * hot, cross);
        product->cross = cross;
    }
    ftb_delete(counts);
    return info;
}

GrB_Info ftb_product_hot(ftb_product *product)
{
    FtB_Context ctx = product->ctx;
    const int64_t nrows = product->right->nrows;
    product->cross = NULL;
    product->bits =
        ftb_product_own(product, ftb_new0(ctx, nrows * (product->plan.hot / 64), sizeof *product->bits));
    int64_t *cold = ftb_product_own(product, ftb_new(ctx, nrows + 1, sizeof *cold));
    GrB_Info info = product->bits && cold ? GrB_SUCCESS : ftb_nomem();
    if (info != GrB_SUCCESS)
        return info;
    cold[0] = 0;
    fill_bits(product, cold);
    for (int64_t k = 0; k < nrows; k++)
        cold[k + 1] += cold[k];
    if (product->plan.cross && cross_fits(product))
        info = make_cross(product);
    return info == GrB_SUCCESS ? make_cold(product, cold) : info;
}
