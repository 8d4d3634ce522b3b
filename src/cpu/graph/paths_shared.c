/* Shortest paths of many columns at once: buckets of vertices, of which each has a row of distances, so that
 * an entry is read, and a row fetched, for all columns that fall together. On a graph with hubs most do, once
 * buckets are those of distances from where the hubs begin, and not from where a column does: how far it gets
 * in some edges, a quarter of the greatest degree, is its shift. A Kronecker graph's entries are then looked
 * at 2.4 times for 64 columns together; without shifts 6 times.
 *
 * Where columns do not fall together, as on a road, or when they no longer do, they go on one by one from
 * where they are (paths_search.c). In the end distances are the same: the least sums of all paths.
 *
 * Columns are shared out to threads, in whole groups. */
#include "cpu/graph/paths_run.h"

#include <math.h>
#include <omp.h>

#define REACH 4    /* edges of a first look: the share of the greatest degree */
#define TOGETHER 4 /* columns of a group of 16 that must fall together: fewer are as fast one by one */
#define WINDOW 2   /* the share of the graph's entries, a half, after which that is looked at */

typedef struct batch { /* some columns */
    ftb_paths_rows rows;
    int64_t first;
    bool apart; /* they do not fall together: those that are due are left */
} batch;

typedef struct shared {
    ftb_paths_job *j;
    ftb_paths_begin from; /* a list */
    int64_t *own;         /* if it is ours */
    void *first;          /* dist's rows of the list, as they were */
    void *shift;          /* of all columns */
    batch *batches;
    int64_t nbatches;
} shared;

static void put_real(const ftb_paths_job *j, void *at, int64_t t, double value)
{
    if (j->x.wide)
        ((ftb_distance *)at)[t] = value;
    else
        ((ftb_few_distance *)at)[t] = (float)value;
}

static double get_real(const ftb_paths_job *j, const void *at, int64_t t)
{
    return j->x.wide ? ((const ftb_distance *)at)[t] : (double)((const ftb_few_distance *)at)[t];
}

static char *row_of(const ftb_paths_job *j, int64_t v)
{
    return (char *)j->p->dist + (size_t)(v * j->p->ld) * ftb_paths_size(j);
}

/* ---- the first rows: dist is worked on in its place, and is as it was if that fails */

static bool is_finite_row(const ftb_paths_job *j, int64_t v)
{
    bool finite = false;
    for (int64_t c = 0; c < j->p->ncols; c++)
        finite = finite || get_real(j, row_of(j, v), c) < (double)INFINITY;
    return finite;
}

static GrB_Info keep_first(shared *s)
{
    const ftb_paths_job *j = s->j;
    const size_t row = (size_t)j->p->ncols * ftb_paths_size(j);
    if (!j->p->start) {
        s->own = ftb_new(j->p->ctx, j->n, sizeof *s->own);
        if (!s->own)
            return ftb_nomem();
        for (int64_t v = 0; v < j->n; v++)
            if (is_finite_row(j, v))
                s->own[s->from.nstart++] = v;
    } else
        s->from.nstart = j->p->nstart;
    s->from.start = s->own ? s->own : j->p->start;
    s->first = ftb_new(j->p->ctx, s->from.nstart, row);
    for (int64_t t = 0; t < s->from.nstart && s->first; t++)
        memcpy((char *)s->first + (size_t)t * row, row_of(j, s->from.start[t]), row);
    return s->first ? GrB_SUCCESS : ftb_nomem();
}

/* All others were infinite. */
static void restore_first(const shared *s)
{
    const ftb_paths_job *j = s->j;
    const size_t row = (size_t)j->p->ncols * ftb_paths_size(j);
    for (int64_t v = 0; v < j->n; v++)
        for (int64_t c = 0; c < j->p->ncols; c++)
            put_real(j, row_of(j, v), c, (double)INFINITY);
    for (int64_t t = 0; t < s->from.nstart; t++)
        memcpy(row_of(j, s->from.start[t]), (const char *)s->first + (size_t)t * row, row);
}

/* ---- shifts */

static void empty_bins(const ftb_paths_job *j, ftb_bins *bins)
{
    ftb_bins_free(bins);
    *bins = (ftb_bins){.arena = {.ctx = j->p->ctx}};
}

/* *reach: how far column c gets in so many edges. */
static GrB_Info search_some(const shared *s, int64_t c, int64_t edges, void *column, ftb_bins *bins,
                            double *reach)
{
    const ftb_paths_job *j = s->j;
    ftb_paths x = j->x;
    ftb_paths_begin from = s->from;
    const double none = (double)INFINITY;
    const float few_none = INFINITY;
    ftb_fill(column, j->n, j->x.wide ? (const void *)&none : &few_none, ftb_paths_size(j));
    for (int64_t t = 0; t < from.nstart; t++)
        put_real(j, column, from.start[t], get_real(j, row_of(j, from.start[t]), c));
    x.dist = column;
    from.most = edges;
    const GrB_Info info = ftb_paths_search(j->p->ctx, &x, &from, bins, 1);
    *reach = x.passed < 0 ? 0 : x.base + (double)x.passed / x.inverse;
    empty_bins(j, bins);
    return info;
}

/* What each column reaches, taken from what the one does that reaches the most. */
static GrB_Info make_shifts(shared *s)
{
    ftb_paths_job *j = s->j;
    const int64_t ncols = j->p->ncols, edges = j->degree / REACH + 1;
    const int threads = ftb_min(j->threads, FTB_PATHS_GROUP);
    double *reach = ftb_new(j->p->ctx, ncols, sizeof *reach), most = 0;
    ftb_paths_failure failure = {.info = GrB_SUCCESS};
    s->shift = ftb_new(j->p->ctx, ncols, ftb_paths_size(j));
    j->columns = ftb_new(j->p->ctx, j->n * FTB_PATHS_GROUP, ftb_paths_size(j));
    if (!reach || !s->shift || !j->columns) {
        ftb_delete(reach);
        return ftb_nomem();
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t c = 0; c < ncols; c++) {
        const int t = omp_get_thread_num();
        void *column = (char *)j->columns + (size_t)(t * j->n) * ftb_paths_size(j);
        if (!ftb_paths_failed(&failure))
            ftb_paths_note(&failure, search_some(s, c, edges, column, &j->bins[t], &reach[c]));
    }
    const GrB_Info info = ftb_paths_raise(&failure);
    for (int64_t c = 0; c < ncols && info == GrB_SUCCESS; c++)
        most = fmax(most, reach[c]);
    for (int64_t c = 0; c < ncols && info == GrB_SUCCESS; c++)
        put_real(j, s->shift, c, most - reach[c]);
    ftb_delete(reach);
    return info;
}

/* ---- batches */

/* Of as many columns each, a group at least and FTB_PATHS_COLUMNS at most. */
static GrB_Info make_batches(shared *s)
{
    const ftb_paths_job *j = s->j;
    const int64_t ncols = j->p->ncols, least = (ncols + FTB_PATHS_COLUMNS - 1) / FTB_PATHS_COLUMNS;
    s->nbatches = ftb_max(least, ftb_min((int64_t)j->threads, ncols / FTB_PATHS_GROUP));
    s->batches = ftb_new0(j->p->ctx, s->nbatches, sizeof *s->batches);
    if (!s->batches)
        return ftb_nomem();
    for (int64_t b = 0; b < s->nbatches; b++) {
        batch *own = &s->batches[b];
        own->first = ncols * b / s->nbatches;
        const int count = (int)(ncols * (b + 1) / s->nbatches - own->first);
        own->rows = (ftb_paths_rows){.x = j->x,
                                     .ld = j->p->ld,
                                     .count = count,
                                     .groups = count <= FTB_PATHS_GROUP       ? 1
                                               : count <= 2 * FTB_PATHS_GROUP ? 2
                                                                              : 4};
        own->rows.x.dist = row_of(j, 0) + (size_t)own->first * ftb_paths_size(j);
        own->rows.shift = (const char *)s->shift + (size_t)own->first * ftb_paths_size(j);
        own->rows.due = ftb_new(j->p->ctx, j->n, sizeof *own->rows.due);
        if (!own->rows.due)
            return ftb_nomem();
    }
    return GrB_SUCCESS;
}

/* ---- together */

/* The columns of v that are finite, and the least of these and their shifts. */
static uint64_t look_at_row(const ftb_paths_job *j, const ftb_paths_rows *r, int64_t v, double *least)
{
    uint64_t finite = 0;
    *least = (double)INFINITY;
    for (int64_t c = 0; c < r->count; c++) {
        const double dist = get_real(j, r->x.dist, v * r->ld + c);
        if (!(dist < (double)INFINITY))
            continue;
        finite |= UINT64_C(1) << c;
        *least = fmin(*least, dist + get_real(j, r->shift, c));
    }
    return finite;
}

/* Who begins waits behind the window. */
static GrB_Info begin(const shared *s, ftb_paths_rows *r, ftb_bins *bins)
{
    double least;
    for (int64_t v = 0; v < s->j->n; v++)
        r->due[v] = (ftb_paths_due){0, FTB_NO_BUCKET};
    r->x.base = (double)INFINITY;
    for (int64_t t = 0; t < s->from.nstart; t++) {
        const int64_t v = s->from.start[t];
        r->due[v].columns = look_at_row(s->j, r, v, &least);
        r->x.base = fmin(r->x.base, least);
    }
    for (int64_t t = 0; t < s->from.nstart; t++) {
        const int64_t v = s->from.start[t];
        if (!look_at_row(s->j, r, v, &least))
            continue;
        r->due[v].bucket = ftb_paths_bucket(&r->x, least);
        if (!ftb_bins_put(bins, &bins->far, v))
            return ftb_nomem();
    }
    return GrB_SUCCESS;
}

static int64_t waits_for(const void *of, int64_t v) { return ((const ftb_paths_due *)of)[v].bucket; }

static GrB_Info find_lowest(const batch *b, ftb_bins *bins, int64_t *bucket)
{
    *bucket = ftb_bins_first(bins);
    if (*bucket != FTB_NO_BUCKET)
        return GrB_SUCCESS;
    *bucket = ftb_bins_far(bins, waits_for, b->rows.due);
    if (*bucket != FTB_NO_BUCKET && !ftb_bins_move(bins, *bucket, waits_for, b->rows.due))
        return ftb_nomem();
    return GrB_SUCCESS;
}

/* Whether too few columns fell together of late. */
static bool fall_apart(batch *b)
{
    ftb_paths_rows *r = &b->rows;
    if (r->group_work < r->x.rowptr[r->x.n] / WINDOW)
        return false;
    const bool apart = r->column_work < TOGETHER * r->group_work;
    r->group_work = r->column_work = 0;
    return apart;
}

/* A bucket's list, of which what is not walked stays due. */
static GrB_Info walk_list(batch *b, ftb_bins *bins, int64_t bucket)
{
    GrB_Info info = GrB_SUCCESS;
    for (ftb_bin_chunk *c = ftb_bins_take(bins, bucket), *next; c; c = next) {
        next = c->next;
        b->apart = b->apart || fall_apart(b);
        if (!b->apart && info == GrB_SUCCESS &&
            !(b->rows.x.wide ? FTB_PICK(ftb_paths_rows_walk_f64)
                             : FTB_PICK(ftb_paths_rows_walk_f32))(&b->rows, bins, c, bucket))
            info = ftb_nomem();
        ftb_bins_give(bins, c);
    }
    return info;
}

static GrB_Info search_batch(const shared *s, batch *b, ftb_bins *bins)
{
    const ftb_paths_job *j = s->j;
    atomic_bool stopped = false;
    int64_t bucket = 0;
    GrB_Info info = begin(s, &b->rows, bins);
    while (info == GrB_SUCCESS && !b->apart && !ftb_stops(j->p->ctx, &stopped)) {
        info = find_lowest(b, bins, &bucket);
        if (info != GrB_SUCCESS || bucket == FTB_NO_BUCKET)
            break;
        info = walk_list(b, bins, bucket);
    }
    empty_bins(j, bins); /* of those that count no more */
    return info == GrB_SUCCESS ? ftb_check_stopped(j->p->ctx, &stopped) : info;
}

static GrB_Info search_together(const shared *s)
{
    const ftb_paths_job *j = s->j;
    const int threads = (int)ftb_min((int64_t)j->threads, s->nbatches);
    ftb_paths_failure failure = {.info = GrB_SUCCESS};
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t b = 0; b < s->nbatches; b++)
        if (!ftb_paths_failed(&failure))
            ftb_paths_note(&failure, search_batch(s, &s->batches[b], &j->bins[omp_get_thread_num()]));
    return ftb_paths_raise(&failure);
}

/* ---- apart */

/* Vertices of which columns are due. */
static GrB_Info list_due(int64_t **list, int64_t *count, const ftb_paths_job *j, const batch *b)
{
    *count = 0;
    for (int64_t v = 0; v < j->n; v++)
        *count += b->rows.due[v].columns != 0;
    *list = ftb_new(j->p->ctx, *count, sizeof **list);
    for (int64_t v = 0, t = 0; v < j->n && *list; v++)
        if (b->rows.due[v].columns)
            (*list)[t++] = v;
    return *list ? GrB_SUCCESS : ftb_nomem();
}

/* What is left of a batch's columns, a group at a time. */
static GrB_Info search_rest(const ftb_paths_job *j, const batch *b)
{
    ftb_paths_begin from = {.due = b->rows.due};
    int64_t *list;
    GrB_Info info = list_due(&list, &from.nstart, j, b);
    from.start = list;
    for (int c = 0; c < b->rows.count && info == GrB_SUCCESS; c += FTB_PATHS_GROUP) {
        const int64_t count = ftb_min(FTB_PATHS_GROUP, b->rows.count - c);
        void *rows = (char *)b->rows.x.dist + (size_t)c * ftb_paths_size(j);
        from.column = c;
        ftb_paths_turn(j, rows, b->rows.ld, count, j->columns, true);
        info = ftb_paths_columns(j, count, &from);
        if (info == GrB_SUCCESS)
            ftb_paths_turn(j, rows, b->rows.ld, count, j->columns, false);
    }
    ftb_delete(list);
    return info;
}

static GrB_Info search_apart(const shared *s)
{
    ftb_paths_job *j = s->j;
    GrB_Info info = GrB_SUCCESS;
    for (int64_t b = 0; b < s->nbatches && info == GrB_SUCCESS; b++)
        if (s->batches[b].apart)
            info = search_rest(j, &s->batches[b]);
    return info;
}

GrB_Info ftb_paths_shared(ftb_paths_job *j)
{
    shared s = {.j = j};
    GrB_Info info = keep_first(&s);
    if (info == GrB_SUCCESS)
        info = make_shifts(&s);
    if (info == GrB_SUCCESS)
        info = make_batches(&s);
    if (info == GrB_SUCCESS) {
        info = search_together(&s);
        if (info == GrB_SUCCESS)
            info = search_apart(&s);
        if (info != GrB_SUCCESS)
            restore_first(&s);
    }
    for (int64_t b = 0; s.batches && b < s.nbatches; b++)
        ftb_delete(s.batches[b].rows.due);
    ftb_delete(s.batches);
    ftb_delete(s.shift);
    ftb_delete(s.first);
    ftb_delete(s.own);
    return info;
}
