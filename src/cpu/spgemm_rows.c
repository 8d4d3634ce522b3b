/* One row of a product: pick an accumulator by the row's products, add, emit in ascending columns. */
#include "cpu/kernels/spgemm_bits.h"
#include "cpu/spgemm_run.h"

#include <stdlib.h>

static size_t cell_size(const ftb_spgemm *p)
{
    return (size_t)p->cell_width * (p->message == FTB_MESSAGE_PAIR ? 4 : FtB_Type_size(p->cell));
}

/* Makes all cells empty. */
static void clear_cells(const ftb_spgemm *p, void *acc, int64_t ncells)
{
    int64_t n = ncells * p->cell_width;
    if (p->message == FTB_MESSAGE_PAIR)
        memset(acc, 0, (size_t)n * 4);
    else if (p->message == FTB_MESSAGE_TABLE && p->cell == FTB_UINT64)
        memset(acc, 0, (size_t)n * 8);
    else if (p->message != FTB_MESSAGE_PROGRAM && p->cell == FTB_FP32)
        for (int64_t c = 0; c < n; c++)
            ((float *)acc)[c] = -0.0f;
    else if (p->message != FTB_MESSAGE_PROGRAM)
        for (int64_t c = 0; c < n; c++)
            ((double *)acc)[c] = -0.0;
}

static GrB_Info make_row(ftb_row *row, const ftb_spgemm_form *form, int64_t ncells)
{
    const ftb_spgemm *p = &form->p;
    bool program = p->message == FTB_MESSAGE_PROGRAM;
    int64_t rounded = (ncells + 64) / 64 * 64; /* presence reads 64 at a time */
    row->acc = ftb_new(p->ctx, rounded, cell_size(p));
    row->list = ftb_new(p->ctx, ncells + 1, sizeof *row->list);
    if (program)
        row->mark = ftb_new0(p->ctx, ncells, 1);
    const bool arg = form->product->winners || form->product->reducer.mean;
    if (arg)
        row->arg = ftb_new(p->ctx, ncells, sizeof *row->arg);
    if (!row->acc || !row->list || (program && !row->mark) || (arg && !row->arg))
        return ftb_nomem();
    clear_cells(p, row->acc, rounded);
    return GrB_SUCCESS;
}

static void free_row(ftb_row *row)
{
    ftb_delete(row->acc);
    ftb_delete(row->list);
    ftb_delete(row->key);
    ftb_delete(row->slot);
    ftb_delete(row->mark);
    ftb_delete(row->arg);
}

static GrB_Info make_hash(ftb_worker *w, int64_t entries)
{
    int64_t buckets = ftb_spgemm_buckets(entries);
    w->buckets = buckets;
    w->hash.hash_shift = 32 - __builtin_ctzll((unsigned long long)buckets);
    w->hash.key = ftb_new0(w->form->product->ctx, buckets, sizeof *w->hash.key);
    return w->hash.key ? make_row(&w->hash, w->form, buckets) : ftb_nomem();
}

GrB_Info ftb_worker_new(ftb_worker **out, const ftb_spgemm_form *form)
{
    const ftb_spgemm *p = &form->p;
    GrB_Info info = GrB_SUCCESS;
    FtB_Context ctx = form->product->ctx;
    int64_t entries = ftb_min(form->product->facts.longest_row, p->nids);
    ftb_worker *w = ftb_new0(ctx, 1, sizeof *w);
    if (!w)
        return ftb_nomem();
    w->form = form;
    if (ftb_spgemm_uses_dense(&form->plan, form->product->facts.longest_row)) {
        FTB_CHECK(make_row(&w->dense, form, p->nids + 1));
        w->words = ftb_new0(ctx, 2 * (p->nids / 64 + 2), sizeof *w->words);
        if (form->product->mask)
            w->dense.slot = ftb_new0(ctx, p->nids + 1, sizeof *w->dense.slot);
        if (!w->words || (form->product->mask && !w->dense.slot)) {
            info = ftb_nomem();
            goto done;
        }
    }
    if (ftb_spgemm_uses_hash(&form->plan))
        FTB_CHECK(make_hash(w, entries));
    w->cells = ftb_new(ctx, entries + 64, sizeof *w->cells);
    w->sort = ftb_new(ctx, 2 * entries + 64, sizeof *w->sort);
    w->h =
        ftb_new(ctx, (entries + FTB_SWEEP_ROOM) * ftb_max(form->product->width, 1) * (form->dual ? 2 : 1), 8);
    if (!w->cells || !w->sort || !w->h) {
        info = ftb_nomem();
        goto done;
    }
    for (int l = 0; l < FTB_NLOCATE && p->message != FTB_MESSAGE_PROGRAM; l++)
        w->kernel[l] = FTB_PICK(ftb_spgemm_pick)(p, (ftb_spgemm_locate)l);
    if (p->message == FTB_MESSAGE_PROGRAM)
        FTB_CHECK(ftb_batch_new(&w->batch, form));
    FTB_CHECK(ftb_finisher_new(&w->finisher, form));
done:
    if (info != GrB_SUCCESS) {
        ftb_worker_delete(w);
        w = NULL;
    }
    *out = w;
    return info;
}

void ftb_worker_delete(ftb_worker *w)
{
    if (!w)
        return;
    free_row(&w->dense);
    free_row(&w->hash);
    ftb_delete(w->cells);
    ftb_delete(w->sort);
    ftb_delete(w->words);
    ftb_delete(w->h);
    ftb_batch_delete(w->batch);
    ftb_finisher_delete(w->finisher);
    ftb_delete(w);
}

/* Sorts keys (high 32 bits: column), scratch behind them. Short rows by insertion, others by radix 256. */
static void sort_keys(uint64_t *key, uint64_t *scratch, int64_t n, int64_t ncols)
{
    if (n <= 48) {
        for (int64_t t = 1; t < n; t++) {
            uint64_t x = key[t];
            int64_t s = t;
            for (; s > 0 && key[s - 1] > x; s--)
                key[s] = key[s - 1];
            key[s] = x;
        }
        return;
    }
    uint64_t *from = key, *to = scratch;
    for (int shift = 32; shift < 64 && (shift == 32 || (uint64_t)ncols >> (shift - 32) != 0); shift += 8) {
        int64_t at[257] = {0};
        for (int64_t t = 0; t < n; t++)
            at[((from[t] >> shift) & 255) + 1]++;
        for (int d = 0; d < 256; d++)
            at[d + 1] += at[d];
        for (int64_t t = 0; t < n; t++)
            to[at[(from[t] >> shift) & 255]++] = from[t];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != key)
        memcpy(key, from, (size_t)n * sizeof *key);
}

static void put_col(const ftb_spgemm_form *form, void *cols, int64_t t, uint32_t dense)
{
    const int64_t *column = form->p.column;
    if (ftb_index_wide(form))
        ((int64_t *)cols)[t] = column ? column[dense] : dense;
    else
        ((int32_t *)cols)[t] = (int32_t)(column ? column[dense] : dense);
}

/* Columns and cells of the set bits of a bitmap over dense columns. */
static int64_t emit_bitmap(ftb_worker *w, uint64_t *words, void *cols)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    bool plain = !p->column && !ftb_index_wide(form);
    int32_t *narrow = cols;
    uint32_t *cells = w->cells;
    int64_t n = 0;
    for (int64_t g = 0; g < p->nids / 64 + 1; g++) {
        uint64_t bits = words[g];
        words[g] = 0;
        for (; bits; bits &= bits - 1, n++) {
            uint32_t dense = (uint32_t)(64 * g + __builtin_ctzll(bits));
            cells[n] = dense;
            if (plain)
                narrow[n] = (int32_t)dense;
            else
                put_col(form, cols, n, dense);
        }
    }
    if (p->rank)
        for (int64_t t = 0; t < n; t++)
            cells[t] = p->rank[cells[t]];
    return n;
}

/* Whether the cells of row i are looked up column by column: where they may well be filled. */
static bool may_sweep(const ftb_spgemm_form *form, int64_t i)
{
    const ftb_spgemm *p = &form->p;
    return p->message != FTB_MESSAGE_PROGRAM && p->cell_width == 1 && p->cell != FTB_UINT64 &&
           !form->product->constant && !p->column && !ftb_index_wide(form) &&
           form->row_products[i] >= p->ncols;
}

/* Row i so, with h in sum_type. */
static int64_t sweep_row(ftb_worker *w, int64_t i, void *cols, void *h)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    int64_t first = p->bstart ? ftb_min(i + p->skip, p->ncols) : 0;
    int64_t n = FTB_PICK(ftb_spgemm_sweep)(p, w->dense.acc, first, p->ncols, cols, h);
    if (p->message != FTB_MESSAGE_PAIR && p->cell != form->product->sum_type) /* exact: see spgemm_table.c */
        ftb_cast(h, form->product->sum_type, h, p->cell, n);
    return n;
}

static int64_t emit_dense(ftb_worker *w, void *cols)
{
    const ftb_spgemm *p = &w->form->p;
    int64_t nwords = p->nids / 64 + 1;
    uint64_t *present = w->words, *columns = w->words + nwords;
    FTB_PICK(ftb_spgemm_presence)(p, w->dense.acc, p->nids, present);
    if (!p->order)
        return emit_bitmap(w, present, cols);
    for (int64_t g = 0; g < nwords; g++) {
        for (uint64_t bits = present[g]; bits; bits &= bits - 1) {
            uint32_t dense = p->order[64 * g + __builtin_ctzll(bits)];
            columns[dense / 64] |= UINT64_C(1) << (dense % 64);
        }
        present[g] = 0;
    }
    return emit_bitmap(w, columns, cols);
}

/* Listed cells: through a bitmap if that has fewer words than the list has cells, else sorted. */
static int64_t emit_list(ftb_worker *w, const ftb_row *row, bool hash, void *cols)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    int64_t n = row->count;
    if (!hash && n > p->nids / 64) {
        for (int64_t t = 0; t < n; t++) {
            uint32_t dense = p->order ? p->order[row->list[t]] : row->list[t];
            w->words[dense / 64] |= UINT64_C(1) << (dense % 64);
        }
        return emit_bitmap(w, w->words, cols);
    }
    for (int64_t t = 0; t < n; t++) {
        uint32_t cell = row->list[t], id = hash ? row->key[cell] - 1 : cell;
        w->sort[t] = (uint64_t)(p->order ? p->order[id] : id) << 32 | cell;
    }
    sort_keys(w->sort, w->sort + n, n, p->nids);
    for (int64_t t = 0; t < n; t++) {
        w->cells[t] = (uint32_t)w->sort[t];
        put_col(form, cols, t, (uint32_t)(w->sort[t] >> 32));
    }
    return n;
}

/* The mask's columns, in the mask's order, that got a value. */
static int64_t emit_slots(ftb_worker *w, int64_t i, void *cols)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    const ftb_pattern *mask = form->product->mask->pattern;
    int64_t n = 0;
    uint64_t *present = w->words;
    int64_t most = mask->rowptr[i + 1] - mask->rowptr[i] + 1;
    if (p->message != FTB_MESSAGE_PROGRAM)
        FTB_PICK(ftb_spgemm_presence)(p, w->dense.acc, most, present);
    for (int64_t e = mask->rowptr[i]; e < mask->rowptr[i + 1]; e++) {
        if (!ftb_mask_admits(&form->product->admits, e))
            continue;
        int64_t cell = e - mask->rowptr[i] + 1;
        bool has =
            p->message == FTB_MESSAGE_PROGRAM ? w->dense.mark[cell] : (present[cell / 64] >> (cell % 64)) & 1;
        if (!has)
            continue;
        w->cells[n] = (uint32_t)cell;
        put_col(form, cols, n++, (uint32_t)ftb_col(mask, e));
    }
    memset(present, 0, (size_t)(most / 64 + 1) * sizeof *present);
    return n;
}

static void read_counts(const uint32_t *acc, const uint32_t *cells, int64_t n, int64_t *h)
{
    for (int64_t t = 0; t < n; t++)
        h[t] = acc[cells[t]];
}

/* h of the n cells, in sum_type. */
static void read_cells(const ftb_worker *w, const ftb_row *row, int64_t n, void *h)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    const uint32_t *cells = w->cells;
    int64_t width = form->dual ? 2 : form->product->width;
    for (int64_t t = 0; t < n && w->winners; t++)
        w->winners[t] = row->arg[cells[t]];
    if (form->product->constant) {
        size_t size = FtB_Type_size(form->product->sum_type);
        for (int64_t t = 0; t < n; t++)
            memcpy((char *)h + (size_t)t * size, form->product->constant_value, size);
    } else if (p->message == FTB_MESSAGE_PAIR) {
        read_counts(row->acc, cells, n, h);
    } else if (p->message == FTB_MESSAGE_TABLE && p->cell == FTB_UINT64) {
        FTB_PICK(ftb_spgemm_unpack)(&form->product->packed, row->acc, cells, n, form->product->sum_type, h);
    } else {
        size_t size = FtB_Type_size(p->cell), stride = (size_t)p->cell_width * size;
        const char *acc = row->acc;
        if (width == 1 && size == 4)
            for (int64_t t = 0; t < n; t++)
                memcpy((char *)h + 4 * t, acc + cells[t] * stride, 4);
        else if (width == 1 && size == 8)
            for (int64_t t = 0; t < n; t++)
                memcpy((char *)h + 8 * t, acc + cells[t] * stride, 8);
        else
            for (int64_t t = 0; t < n; t++)
                memcpy((char *)h + (size_t)(t * width) * size, acc + cells[t] * stride, (size_t)width * size);
        if (p->cell != form->product->sum_type) /* exact: see spgemm_table.c */
            ftb_cast(h, form->product->sum_type, h, p->cell, n * width);
    }
    if (form->product->reducer.mean)
        for (int64_t t = 0; t < n * width; t++) {
            int64_t entry = t / width;
            double x = ftb_get_real(h, form->product->sum_type, t) / (double)row->arg[cells[entry]];
            ftb_cast((char *)h + (size_t)t * FtB_Type_size(form->product->sum_type), form->product->sum_type,
                     &x, FTB_FP64, 1);
        }
}

/* Leaves the accumulator empty. */
static void clear_row(ftb_worker *w, ftb_row *row, ftb_spgemm_locate locate, int64_t i)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    bool program = p->message == FTB_MESSAGE_PROGRAM;
    size_t size = cell_size(p);
    if (locate == FTB_LOCATE_DENSE && !program) {
        clear_cells(p, row->acc, p->nids);
    } else if (locate == FTB_LOCATE_SLOT) {
        const ftb_pattern *mask = form->product->mask->pattern;
        int64_t most = mask->rowptr[i + 1] - mask->rowptr[i] + 1;
        clear_cells(p, row->acc, most);
        if (program)
            memset(row->mark, 0, (size_t)most);
        for (int64_t e = mask->rowptr[i]; e < mask->rowptr[i + 1]; e++)
            row->slot[ftb_col(mask, e)] = 0;
    } else {
        for (int64_t t = 0; t < row->count; t++) {
            uint32_t cell = row->list[t];
            if (program)
                row->mark[cell] = 0;
            else
                clear_cells(p, (char *)row->acc + cell * size, 1);
            if (row->key)
                row->key[cell] = 0;
        }
    }
    row->count = 0;
}

static ftb_spgemm_locate locate_of(const ftb_spgemm_form *form, int64_t products)
{
    switch (form->plan.accumulator) {
    case FTB_ACC_DENSE:
        return FTB_LOCATE_DENSE;
    case FTB_ACC_LIST:
        return FTB_LOCATE_LIST;
    case FTB_ACC_HASH:
        return FTB_LOCATE_HASH;
    case FTB_ACC_SLOT:
        return FTB_LOCATE_SLOT;
    default:
        break;
    }
    if (products >= form->plan.dense_from)
        return FTB_LOCATE_DENSE;
    return form->plan.hash_rest ? FTB_LOCATE_HASH : FTB_LOCATE_LIST;
}

static void fill_slots(ftb_worker *w, int64_t i)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_pattern *mask = form->product->mask->pattern;
    for (int64_t e = mask->rowptr[i]; e < mask->rowptr[i + 1]; e++)
        if (ftb_mask_admits(&form->product->admits, e))
            w->dense.slot[ftb_col(mask, e)] = (uint32_t)(e - mask->rowptr[i] + 1);
}

/* First hot id whose column is at least `least`. */
static int64_t hot_from(const ftb_spgemm_form *form, uint32_t least)
{
    int64_t lo = 0, hi = form->plan.hot;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (form->order[mid] < least)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Counts with the hot columns into their cells, and a hot row's counts with the cold ones; a triangle
 * keeps those from the diagonal on. */
static void count_hot(ftb_worker *w, int64_t i)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    uint32_t *acc = w->dense.acc, least = p->bstart ? (uint32_t)(i + p->skip) : 0;
    int64_t x0 = p->arow[i], hot = form->plan.hot, from = hot_from(form, least);
    const int64_t ninner = form->product->right->nrows;
    int64_t line = from / FTB_BITS_LINE, first = line * FTB_BITS_LINE;
    FTB_PICK(ftb_spgemm_bits)
    (form->bits + first / 64 * ninner, ninner, hot - first, (const int32_t *)p->acol + x0,
     p->arow[i + 1] - x0, acc + first);
    memset(acc + first, 0, (size_t)(from - first) * sizeof *acc);
    if (form->cross && p->rank[i] < hot)
        FTB_PICK(ftb_spgemm_cross)
    ((const uint16_t *)form->cross + p->rank[i] * form->cross_row, p->order + hot, least, p->nids - hot,
     acc + hot);
}

/* Sums of row i alone, into the empty cells of ids from `first` on. */
static void sum_row(const ftb_spgemm_form *form, int64_t i, int64_t first, float *acc)
{
    const int64_t columns = form->plan.hot - first;
    const float(*lookup)[16] = (const float(*)[16])form->product->factors.table;
    if (!lookup)
        memset(acc, 0, (size_t)columns * sizeof *acc);
    ftb_spgemm_form_hot_sums(form, lookup, first, columns, form->p.arow[i], form->p.arow[i + 1], acc);
    if (!lookup)
        FTB_PICK(ftb_spgemm_cells)
    ((const uint32_t *)(const void *)acc, columns, (float)form->product->factors.unit, acc);
}

/* Sums of two columns one of which is hot may be known. */
static void sum_hot(ftb_worker *w, int64_t i)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    float *acc = w->dense.acc;
    uint32_t least = p->bstart ? (uint32_t)(i + p->skip) : 0;
    const int64_t hot = form->plan.hot, from = hot_from(form, least);
    const int64_t first = from / FTB_BITS_LINE * FTB_BITS_LINE, stride = hot * FTB_CROSS_TILE;
    const int64_t rank = p->rank[i], cold = rank - hot;
    if (!form->cross) {
        sum_row(form, i, first, acc + first);
        clear_cells(p, acc + first, from - first);
    } else if (cold < 0) {
        if (form->product->factors.table)
            memcpy(acc + from, (const float *)form->square + rank * hot + from,
                   (size_t)(hot - from) * sizeof *acc);
        else
            FTB_PICK(ftb_spgemm_cells)
        ((const uint32_t *)form->square + rank * hot + from, hot - from, (float)form->product->factors.unit,
         acc + from);
        FTB_PICK(ftb_spgemm_cross_sums)
        ((const float *)form->cross_back + rank * FTB_CROSS_TILE, stride, p->order + hot, least,
         p->nids - hot, acc + hot);
    } else {
        const float *cross = form->cross;
        cross += cold / FTB_CROSS_TILE * stride + cold % FTB_CROSS_TILE;
        for (int64_t h = from; h < hot; h++)
            acc[h] = cross[h * FTB_CROSS_TILE];
    }
}

static void add_products(ftb_worker *w, int64_t i, ftb_spgemm_locate locate, ftb_row *row)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_spgemm *p = &form->p;
    int64_t x0 = p->arow[i], x1 = p->arow[i + 1];
    if (w->batch) {
        ftb_batch_row(w->batch, i, locate, row);
    } else if (form->plan.hot > 0 && locate == FTB_LOCATE_DENSE &&
               form->row_products[i] >= form->plan.hot_from) {
        if (p->message == FTB_MESSAGE_PAIR)
            count_hot(w, i);
        else
            sum_hot(w, i);
        const ftb_spgemm *cold = &form->cold;
        w->kernel[locate](cold, cold->arow[i], cold->arow[i + 1], row);
    } else {
        w->kernel[locate](p, x0, x1, row);
    }
}

static bool row_is_empty(const ftb_spgemm_form *form, int64_t i)
{
    return form->row_products[i] == 0 || (form->product->keep_rows && !form->product->keep_rows[i]);
}

int64_t ftb_worker_row(ftb_worker *w, int64_t i, void *cols, void *h)
{
    const ftb_spgemm_form *form = w->form;
    int64_t n;
    if (row_is_empty(form, i))
        return 0;
    ftb_spgemm_locate locate = locate_of(form, form->row_products[i]);
    ftb_row *row = locate == FTB_LOCATE_HASH ? &w->hash : &w->dense;
    if (locate == FTB_LOCATE_SLOT)
        fill_slots(w, i);
    add_products(w, i, locate, row);
    if (locate == FTB_LOCATE_DENSE && may_sweep(form, i)) {
        n = sweep_row(w, i, cols, h);
    } else {
        if (locate == FTB_LOCATE_SLOT)
            n = emit_slots(w, i, cols);
        else if (locate == FTB_LOCATE_DENSE && !w->batch)
            n = emit_dense(w, cols);
        else
            n = emit_list(w, row, locate == FTB_LOCATE_HASH, cols);
        read_cells(w, row, n, h);
    }
    clear_row(w, row, locate, i);
    return n;
}

bool ftb_product_plain_counts(const ftb_spgemm_product *product)
{
    const ftb_finish *finish = &product->finish;
    return product->p.message == FTB_MESSAGE_PAIR && !product->constant && !finish->epilogue &&
           !finish->where && !finish->keep && !finish->wrap && !finish->use_min && !finish->use_top_k &&
           !product->p.column;
}

bool ftb_worker_count_row(ftb_worker *w, int64_t i, ftb_row_stats *stats)
{
    const ftb_spgemm_form *form = w->form;
    const ftb_finish *finish = &form->product->finish;
    const ftb_spgemm *p = &form->p;
    if (!ftb_product_plain_counts(form->product) || (finish->upper_only && !form->plan.triangle) ||
        row_is_empty(form, i) || locate_of(form, form->row_products[i]) != FTB_LOCATE_DENSE)
        return false;
    add_products(w, i, FTB_LOCATE_DENSE, &w->dense);
    uint32_t *acc = w->dense.acc;
    if (finish->drop_diagonal && !form->plan.triangle)
        acc[p->rank ? p->rank[i] : (uint32_t)i] = 0;
    ftb_spgemm_counts counts;
    FTB_PICK(ftb_spgemm_count)(acc, p->nids, &counts);
    *stats = (ftb_row_stats){.nvals = counts.nvals, .sum = (double)counts.sum, .min = 1, .max = 0};
    if (counts.nvals > 0) {
        stats->min = counts.least;
        stats->max = counts.most;
    }
    clear_row(w, &w->dense, FTB_LOCATE_DENSE, i);
    return true;
}
