/* Columns by frequency, and the hottest of them as bits: a counting message needs no multiplication, so the
 * counts of 512 columns are summed together by carry-save adders (cpu/spgemm_bits.c). In a ratings matrix
 * 80 % of the entries are in 4,096 of 26,744 columns. Products of small whole factors are summed 512 columns
 * together, too, from half bytes (cpu/spgemm_nibbles.c), and any message of few values (cpu/spgemm_lookup.c).
 *
 * Of one operand with its transpose C = R'R, with hot columns h and cold ones c:
 *
 *     C(h, h')  bits over the many entries of row h; of a triangle, only the lines right of h
 *     C(h, c)   bits over the few entries of row c, ahead: *cross counts* (or sums), which row h reads;
 *               looked up, messages (b, a) give C(h, c) where C is not symmetric
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
    for (int64_t j = 0; j < n && product->self; j++) /* the left operand's rows are these columns */
        degree[j] = (uint32_t)(product->left->rowptr[j + 1] - product->left->rowptr[j]);
    for (int64_t e = 0; e < right->nvals && !product->self; e++)
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
    static const double lookups[] = {250, 45, 20}; /* nanoseconds of 512 columns, by instruction set */
    const ftb_pattern *right = product->right;
    ftb_spgemm_facts *f = &product->facts;
    memset(f->hot_share, 0, sizeof f->hot_share);
    f->hot_form = product->p.message == FTB_MESSAGE_PAIR ? FTB_HOT_COUNTS
                  : product->factors.table               ? FTB_HOT_LOOKUP
                                                         : FTB_HOT_FACTORS;
    f->hot_line = lookups[ftb_isa()];
    f->hot_dual = product->factors.back != product->factors.table;
    if ((f->hot_form == FTB_HOT_FACTORS && product->factors.unit <= 0) || product->p.awide || right->wide ||
        right->multi || product->mask || f->products <= 0)
        return GrB_SUCCESS;
    GrB_Info info = rank_columns(product);
    if (info != GrB_SUCCESS)
        return info;
    double within[FTB_HOT_CHOICES] = {0}, without[FTB_HOT_CHOICES] = {0}, all = 0;
    int64_t entries[FTB_HOT_CHOICES] = {0};
    const uint32_t *rank = product->rank;
#pragma omp parallel for num_threads(ftb_threads(product->ctx)) schedule(dynamic, 4096)                      \
    reduction(+ : within[ : FTB_HOT_CHOICES], without[ : FTB_HOT_CHOICES], entries[ : FTB_HOT_CHOICES], all)
    for (int64_t k = 0; k < right->nrows; k++) { /* row k is met about as often as it has entries */
        int64_t length = right->rowptr[k + 1] - right->rowptr[k];
        int64_t inside[FTB_HOT_CHOICES] = {0};
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = rank[((const int32_t *)right->colidx)[e]];
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

/* Column `id` of row k in the hot columns' matrix: its bit, or its factor in half a byte. */
static void fill_hot(ftb_product *product, int64_t k, uint32_t id, int64_t e)
{
    const int64_t at = (int64_t)(id / FTB_BITS_LINE) * product->right->nrows + k, word = FTB_BITS_LINE / 64;
    if (product->p.message == FTB_MESSAGE_PAIR) {
        product->bits[at * word + id % FTB_BITS_LINE / 64] |= UINT64_C(1) << (id % 64);
        return;
    }
    uint8_t factor = product->factors.right[((const uint8_t *)product->p.bval)[e]];
    uint8_t *byte = (uint8_t *)product->bits + at * (FTB_BITS_LINE / 2) + id % (FTB_BITS_LINE / 2);
    *byte = (uint8_t)(*byte | factor << (id % FTB_BITS_LINE < FTB_BITS_LINE / 2 ? 0 : 4));
}

/* Each row's hot columns, [line of 512 columns][row][512 columns]; cold[k + 1] = number of its others. */
static void fill_bits(ftb_product *product, int64_t *cold)
{
    const ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    const uint32_t hot = (uint32_t)product->plan.hot;
#pragma omp parallel for num_threads(product->plan.threads) schedule(static)
    for (int64_t k = 0; k < right->nrows; k++) {
        int64_t count = 0;
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            count += id >= hot;
            if (id < hot)
                fill_hot(product, k, id, e);
        }
        cold[k + 1] = count;
    }
}

/* Where the entries of the product without hot columns go; NULL: not needed. */
typedef struct cold_entries {
    char *ids;       /* of the right operand */
    uint8_t *bcodes; /* TABLE */
    int64_t *next;   /* of each thread: place of each left row's next entry */
    int64_t *arow;   /* of the left operand */
    int32_t *acol;   /* of the left operand, if it keeps only some */
    uint8_t *acodes;
    int64_t *start; /* in row k, of left entry (i, k) */
} cold_entries;

/* Where the left rows' entries of k0 and more go. */
static void skip_to(const ftb_product *product, const cold_entries *c, int64_t k0, int64_t *next)
{
    const ftb_spgemm *p = &product->p;
    for (int64_t i = 0; i < p->nrows; i++) {
        int64_t lo = p->arow[i], hi = c->arow[i + 1] > c->arow[i] ? p->arow[i + 1] : lo;
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (((const int32_t *)p->acol)[mid] < k0)
                lo = mid + 1;
            else
                hi = mid;
        }
        next[i] = c->arow[i] + lo - p->arow[i];
    }
}

/* Rows k0 .. k1 - 1 of the right operand. With cross counts the left operand keeps its cold rows alone. */
static void fill_cold_rows(ftb_product *product, const cold_entries *c, const int64_t *brow, int64_t k0,
                           int64_t k1, int64_t *next)
{
    const ftb_spgemm *p = &product->p;
    const ftb_pattern *right = product->right;
    const uint32_t hot = (uint32_t)product->plan.hot;
    const size_t id_size = p->id16 ? 2 : 4;
    const uint8_t *code = p->bval;
    int64_t to = brow[k0];
    for (int64_t k = k0; k < k1; k++)
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            if (next && (id >= hot || !product->cross)) {
                int64_t x = next[((const int32_t *)right->colidx)[e]]++;
                if (c->acol)
                    c->acol[x] = (int32_t)k;
                if (c->acodes)
                    c->acodes[x] = code[e];
                if (c->start)
                    c->start[x] = to + (id >= hot ? p->skip : 0);
            }
            if (id >= hot) {
                memcpy(c->ids + (size_t)to * id_size, (const char *)p->bid + (size_t)e * id_size, id_size);
                if (c->bcodes)
                    c->bcodes[to] = code[e];
                to++;
            }
        }
}

/* By parts of the right operand's rows, one of each thread. */
static void fill_cold(ftb_product *product, const cold_entries *c, const int64_t *brow)
{
    const int parts = product->plan.threads;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        int64_t *next = c->next ? c->next + part * product->p.nrows : NULL;
        int64_t k0 = ftb_pattern_cut(product->right, part, parts);
        if (next)
            skip_to(product, c, k0, next);
        fill_cold_rows(product, c, brow, k0, ftb_pattern_cut(product->right, part + 1, parts), next);
    }
}

/* The left operand's rows, and memory for its entries. */
static GrB_Info make_cold_left(ftb_product *product, cold_entries *c)
{
    const ftb_spgemm *p = &product->p;
    FtB_Context ctx = product->ctx;
    const int64_t nrows = p->nrows;
    const bool triangle = p->bstart != NULL, cross = product->cross != NULL;
    const bool codes = cross && p->message == FTB_MESSAGE_TABLE;
    int64_t *arow = c->arow = ftb_product_own(product, ftb_new(ctx, nrows + 1, sizeof *arow));
    c->next = ftb_new(ctx, nrows * product->plan.threads, sizeof *c->next);
    if (!arow || !c->next)
        return ftb_nomem();
    arow[0] = 0;
    for (int64_t i = 0; i < nrows; i++) {
        bool kept = !cross || p->rank[i] >= (uint32_t)product->plan.hot;
        arow[i + 1] = arow[i] + (kept ? p->arow[i + 1] - p->arow[i] : 0);
    }
    if (cross)
        c->acol = ftb_product_own(product, ftb_new(ctx, arow[nrows], sizeof *c->acol));
    if (codes)
        c->acodes = ftb_product_own(product, ftb_new(ctx, arow[nrows], 1));
    if (triangle)
        c->start = ftb_product_own(product, ftb_new(ctx, arow[nrows], sizeof *c->start));
    return (cross && !c->acol) || (codes && !c->acodes) || (triangle && !c->start) ? ftb_nomem()
                                                                                   : GrB_SUCCESS;
}

/* The product without the hot columns. */
static GrB_Info make_cold(ftb_product *product, int64_t *brow)
{
    const ftb_spgemm *p = &product->p;
    const int64_t nvals = brow[product->right->nrows];
    const bool codes = p->message == FTB_MESSAGE_TABLE;
    ftb_spgemm *cold = &product->cold;
    cold_entries c = {.ids = ftb_product_own(product, ftb_new(product->ctx, nvals, p->id16 ? 2 : 4))};
    if (codes)
        c.bcodes = ftb_product_own(product, ftb_new(product->ctx, nvals, 1));
    GrB_Info info = c.ids && (!codes || c.bcodes) ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS && (product->cross || p->bstart))
        info = make_cold_left(product, &c);
    if (info != GrB_SUCCESS)
        goto done;
    fill_cold(product, &c, brow);
    *cold = *p;
    cold->brow = brow;
    cold->bid = c.ids;
    cold->arow = c.arow ? c.arow : p->arow;
    cold->acol = c.acol ? c.acol : p->acol;
    cold->bstart = c.start;
    cold->skip = 0;
    if (codes)
        cold->bval = c.bcodes;
    if (c.acodes) {
        cold->aval = c.acodes;
        cold->aperm = NULL;
    }
done:
    ftb_delete(c.next);
    return info;
}

#define TILE 32 /* cold columns: one cache line of 16-bit counts */

/* Whether the counts of pairs of a hot and a cold column, at most the cold one's entries, have 16 bits. */
static bool cross_fits(const ftb_product *product)
{
    const ftb_spgemm *p = &product->p;
    if (p->message != FTB_MESSAGE_PAIR)
        return true; /* sums have 32 */
    for (int64_t i = 0; i < p->nrows; i++)
        if (p->rank[i] >= (uint32_t)product->plan.hot && p->arow[i + 1] - p->arow[i] > UINT16_MAX)
            return false;
    return true;
}

/* Counts of TILE cold columns with all hot ones, and their transpose into cross[hot][cold]. */
static void count_tile(const ftb_product *product, int64_t tile, uint32_t *counts, uint16_t *cross)
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

void ftb_product_hot_sums(const ftb_product *product, const float (*lookup)[16], int64_t first,
                          int64_t columns, int64_t x0, int64_t x1, void *to)
{
    const int64_t ninner = product->right->nrows;
    const uint64_t *table = product->bits + first / 16 * ninner;
    const int32_t *k = (const int32_t *)product->p.acol + x0;
    const uint8_t *entry = product->factors.entry + x0;
    if (lookup)
        FTB_PICK(ftb_spgemm_lookup)(table, ninner, columns, k, entry, x1 - x0, lookup, to);
    else
        FTB_PICK(ftb_spgemm_nibbles)(table, ninner, columns, k, entry, x1 - x0, to);
}

static void empty_lines(bool cells, int64_t n, void *to)
{
    for (int64_t t = 0; t < n && cells; t++)
        ((float *)to)[t] = -0.0f;
    if (!cells)
        memset(to, 0, (size_t)n * 4);
}

/* The same for sums of FTB_CROSS_TILE columns: cross is the sums' tile, transposed. */
static void sum_tile(const ftb_product *product, const float (*lookup)[16], int64_t tile, void *sums,
                     float *cross)
{
    const ftb_spgemm *p = &product->p;
    const int64_t hot = product->plan.hot, c0 = tile * FTB_CROSS_TILE;
    empty_lines(lookup != NULL, FTB_CROSS_TILE * hot, sums);
    for (int64_t c = c0; c < ftb_min(p->nids - hot, c0 + FTB_CROSS_TILE); c++) {
        int64_t i = p->order[hot + c];
        ftb_product_hot_sums(product, lookup, 0, hot, p->arow[i], p->arow[i + 1],
                             (uint32_t *)sums + (c - c0) * hot);
    }
    float *cells = sums;
    if (!lookup)
        FTB_PICK(ftb_spgemm_cells)(sums, FTB_CROSS_TILE * hot, (float)product->factors.unit, cells);
    for (int64_t c = 0; c < FTB_CROSS_TILE; c++)
        for (int64_t h = 0; h < hot; h++)
            cross[(tile * hot + h) * FTB_CROSS_TILE + c] = cells[c * hot + h];
}

#define BLOCK 4096 /* rows of a line of hot columns that stay in L2: 1 MiB */

/* Sums of two hot columns, by blocks of rows and lines of columns. */
static GrB_Info make_square(ftb_product *product)
{
    const ftb_spgemm *p = &product->p;
    const int64_t hot = product->plan.hot, ninner = product->right->nrows;
    const int32_t *k = p->acol;
    const float(*lookup)[16] = (const float(*)[16])product->factors.table;
    float *square = ftb_product_own(product, ftb_new(product->ctx, hot * hot, sizeof *square));
    int64_t *next = ftb_new(product->ctx, hot, sizeof *next);
    if (!square || !next) {
        ftb_delete(next);
        return ftb_nomem();
    }
    empty_lines(lookup != NULL, hot * hot, square);
    for (int64_t line = 0; line < hot; line += FTB_BITS_LINE) {
        const int64_t rows = p->bstart ? line + FTB_BITS_LINE : hot;
        for (int64_t h = 0; h < rows; h++)
            next[h] = p->arow[p->order[h]];
        for (int64_t k0 = 0; k0 < ninner; k0 += BLOCK)
#pragma omp parallel for num_threads(product->plan.threads) schedule(dynamic, 16)
            for (int64_t h = 0; h < rows; h++) {
                int64_t x0 = next[h], x1 = x0, end = p->arow[p->order[h] + 1];
                while (x1 < end && k[x1] < k0 + BLOCK)
                    x1++;
                ftb_product_hot_sums(product, lookup, line, FTB_BITS_LINE, x0, x1, square + h * hot + line);
                next[h] = x1;
            }
    }
    product->square = square;
    ftb_delete(next);
    return GrB_SUCCESS;
}

/* A cold row holds few entries, so bits give its counts with all hot columns at once; the hot columns' rows
 * read them instead of scattering their many entries. */
static GrB_Info make_cross(ftb_product *product)
{
    FtB_Context ctx = product->ctx;
    const bool pair = product->p.message == FTB_MESSAGE_PAIR;
    const int64_t hot = product->plan.hot, width = pair ? TILE : FTB_CROSS_TILE;
    const int64_t tiles = (product->p.nids - hot + width - 1) / width;
    const int threads = product->plan.threads;
    product->cross_row = tiles * width;
    const float(*lookup)[16] = (const float(*)[16])product->factors.table;
    const float(*back)[16] = (const float(*)[16])product->factors.back;
    void *cross = ftb_product_own(product, ftb_new(ctx, hot * product->cross_row, pair ? 2 : 4)),
         *other = cross;
    if (back != lookup)
        other = ftb_product_own(product, ftb_new(ctx, hot * product->cross_row, 4));
    char *tile = ftb_new(ctx, threads * TILE * hot, 4); /* of each thread */
    GrB_Info info = cross && other && tile ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            char *mine = tile + omp_get_thread_num() * TILE * hot * 4;
            if (pair)
                count_tile(product, t, (uint32_t *)(void *)mine, cross);
            else
                sum_tile(product, lookup, t, mine, cross);
            if (other != cross)
                sum_tile(product, back, t, mine, other);
        }
        product->cross = cross;
        product->cross_back = other;
    }
    ftb_delete(tile);
    if (info == GrB_SUCCESS && !pair)
        info = make_square(product);
    return info;
}

/* The factor, or code, of each left entry. */
static GrB_Info make_factors(ftb_product *product)
{
    const ftb_spgemm *p = &product->p;
    const int64_t n = product->left->nvals;
    uint8_t *entry = ftb_product_own(product, ftb_new(product->ctx, n, 1));
    if (!entry)
        return ftb_nomem();
#pragma omp parallel for num_threads(product->plan.threads)
    for (int64_t x = 0; x < n; x++)
        entry[x] = product->factors.left[((const uint8_t *)p->aval)[p->aperm ? p->aperm[x] : x]];
    product->factors.entry = entry;
    return GrB_SUCCESS;
}

GrB_Info ftb_product_hot(ftb_product *product)
{
    FtB_Context ctx = product->ctx;
    const int64_t nrows = product->right->nrows,
                  words = product->plan.hot / (product->p.message == FTB_MESSAGE_PAIR ? 64 : 16);
    product->cross = NULL;
    product->square = NULL;
    product->bits = ftb_product_own(product, ftb_new0(ctx, nrows * words, sizeof *product->bits));
    int64_t *cold = ftb_product_own(product, ftb_new(ctx, nrows + 1, sizeof *cold));
    GrB_Info info = product->bits && cold ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS && product->p.message == FTB_MESSAGE_TABLE)
        info = make_factors(product);
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
