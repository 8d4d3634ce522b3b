/* Columns by frequency, and the hottest of them as bits: a counting message needs no multiplication, so the
 * counts of 512 columns are summed together by carry-save adders (cpu/kernels/spgemm_bits.c). In a ratings
 * matrix 80 % of the entries are in 4,096 of 26,744 columns. Products of small whole factors are summed 512
 * columns together, too, from half bytes (cpu/kernels/spgemm_nibbles.c), and any message of few values
 * (cpu/kernels/spgemm_lookup.c).
 *
 * Of one operand with its transpose C = R'R, with hot columns h and cold ones c:
 *
 *     C(h, h')  bits over the many entries of row h; of a triangle, only the lines right of h
 *     C(h, c)   bits over the few entries of row c, ahead: *cross counts* (or sums), which row h reads;
 *               looked up, messages (b, a) give C(h, c) where C is not symmetric
 *     C(c, c')  scattered: few entries, in lists that hold cold columns alone */
#include "core/column_counts.h"
#include "core/floats.h"
#include "cpu/kernels/spgemm_bits.h"
#include "cpu/spgemm_run.h"

#include <omp.h>

#define MANY_DEGREES 65536

/* order[id] = column (NULL: not wanted) and rank[column] = id, by falling number of entries; equal ones by
 * column. */
static GrB_Info rank_columns(const ftb_spgemm_product *product, uint32_t *order, uint32_t *rank)
{
    const ftb_pattern *right = product->right;
    FtB_Context ctx = product->ctx;
    int64_t n = right->ncols;
    int64_t *start = ftb_new0(ctx, MANY_DEGREES + 1, sizeof *start);
    uint32_t *degree = ftb_new0(ctx, n, sizeof *degree);
    GrB_Info info = GrB_SUCCESS;
    if (!start || !degree) {
        info = ftb_nomem();
        goto done;
    }
    for (int64_t j = 0; j < n && product->self; j++) /* the left operand's rows are these columns */
        degree[j] = (uint32_t)(product->left->rowptr[j + 1] - product->left->rowptr[j]);
    if (!product->self)
        ftb_column_counts(degree, right, ctx);
    for (int64_t j = 0; j < n; j++) /* bucket 1 holds the largest */
        start[MANY_DEGREES - ftb_min(degree[j], MANY_DEGREES - 1)]++;
    for (int64_t d = 0; d < MANY_DEGREES; d++)
        start[d + 1] += start[d];
    for (int64_t j = 0; j < n; j++) {
        int64_t id = start[MANY_DEGREES - 1 - ftb_min(degree[j], MANY_DEGREES - 1)]++;
        if (order)
            order[id] = (uint32_t)j;
        rank[j] = (uint32_t)id;
    }
done:
    ftb_delete(start);
    ftb_delete(degree);
    return info;
}

/* Shares of products, weighing row k of the right operand, which is met about as often as it has entries. */
static void count_shares(ftb_spgemm_product *product, const uint32_t *rank)
{
    const ftb_pattern *right = product->right;
    ftb_spgemm_facts *f = &product->facts;
    double within[FTB_HOT_CHOICES] = {0}, without[FTB_HOT_CHOICES] = {0}, all = 0;
    int64_t entries[FTB_HOT_CHOICES] = {0};
#pragma omp parallel for num_threads(ftb_threads(product->ctx)) schedule(dynamic, 4096)                      \
    reduction(+ : within[ : FTB_HOT_CHOICES], without[ : FTB_HOT_CHOICES], entries[ : FTB_HOT_CHOICES], all)
    for (int64_t k = 0; k < right->nrows; k++) {
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
}

GrB_Info ftb_product_hot_facts(ftb_spgemm_product *product)
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
    if ((f->hot_form == FTB_HOT_FACTORS && product->factors.unit <= 0) || product->p.awide ||
        product->p.column || right->multi || product->mask || f->products <= 0)
        return GrB_SUCCESS;
    uint32_t *rank = ftb_new(product->ctx, right->ncols, sizeof *rank);
    GrB_Info info = rank ? rank_columns(product, NULL, rank) : ftb_nomem();
    if (info == GrB_SUCCESS)
        count_shares(product, rank);
    ftb_delete(rank);
    return info;
}

/* Hot ids by column: a triangle's row then needs those from some id on. */
static void sort_hot(ftb_spgemm_form *form)
{
    uint32_t *order = form->order, *rank = form->rank, id = 0;
    for (int64_t j = 0; j < form->product->right->ncols; j++)
        if (rank[j] < (uint32_t)form->plan.hot) {
            order[id] = (uint32_t)j;
            rank[j] = id++;
        }
}

GrB_Info ftb_spgemm_form_name_columns(ftb_spgemm_form *form)
{
    int64_t n = form->product->right->ncols;
    form->order = ftb_arena_new(&form->arena, n, sizeof *form->order);
    form->rank = ftb_arena_new(&form->arena, n, sizeof *form->rank);
    if (!form->order || !form->rank)
        return ftb_nomem();
    GrB_Info info = rank_columns(form->product, form->order, form->rank);
    if (info != GrB_SUCCESS)
        return info;
    sort_hot(form);
    form->p.order = form->order;
    form->p.rank = form->rank;
    return GrB_SUCCESS;
}

/* Column `id` of row k in the hot columns' matrix: its bit, or its factor in half a byte. */
static void fill_hot(ftb_spgemm_form *form, int64_t k, uint32_t id, int64_t e)
{
    const int64_t at = (int64_t)(id / FTB_BITS_LINE) * form->product->right->nrows + k,
                  word = FTB_BITS_LINE / 64;
    if (form->p.message == FTB_MESSAGE_PAIR) {
        form->bits[at * word + id % FTB_BITS_LINE / 64] |= UINT64_C(1) << (id % 64);
        return;
    }
    uint8_t factor = form->product->factors.right[((const uint8_t *)form->p.bval)[e]];
    uint8_t *byte = (uint8_t *)form->bits + at * (FTB_BITS_LINE / 2) + id % (FTB_BITS_LINE / 2);
    *byte = (uint8_t)(*byte | factor << (id % FTB_BITS_LINE < FTB_BITS_LINE / 2 ? 0 : 4));
}

/* Each row's hot columns, [line of 512 columns][row][512 columns]; cold[k + 1] = number of its others. */
static void fill_bits(ftb_spgemm_form *form, int64_t *cold)
{
    const ftb_spgemm *p = &form->p;
    const ftb_pattern *right = form->product->right;
    const uint32_t hot = (uint32_t)form->plan.hot;
#pragma omp parallel for num_threads(form->plan.threads) schedule(static)
    for (int64_t k = 0; k < right->nrows; k++) {
        int64_t count = 0;
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            count += id >= hot;
            if (id < hot)
                fill_hot(form, k, id, e);
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
static void skip_to(const ftb_spgemm_form *form, const cold_entries *c, int64_t k0, int64_t *next)
{
    const ftb_spgemm *p = &form->p;
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
static void fill_cold_rows(ftb_spgemm_form *form, const cold_entries *c, const int64_t *brow, int64_t k0,
                           int64_t k1, int64_t *next)
{
    const ftb_spgemm *p = &form->p;
    const ftb_pattern *right = form->product->right;
    const uint32_t hot = (uint32_t)form->plan.hot;
    const size_t id_size = p->id16 ? 2 : 4;
    const uint8_t *code = p->bval;
    int64_t to = brow[k0];
    for (int64_t k = k0; k < k1; k++)
        for (int64_t e = right->rowptr[k]; e < right->rowptr[k + 1]; e++) {
            uint32_t id = ftb_spgemm_id(p, e);
            if (next && (id >= hot || !form->cross)) {
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
static void fill_cold(ftb_spgemm_form *form, const cold_entries *c, const int64_t *brow)
{
    const int parts = form->plan.threads;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        int64_t *next = c->next ? c->next + part * form->p.nrows : NULL;
        int64_t k0 = ftb_pattern_cut(form->product->right, part, parts);
        if (next)
            skip_to(form, c, k0, next);
        fill_cold_rows(form, c, brow, k0, ftb_pattern_cut(form->product->right, part + 1, parts), next);
    }
}

/* The left operand's rows, and memory for its entries. */
static GrB_Info make_cold_left(ftb_spgemm_form *form, cold_entries *c)
{
    const ftb_spgemm *p = &form->p;
    FtB_Context ctx = form->product->ctx;
    const int64_t nrows = p->nrows;
    const bool triangle = p->bstart != NULL, cross = form->cross != NULL;
    const bool codes = cross && p->message == FTB_MESSAGE_TABLE;
    int64_t *arow = c->arow = ftb_arena_new(&form->arena, nrows + 1, sizeof *arow);
    c->next = ftb_new(ctx, nrows * form->plan.threads, sizeof *c->next);
    if (!arow || !c->next)
        return ftb_nomem();
    arow[0] = 0;
    for (int64_t i = 0; i < nrows; i++) {
        bool kept = !cross || p->rank[i] >= (uint32_t)form->plan.hot;
        arow[i + 1] = arow[i] + (kept ? p->arow[i + 1] - p->arow[i] : 0);
    }
    if (cross)
        c->acol = ftb_arena_new(&form->arena, arow[nrows], sizeof *c->acol);
    if (codes)
        c->acodes = ftb_arena_new(&form->arena, arow[nrows], 1);
    if (triangle)
        c->start = ftb_arena_new(&form->arena, arow[nrows], sizeof *c->start);
    return (cross && !c->acol) || (codes && !c->acodes) || (triangle && !c->start) ? ftb_nomem()
                                                                                   : GrB_SUCCESS;
}

/* The product without the hot columns. */
static GrB_Info make_cold(ftb_spgemm_form *form, int64_t *brow)
{
    const ftb_spgemm *p = &form->p;
    const int64_t nvals = brow[form->product->right->nrows];
    const bool codes = p->message == FTB_MESSAGE_TABLE;
    ftb_spgemm *cold = &form->cold;
    cold_entries c = {.ids = ftb_arena_new(&form->arena, nvals, p->id16 ? 2 : 4)};
    if (codes)
        c.bcodes = ftb_arena_new(&form->arena, nvals, 1);
    GrB_Info info = c.ids && (!codes || c.bcodes) ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS && (form->cross || p->bstart))
        info = make_cold_left(form, &c);
    if (info != GrB_SUCCESS)
        goto done;
    fill_cold(form, &c, brow);
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
static bool cross_fits(const ftb_spgemm_form *form)
{
    const ftb_spgemm *p = &form->p;
    if (p->message != FTB_MESSAGE_PAIR)
        return true; /* sums have 32 */
    for (int64_t i = 0; i < p->nrows; i++)
        if (p->rank[i] >= (uint32_t)form->plan.hot && p->arow[i + 1] - p->arow[i] > UINT16_MAX)
            return false;
    return true;
}

/* Counts of TILE cold columns with all hot ones, and their transpose into cross[hot][cold]. */
static void count_tile(const ftb_spgemm_form *form, int64_t tile, uint32_t *counts, uint16_t *cross)
{
    const ftb_spgemm *p = &form->p;
    const int64_t hot = form->plan.hot, last = ftb_min(p->nids - hot, (tile + 1) * TILE);
    for (int64_t c = tile * TILE; c < last; c++) {
        int64_t i = p->order[hot + c], x0 = p->arow[i];
        FTB_PICK(ftb_spgemm_bits)
        (form->bits, form->product->right->nrows, hot, (const int32_t *)p->acol + x0, p->arow[i + 1] - x0,
         counts + c % TILE * hot);
    }
    for (int64_t h = 0; h < hot; h++)
        for (int64_t c = tile * TILE; c < last; c++)
            cross[h * form->cross_row + c] = (uint16_t)counts[c % TILE * hot + h];
}

void ftb_spgemm_form_hot_sums(const ftb_spgemm_form *form, const float (*lookup)[16], int64_t first,
                              int64_t columns, int64_t x0, int64_t x1, void *to)
{
    const int64_t ninner = form->product->right->nrows;
    const uint64_t *table = form->bits + first / 16 * ninner;
    const int32_t *k = (const int32_t *)form->p.acol + x0;
    const uint8_t *entry = form->entry + x0;
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
static void sum_tile(const ftb_spgemm_form *form, const float (*lookup)[16], int64_t tile, void *sums,
                     float *cross)
{
    const ftb_spgemm *p = &form->p;
    const int64_t hot = form->plan.hot, c0 = tile * FTB_CROSS_TILE;
    empty_lines(lookup != NULL, FTB_CROSS_TILE * hot, sums);
    for (int64_t c = c0; c < ftb_min(p->nids - hot, c0 + FTB_CROSS_TILE); c++) {
        int64_t i = p->order[hot + c];
        ftb_spgemm_form_hot_sums(form, lookup, 0, hot, p->arow[i], p->arow[i + 1],
                                 (uint32_t *)sums + (c - c0) * hot);
    }
    float *cells = sums;
    if (!lookup)
        FTB_PICK(ftb_spgemm_cells)(sums, FTB_CROSS_TILE * hot, (float)form->product->factors.unit, cells);
    for (int64_t c = 0; c < FTB_CROSS_TILE; c++)
        for (int64_t h = 0; h < hot; h++)
            cross[(tile * hot + h) * FTB_CROSS_TILE + c] = cells[c * hot + h];
}

#define BLOCK 4096 /* rows of a line of hot columns that stay in L2: 1 MiB */

/* Sums of two hot columns, by blocks of rows and lines of columns. */
static GrB_Info make_square(ftb_spgemm_form *form)
{
    const ftb_spgemm *p = &form->p;
    const int64_t hot = form->plan.hot, ninner = form->product->right->nrows;
    const int32_t *k = p->acol;
    const float(*lookup)[16] = (const float(*)[16])form->product->factors.table;
    float *square = ftb_arena_new(&form->arena, hot * hot, sizeof *square);
    int64_t *next = ftb_new(form->product->ctx, hot, sizeof *next);
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
#pragma omp parallel num_threads(form->plan.threads)
        {
            fenv_t callers;
            ftb_floats_begin(&callers);
#pragma omp for schedule(dynamic, 16)
            for (int64_t h = 0; h < rows; h++) {
                int64_t x0 = next[h], x1 = x0, end = p->arow[p->order[h] + 1];
                while (x1 < end && k[x1] < k0 + BLOCK)
                    x1++;
                ftb_spgemm_form_hot_sums(form, lookup, line, FTB_BITS_LINE, x0, x1, square + h * hot + line);
                next[h] = x1;
            }
            ftb_floats_end(&callers);
        }
    }
    form->square = square;
    ftb_delete(next);
    return GrB_SUCCESS;
}

/* A cold row holds few entries, so bits give its counts with all hot columns at once; the hot columns' rows
 * read them instead of scattering their many entries. */
static GrB_Info make_cross(ftb_spgemm_form *form)
{
    FtB_Context ctx = form->product->ctx;
    const bool pair = form->p.message == FTB_MESSAGE_PAIR;
    const int64_t hot = form->plan.hot, width = pair ? TILE : FTB_CROSS_TILE;
    const int64_t tiles = (form->p.nids - hot + width - 1) / width;
    const int threads = form->plan.threads;
    form->cross_row = tiles * width;
    const float(*lookup)[16] = (const float(*)[16])form->product->factors.table;
    const float(*back)[16] = (const float(*)[16])form->product->factors.back;
    void *cross = ftb_arena_new(&form->arena, hot * form->cross_row, pair ? 2 : 4), *other = cross;
    if (back != lookup)
        other = ftb_arena_new(&form->arena, hot * form->cross_row, 4);
    char *tile = ftb_new(ctx, threads * TILE * hot, 4); /* of each thread */
    GrB_Info info = cross && other && tile ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
#pragma omp parallel num_threads(threads)
        {
            char *mine = tile + omp_get_thread_num() * TILE * hot * 4;
            fenv_t callers;
            ftb_floats_begin(&callers);
#pragma omp for schedule(dynamic)
            for (int64_t t = 0; t < tiles; t++) {
                if (pair)
                    count_tile(form, t, (uint32_t *)(void *)mine, cross);
                else
                    sum_tile(form, lookup, t, mine, cross);
                if (other != cross)
                    sum_tile(form, back, t, mine, other);
            }
            ftb_floats_end(&callers);
        }
        form->cross = cross;
        form->cross_back = other;
    }
    ftb_delete(tile);
    if (info == GrB_SUCCESS && !pair)
        info = make_square(form);
    return info;
}

/* The factor, or code, of each left entry. */
static GrB_Info make_factors(ftb_spgemm_form *form)
{
    const ftb_spgemm *p = &form->p;
    const int64_t n = form->product->left->nvals;
    uint8_t *entry = ftb_arena_new(&form->arena, n, 1);
    if (!entry)
        return ftb_nomem();
#pragma omp parallel for num_threads(form->plan.threads)
    for (int64_t x = 0; x < n; x++)
        entry[x] = form->product->factors.left[((const uint8_t *)p->aval)[p->aperm ? p->aperm[x] : x]];
    form->entry = entry;
    return GrB_SUCCESS;
}

GrB_Info ftb_spgemm_form_hot(ftb_spgemm_form *form)
{
    const int64_t nrows = form->product->right->nrows,
                  words = form->plan.hot / (form->p.message == FTB_MESSAGE_PAIR ? 64 : 16);
    form->bits = ftb_arena_new0(&form->arena, nrows * words, sizeof *form->bits);
    int64_t *cold = ftb_arena_new(&form->arena, nrows + 1, sizeof *cold);
    GrB_Info info = form->bits && cold ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS && form->p.message == FTB_MESSAGE_TABLE)
        info = make_factors(form);
    if (info != GrB_SUCCESS)
        return info;
    cold[0] = 0;
    fill_bits(form, cold);
    for (int64_t k = 0; k < nrows; k++)
        cold[k + 1] += cold[k];
    if (form->plan.cross && cross_fits(form))
        info = make_cross(form);
    return info == GrB_SUCCESS ? make_cold(form, cold) : info;
}
