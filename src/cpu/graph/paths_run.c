/* Shortest paths (paths_product.h) of several columns: each in memory of its own until all are there. Columns
 * are shared out to threads where there are enough, else a column's buckets are (paths_search.c). */
#include "cpu/graph/paths_run.h"

#include <float.h>
#include <math.h>
#include <omp.h>

#define BATCH 1024  /* lengths that are cast together */
#define PER_MEAN 64 /* buckets that the mean length is wide: of 16 to 256 any are as good */

typedef struct run {
    const ftb_paths_product *p;
    ftb_paths x; /* but for dist and where buckets begin */
    int64_t n;
    int threads;
    void *cast;    /* lengths of another type */
    void *columns; /* n values each */
    ftb_bins *bins;
} run;

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

static bool has_wide_lengths(const run *r) { return r->x.lengths == FTB_LENGTHS_WIDE || r->x.wide; }

static bool some_are_negative(const run *r)
{
    const int64_t nvals = r->p->p->nvals, parts = 64;
    bool negative = false;
    if (r->x.lengths == FTB_LENGTHS_ONE)
        return false;
#pragma omp parallel for num_threads(r->threads) schedule(static) reduction(|| : negative)
    for (int64_t part = 0; part < parts; part++)
        negative = part_is_negative(r->x.length, has_wide_lengths(r), nvals / parts * part,
                                    part + 1 < parts ? nvals / parts * (part + 1) : nvals) ||
                   negative;
    return negative;
}

/* The mean of some of those that are finite; 1, if there are none. */
static double mean_length(const run *r)
{
    const int64_t nvals = r->p->p->nvals, some = ftb_min(nvals, 65536);
    double sum = 0, count = 0;
    for (int64_t t = 0; t < some && r->x.lengths != FTB_LENGTHS_ONE; t++) {
        const int64_t e = nvals / some * t;
        const double length =
            has_wide_lengths(r) ? ((const double *)r->x.length)[e] : (double)((const float *)r->x.length)[e];
        const bool finite = length <= DBL_MAX; /* and a number */
        sum += finite ? length : 0;
        count += finite;
    }
    return count > 0 ? sum / count : 1;
}

/* As a search reads them: of dist's type, or FP64. */
static GrB_Info read_lengths(run *r)
{
    const ftb_paths_product *p = r->p;
    const FtB_Type wanted = p->sums;
    r->x.wide = p->type == FTB_FP64;
    r->x.length = p->lengths;
    r->x.lengths = !p->lengths ? FTB_LENGTHS_ONE : wanted == p->type ? FTB_LENGTHS_SAME : FTB_LENGTHS_WIDE;
    if (!p->lengths || (p->ltype == wanted && !p->at))
        return GrB_SUCCESS;
    r->cast = ftb_new(p->ctx, p->p->nvals, FtB_Type_size(wanted));
    if (!r->cast)
        return ftb_nomem();
    const size_t from = FtB_Type_size(p->ltype), to = FtB_Type_size(wanted);
#pragma omp parallel for num_threads(r->threads) schedule(static)
    for (int64_t first = 0; first < p->p->nvals; first += BATCH) {
        const int64_t count = ftb_min(BATCH, p->p->nvals - first);
        char picked[BATCH * 8];
        const char *lengths = (const char *)p->lengths + (size_t)first * from;
        for (int64_t t = 0; t < count && p->at; t++)
            memcpy(picked + (size_t)t * from, (const char *)p->lengths + (size_t)p->at[first + t] * from,
                   from);
        ftb_cast((char *)r->cast + (size_t)first * to, wanted, p->at ? picked : lengths, p->ltype, count);
    }
    r->x.length = r->cast;
    return GrB_SUCCESS;
}

/* Buckets in a unit of length. */
static double inverse_width(const run *r)
{
    const double delta = r->p->delta > 0 ? r->p->delta : mean_length(r) / PER_MEAN;
    return fmin(1 / delta, DBL_MAX);
}

/* ---- columns */

static size_t size_of(const run *r) { return r->x.wide ? sizeof(double) : sizeof(float); }

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
static bool dist_fits(const run *r)
{
    const ftb_paths_product *p = r->p;
    bool odd = false;
    int64_t finite = 0, starting = 0;
#pragma omp parallel for num_threads(r->threads) schedule(static) reduction(|| : odd) reduction(+ : finite)
    for (int64_t v = 0; v < r->n; v++) {
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

/* Rows of dist become columns, or the other way round. */
static inline void turn_rows(const run *r, bool to_columns, bool wide, int64_t first, int64_t last)
{
    const ftb_paths_product *p = r->p;
    for (int64_t v = first; v < last; v++)
        for (int64_t c = 0; c < p->ncols; c++) {
            const int64_t row = v * p->ld + c, own = c * r->n + v;
            if (to_columns && wide)
                ((ftb_distance *)r->columns)[own] = ((const double *)p->dist)[row];
            else if (to_columns)
                ((ftb_few_distance *)r->columns)[own] = ((const float *)p->dist)[row];
            else if (wide)
                ((double *)p->dist)[row] = ((const ftb_distance *)r->columns)[own];
            else
                ((float *)p->dist)[row] = ((const ftb_few_distance *)r->columns)[own];
        }
}

static void turn(const run *r, bool to_columns)
{
    const int64_t parts = ftb_max(1, r->n / 4096);
#pragma omp parallel for num_threads(r->threads) schedule(static)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t first = r->n / parts * part, last = part + 1 < parts ? r->n / parts * (part + 1) : r->n;
        if (r->x.wide)
            turn_rows(r, to_columns, true, first, last);
        else
            turn_rows(r, to_columns, false, first, last);
    }
}

static GrB_Info search_column(const run *r, int64_t c, ftb_bins *bins, int threads)
{
    ftb_paths x = r->x;
    x.dist = (char *)r->columns + (size_t)(c * r->n) * size_of(r);
    return ftb_paths_search(r->p->ctx, &x, r->p, bins, threads);
}

static GrB_Info search_all(const run *r)
{
    const int64_t ncols = r->p->ncols;
    ftb_paths_failure failure = {.info = GrB_SUCCESS};
    GrB_Info info = GrB_SUCCESS;
    if (ncols < 2 * (int64_t)r->threads) {
        for (int64_t c = 0; c < ncols && info == GrB_SUCCESS; c++)
            info = search_column(r, c, r->bins, r->threads);
        return info;
    }
#pragma omp parallel for num_threads(r->threads) schedule(dynamic, 1)
    for (int64_t c = 0; c < ncols; c++)
        if (!ftb_paths_failed(&failure))
            ftb_paths_note(&failure, search_column(r, c, &r->bins[omp_get_thread_num()], 1));
    return ftb_paths_raise(&failure);
}

static GrB_Info search(run *r)
{
    const ftb_paths_product *p = r->p;
    GrB_Info info = read_lengths(r);
    if (info != GrB_SUCCESS)
        return info;
    *p->fits = !some_are_negative(r) && dist_fits(r);
    if (!*p->fits)
        return info;
    r->x.inverse = inverse_width(r);
    r->columns = ftb_new(p->ctx, r->n * p->ncols, size_of(r));
    r->bins = ftb_new0(p->ctx, r->threads, sizeof *r->bins);
    if (!r->columns || !r->bins)
        return ftb_nomem();
    for (int t = 0; t < r->threads; t++)
        r->bins[t].arena.ctx = p->ctx;
    turn(r, true);
    info = search_all(r);
    if (info == GrB_SUCCESS)
        turn(r, false);
    return info;
}

GrB_Info ftb_paths_run(const ftb_paths_product *p)
{
    run r = {.p = p, .n = p->p->nrows};
    r.threads = ftb_threads_for(p->ctx, p->p->nvals + r.n);
    r.x.n = r.n;
    r.x.rowptr = p->p->rowptr;
    r.x.colidx = p->p->colidx;
    GrB_Info info = search(&r);
    for (int t = 0; r.bins && t < r.threads; t++)
        ftb_bins_free(&r.bins[t]);
    ftb_delete(r.bins);
    ftb_delete(r.columns);
    ftb_delete(r.cast);
    return info;
}
