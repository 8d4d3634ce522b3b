/* Makes the form of a pattern that the hybrid kernels walk (spmm_form.h). Two passes over blocks of pieces,
 * each block by one thread: its columns are counted; then those that are used often enough get places in
 * tiles, ascending, and its entries are put down by tile and piece, the others by piece. What a block becomes
 * depends on the block alone. */
#include "gpu/spmm_form.h"

#include <limits.h>
#include <omp.h>
#include <stdlib.h>

enum {
    PIECES = FTB_SPMM_HYBRID_PIECES,
    STEP = FTB_SPMM_HYBRID_STEP,
    SAMPLES = 32,    /* blocks that the density is estimated from */
    MOST_THREADS = 8 /* each has a counter for every column */
};
#define SHARE 0.3 /* of a GPU's memory, for all forms there; rests on no measurement */
enum { TILE_START, COLUMN_START, COLUMNS, ENTRY_START, COUNT, ENTRIES, COLD_START, COLD, SECTIONS };
enum { NBLOCKS, NPIECES, NTILES, NCOLUMNS, NHOT, NCOLD }; /* of a form's counts */

static const char density_kind, form_kind; /* their addresses name what is made here */
static void forget(ftb_derived *of);

/* A block, counted; then where what it has begins. */
typedef struct block {
    int64_t columns, hot, cold, tiles; /* hot columns; entries of hot columns, and others */
} block;

typedef struct work {
    const ftb_pattern *p;
    const ftb_spmm_piece *pieces;
    int64_t npieces, nblocks, tile;
    int threshold, threads;
    int *marks; /* of each thread, ncols: how often a column is used, or -1 - its place; 0 between blocks */
    block *blocks;
    char *form;
    int64_t at[SECTIONS]; /* where in it */
    int *order;
} work;

static int64_t last_piece(const work *w, int64_t b) { return ftb_min((b + 1) * PIECES, w->npieces); }
static int64_t nblocks_of(int64_t npieces) { return (npieces + PIECES - 1) / PIECES; }

static const int *columns_of(const work *w) { return w->p->colidx; }

static void mark_uses(const work *w, int *marks, int64_t b)
{
    for (int64_t k = b * PIECES; k < last_piece(w, b); k++)
        for (int64_t e = w->pieces[k].begin; e < w->pieces[k].end; e++)
            marks[columns_of(w)[e]]++;
}

/* ---- how often sources are used */

static void take_density(ftb_gpu_density *d, const work *w, int64_t b, double weight)
{
    int most = 0;
    mark_uses(w, w->marks, b);
    for (int64_t k = b * PIECES; k < last_piece(w, b); k++)
        for (int64_t e = w->pieces[k].begin; e < w->pieces[k].end; e++) {
            int *uses = &w->marks[columns_of(w)[e]];
            if (*uses == 0)
                continue;
            const int class = ftb_min(31 - __builtin_clz((unsigned)*uses), FTB_GPU_USES - 1);
            d->columns[class] += weight;
            d->entries[class] += weight * *uses;
            most = ftb_max(most, class);
            *uses = 0;
        }
    d->blocks[most] += weight;
}

/* So that entries are as many as there are. */
static void scale_density(ftb_gpu_density *d, double nvals)
{
    double entries = 0;
    for (int b = 0; b < FTB_GPU_USES; b++)
        entries += d->entries[b];
    for (int b = 0; b < FTB_GPU_USES && entries > 0; b++) {
        d->entries[b] *= nvals / entries;
        d->columns[b] *= nvals / entries;
    }
}

typedef struct made_of {
    const ftb_spmm_piece *pieces;
    int64_t npieces;
} made_of;

static GrB_Info make_density(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    const made_of *of = arg;
    work w = {.p = p, .pieces = of->pieces, .npieces = of->npieces, .nblocks = nblocks_of(of->npieces)};
    const int64_t step = (w.nblocks + SAMPLES - 1) / SAMPLES;
    to->buffers[0] = ftb_buffer_new(p->ctx, 1, sizeof(ftb_gpu_density));
    w.marks = ftb_new0(p->ctx, p->ncols, sizeof *w.marks);
    if (to->buffers[0] && w.marks) {
        ftb_gpu_density *d = ftb_buffer_data(to->buffers[0]);
        *d = (ftb_gpu_density){.known = true};
        for (int64_t b = 0; b < w.nblocks; b += step) { /* the middle one of so many, which are alike */
            const int64_t many = ftb_min(step, w.nblocks - b);
            take_density(d, &w, b + many / 2, (double)many);
        }
        scale_density(d, (double)p->nvals);
    }
    const bool well = to->buffers[0] && w.marks;
    ftb_delete(w.marks);
    return well ? GrB_SUCCESS : ftb_nomem();
}

/* ---- the form */

/* Whether looking at all columns is quicker than at those of the block's entries. */
static bool is_dense(const work *w, int64_t b)
{
    int64_t entries = 0;
    for (int64_t k = b * PIECES; k < last_piece(w, b); k++)
        entries += w->pieces[k].end - w->pieces[k].begin;
    return w->p->ncols < 4 * entries;
}

static void clear_marks(const work *w, int *marks, int64_t b)
{
    if (is_dense(w, b)) {
        memset(marks, 0, (size_t)w->p->ncols * sizeof *marks);
        return;
    }
    for (int64_t k = b * PIECES; k < last_piece(w, b); k++)
        for (int64_t e = w->pieces[k].begin; e < w->pieces[k].end; e++)
            marks[columns_of(w)[e]] = 0;
}

static void count_column(block *to, int *uses, int threshold)
{
    const bool hot = *uses >= threshold;
    to->columns += hot;
    to->hot += hot ? *uses : 0;
    to->cold += hot ? 0 : *uses;
    *uses = 0;
}

static void count_block(const work *w, int *marks, int64_t b)
{
    block to = {0};
    mark_uses(w, marks, b);
    if (is_dense(w, b))
        for (int64_t j = 0; j < w->p->ncols; j++)
            count_column(&to, &marks[j], w->threshold);
    else
        for (int64_t k = b * PIECES; k < last_piece(w, b); k++)
            for (int64_t e = w->pieces[k].begin; e < w->pieces[k].end; e++)
                count_column(&to, &marks[columns_of(w)[e]], w->threshold);
    to.tiles = (to.columns + w->tile - 1) / w->tile;
    w->blocks[b] = to;
}

static int ascending(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The block's hot columns, which are counted, and their places. */
static void place_columns(const work *w, int *marks, int64_t b, int *columns, int64_t ncolumns)
{
    int64_t n = 0;
    if (w->p->ncols < 32 * ncolumns || is_dense(w, b)) { /* sorting takes longer */
        for (int64_t j = 0; j < w->p->ncols; j++)
            if (marks[j] >= w->threshold)
                columns[n++] = (int)j;
    } else {
        for (int64_t k = b * PIECES; k < last_piece(w, b); k++)
            for (int64_t e = w->pieces[k].begin; e < w->pieces[k].end; e++) {
                int *uses = &marks[columns_of(w)[e]];
                if (*uses < w->threshold)
                    continue;
                columns[n++] = columns_of(w)[e];
                *uses = -1;
            }
        qsort(columns, (size_t)n, sizeof *columns, ascending);
    }
    for (int64_t h = 0; h < n; h++)
        marks[columns[h]] = -1 - (int)h;
}

/* A walk over the hot entries of a piece, whose places ascend: where a tile ends a new one is found. */
typedef struct walk {
    int64_t tile, first, end; /* places of the tile */
} walk;
static bool enters(walk *at, int64_t place, int64_t tile)
{
    if (place < at->end)
        return false;
    at->tile = place / tile;
    at->first = at->tile * tile;
    at->end = at->first + tile;
    return true;
}

/* How many entries of each tile and piece there are, and where those of steps begin. */
static void count_entries(const work *w, const int *marks, int64_t b, int64_t tiles, unsigned short *counts,
                          int *starts)
{
    const int64_t first = b * PIECES;
    int64_t hot = w->blocks[b].hot;
    memset(counts, 0, (size_t)(tiles * PIECES) * sizeof *counts);
    for (int64_t k = first; k < last_piece(w, b); k++) {
        walk at = {0, 0, 0};
        for (int64_t e = w->pieces[k].begin; e < w->pieces[k].end; e++) {
            const int64_t place = -1 - (int64_t)marks[columns_of(w)[e]];
            if (place < 0)
                continue;
            enters(&at, place, w->tile);
            counts[at.tile * PIECES + k - first]++;
        }
    }
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t k = 0; k < PIECES; k++) {
            if (k % STEP == 0)
                starts[(t * PIECES + k) / STEP] = (int)hot;
            hot += counts[t * PIECES + k];
        }
}

/* The block's entries by tile and piece: those of a row ascend, as its places do. */
static void put_entries(const work *w, const int *marks, int64_t b, const unsigned short *counts,
                        const int *starts)
{
    unsigned short *const entries = (unsigned short *)(w->form + w->at[ENTRIES]);
    int *const cold_start = (int *)(w->form + w->at[COLD_START]);
    int *const cold = (int *)(w->form + w->at[COLD]);
    const int64_t first = b * PIECES, nhot = w->blocks[w->nblocks].hot;
    int64_t rest = w->blocks[b].cold;
    for (int64_t k = first; k < last_piece(w, b); k++) {
        const int64_t step = (k - first) / STEP * STEP;
        walk at = {0, 0, 0};
        for (int64_t e = w->pieces[k].begin, to = 0; e < w->pieces[k].end; e++) {
            const int64_t place = -1 - (int64_t)marks[columns_of(w)[e]];
            if (place < 0) {
                w->order[nhot + rest] = (int)e;
                cold[rest++] = columns_of(w)[e];
                continue;
            }
            if (enters(&at, place, w->tile)) { /* behind those of the step's pieces before */
                to = starts[(at.tile * PIECES + step) / STEP];
                for (int64_t before = step; before < k - first; before++)
                    to += counts[at.tile * PIECES + before];
            }
            w->order[to] = (int)e;
            entries[to++] = (unsigned short)(place - at.first);
        }
        cold_start[k + 1] = (int)rest;
    }
}

static void fill_block(const work *w, int *marks, int64_t b)
{
    const block *from = &w->blocks[b];
    const int64_t tiles = from[1].tiles - from->tiles, ncolumns = from[1].columns - from->columns;
    int *const columns = (int *)(w->form + w->at[COLUMNS]) + from->columns;
    int *const starts = (int *)(w->form + w->at[ENTRY_START]) + from->tiles * (PIECES / STEP);
    unsigned short *const counts = (unsigned short *)(w->form + w->at[COUNT]) + from->tiles * PIECES;
    ((int *)(w->form + w->at[TILE_START]))[b + 1] = (int)from[1].tiles;
    for (int64_t t = 0; t < tiles; t++)
        ((int *)(w->form + w->at[COLUMN_START]))[from->tiles + t + 1] =
            (int)(from->columns + ftb_min((t + 1) * w->tile, ncolumns));
    mark_uses(w, marks, b);
    place_columns(w, marks, b, columns, ncolumns);
    count_entries(w, marks, b, tiles, counts, starts);
    put_entries(w, marks, b, counts, starts);
    clear_marks(w, marks, b);
}

static void each_block(const work *w, void (*what)(const work *w, int *marks, int64_t b))
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
    for (int64_t b = 0; b < w->nblocks; b++)
        what(w, w->marks + omp_get_thread_num() * w->p->ncols, b);
}

/* Blocks at the end without hot columns are left out; of the others, what came before. */
static void add_up(work *w)
{
    block sum = {0};
    while (w->nblocks > 0 && w->blocks[w->nblocks - 1].columns == 0)
        w->nblocks--;
    w->npieces = ftb_min(w->nblocks * PIECES, w->npieces);
    for (int64_t b = 0; b <= w->nblocks; b++) {
        const block one = w->blocks[b];
        w->blocks[b] = sum;
        sum =
            (block){sum.columns + one.columns, sum.hot + one.hot, sum.cold + one.cold, sum.tiles + one.tiles};
    }
}

/* Where sections begin; returns where the last ends. */
static int64_t lay_out(int64_t at[SECTIONS], const int64_t *counts)
{
    const int64_t tiles = counts[NTILES];
    const int64_t bytes[SECTIONS] = {[TILE_START] = 4 * (counts[NBLOCKS] + 1),
                                     [COLUMN_START] = 4 * (tiles + 1),
                                     [COLUMNS] = 4 * counts[NCOLUMNS],
                                     [ENTRY_START] = 4 * tiles * (PIECES / STEP),
                                     [COUNT] = 2 * tiles * PIECES,
                                     [ENTRIES] = 2 * counts[NHOT],
                                     [COLD_START] = 4 * (counts[NPIECES] + 1),
                                     [COLD] = 4 * counts[NCOLD]};
    int64_t end = 0;
    for (int s = 0; s < SECTIONS; s++) {
        at[s] = end;
        end += (bytes[s] + 31) / 32 * 32;
    }
    return end;
}

static int64_t key_of(int threshold, int64_t tile) { return (int64_t)threshold << 32 | tile; }

static GrB_Info make_form(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    const made_of *of = arg;
    work w = {.p = p,
              .pieces = of->pieces,
              .npieces = of->npieces,
              .nblocks = nblocks_of(of->npieces),
              .tile = to->key & 0xffffffff,
              .threshold = (int)(to->key >> 32),
              .threads = ftb_min(ftb_threads_for(p->ctx, p->nvals), MOST_THREADS)};
    GrB_Info info = GrB_OUT_OF_MEMORY;
    while (!(w.marks = ftb_new0(p->ctx, w.threads * p->ncols, sizeof *w.marks)) && w.threads > 1)
        w.threads = 1; /* a limit may leave room for that */
    w.blocks = ftb_new0(p->ctx, w.nblocks + 1, sizeof *w.blocks);
    if (!w.marks || !w.blocks)
        goto done;
    each_block(&w, count_block);
    add_up(&w);
    const block all = w.blocks[w.nblocks];
    const int64_t counts[] = {w.nblocks, w.npieces, all.tiles, all.columns, all.hot, all.cold};
    memcpy(to->counts, counts, sizeof counts);
    to->buffers[0] = ftb_buffer_new(p->ctx, lay_out(w.at, counts), 1);
    to->buffers[1] = ftb_buffer_new(p->ctx, all.hot + all.cold, sizeof *w.order);
    if (!to->buffers[0] || !to->buffers[1])
        goto done;
    w.form = ftb_buffer_data(to->buffers[0]);
    w.order = ftb_buffer_data(to->buffers[1]);
    memset(w.form + w.at[TILE_START], 0, sizeof(int));
    memset(w.form + w.at[COLUMN_START], 0, sizeof(int));
    memset(w.form + w.at[COLD_START], 0, sizeof(int));
    each_block(&w, fill_block);
    to->forget = forget;
    info = GrB_SUCCESS;
done:
    ftb_delete(w.marks);
    ftb_delete(w.blocks);
    return info == GrB_SUCCESS ? info : ftb_nomem();
}

/* ---- kept with the pattern */

GrB_Info ftb_gpu_density_ask(ftb_gpu_density *to, ftb_pattern *p)
{
    made_of from;
    const ftb_derived *of;
    GrB_Info info = ftb_gpu_pieces_here(&from.pieces, &from.npieces, p);
    if (info == GrB_SUCCESS)
        info = ftb_derived_ask(&of, p, &density_kind, 0, make_density, &from);
    if (info == GrB_SUCCESS)
        *to = *(const ftb_gpu_density *)ftb_buffer_data(of->buffers[0]);
    return info;
}

/* ---- all forms, on whatever GPU: who is using them, and who was the last */

typedef struct ftb_gpu_form {
    struct ftb_gpu_form *next;
    ftb_pattern *p; /* forgets it before it goes */
    const ftb_derived *of;
    const ftb_backend *where;
    int64_t bytes, turn; /* turn: of its last use */
    int users;
} ftb_gpu_form;

static pthread_mutex_t forms_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before a pattern's */
static ftb_gpu_form *forms;
static int64_t turns;

static ftb_gpu_form *take_out(const ftb_derived *of)
{
    ftb_gpu_form **at = &forms;
    while (*at && (*at)->of != of)
        at = &(*at)->next;
    ftb_gpu_form *const found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void drop(ftb_gpu_form *form)
{
    (void)take_out(form->of);
    ftb_derived_drop(form->p, form->of);
    ftb_delete(form);
}

static void forget(ftb_derived *of)
{
    if (ftb_forked()) /* the lock may be held for good */
        return;
    pthread_mutex_lock(&forms_lock);
    ftb_gpu_form *const form = take_out(of);
    pthread_mutex_unlock(&forms_lock);
    ftb_delete(form);
}

/* Drops those on a GPU that nobody uses, longest unused first, until all take no more than so many bytes;
 * none while somebody records, who has let go of those that will be replayed. */
static bool drop_down_to(const ftb_backend *where, double bytes)
{
    ftb_gpu_device *const d = ftb_gpu_of(where);
    pthread_mutex_lock(&d->lock);
    const bool recording = d->recording;
    pthread_mutex_unlock(&d->lock);
    if (recording)
        return false;
    for (bool any = false;; any = true) {
        ftb_gpu_form *oldest = NULL;
        double all = 0;
        for (ftb_gpu_form *f = forms; f; f = f->next) {
            all += f->where == where ? (double)f->bytes : 0;
            if (f->where == where && f->users == 0 && (!oldest || f->turn < oldest->turn))
                oldest = f;
        }
        if (!oldest || all <= bytes)
            return any;
        drop(oldest);
    }
}

bool ftb_gpu_forms_drop(const ftb_gpu_device *d)
{
    pthread_mutex_lock(&forms_lock);
    const bool any = drop_down_to(&d->row, 0);
    pthread_mutex_unlock(&forms_lock);
    return any;
}

static GrB_Info form_new(ftb_gpu_form **to, ftb_pattern *p, const ftb_derived *of)
{
    ftb_gpu_form *const form = ftb_new(p->ctx, 1, sizeof *form);
    if (!form) {
        ftb_derived_drop(p, of);
        return ftb_nomem();
    }
    *form = (ftb_gpu_form){
        .next = forms, .p = p, .of = of, .bytes = of->buffers[0]->bytes + of->buffers[1]->bytes};
    *to = forms = form;
    return GrB_SUCCESS;
}

/* Found, or made, and in use. */
static GrB_Info hold(ftb_gpu_form **to, ftb_pattern *p, const ftb_gpu_device *d, int64_t key)
{
    made_of from;
    const ftb_derived *of;
    ftb_gpu_form *form = NULL;
    GrB_Info info = ftb_gpu_pieces_here(&from.pieces, &from.npieces, p);
    if (info != GrB_SUCCESS)
        return info;
    pthread_mutex_lock(&forms_lock);
    info = ftb_derived_ask(&of, p, &form_kind, key, make_form, &from);
    for (form = forms; info == GrB_SUCCESS && form && form->of != of;)
        form = form->next;
    if (info == GrB_SUCCESS && !form)
        info = form_new(&form, p, of);
    if (info == GrB_SUCCESS) {
        form->users++;
        form->turn = ++turns;
        form->where = &d->row;
        if (d->facts.memory > 0)
            drop_down_to(&d->row, SHARE * (double)d->facts.memory);
    }
    pthread_mutex_unlock(&forms_lock);
    *to = form;
    return info;
}

void ftb_gpu_hybrid_end(const ftb_gpu_hybrid *h)
{
    pthread_mutex_lock(&forms_lock);
    h->form->users--;
    pthread_mutex_unlock(&forms_lock);
}

GrB_Info ftb_gpu_hybrid_ask(ftb_gpu_hybrid *to, ftb_pattern *p, const ftb_gpu_device *d, int threshold,
                            int64_t tile, bool ordered)
{
    ftb_gpu_form *held;
    void *there = NULL, *order = NULL;
    int64_t at[SECTIONS];
    GrB_Info info = hold(&held, p, d, key_of(threshold, tile));
    if (info != GrB_SUCCESS)
        return info;
    ftb_buffer *const *buffers = held->of->buffers;
    const int64_t *counts = held->of->counts;
    (void)lay_out(at, counts);
    info = ftb_buffer_ask_at(buffers[0], &d->row, FTB_READ, &there);
    if (info == GrB_SUCCESS && ordered)
        info = ftb_buffer_ask_at(buffers[1], &d->row, FTB_READ, &order);
    for (int n = 0; n < 2; n++)
        ftb_buffer_leave(buffers[n]);
    const char *form = there;
    *to = (ftb_gpu_hybrid){.form = held};
    if (info != GrB_SUCCESS) {
        ftb_gpu_hybrid_end(to);
        return info;
    }
    *to = (ftb_gpu_hybrid){.form = held,
                           .nblocks = counts[NBLOCKS],
                           .npieces = counts[NBLOCKS] * PIECES,
                           .nhot = counts[NHOT],
                           .nentries = counts[NHOT] + counts[NCOLD],
                           .tile_start = (const int *)(form + at[TILE_START]),
                           .column_start = (const int *)(form + at[COLUMN_START]),
                           .columns = (const int *)(form + at[COLUMNS]),
                           .entry_start = (const int *)(form + at[ENTRY_START]),
                           .cold_start = (const int *)(form + at[COLD_START]),
                           .cold = (const int *)(form + at[COLD]),
                           .order = order,
                           .count = (const unsigned short *)(form + at[COUNT]),
                           .entries = (const unsigned short *)(form + at[ENTRIES])};
    return GrB_SUCCESS;
}
