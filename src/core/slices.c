/* Slices are cut where they have 8,192 rows, or a 64th of all entries: by the entries alone, not by threads.
 * Each is then sorted by column, on one thread, as words of 64 bits, (column << 13 | row): stable, so that
 * entries of a row, which ascend, stay in order. The lower half of a word is what is kept, the upper half is
 * the number of its block. */
#include "core/slices.h"

#include "core/search.h"

#include <math.h>
#include <omp.h>

#define LEAST_SHARE 64 /* slices of that many parts of the entries are not cut further ... */
#define LEAST_ENTRIES (INT64_C(1) << 16) /* ... nor are those of so few */

static const char kind; /* of derived forms */

typedef struct slicer {
    const ftb_pattern *p;
    int64_t count, nblocks, most; /* most: entries of a slice */
    int64_t *row, *block, *start, *high;
    uint32_t *word;
    int64_t fullest; /* entries of a slice */
} slicer;

/* Of a slice, but for a row that has more by itself. */
static int64_t most_entries(int64_t nvals) { return ftb_max(nvals / LEAST_SHARE, LEAST_ENTRIES); }

/* The end of the slice that begins at row `first`. */
static int64_t slice_end(const slicer *s, int64_t first)
{
    const int64_t *rowptr = s->p->rowptr, rows = ftb_min(FTB_SLICE_ROWS, s->p->nrows - first);
    const int64_t beyond = ftb_first_not_below(rowptr + first, rows + 1, rowptr[first] + s->most + 1);
    return first + ftb_min(rows, ftb_max(1, beyond - 1));
}

static int64_t blocks_of(const slicer *s, int64_t entries)
{
    return ftb_min(entries, (s->p->ncols - 1) / FTB_SLICE_COLUMNS + 1);
}

/* Counts slices and the blocks that they may have; notes them where there is room for that. */
static void cut_rows(slicer *s, bool note)
{
    const int64_t *rowptr = s->p->rowptr;
    s->count = s->nblocks = 0;
    for (int64_t first = 0, end; first < s->p->nrows; first = end) {
        end = slice_end(s, first);
        if (note) {
            s->row[s->count] = first;
            s->block[s->count] = s->nblocks;
        }
        s->count++;
        s->nblocks += blocks_of(s, rowptr[end] - rowptr[first]);
        s->fullest = ftb_max(s->fullest, rowptr[end] - rowptr[first]);
    }
    if (!note)
        return;
    s->row[s->count] = s->p->nrows;
    s->block[s->count] = s->nblocks;
    s->start[s->nblocks] = s->p->nvals;
}

static int bits_of(int64_t count)
{
    return count > 1 ? 64 - __builtin_clzll((unsigned long long)count - 1) : 0;
}

static void sort_slice(const slicer *s, int64_t slice, uint64_t *words, uint64_t *scratch)
{
    const ftb_pattern *p = s->p;
    const int64_t row0 = s->row[slice], first = p->rowptr[row0], end = p->rowptr[s->row[slice + 1]];
    int64_t at = s->block[slice], before = -1;
    for (int64_t i = row0; i < s->row[slice + 1]; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            words[e - first] = (uint64_t)ftb_col(p, e) << FTB_SLICE_BITS | (uint64_t)(i - row0);
    words = ftb_sort(words, scratch, end - first, FTB_SLICE_BITS, FTB_SLICE_BITS + bits_of(p->ncols));
    for (int64_t e = first; e < end; e++) {
        const int64_t high = (int64_t)(words[e - first] >> 32);
        if (high != before) {
            s->start[at] = e;
            s->high[at++] = before = high;
        }
        s->word[e] = (uint32_t)words[e - first];
    }
    for (; at < s->block[slice + 1]; at++) {
        s->start[at] = end;
        s->high[at] = 0;
    }
}

/* Each has room for the fullest slice: no more of them than all entries together outweigh. */
static int sorters(int64_t nvals, int64_t fullest, int threads)
{
    return (int)ftb_max(1, ftb_min(threads, nvals / ftb_max(1, fullest)));
}

static GrB_Info sort_slices(const slicer *s)
{
    const int threads = sorters(s->p->nvals, s->fullest, ftb_threads_for(s->p->ctx, s->p->nvals));
    uint64_t *memory = ftb_new(s->p->ctx, 2 * threads * s->fullest, sizeof *memory);
    if (!memory)
        return ftb_nomem();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t slice = 0; slice < s->count; slice++) {
        uint64_t *words = memory + 2 * omp_get_thread_num() * s->fullest;
        sort_slice(s, slice, words, words + s->fullest);
    }
    ftb_delete(memory);
    return GrB_SUCCESS;
}

static void point_tables(slicer *s, int64_t *tables)
{
    s->row = tables;
    s->block = s->row + s->count + 1;
    s->start = s->block + s->count + 1;
    s->high = s->start + s->nblocks + 1;
}

static GrB_Info make(ftb_derived *to, ftb_pattern *p, const void *arg)
{
    slicer s = {.p = p, .most = most_entries(p->nvals)};
    (void)arg;
    cut_rows(&s, false);
    to->counts[0] = s.count;
    to->counts[1] = s.nblocks;
    to->buffers[0] = ftb_buffer_adopt(p->ctx, ftb_new(p->ctx, p->nvals, sizeof *s.word));
    to->buffers[1] = ftb_buffer_adopt(p->ctx, ftb_new(p->ctx, 2 * (s.count + s.nblocks) + 3, sizeof *s.row));
    if (!to->buffers[0] || !to->buffers[1])
        return ftb_nomem();
    s.word = ftb_buffer_data(to->buffers[0]);
    point_tables(&s, ftb_buffer_data(to->buffers[1]));
    cut_rows(&s, true);
    return sort_slices(&s);
}

GrB_Info ftb_slices_get(ftb_slices *slices, ftb_pattern *p)
{
    const ftb_derived *of;
    GrB_Info info = ftb_derived_ask(&of, p, &kind, 0, make, NULL);
    if (info != GrB_SUCCESS)
        return info;
    slicer s = {.count = of->counts[0], .nblocks = of->counts[1]};
    point_tables(&s, ftb_buffer_data(of->buffers[1]));
    *slices = (ftb_slices){.count = s.count,
                           .row = s.row,
                           .block = s.block,
                           .start = s.start,
                           .high = s.high,
                           .word = ftb_buffer_data(of->buffers[0])};
    return GrB_SUCCESS;
}

bool ftb_slices_there(ftb_pattern *p)
{
    pthread_mutex_lock(&p->lock);
    const ftb_derived *of = p->derived;
    while (of && of->kind != &kind)
        of = of->next;
    pthread_mutex_unlock(&p->lock);
    return of != NULL;
}

int64_t ftb_slices_bytes(int64_t nrows, int64_t ncols, int64_t nvals)
{
    const int64_t slices = nrows / FTB_SLICE_ROWS + LEAST_SHARE + 1;
    const double blocks = fmin((double)nvals, (double)slices * (double)(ncols / FTB_SLICE_COLUMNS + 1));
    return (int64_t)(4 * (double)nvals + 16 * (blocks + (double)slices));
}

int64_t ftb_slices_scratch(int64_t nvals, int64_t longest, int threads)
{
    const int64_t fullest = ftb_min(nvals, ftb_max(longest, most_entries(nvals)));
    return 2 * (int64_t)sizeof(uint64_t) * fullest * sorters(nvals, fullest, threads);
}
