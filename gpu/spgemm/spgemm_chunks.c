/* Chunks of rows of a sparse x sparse product on a GPU: what room they have, what is launched for each, and
 * how they come home. While a chunk is computed, the one before it is fetched on the other stream and handed
 * to the sink, piece by piece, so that at home there is room for a few rows alone. */
#include "gpu/spgemm/spgemm_chunks.h"

#include "gpu/scan.h"

#include <stdio.h>

#define MOST_HASHED 64 /* products for each entry, of which a dense row's many warps make more at a time */
#define SOURCE "gpu/kernels/spgemm_rows.cu"
#define SOURCE_FINISH "gpu/kernels/spgemm_finish.cu"
#define SOURCE_PACK "gpu/kernels/spgemm_pack.cu"
#define SOURCE_MASK "gpu/kernels/spgemm_mask.cu"
#define MOST_UNITS (INT64_C(1) << 18)
#define HOME_BYTES (INT64_C(16) << 20) /* of entries that come home at once, and of units */
#define MOST_COUNT 65535               /* left entries of a row whose counts have 16 bits */

/* Rows by how they are gathered: in hashes of each kind, or what a mask has of them in the first two;
 * densely; in counts of 32 bits. */
enum { SHORT, LONG, DENSE = FTB_GPU_SPGEMM_HASHES, WIDE, BINS, CLASSES = 64 };
static_assert(BINS <= 16, "what ftb_gpu_spgemm_row has for it");
static_assert(sizeof(ftb_spgemm_tally) == sizeof(ftb_row_stats) &&
                  (int)FTB_SPGEMM_TALLY_LANES == (int)FTB_ROW_STATS_LANES,
              "rows' statistics are the sink's");

/* A chunk's arrays there, parts of one piece of memory. */
typedef struct chunk {
    void *memory;
    int64_t bytes;
    ftb_spgemm_unit *units;
    int *order, *first, *counts, *cols, *packed_cols;
    long long *offsets, *sums;
    void *cells, *values, *packed_values;
    ftb_spgemm_count *statistics;
    ftb_spgemm_tally *tally;
    /* at home */
    int64_t row0, nrows, nunits;
    int *firsts; /* unit of each row, nrows + 1 */
} chunk;

typedef struct chunks {
    ftb_gpu_spgemm_run *run;
    int64_t rows, units, entries; /* most of a chunk */
    int64_t room;                 /* entries at home */
    int count;                    /* 1, where all is in one; else 2 */
    chunk chunk[2];
    ftb_spgemm_unit *unit; /* at home, of the chunk that is being begun */
    int *order;
    int64_t begin[BINS + 1]; /* in order[] */
    long long *offsets;      /* of the chunk that is being delivered */
    ftb_spgemm_count *statistics;
    ftb_row_stats *row_stats;
    int64_t *rowptr;
    int32_t *cols;
    void *values;
} chunks;

/* ---- rows */

/* The first column that a row may have. */
static int64_t first_of(const ftb_spgemm_product *p, int64_t row)
{
    return p->finish.upper_only ? ftb_min(row + p->finish.drop_diagonal, p->p.ncols) : 0;
}

int64_t ftb_gpu_spgemm_row_room(const ftb_spgemm_product *p, int64_t row)
{
    if ((p->keep_rows && !p->keep_rows[row]) || p->row_products[row] == 0)
        return 0;
    if (p->mask)
        return p->mask->pattern->rowptr[row + 1] - p->mask->pattern->rowptr[row];
    return ftb_min(p->row_products[row], p->p.ncols - first_of(p, row));
}

int64_t ftb_gpu_spgemm_hash_bytes(const ftb_gpu_spgemm_run *run, int kind)
{
    const int64_t slots = 2 * ftb_gpu_spgemm_hash[kind], rows = FTB_SPGEMM_HASH_BLOCK / 32;
    return kind >= FTB_GPU_SPGEMM_OF_WARPS ? FTB_SPGEMM_LARGE_BYTES(slots, run->hash_cell)
           : run->product->mask            ? rows * FTB_SPGEMM_MASK_BYTES(slots, run->hash_cell)
                                           : rows * FTB_SPGEMM_HASH_BYTES(slots, run->hash_cell);
}

static int bin_of(const ftb_gpu_spgemm_run *run, int64_t row, int64_t room)
{
    const ftb_spgemm *p = &run->product->p;
    if (run->product->mask)
        return ftb_min(room, run->piece) <= ftb_gpu_spgemm_hash[SHORT] ? SHORT : LONG;
    for (int kind = 0; kind < run->plan.hashes; kind++)
        if (room <= ftb_gpu_spgemm_hash[kind] &&
            run->product->row_products[row] <= MOST_HASHED * ftb_gpu_spgemm_hash[kind])
            return kind;
    return p->message == FTB_MESSAGE_PAIR && p->arow[row + 1] - p->arow[row] > MOST_COUNT ? WIDE : DENSE;
}

/* Columns of a unit. */
static int64_t tile_of(const ftb_gpu_spgemm_run *run, int bin)
{
    return bin < DENSE   ? run->product->p.ncols
           : bin == WIDE ? ftb_max(run->plan.tile / 2, 1)
                         : run->plan.tile;
}

/* Of all rows once: how they are gathered. */
static void shape_rows(ftb_gpu_spgemm_run *run)
{
    const ftb_spgemm_product *p = run->product;
    for (int64_t i = 0; i < p->p.nrows; i++) {
        ftb_gpu_spgemm_row *const r = &run->row[i];
        r->bin = 0;
        r->units = 0;
        if (r->room == 0)
            continue;
        const int bin = bin_of(run, i, r->room);
        const int64_t tile = p->mask ? run->piece : tile_of(run, bin),
                      columns = p->mask ? r->room : p->p.ncols - first_of(p, i);
        r->bin = (unsigned)bin & 15;
        r->units = (unsigned)((columns + tile - 1) / tile) & ((1U << 28) - 1);
    }
}

/* Entries that a row's units have room for. */
static int64_t room_of_units(const ftb_gpu_spgemm_run *run, int64_t row)
{
    const ftb_spgemm_product *p = run->product;
    return !p->mask && run->row[row].units > 1 ? p->p.ncols - first_of(p, row) : run->row[row].room;
}

/* ---- what is in a chunk */

/* Puts row i's units behind those that there are. A unit of a tile has room for all of its columns. */
static void add_units(chunks *s, chunk *c, int64_t row, int64_t *at)
{
    const ftb_gpu_spgemm_run *run = s->run;
    const ftb_spgemm *p = &run->product->p;
    const int64_t room = run->row[row].room, tile = tile_of(run, (int)run->row[row].bin);
    for (int64_t j = first_of(run->product, row); j < p->ncols && room > 0; j += tile) {
        const int64_t last = ftb_min(j + tile, p->ncols);
        s->unit[c->nunits++] = (ftb_spgemm_unit){.begin = p->arow[row],
                                                 .end = p->arow[row + 1],
                                                 .at = *at,
                                                 .row = (int)row,
                                                 .first = (int)j,
                                                 .last = (int)last};
        *at += ftb_min(room, last - j);
    }
}

/* The same of a row of the mask, whose entries they share. */
static void add_masked(chunks *s, chunk *c, int64_t row, int64_t *at)
{
    const ftb_spgemm *p = &s->run->product->p;
    const ftb_pattern *mask = s->run->product->mask->pattern;
    for (int64_t e = mask->rowptr[row], end = e + s->run->row[row].room; e < end; e += s->run->piece) {
        const int64_t many = ftb_min(end - e, s->run->piece);
        s->unit[c->nunits++] = (ftb_spgemm_unit){.begin = p->arow[row],
                                                 .end = p->arow[row + 1],
                                                 .at = *at,
                                                 .row = (int)row,
                                                 .first = (int)ftb_col(mask, e),
                                                 .last = (int)ftb_col(mask, e + many - 1) + 1,
                                                 .masked = (int)many,
                                                 .mask = e};
        *at += many;
    }
}

/* The units by the kernels that take them, of each the longest first. */
static void sort_units(chunks *s, const chunk *c)
{
    const ftb_gpu_spgemm_run *run = s->run;
    int64_t next[BINS * CLASSES] = {0}, before = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t u = 0; u < c->nunits; u++) {
            const int64_t row = s->unit[u].row, products = run->product->row_products[row];
            const int class = __builtin_clzll((unsigned long long)ftb_max(products, 1));
            const int bin = (int)run->row[row].bin;
            if (pass == 0)
                next[bin * CLASSES + class]++;
            else
                s->order[next[bin * CLASSES + class]++] = (int)u;
        }
        for (int k = 0; k < BINS * CLASSES && pass == 0; k++) {
            const int64_t many = next[k];
            if (k % CLASSES == 0)
                s->begin[k / CLASSES] = before;
            next[k] = before;
            before += many;
        }
    }
    s->begin[BINS] = c->nunits;
}

/* As many rows from row0 on as there is room for. */
static void fill(chunks *s, chunk *c, int64_t row0)
{
    const ftb_gpu_spgemm_run *run = s->run;
    int64_t at = 0, i = row0;
    c->row0 = row0;
    c->nunits = 0;
    for (; i < run->product->p.nrows; i++) {
        if (i > row0 && (i - row0 == s->rows || c->nunits + run->row[i].units > s->units ||
                         (!run->counted && at + room_of_units(run, i) > s->entries)))
            break;
        c->firsts[i - row0] = (int)c->nunits;
        if (run->product->mask)
            add_masked(s, c, i, &at);
        else
            add_units(s, c, i, &at);
    }
    c->nrows = i - row0;
    c->firsts[c->nrows] = (int)c->nunits;
    sort_units(s, c);
}

/* ---- memory */

/* Where each array begins in a chunk's memory; returns the bytes of all. */
static int64_t lay_out(const chunks *s, chunk *c)
{
    const ftb_gpu_spgemm_run *run = s->run;
    const int64_t entries = run->counted ? 0 : s->entries, packed = run->tallied ? 0 : entries;
    const struct {
        void *to;
        int64_t bytes;
    } arrays[] = {{&c->units, s->units * (int64_t)sizeof *c->units},
                  {&c->order, s->units * 4},
                  {&c->first, (s->rows + 1) * 4},
                  {&c->counts, s->units * 4},
                  {&c->offsets, (s->units + 1) * 8},
                  {&c->sums, ftb_gpu_scan_bytes(s->units)},
                  {&c->statistics, run->counted ? s->units * (int64_t)sizeof *c->statistics : 0},
                  {&c->cols, entries * 4},
                  {&c->cells, entries * run->entry_cell},
                  {&c->values, entries * run->value},
                  {&c->tally, run->tallied ? s->rows * (int64_t)sizeof *c->tally : 0},
                  {&c->packed_cols, packed * 4},
                  {&c->packed_values, packed * run->value}};
    int64_t at = 0;
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        char *address = (char *)c->memory + at;
        memcpy(arrays[n].to, &address, sizeof address);
        at += (arrays[n].bytes + 255) / 256 * 256;
    }
    return at;
}

static void free_there(chunks *s)
{
    const ftb_memory *memory = s->run->d->row.memory;
    for (int n = 0; n < 2; n++) {
        if (s->chunk[n].memory)
            memory->free(&s->run->d->row, s->chunk[n].memory, s->chunk[n].bytes);
        s->chunk[n].memory = NULL;
    }
}

static GrB_Info alloc_there(chunks *s)
{
    ftb_gpu_spgemm_run *run = s->run;
    GrB_Info info = GrB_SUCCESS;
    for (int n = 0; n < s->count && info == GrB_SUCCESS; n++) {
        chunk *c = &s->chunk[n];
        c->bytes = lay_out(s, c);
        info = ftb_device_room(&c->memory, &run->d->row, run->product->ctx, c->bytes);
        if (info == GrB_SUCCESS)
            lay_out(s, c);
    }
    if (info != GrB_SUCCESS)
        free_there(s);
    return info;
}

/* How large chunks are; what is at home takes, under a limit, half of the memory that the host's plan has for
 * one of its own. */
static void size(chunks *s, int64_t *longest)
{
    ftb_gpu_spgemm_run *run = s->run;
    const ftb_spgemm_product *p = run->product;
    int64_t entries = 0, units = 0, most = 1;
    *longest = 1;
    shape_rows(run);
    for (int64_t i = 0; i < p->p.nrows; i++) {
        const int64_t own = run->row[i].units, room = room_of_units(run, i);
        *longest = ftb_max(*longest, room);
        most = ftb_max(most, own);
        entries += room;
        units += own;
    }
    const bool limited = p->facts.memory_left < INT64_MAX;
    const int64_t rows = p->p.nrows * (int64_t)sizeof *run->row; /* have theirs already */
    const int64_t half = ftb_max(run->host->chunk_bytes / 2 - rows, limited ? 0 : HOME_BYTES),
                  unit = (int64_t)(sizeof *s->unit + 4 + 8 + (run->counted ? sizeof *s->statistics : 0)),
                  row = run->counted || run->tallied ? 16 + (int64_t)sizeof *s->row_stats : 16;
    s->units = ftb_max(ftb_min(ftb_min(half / (unit + row), MOST_UNITS), units), most);
    s->rows = ftb_max(ftb_min(half / (unit + row), p->p.nrows), 1);
    s->entries = ftb_max(ftb_min(run->plan.chunk_entries, entries), *longest);
    s->room = ftb_max(ftb_min(half / (4 + run->value), s->entries), *longest);
    s->count = s->units >= units && s->rows >= p->p.nrows && (run->counted || s->entries >= entries) ? 1 : 2;
}

static GrB_Info alloc(chunks *s)
{
    const ftb_gpu_spgemm_run *run = s->run;
    const FtB_Context ctx = run->product->ctx;
    int64_t longest;
    size(s, &longest);
    s->unit = ftb_new(ctx, s->units, sizeof *s->unit);
    s->order = ftb_new(ctx, s->units, sizeof *s->order);
    s->offsets = ftb_new(ctx, s->units + 1, sizeof *s->offsets);
    bool all = s->unit && s->order && s->offsets;
    for (int n = 0; n < s->count; n++) {
        s->chunk[n].firsts = ftb_new(ctx, s->rows + 1, sizeof *s->chunk[n].firsts);
        all = all && s->chunk[n].firsts;
    }
    if (run->counted) {
        s->statistics = ftb_new(ctx, s->units, sizeof *s->statistics);
        all = all && s->statistics;
    }
    if (run->counted || run->tallied) {
        s->row_stats = ftb_new(ctx, s->rows, sizeof *s->row_stats);
        all = all && s->row_stats;
    } else {
        s->rowptr = ftb_new(ctx, s->rows + 1, sizeof *s->rowptr);
        s->cols = ftb_new(ctx, s->room, sizeof *s->cols);
        s->values = ftb_new(ctx, s->room, (size_t)run->value);
        all = all && s->rowptr && s->cols && s->values;
    }
    if (!all)
        return ftb_nomem();
    GrB_Info info = alloc_there(s);
    while (info == FTB_NO_DEVICE && !run->d->lost && s->entries > longest && !run->counted) {
        s->entries = ftb_max(s->entries / 2, longest); /* smaller ones, which may fit */
        s->count = 2;
        if (!s->chunk[1].firsts)
            s->chunk[1].firsts = ftb_new(ctx, s->rows + 1, sizeof *s->chunk[1].firsts);
        info = s->chunk[1].firsts ? alloc_there(s) : ftb_nomem();
    }
    return info;
}

static void release(chunks *s)
{
    free_there(s);
    void *arrays[] = {s->unit,   s->order, s->offsets, s->statistics,      s->row_stats,
                      s->rowptr, s->cols,  s->values,  s->chunk[0].firsts, s->chunk[1].firsts};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++)
        ftb_delete(arrays[n]);
}

/* ---- launches */

static GrB_Info put(const chunks *s, void *to, const void *from, int64_t bytes)
{
    const ftb_backend *b = &s->run->d->row;
    return b->memory->put(b, s->run->product->ctx, to, from, bytes);
}

/* What a bin's kernel is called between the message's name and a text's. */
static const char *form_of(const ftb_gpu_spgemm_run *run, int bin)
{
    const bool counts = run->product->p.message == FTB_MESSAGE_PAIR;
    const bool hot = run->plan.hot > 0;
    return bin == WIDE                      ? (hot ? "bits_32" : "dense_32")
           : bin == DENSE                   ? (!counts ? "dense"
                                               : hot   ? "bits_16"
                                                       : "dense_16")
           : bin >= FTB_GPU_SPGEMM_OF_WARPS ? "large"
           : run->product->mask             ? "mask"
                                            : "hash";
}

static GrB_Info launch_bin(const chunks *s, const chunk *c, int bin)
{
    const ftb_gpu_spgemm_run *run = s->run;
    const bool texts = run->texts & FTB_SPGEMM_TEXT_ROWS, hot = bin >= DENSE && run->plan.hot > 0;
    const char *const source = texts                            ? run->text.source
                               : run->product->mask             ? SOURCE_MASK
                               : bin >= DENSE                   ? (hot ? FTB_GPU_SPGEMM_BITS : SOURCE)
                               : bin >= FTB_GPU_SPGEMM_OF_WARPS ? FTB_GPU_SPGEMM_LARGE
                                                                : SOURCE;
    const int64_t many = s->begin[bin + 1] - s->begin[bin], rows = FTB_SPGEMM_HASH_BLOCK / 32;
    ftb_spgemm_arguments a = hot ? run->hot : run->rows;
    ftb_gpu_grid grid = {.x = many, .y = 1};
    char kernel[60];
    a.units = c->units;
    a.order = c->order + s->begin[bin];
    a.norder = many;
    a.cols = c->cols;
    a.cells = c->cells;
    a.counts = c->counts;
    a.statistics = run->counted ? c->statistics : NULL;
    if (bin < DENSE) {
        const bool warp = bin < FTB_GPU_SPGEMM_OF_WARPS;
        a.slots = (int)(2 * ftb_gpu_spgemm_hash[bin]);
        grid.x = warp ? (many + rows - 1) / rows : many;
        grid.threads = warp ? FTB_SPGEMM_HASH_BLOCK : FTB_SPGEMM_LARGE_BLOCK;
        grid.shared = (unsigned)ftb_gpu_spgemm_hash_bytes(run, bin);
    } else {
        const int64_t cell = bin == WIDE ? 4 : run->cell, tile = ftb_min(tile_of(run, bin), a.ncols);
        grid.threads = (unsigned)(32 * run->plan.warps);
        grid.shared = (unsigned)(FTB_SPGEMM_HEAD_BYTES + (tile * cell + 7) / 8 * 8);
    }
    snprintf(kernel, sizeof kernel, "spgemm_%s%s%s", run->name, form_of(run, bin),
             texts ? run->text.suffix : "");
    return ftb_gpu_launch(run->d, run->product->ctx, source, kernel, grid, (void *[]){&a});
}

/* Warps take `many` units or rows. */
static GrB_Info launch_steps(const chunks *s, const char *source, const char *what, const char *of,
                             int64_t many, void *arguments)
{
    const int64_t each = FTB_SPGEMM_STEP_BLOCK / 32;
    char kernel[40];
    snprintf(kernel, sizeof kernel, "spgemm_%s%s", what, of);
    return ftb_gpu_launch(s->run->d, s->run->product->ctx, source, kernel,
                          (ftb_gpu_grid){.x = (many + each - 1) / each,
                                         .y = 1,
                                         .threads = FTB_SPGEMM_STEP_BLOCK,
                                         .shared = FTB_SPGEMM_TEAM_BYTES},
                          (void *[]){arguments});
}

static GrB_Info launch_finish(const chunks *s, const chunk *c)
{
    const ftb_gpu_spgemm_run *run = s->run;
    const ftb_finish *f = &run->product->finish;
    const bool texts = run->texts & FTB_SPGEMM_TEXT_FINISH;
    const size_t size = FtB_Type_size(f->out_type);
    ftb_spgemm_finish_arguments a = run->finish;
    a.units = c->units;
    a.nunits = c->nunits;
    a.counts = c->counts;
    a.cols = c->cols;
    a.cells = c->cells;
    a.values = c->values;
    ftb_spgemm_pack_arguments p = {.units = c->units,
                                   .counts = c->counts,
                                   .nunits = c->nunits,
                                   .nrows = c->nrows,
                                   .first = c->first,
                                   .width = (int)f->out_width,
                                   .cols = c->cols,
                                   .values = c->values,
                                   .offsets = c->offsets,
                                   .packed_cols = c->packed_cols,
                                   .packed_values = c->packed_values,
                                   .k = f->top_k};
    p.tally = c->tally;
    GrB_Info info;
    FTB_CHECK(launch_steps(s, texts ? run->text.source : SOURCE_FINISH, texts ? "finish" : "finish_",
                           texts ? run->text.suffix : run->type, c->nunits, &a));
    if (f->use_top_k)
        FTB_CHECK(launch_steps(s, SOURCE_PACK, "topk_", run->type, c->nrows, &p));
    if (run->tallied) {
        info = launch_steps(s, SOURCE_PACK, "tally_", run->type,
                            (c->nrows * FTB_SPGEMM_TALLY_LANES + 31) / 32, &p);
        goto done;
    }
    FTB_CHECK(ftb_gpu_scan(
        run->d, run->product->ctx,
        (ftb_scan_arguments){.counts = c->counts, .to = c->offsets, .n = c->nunits, .sums = c->sums}));
    info = launch_steps(s, SOURCE_PACK, "pack_", size == 1 ? "1" : size == 4 ? "4" : "8", c->nunits, &p);
done:
    return info;
}

static GrB_Info begin(chunks *s, int turn, int64_t row0)
{
    chunk *c = &s->chunk[turn];
    GrB_Info info;
    fill(s, c, row0);
    FTB_CHECK(put(s, c->units, s->unit, c->nunits * (int64_t)sizeof *s->unit));
    FTB_CHECK(put(s, c->order, s->order, c->nunits * (int64_t)sizeof *s->order));
    FTB_CHECK(put(s, c->first, c->firsts, (c->nrows + 1) * (int64_t)sizeof *c->firsts));
    for (int bin = 0; bin < BINS; bin++)
        FTB_CHECK(launch_bin(s, c, bin));
    if (!s->run->counted)
        FTB_CHECK(launch_finish(s, c));
    info = ftb_gpu_mark(s->run->d, turn);
done:
    return info;
}

/* ---- coming home */

static GrB_Info tell(chunks *s, int64_t row0, int64_t rows)
{
    ftb_gpu_spgemm_run *run = s->run;
    const ftb_spgemm_product *p = run->product;
    for (int64_t i = row0; i < row0 + rows; i++)
        run->done += p->keep_rows && !p->keep_rows[i] ? 0 : (double)p->row_products[i];
    return ftb_progress(p->ctx, run->done, p->facts.products, "products");
}

static GrB_Info deliver_counts(chunks *s, int turn)
{
    const chunk *c = &s->chunk[turn];
    GrB_Info info = ftb_gpu_fetch_aside(s->run->d, turn, s->statistics, c->statistics,
                                        c->nunits * (int64_t)sizeof *s->statistics);
    if (info != GrB_SUCCESS)
        return info;
    for (int64_t r = 0; r < c->nrows; r++) {
        ftb_spgemm_count all = {.least = UINT32_MAX};
        for (int u = c->firsts[r]; u < c->firsts[r + 1]; u++) {
            all.sum += s->statistics[u].sum;
            all.nvals += s->statistics[u].nvals;
            all.least = ftb_min(all.least, s->statistics[u].least);
            all.most = ftb_max(all.most, s->statistics[u].most);
        }
        const bool some = all.nvals > 0;
        s->row_stats[r] = (ftb_row_stats){.nvals = all.nvals,
                                          .sum = (double)all.sum,
                                          .min = some ? all.least : 1,
                                          .max = some ? all.most : 0};
    }
    info = tell(s, c->row0, c->nrows);
    s->run->delivered = true;
    return info == GrB_SUCCESS ? ftb_sink_count_rows(s->run->sink, c->row0, c->nrows, s->row_stats) : info;
}

static GrB_Info deliver_tallies(chunks *s, int turn)
{
    const chunk *c = &s->chunk[turn];
    GrB_Info info = ftb_gpu_fetch_aside(s->run->d, turn, s->row_stats, c->tally,
                                        c->nrows * (int64_t)sizeof *s->row_stats);
    if (info == GrB_SUCCESS)
        info = tell(s, c->row0, c->nrows);
    s->run->delivered = true;
    return info == GrB_SUCCESS ? ftb_sink_count_rows(s->run->sink, c->row0, c->nrows, s->row_stats) : info;
}

/* Rows r0 .. r1 - 1 of a chunk. */
static GrB_Info deliver_rows(chunks *s, int turn, int64_t r0, int64_t r1)
{
    const chunk *c = &s->chunk[turn];
    ftb_gpu_spgemm_run *run = s->run;
    const ftb_finish *f = &run->product->finish;
    const int64_t from = s->offsets[c->firsts[r0]], n = s->offsets[c->firsts[r1]] - from;
    GrB_Info info;
    FTB_CHECK(ftb_gpu_fetch_aside(run->d, turn, s->cols, c->packed_cols + from, n * 4));
    FTB_CHECK(ftb_gpu_fetch_aside(run->d, turn, s->values, (char *)c->packed_values + from * run->value,
                                  n * run->value));
    for (int64_t r = r0; r <= r1; r++)
        s->rowptr[r - r0] = s->offsets[c->firsts[r]] - from;
    FTB_CHECK(tell(s, c->row0 + r0, r1 - r0));
    run->delivered = true;
    info = ftb_sink_rows(run->sink, &(FtB_Rows){.row0 = c->row0 + r0,
                                                .nrows = r1 - r0,
                                                .ncols = run->product->p.ncols,
                                                .rowptr = s->rowptr,
                                                .colidx = s->cols,
                                                .values = s->values,
                                                .type = f->out_type,
                                                .width = f->out_width});
done:
    return info;
}

static GrB_Info deliver(chunks *s, int turn)
{
    const chunk *c = &s->chunk[turn];
    if (s->run->counted || s->run->tallied)
        return s->run->counted ? deliver_counts(s, turn) : deliver_tallies(s, turn);
    GrB_Info info = ftb_gpu_fetch_aside(s->run->d, turn, s->offsets, c->offsets, (c->nunits + 1) * 8);
    for (int64_t r0 = 0, r1; r0 < c->nrows && info == GrB_SUCCESS; r0 = r1) {
        const long long from = s->offsets[c->firsts[r0]];
        for (r1 = r0 + 1; r1 < c->nrows && s->offsets[c->firsts[r1 + 1]] - from <= s->room;)
            r1++;
        info = deliver_rows(s, turn, r0, r1);
    }
    return info;
}

GrB_Info ftb_gpu_spgemm_chunks(ftb_gpu_spgemm_run *run)
{
    chunks s = {.run = run};
    const int64_t nrows = run->product->p.nrows;
    int before = -1; /* the chunk that is not delivered yet */
    GrB_Info info = alloc(&s);
    for (int64_t row = 0, n = 0; info == GrB_SUCCESS && (row < nrows || before >= 0); n++) {
        const int turn = row < nrows ? (int)(n % 2) : -1;
        if (turn >= 0) {
            info = begin(&s, turn, row);
            row += s.chunk[turn].nrows;
        }
        if (info == GrB_SUCCESS && before >= 0)
            info = deliver(&s, before);
        before = turn;
    }
    release(&s);
    return info;
}
