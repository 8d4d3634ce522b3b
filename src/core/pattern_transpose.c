/* The transpose of a pattern: a stable counting sort of the entries by column. A symmetric pattern is its
 * own, which is found out by the same walk, reading where the sort would write.
 *
 * The rows are cut into parts of about equal entries; each part counts its columns, a scan over
 * (column, part) says where each part's entries of each column start, and the parts scatter. Positions
 * depend on the entries alone, so the result is the same for any number of parts. Where rows are listed,
 * before or after, entries are sorted as tuples instead, and nothing is counted for each column. */
#include "core/hypersparse.h"

typedef struct sorter {
    ftb_pattern *p;
    int parts;
    int64_t *start;  /* parts x ncols: counts, then positions */
    int64_t *rowptr; /* ncols + 1, of the transpose */
    void *colidx;    /* nvals, of the transpose; NULL: not wanted */
    int64_t *from;   /* nvals; NULL: not wanted */
    bool wide;       /* the transpose's columns are int64_t */
} sorter;

#define SMALL (INT64_C(1) << 15) /* entries; below, threads cost more than they bring */

static void count_part(const sorter *s, int part)
{
    int64_t *count = s->start + part * s->p->ncols;
    int64_t first = s->p->rowptr[ftb_pattern_cut(s->p, part, s->parts)],
            last = s->p->rowptr[ftb_pattern_cut(s->p, part + 1, s->parts)];
    for (int64_t e = first; e < last; e++)
        count[ftb_col(s->p, e)]++;
}

/* Turns the counts of one stripe of columns into offsets from the stripe's own start; returns its total. */
static int64_t scan_stripe(const sorter *s, int64_t first, int64_t last)
{
    int64_t at = 0;
    for (int64_t c = first; c < last; c++) {
        s->rowptr[c] = at;
        for (int part = 0; part < s->parts; part++) {
            int64_t *count = &s->start[part * s->p->ncols + c], here = *count;
            *count = at;
            at += here;
        }
    }
    return at;
}

static void shift_stripe(const sorter *s, int64_t first, int64_t last, int64_t by)
{
    for (int64_t c = first; c < last; c++) {
        s->rowptr[c] += by;
        for (int part = 0; part < s->parts; part++)
            s->start[part * s->p->ncols + c] += by;
    }
}

static void scatter_part(const sorter *s, int part)
{
    int64_t *next = s->start + part * s->p->ncols;
    int64_t last = ftb_pattern_cut(s->p, part + 1, s->parts);
    int32_t *narrow = s->colidx;
    int64_t *wide = s->colidx;
    for (int64_t i = ftb_pattern_cut(s->p, part, s->parts); i < last; i++)
        for (int64_t e = s->p->rowptr[i]; e < s->p->rowptr[i + 1]; e++) {
            int64_t to = next[ftb_col(s->p, e)]++;
            if (narrow && s->wide)
                wide[to] = i;
            else if (narrow)
                narrow[to] = (int32_t)i;
            if (s->from)
                s->from[to] = e;
        }
}

/* Whether a part's entries would land where the pattern has the same. */
static bool same_part(const sorter *s, int part)
{
    const ftb_pattern *p = s->p;
    int64_t *next = s->start + part * p->ncols;
    int64_t last = ftb_pattern_cut(p, part + 1, s->parts);
    for (int64_t i = ftb_pattern_cut(p, part, s->parts); i < last; i++)
        for (int64_t e = p->rowptr[i]; e < p->rowptr[i + 1]; e++)
            if (ftb_col(p, next[ftb_col(p, e)]++) != i)
                return false;
    return true;
}

#define STRIPES 64

/* Fills rowptr and start. */
static void place_entries(const sorter *s)
{
    int64_t n = s->p->ncols, total[STRIPES], at = 0;
#pragma omp parallel for schedule(static, 1) num_threads(s->parts)
    for (int part = 0; part < s->parts; part++)
        count_part(s, part);
#pragma omp parallel for schedule(static) num_threads(s->parts)
    for (int t = 0; t < STRIPES; t++)
        total[t] = scan_stripe(s, n / STRIPES * t, t + 1 < STRIPES ? n / STRIPES * (t + 1) : n);
    for (int t = 0; t < STRIPES; t++) {
        int64_t here = total[t];
        total[t] = at;
        at += here;
    }
#pragma omp parallel for schedule(static) num_threads(s->parts)
    for (int t = 0; t < STRIPES; t++)
        shift_stripe(s, n / STRIPES * t, t + 1 < STRIPES ? n / STRIPES * (t + 1) : n, total[t]);
    s->rowptr[n] = at;
}

static void sort_entries(const sorter *s)
{
    place_entries(s);
#pragma omp parallel for schedule(static, 1) num_threads(s->parts)
    for (int part = 0; part < s->parts; part++)
        scatter_part(s, part);
}

static void clear_counts(const sorter *s)
{
    memset(s->start, 0, (size_t)(s->parts * s->p->ncols) * sizeof *s->start);
}

static bool is_symmetric(const sorter *s)
{
    const ftb_pattern *p = s->p;
    bool same = p->nrows == p->ncols;
    if (!same)
        return false;
    place_entries(s);
    same = memcmp(s->rowptr, p->rowptr, (size_t)(p->nrows + 1) * sizeof *p->rowptr) == 0;
    if (same) {
#pragma omp parallel for schedule(static, 1) num_threads(s->parts) reduction(&& : same)
        for (int part = 0; part < s->parts; part++)
            same = same && same_part(s, part);
    }
    clear_counts(s);
    return same;
}

/* As many parts as threads, but no more counters than entries. */
static int choose_parts(const ftb_pattern *p)
{
    int64_t useful = p->nvals / ftb_max(p->ncols, SMALL);
    return (int)ftb_max(1, ftb_min(useful, ftb_threads(p->ctx)));
}

/* The transpose without `from`. */
static GrB_Info build_transpose(ftb_pattern *p)
{
    sorter s = {.p = p, .parts = choose_parts(p), .wide = ftb_col_size(p->nrows) == 8};
    GrB_Info info = GrB_OUT_OF_MEMORY;
    if (p->ncols == INT64_MAX)
        return ftb_fail(info, "the transpose of %lld x %lld has too many rows", (long long)p->nrows,
                        (long long)p->ncols);
    ftb_pattern *transpose = NULL;
    ftb_buffer *rowptr = NULL, *colidx = NULL;
    s.start = ftb_new0(p->ctx, s.parts * p->ncols, sizeof *s.start);
    if (s.start)
        rowptr = ftb_buffer_adopt(p->ctx, ftb_new(p->ctx, p->ncols + 1, sizeof(int64_t)));
    if (rowptr) {
        s.rowptr = ftb_buffer_data(rowptr);
        if (is_symmetric(&s))
            transpose = p;
        else
            colidx = ftb_buffer_adopt(p->ctx, ftb_new(p->ctx, p->nvals, ftb_col_size(p->nrows)));
    }
    if (colidx) {
        s.colidx = ftb_buffer_data(colidx);
        sort_entries(&s);
        transpose = ftb_pattern_new(p->ctx, p->ncols, p->nrows, rowptr, colidx);
        rowptr = colidx = NULL; /* adopted */
        if (transpose)
            transpose->multi = p->multi;
    }
    p->transpose = transpose;
    info = transpose ? GrB_SUCCESS : ftb_nomem();
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_delete(s.start);
    return info;
}

static GrB_Info build_from(ftb_pattern *p)
{
    sorter s = {.p = p, .parts = choose_parts(p)};
    GrB_Info info = GrB_SUCCESS;
    s.start = ftb_new0(p->ctx, s.parts * p->ncols, sizeof *s.start);
    s.rowptr = s.start ? ftb_new(p->ctx, p->ncols + 1, sizeof *s.rowptr) : NULL;
    s.from = s.rowptr ? ftb_new(p->ctx, p->nvals, sizeof *s.from) : NULL;
    if (s.from)
        sort_entries(&s);
    else
        info = ftb_nomem();
    p->transpose_from = s.from;
    ftb_delete(s.rowptr);
    ftb_delete(s.start);
    return info;
}

bool ftb_pattern_transposed(ftb_pattern *p, bool from)
{
    pthread_mutex_lock(&p->lock);
    const bool there = p->transpose && (!from || p->transpose_from);
    pthread_mutex_unlock(&p->lock);
    return there;
}

/* ---- listed rows */

/* Whether the transpose's rows, or its columns, are too many to count for each. */
static bool by_tuples(const ftb_pattern *p)
{
    return p->listed || (p->nrows != p->ncols && ftb_listed_fits(p->ncols, p->nvals));
}

static bool same_listed(const ftb_pattern *a, const ftb_pattern *b)
{
    return a && b && a->nrows == b->nrows && a->all_rows == b->all_rows && a->ncols == b->ncols &&
           memcmp(a->numbers, b->numbers, (size_t)a->nrows * sizeof *a->numbers) == 0 &&
           memcmp(a->rowptr, b->rowptr, (size_t)(a->nrows + 1) * sizeof *a->rowptr) == 0 &&
           memcmp(a->colidx, b->colidx, (size_t)a->nvals * ftb_col_size(a->ncols)) == 0;
}

/* The transpose, and `from`, of tuples. */
static GrB_Info sort_tuples(ftb_pattern *p)
{
    const ftb_pattern *rows = ftb_pattern_rows(p);
    const int64_t nvals = p->nvals;
    int64_t *I = ftb_new(p->ctx, nvals, sizeof *I), *J = ftb_new(p->ctx, nvals, sizeof *J),
            *to = ftb_new(p->ctx, nvals, sizeof *to), *from = ftb_new(p->ctx, nvals, sizeof *from);
    GrB_Info info = I && J && to && from ? GrB_SUCCESS : ftb_nomem();
    if (info == GrB_SUCCESS) {
        for (int64_t r = 0; r < rows->nrows; r++)
            for (int64_t e = rows->rowptr[r]; e < rows->rowptr[r + 1]; e++) {
                I[e] = p->listed ? rows->numbers[r] : r;
                J[e] = ftb_col(p, e);
            }
        info = ftb_pattern_build(&p->transpose, p->ctx, p->ncols, p->nrows, nvals, J, I, to);
    }
    if (info == GrB_SUCCESS) {
        for (int64_t e = 0; e < nvals; e++)
            from[to[e]] = e;
        if (same_listed(p->listed, p->transpose->listed)) {
            ftb_pattern_release(p->transpose);
            p->transpose = p;
        }
        p->transpose_from = from;
        from = NULL;
    }
    ftb_delete(I);
    ftb_delete(J);
    ftb_delete(to);
    ftb_delete(from);
    return info;
}

/* ---- asking */

GrB_Info ftb_pattern_transpose(ftb_pattern *p, ftb_pattern **transpose, const int64_t **from)
{
    GrB_Info info = ftb_pattern_transpose_listed(p, transpose, from);
    return info == GrB_SUCCESS ? ftb_pattern_all_rows(*transpose, "the transpose") : info;
}

GrB_Info ftb_pattern_transpose_listed(ftb_pattern *p, ftb_pattern **transpose, const int64_t **from)
{
    GrB_Info info = GrB_SUCCESS;
    pthread_mutex_lock(&p->lock);
    if (!p->transpose)
        info = by_tuples(p) ? sort_tuples(p) : build_transpose(p);
    if (info == GrB_SUCCESS && from && !p->transpose_from)
        info = build_from(p);
    if (info == GrB_SUCCESS) {
        *transpose = p->transpose;
        if (from)
            *from = p->transpose_from;
    }
    pthread_mutex_unlock(&p->lock);
    return info;
}
