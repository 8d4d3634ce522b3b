/* Tuples that a reader collects before they become a matrix. */
#include "core/duplicates.h"
#include "core/hypersparse.h"
#include "core/words.h"
#include "io/input.h"

GrB_Info ftb_tuples_start(ftb_tuples *t, FtB_Context ctx, int64_t nrows, int64_t ncols, bool valued, bool csr,
                          bool lined)
{
    *t = (ftb_tuples){
        .ctx = ctx, .nrows = nrows, .ncols = ncols, .valued = valued, .csr = csr, .lined = lined};
    t->last_i = t->last_j = -1;
    if (csr && !(t->rowptr = ftb_new(ctx, nrows + 1, sizeof *t->rowptr)))
        return ftb_nomem();
    return GrB_SUCCESS;
}

void ftb_tuples_clear(ftb_tuples *t)
{
    ftb_delete(t->I);
    ftb_delete(t->J);
    ftb_delete(t->X);
    ftb_delete(t->line);
    ftb_delete(t->rowptr);
    *t = (ftb_tuples){.ctx = t->ctx};
}

GrB_Info ftb_tuples_reserve(ftb_tuples *t, int64_t room)
{
    if (!ftb_resize(t->ctx, &t->J, room, t->csr ? ftb_col_size(t->ncols) : sizeof(int64_t)) ||
        (!t->csr && !ftb_resize(t->ctx, (void **)&t->I, room, sizeof *t->I)) ||
        (t->valued && !ftb_resize(t->ctx, (void **)&t->X, room, sizeof *t->X)) ||
        (t->lined && !ftb_resize(t->ctx, (void **)&t->line, room, sizeof *t->line)))
        return ftb_nomem();
    t->room = room;
    return GrB_SUCCESS;
}

/* All that is expected at once, or half of the memory left: growing in many steps leaves holes in the heap
 * that count towards the resident size. */
static GrB_Info grow(ftb_tuples *t, int64_t need)
{
    if (need <= t->room)
        return GrB_SUCCESS;
    int64_t bytes = (t->csr ? 4 : 16) + (t->valued ? 8 : 0) + (t->lined ? 8 : 0),
            half = ftb_memory_left(t->ctx) / 2 / bytes;
    int64_t more = t->expected > need ? t->expected : t->room + t->room / 2;
    more = ftb_max(ftb_min(more - t->room, half) + t->room, need);
    if (more > need && ftb_tuples_reserve(t, more) == GrB_SUCCESS)
        return GrB_SUCCESS;
    return ftb_tuples_reserve(t, need);
}

static inline int64_t column(const ftb_tuples *t, int64_t e)
{
    return ftb_col_size(t->ncols) == 8 ? ((const int64_t *)t->J)[e] : ((const int32_t *)t->J)[e];
}

/* From CSR to tuples. */
static GrB_Info expand(ftb_tuples *t)
{
    int64_t *I = ftb_new(t->ctx, t->room, sizeof *I), *J = ftb_new(t->ctx, t->room, sizeof *J);
    if (!I || !J) {
        ftb_delete(I);
        ftb_delete(J);
        return ftb_nomem();
    }
    for (int64_t i = 0; i <= t->last_i; i++) {
        int64_t end = i < t->last_i ? t->rowptr[i + 1] : t->nvals;
        for (int64_t e = t->rowptr[i]; e < end; e++) {
            I[e] = i;
            J[e] = column(t, e);
        }
    }
    ftb_delete(t->J);
    ftb_delete(t->rowptr);
    t->I = I;
    t->J = J;
    t->rowptr = NULL;
    t->csr = false;
    return GrB_SUCCESS;
}

static bool in_order(const ftb_tuples *t, int count, const ftb_piece *pieces)
{
    int64_t i = t->last_i, j = t->last_j;
    for (int p = 0; p < count; p++) {
        const ftb_piece *w = &pieces[p];
        if (w->count == 0)
            continue;
        if (!w->ascending || w->I[0] < i || (w->I[0] == i && w->J[0] <= j))
            return false;
        i = w->I[w->count - 1];
        j = w->J[w->count - 1];
    }
    return true;
}

/* Copies a piece to entries `to` and up; `row` is the row of the entry before, `line` that of the first line.
 */
static void place(ftb_tuples *t, const ftb_piece *w, int64_t to, int64_t row, int64_t line)
{
    size_t bytes = (size_t)w->count * 8;
    if (t->csr) {
        bool wide = ftb_col_size(t->ncols) == 8;
        for (int64_t e = 0; e < w->count; e++) {
            while (row < w->I[e])
                t->rowptr[++row] = to + e;
            if (wide)
                ((int64_t *)t->J)[to + e] = w->J[e];
            else
                ((int32_t *)t->J)[to + e] = (int32_t)w->J[e];
        }
    } else {
        memcpy(t->I + to, w->I, bytes);
        memcpy((int64_t *)t->J + to, w->J, bytes);
    }
    if (t->valued)
        memcpy(t->X + to, w->X, bytes);
    for (int64_t e = 0; t->lined && e < w->count; e++)
        t->line[to + e] = line + w->line[e];
}

GrB_Info ftb_tuples_append(ftb_tuples *t, int count, const ftb_piece *pieces, int64_t line)
{
    GrB_Info info = GrB_SUCCESS;
    int64_t total = 0;
    for (int p = 0; p < count; p++)
        total += pieces[p].count;
    if (total == 0)
        return GrB_SUCCESS;
    if (t->csr && !in_order(t, count, pieces))
        info = expand(t);
    if (info == GrB_SUCCESS)
        info = grow(t, t->nvals + total);
    if (info != GrB_SUCCESS)
        return info;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ftb_threads(t->ctx)) if (total > 16384)
    for (int p = 0; p < count; p++) {
        int64_t to = t->nvals, row = t->last_i, at = line;
        for (int before = 0; before < p; before++) {
            to += pieces[before].count;
            at += pieces[before].lines;
            if (pieces[before].count > 0)
                row = pieces[before].I[pieces[before].count - 1];
        }
        place(t, &pieces[p], to, row, at);
    }
    for (int p = 0; p < count; p++)
        if (pieces[p].count > 0) {
            t->last_i = pieces[p].I[pieces[p].count - 1];
            t->last_j = pieces[p].J[pieces[p].count - 1];
        }
    t->nvals += total;
    return GrB_SUCCESS;
}

/* The CSR arrays become the matrix's own. */
static GrB_Info adopt(FtB_Matrix *A, ftb_tuples *t, FtB_Type type)
{
    for (int64_t i = t->last_i; i < t->nrows;)
        t->rowptr[++i] = t->nvals;
    if (!ftb_resize(t->ctx, &t->J, t->nvals, ftb_col_size(t->ncols)) ||
        (t->valued && !ftb_resize(t->ctx, (void **)&t->X, t->nvals, FtB_Type_size(type))))
        return ftb_nomem();
    ftb_buffer *rowptr = ftb_buffer_adopt(t->ctx, t->rowptr), *colidx = ftb_buffer_adopt(t->ctx, t->J);
    ftb_buffer *values = t->valued ? ftb_buffer_adopt(t->ctx, t->X) : NULL;
    bool valued = t->valued;
    int64_t nrows = t->nrows, ncols = t->ncols;
    ftb_delete(t->line);              /* there are no duplicates */
    *t = (ftb_tuples){.ctx = t->ctx}; /* adopted, also on failure */
    if (!rowptr || !colidx || (valued && !values)) {
        ftb_buffer_release(rowptr);
        ftb_buffer_release(colidx);
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    ftb_pattern *pattern = ftb_pattern_new(t->ctx, nrows, ncols, rowptr, colidx);
    if (!pattern) {
        ftb_buffer_release(values);
        return ftb_nomem();
    }
    return ftb_matrix_make(A, t->ctx, type, valued, pattern, values);
}

/* Whether the tuples ascend strictly. */
static bool ascending(const ftb_tuples *t)
{
    const int64_t *I = t->I, *J = t->J;
    int64_t falls = 0;
    for (int64_t e = 1; e < ftb_min(t->nvals, 1000); e++) /* mostly it shows soon */
        if (I[e] < I[e - 1] || (I[e] == I[e - 1] && J[e] <= J[e - 1]))
            return false;
#pragma omp parallel for schedule(static) num_threads(ftb_threads(t->ctx)) reduction(+ : falls) if (t->nvals > 65536)
    for (int64_t e = 1; e < t->nvals; e++)
        falls += I[e] < I[e - 1] || (I[e] == I[e - 1] && J[e] <= J[e - 1]);
    return falls == 0;
}

/* From ascending tuples to CSR, in place. */
static GrB_Info compress(ftb_tuples *t)
{
    t->rowptr = ftb_new(t->ctx, t->nrows + 1, sizeof *t->rowptr);
    if (!t->rowptr)
        return ftb_nomem();
    t->last_i = -1;
    for (int64_t e = 0; e < t->nvals; e++)
        while (t->last_i < t->I[e])
            t->rowptr[++t->last_i] = e;
    ftb_delete(t->I);
    t->I = NULL;
    if (ftb_col_size(t->ncols) == 4)
        for (int64_t e = 0; e < t->nvals; e++) {
            int32_t j = (int32_t)((int64_t *)t->J)[e];
            memcpy((char *)t->J + 4 * e, &j, sizeof j);
        }
    t->csr = true;
    return GrB_SUCCESS;
}

/* Says which lines have the same position; a mirror image has its entry's line. */
static GrB_Info refused(const ftb_tuples *t, const ftb_clash *clash, const char *name)
{
    int64_t a = t->line[clash->first], b = t->line[clash->last];
    return ftb_fail(FTB_FORMAT, "%s:%lld: the same row and column as in line %lld; duplicates are refused",
                    name, (long long)ftb_max(a, b), (long long)ftb_min(a, b));
}

GrB_Info ftb_tuples_build(FtB_Matrix *A, ftb_tuples *t, FtB_Type type, const FtB_Read_options *options,
                          const char *name)
{
    FtB_Type wanted = options->type ? options->type : type;
    ftb_clash clash = {0};
    GrB_Info info = GrB_SUCCESS;
    if (t->valued) /* in place: no type is wider than 8 bytes */
        ftb_cast(t->X, wanted, t->X, type, t->nvals);
    if (!t->csr && options->duplicates != FTB_DUP_COUNT && !ftb_listed_fits(t->nrows, t->nvals) &&
        ascending(t))
        info = compress(t);
    if (info != GrB_SUCCESS)
        return info;
    if (t->csr)
        return adopt(A, t, wanted);
    info = ftb_build_strictly(A, wanted, t->nrows, t->ncols, t->valued, t->nvals, t->I, t->J, t->X,
                              options->duplicates, NULL, &clash);
    if (clash.beyond)
        return ftb_wrap_error(FTB_FORMAT, "%s: ", name);
    return clash.refused && t->lined ? refused(t, &clash, name) : info;
}
