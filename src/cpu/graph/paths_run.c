/* Shortest paths (paths_product.h) of few columns: each in memory of its own until all are there. Columns
 * are shared out to threads where there are enough, else a column's buckets are (paths_search.c). Many
 * columns are walked together (paths_shared.c). */
#include "cpu/graph/paths_run.h"

#include <float.h>
#include <math.h>
#include <omp.h>

#define BATCH 1024  /* lengths that are cast together */
#define PER_MEAN 64 /* buckets that the mean length is wide: of 16 to 256 any are as good */

/* ---- failures */

void ftb_paths_note(ftb_paths_failure *f, GrB_Info info)
{
    if (info == GrB_SUCCESS)
        return;
#pragma omp critical(ftb_paths_failure)
    if (f->info == GrB_SUCCESS) {
        snprintf(f->message, sizeof f->message, "%s", FtB_error());
#pragma omp atomic write
        f->info = info;
    }
}

bool ftb_paths_failed(const ftb_paths_failure *f)
{
    GrB_Info info;
#pragma omp atomic read
    info = f->info;
    return info != GrB_SUCCESS;
}

GrB_Info ftb_paths_raise(const ftb_paths_failure *f)
{
    return f->info == GrB_SUCCESS ? GrB_SUCCESS : ftb_fail(f->info, "%s", f->message);
}

/* ---- lengths */

static bool part_is_negative(const void *lengths, bool wide, int64_t first, int64_t last)
{
    const double *real = lengths;
    const float *few = lengths;
    int negative = 0; /* no bool, which would keep the loops from vectors */
    if (wide)
        for (int64_t e = first; e < last; e++)
            negative |= real[e] < 0;
    else
        for (int64_t e = first; e < last; e++)
            negative |= few[e] < 0;
    return negative;
}

static bool has_wide_lengths(const ftb_paths_job *j) { return j->x.lengths == FTB_LENGTHS_WIDE || j->x.wide; }

static bool some_are_negative(const ftb_paths_job *j)
{
    const int64_t nvals = j->p->p->nvals, parts = 64;
    bool negative = false;
    if (j->x.lengths == FTB_LENGTHS_ONE)
        return false;
#pragma omp parallel for num_threads(j->threads) schedule(static) reduction(|| : negative)
    for (int64_t part = 0; part < parts; part++)
        negative = part_is_negative(j->x.length, has_wide_lengths(j), nvals / parts * part,
                                    part + 1 < parts ? nvals / parts * (part + 1) : nvals) ||
                   negative;
    return negative;
}

/* The mean of some of those that are finite; 1, if there are none. */
static double mean_length(const ftb_paths_job *j)
{
    const int64_t nvals = j->p->p->nvals, some = ftb_min(nvals, 65536);
    double sum = 0, count = 0;
    for (int64_t t = 0; t < some && j->x.lengths != FTB_LENGTHS_ONE; t++) {
        const int64_t e = nvals / some * t;
        const double length =
            has_wide_lengths(j) ? ((const double *)j->x.length)[e] : (double)((const float *)j->x.length)[e];
        const bool finite = length <= DBL_MAX; /* and a number */
        sum += finite ? length : 0;
        count += finite;
    }
    return count > 0 ? sum / count : 1;
}

/* As a search reads them: of dist's type, or FP64. */
static GrB_Info read_lengths(ftb_paths_job *j)
{
    const ftb_paths_product *p = j->p;
    const FtB_Type wanted = p->sums;
    j->x.wide = p->type == FTB_FP64;
    j->x.length = p->lengths;
    j->x.lengths = !p->lengths ? FTB_LENGTHS_ONE : wanted == p->type ? FTB_LENGTHS_SAME : FTB_LENGTHS_WIDE;
    if (!p->lengths || (p->ltype == wanted && !p->at))
        return GrB_SUCCESS;
    j->cast = ftb_new(p->ctx, p->p->nvals, FtB_Type_size(wanted));
    if (!j->cast)
        return ftb_nomem();
    const size_t from = FtB_Type_size(p->ltype), to = FtB_Type_size(wanted);
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t first = 0; first < p->p->nvals; first += BATCH) {
        const int64_t count = ftb_min(BATCH, p->p->nvals - first);
        char picked[BATCH * 8];
        const char *lengths = (const char *)p->lengths + (size_t)first * from;
        for (int64_t t = 0; t < count && p->at; t++)
            memcpy(picked + (size_t)t * from, (const char *)p->lengths + (size_t)p->at[first + t] * from,
                   from);
        ftb_cast((char *)j->cast + (size_t)first * to, wanted, p->at ? picked : lengths, p->ltype, count);
    }
    j->x.length = j->cast;
    return GrB_SUCCESS;
}

/* Buckets in a unit of length. */
static double inverse_width(const ftb_paths_job *j)
{
    const double delta = j->p->delta > 0 ? j->p->delta : mean_length(j) / PER_MEAN;
    return fmin(1 / delta, DBL_MAX);
}

/* ---- columns */

size_t ftb_paths_size(const ftb_paths_job *j) { return j->x.wide ? sizeof(double) : sizeof(float); }

/* What a distance may not be: its sign, or whether it is one, would show. */
static inline bool is_odd(double x) { return x != x || x < -DBL_MAX || (x == 0 && signbit(x)); }

static inline double dist_at(const ftb_paths_product *p, int64_t v, int64_t c)
{
    return p->type == FTB_FP64 ? ((const double *)p->dist)[v * p->ld + c]
                               : (double)((const float *)p->dist)[v * p->ld + c];
}

static int64_t count_finite(const ftb_paths_product *p, int64_t v)
{
    int64_t finite = 0;
    for (int64_t c = 0; c < p->ncols; c++)
        finite += dist_at(p, v, c) < (double)INFINITY;
    return finite;
}

/* Whether order cannot show (paths_product.h). */
static bool dist_fits(const ftb_paths_job *j)
{
    const ftb_paths_product *p = j->p;
    bool odd = false;
    int64_t finite = 0, starting = 0;
#pragma omp parallel for num_threads(j->threads) schedule(static) reduction(|| : odd) reduction(+ : finite)
    for (int64_t v = 0; v < j->n; v++) {
        for (int64_t c = 0; c < p->ncols; c++)
            odd = odd || is_odd(dist_at(p, v, c));
        finite += count_finite(p, v);
    }
    if (odd || p->ncols == 1 || !p->start)
        return !odd;
    for (int64_t t = 0; t < p->nstart; t++)
        starting += count_finite(p, p->start[t]);
    return finite == starting;
}

/* Rows first .. last - 1; some columns at a time, so that few lines are written between two visits. */
static inline void turn_rows(const ftb_paths_job *j, void *rows, int64_t ld, int64_t count, void *columns,
                             bool to_columns, bool wide, int64_t first, int64_t last)
{
    for (int64_t c = 0; c < count; c++)
        for (int64_t v = first; v < last; v++) {
            const int64_t row = v * ld + c, own = c * j->n + v;
            if (to_columns && wide)
                ((ftb_distance *)columns)[own] = ((ftb_distance *)rows)[row];
            else if (to_columns)
                ((ftb_few_distance *)columns)[own] = ((ftb_few_distance *)rows)[row];
            else if (wide)
                ((ftb_distance *)rows)[row] = ((ftb_distance *)columns)[own];
            else
                ((ftb_few_distance *)rows)[row] = ((ftb_few_distance *)columns)[own];
        }
}

void ftb_paths_turn(const ftb_paths_job *j, void *rows, int64_t ld, int64_t count, void *columns,
                    bool to_columns)
{
    enum { ROWS = 64 }; /* whose values stay in L1 from column to column */
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t first = 0; first < j->n; first += ROWS) {
        const int64_t last = ftb_min(first + ROWS, j->n);
        if (j->x.wide)
            turn_rows(j, rows, ld, count, columns, to_columns, true, first, last);
        else
            turn_rows(j, rows, ld, count, columns, to_columns, false, first, last);
    }
}

static GrB_Info search_column(const ftb_paths_job *j, int64_t c, const ftb_paths_begin *from, ftb_bins *bins,
                              int threads)
{
    ftb_paths x = j->x;
    ftb_paths_begin own = *from;
    x.dist = (char *)j->columns + (size_t)(c * j->n) * ftb_paths_size(j);
    own.column += (int)c;
    return ftb_paths_search(j->p->ctx, &x, &own, bins, threads);
}

GrB_Info ftb_paths_columns(const ftb_paths_job *j, int64_t count, const ftb_paths_begin *from)
{
    ftb_paths_failure failure = {.info = GrB_SUCCESS};
    GrB_Info info = GrB_SUCCESS;
    if (count < 2 * (int64_t)j->threads) {
        for (int64_t c = 0; c < count && info == GrB_SUCCESS; c++)
            info = search_column(j, c, from, j->bins, j->threads);
        return info;
    }
#pragma omp parallel for num_threads(j->threads) schedule(dynamic, 1)
    for (int64_t c = 0; c < count; c++)
        if (!ftb_paths_failed(&failure))
            ftb_paths_note(&failure, search_column(j, c, from, &j->bins[omp_get_thread_num()], 1));
    return ftb_paths_raise(&failure);
}

/* Each column alone. */
static GrB_Info search_apart(ftb_paths_job *j)
{
    const ftb_paths_product *p = j->p;
    j->columns = ftb_new(p->ctx, j->n * p->ncols, ftb_paths_size(j));
    if (!j->columns)
        return ftb_nomem();
    ftb_paths_turn(j, p->dist, p->ld, p->ncols, j->columns, true);
    GrB_Info info =
        ftb_paths_columns(j, p->ncols, &(ftb_paths_begin){.start = p->start, .nstart = p->nstart});
    if (info == GrB_SUCCESS)
        ftb_paths_turn(j, p->dist, p->ld, p->ncols, j->columns, false);
    return info;
}

static int64_t greatest_degree(const ftb_paths_job *j)
{
    const int64_t *rowptr = j->x.rowptr;
    int64_t most = 0;
    for (int64_t v = 0; v < j->n; v++)
        most = ftb_max(most, rowptr[v + 1] - rowptr[v]);
    return most;
}

static GrB_Info search(ftb_paths_job *j)
{
    const ftb_paths_product *p = j->p;
    GrB_Info info = read_lengths(j);
    if (info != GrB_SUCCESS)
        return info;
    *p->fits = !some_are_negative(j) && dist_fits(j);
    if (!*p->fits)
        return info;
    j->x.inverse = inverse_width(j);
    j->bins = ftb_new0(p->ctx, j->threads, sizeof *j->bins);
    if (!j->bins)
        return ftb_nomem();
    for (int t = 0; t < j->threads; t++)
        j->bins[t].arena.ctx = p->ctx;
    j->degree = p->ncols < FTB_PATHS_SHARED ? 0 : greatest_degree(j);
    return j->degree < FTB_PATHS_HUB ? search_apart(j) : ftb_paths_shared(j);
}

GrB_Info ftb_paths_run(const ftb_paths_product *p)
{
    ftb_paths_job j = {.p = p, .n = p->p->nrows};
    j.threads = ftb_threads_for(p->ctx, p->p->nvals + j.n);
    j.x.n = j.n;
    j.x.rowptr = p->p->rowptr;
    j.x.colidx = p->p->colidx;
    GrB_Info info = search(&j);
    for (int t = 0; j.bins && t < j.threads; t++)
        ftb_bins_free(&j.bins[t]);
    ftb_delete(j.bins);
    ftb_delete(j.columns);
    ftb_delete(j.cast);
    return info;
}
