/* Patterns: which entries a matrix stores. Immutable once made, shared by reference. */
#include "core/hypersparse.h"
#include "core/partition.h"
#include "core/whole.h"

#include <math.h>

#define SMALL (INT64_C(1) << 15) /* rows; below, threads cost more than they bring */

/* One without row pointers and entries yet; adopts the columns. */
static ftb_pattern *without_rows(FtB_Context ctx, int64_t nrows, int64_t ncols, ftb_buffer *colidx)
{
    ftb_pattern *p = colidx ? ftb_new0(ctx, 1, sizeof *p) : NULL;
    if (!p) {
        ftb_buffer_release(colidx);
        return NULL;
    }
    atomic_init(&p->refs, 1);
    p->ctx = ctx ? ctx : ftb_context(); /* kept alive by this very allocation */
    p->nrows = nrows;
    p->ncols = ncols;
    p->colidx_owner = colidx;
    p->colidx = ftb_buffer_data(colidx);
    p->wide = ftb_col_size(ncols) == 8;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

ftb_pattern *ftb_pattern_new(FtB_Context ctx, int64_t nrows, int64_t ncols, ftb_buffer *rowptr,
                             ftb_buffer *colidx)
{
    if (!rowptr) {
        ftb_buffer_release(colidx);
        return NULL;
    }
    ftb_pattern *p = without_rows(ctx, nrows, ncols, colidx);
    if (!p) {
        ftb_buffer_release(rowptr);
        return NULL;
    }
    p->rowptr_owner = rowptr;
    p->rowptr = ftb_buffer_data(rowptr);
    p->nvals = p->rowptr[nrows];
    return p;
}

ftb_pattern *ftb_pattern_of_listed(ftb_pattern *listed)
{
    if (!listed)
        return NULL;
    ftb_pattern *p =
        without_rows(listed->ctx, listed->all_rows, listed->ncols, ftb_buffer_retain(listed->colidx_owner));
    if (!p) {
        ftb_pattern_release(listed);
        return NULL;
    }
    p->listed = listed;
    p->nvals = listed->nvals;
    p->multi = listed->multi;
    return p;
}

ftb_pattern *ftb_pattern_empty(FtB_Context ctx, int64_t nrows, int64_t ncols)
{
    const bool listed = ftb_listed_fits(nrows, 0);
    const int64_t held = listed ? 0 : nrows;
    ftb_buffer *rowptr = held < INT64_MAX ? ftb_buffer_new(ctx, held + 1, sizeof(int64_t)) : NULL;
    ftb_buffer *colidx = rowptr ? ftb_buffer_new(ctx, 0, 1) : NULL;
    ftb_pattern *p = ftb_pattern_new(ctx, held, ncols, rowptr, colidx);
    if (!listed || !p)
        return p;
    return ftb_pattern_of_listed(ftb_pattern_number(p, nrows, ftb_buffer_new(ctx, 0, sizeof(int64_t))));
}

ftb_pattern *ftb_pattern_retain(ftb_pattern *p)
{
    atomic_fetch_add(&p->refs, 1);
    return p;
}

static void delete_derived(ftb_derived *d)
{
    ftb_buffer_release(d->buffers[0]);
    ftb_buffer_release(d->buffers[1]);
    ftb_delete(d);
}

void ftb_pattern_release(ftb_pattern *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    if (p->transpose != p)
        ftb_pattern_release(p->transpose);
    ftb_pattern_release(p->diagonal);
    ftb_whole_release(p->whole);
    ftb_delete(p->transpose_from);
    while (p->partitions) {
        ftb_partition *next = p->partitions->next;
        ftb_partition_release(p->partitions);
        p->partitions = next;
    }
    while (p->derived) {
        ftb_derived *gone = p->derived;
        p->derived = gone->next;
        if (gone->forget)
            gone->forget(gone);
        delete_derived(gone);
    }
    ftb_pattern_release(p->listed);
    ftb_pattern_release(p->both);
    ftb_buffer_release(p->numbers_owner);
    ftb_buffer_release(p->columns_owner);
    ftb_buffer_release(p->rowptr_owner);
    ftb_buffer_release(p->colidx_owner);
    pthread_mutex_destroy(&p->lock);
    ftb_delete(p);
}

GrB_Info ftb_pattern_ask_at(ftb_pattern *p, const struct ftb_backend *where, const int64_t **rowptr,
                            const void **colidx)
{
    void *rows, *cols;
    GrB_Info info = ftb_buffer_ask_at(p->rowptr_owner, where, FTB_READ, &rows);
    if (info == GrB_SUCCESS)
        info = ftb_buffer_ask_at(p->colidx_owner, where, FTB_READ, &cols);
    if (info != GrB_SUCCESS)
        return info;
    *rowptr = rows;
    *colidx = cols;
    return GrB_SUCCESS;
}

/* Of rows spread over the pattern, the first, the middle and the last entry. */
static void sample_reach(ftb_degrees *d, const ftb_pattern *p)
{
    enum { ROWS = 512 };
    const int64_t step = p->nrows / ROWS + 1;
    for (int64_t i = 0; i < p->nrows; i += step) {
        const int64_t first = p->rowptr[i], last = p->rowptr[i + 1] - 1;
        const int64_t places[] = {first, (first + last) / 2, last};
        const double diagonal = ((double)i + 0.5) * (double)p->ncols / (double)p->nrows;
        for (int k = 0; k < 3 && first <= last; k++) {
            d->sampled++;
            for (int b = FTB_DEGREES - 1;
                 b >= 0 && fabs((double)ftb_col(p, places[k]) - diagonal) < ldexp(1, b); b--)
                d->reach[b]++;
        }
    }
}

const ftb_degrees *ftb_pattern_degrees(ftb_pattern *p)
{
    pthread_mutex_lock(&p->lock);
    if (!p->counted) {
        int64_t rows[FTB_DEGREES] = {0}, entries[FTB_DEGREES] = {0};
#pragma omp parallel for schedule(static) num_threads(ftb_threads(p->ctx)) if (p->nrows > SMALL)             \
    reduction(+ : rows[:FTB_DEGREES], entries[:FTB_DEGREES])
        for (int64_t i = 0; i < p->nrows; i++) {
            int64_t degree = p->rowptr[i + 1] - p->rowptr[i];
            if (degree == 0)
                continue;
            int b = ftb_min(63 - __builtin_clzll((unsigned long long)degree), FTB_DEGREES - 1);
            rows[b]++;
            entries[b] += degree;
        }
        memcpy(p->degrees.rows, rows, sizeof rows);
        memcpy(p->degrees.entries, entries, sizeof entries);
        sample_reach(&p->degrees, p);
        p->counted = true;
    }
    pthread_mutex_unlock(&p->lock);
    return &p->degrees;
}

int64_t ftb_rows_cut(int64_t nrows, const int64_t *a, const int64_t *b, int64_t part, int64_t parts)
{
    int64_t total = a[nrows] + (b ? b[nrows] : 0) + nrows;
    int64_t goal = total / parts * part + total % parts * part / parts;
    int64_t low = 0, high = nrows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (a[middle] + (b ? b[middle] : 0) + middle < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return part == parts ? nrows : low;
}

GrB_Info ftb_derived_ask(const ftb_derived **found, ftb_pattern *p, const void *kind, int64_t key,
                         ftb_derived_make make, const void *arg)
{
    GrB_Info info = GrB_SUCCESS;
    pthread_mutex_lock(&p->lock);
    ftb_derived *of = p->derived;
    while (of && !(of->kind == kind && of->key == key))
        of = of->next;
    if (!of) {
        of = ftb_new0(p->ctx, 1, sizeof *of);
        if (of)
            *of = (ftb_derived){.kind = kind, .key = key};
        info = of ? make(of, p, arg) : ftb_nomem();
        if (info == GrB_SUCCESS) {
            of->next = p->derived;
            p->derived = of;
        } else if (of) {
            delete_derived(of);
            of = NULL;
        }
    }
    pthread_mutex_unlock(&p->lock);
    *found = of;
    return info;
}

void ftb_derived_drop(ftb_pattern *p, const ftb_derived *of)
{
    pthread_mutex_lock(&p->lock);
    ftb_derived **at = &p->derived;
    while (*at && *at != of)
        at = &(*at)->next;
    ftb_derived *gone = *at;
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&p->lock);
    if (gone)
        delete_derived(gone);
}
