/* Row-wise merge of two sparse matrices under a mask.
 *
 * Rows are walked twice, in parallel: to count, then to fill. Columns ascend in both inputs and in the
 * mask, so that a row is one three-way merge: O(left + right + mask). Entries that are copied go in
 * runs, those that are combined in batches of the operator. Rows are independent and every position is
 * written once, so that threads cannot show. */
#include "ops/merge.h"

#include "cpu/entries/keep_run.h"

#include <omp.h>

#define PARTS_PER_THREAD 16

typedef struct job {
    const ftb_merge_rule *rule;
    const ftb_pattern *left, *right, *mask;
    ftb_mask admits; /* with a mask */
    ftb_map *map;
    FtB_Matrix sides[2];
    bool word[2]; /* entries of the side are copied as they are, 8 bytes */
    int64_t *rowptr;
    char *colidx, *values;
    FtB_Type type;
    int64_t width;
} job;

/* A thread's place in the output, and the run of entries to be copied there. */
typedef struct filler {
    const job *w;
    ftb_batch *batch;
    int64_t at;              /* next output position */
    int side;                /* of the run: 0 left, 1 right */
    int64_t from, to, count; /* entries from .. of that side go to positions to .. */
} filler;

/* ---- copying */

static void broadcast(const job *w, FtB_Matrix side, const filler *f)
{
    size_t size = FtB_Type_size(w->type);
    const uint8_t one = 1;
    for (int64_t t = 0; t < f->count; t++) {
        char *to = w->values + (size_t)(f->to + t) * (size_t)w->width * size;
        if (side->width == 0)
            ftb_cast(to, w->type, &one, FTB_UINT8, 1);
        else
            ftb_cast(to, w->type,
                     (char *)ftb_values(side) + (size_t)(f->from + t) * FtB_Type_size(side->type), side->type,
                     1);
        for (int64_t v = 1; v < w->width; v++)
            memcpy(to + (size_t)v * size, to, size);
    }
}

static void copy_run(filler *f)
{
    const job *w = f->w;
    if (f->count == 0 || w->width == 0) {
        f->count = 0;
        return;
    }
    FtB_Matrix side = w->sides[f->side];
    size_t step = (size_t)w->width;
    if (w->word[f->side] && f->count == 1) /* most runs of a union are short */
        ((uint64_t *)(void *)w->values)[f->to] = ((const uint64_t *)ftb_values(side))[f->from];
    else if (side->width == w->width)
        ftb_cast(w->values + (size_t)f->to * step * FtB_Type_size(w->type), w->type,
                 (char *)ftb_values(side) + (size_t)f->from * step * FtB_Type_size(side->type), side->type,
                 f->count * w->width);
    else
        broadcast(w, side, f);
    f->count = 0;
}

static inline void copy(filler *f, int side, int64_t e)
{
    if (f->side != side || f->from + f->count != e || f->to + f->count != f->at) {
        copy_run(f);
        f->side = side;
        f->from = e;
        f->to = f->at;
    }
    f->count++;
}

/* ---- one row */

static inline int64_t column(const void *colidx, bool wide, int64_t e)
{
    return wide ? ((const int64_t *)colidx)[e] : ((const int32_t *)colidx)[e];
}

/* Whether row's mask admits column j; *m only moves forward. */
static inline bool admits(const job *w, bool wide, int64_t *m, int64_t end, int64_t j)
{
    bool yes = !w->mask;
    if (w->mask) {
        while (*m < end && column(w->mask->colidx, wide, *m) < j)
            ++*m;
        for (int64_t e = *m; e < end && !yes && column(w->mask->colidx, wide, e) == j; e++)
            yes = ftb_mask_admits(&w->admits, e);
    }
    return yes != w->rule->complement;
}

static inline void fill_entry(filler *f, bool wide, int64_t i, int64_t j, bool both, int side, int64_t left,
                              int64_t right)
{
    const job *w = f->w;
    if (both && f->batch)
        ftb_batch_push(f->batch, left, right, f->at, i, j);
    else
        copy(f, side, side ? right : left);
    if (wide)
        ((int64_t *)w->colidx)[f->at] = j;
    else
        ((int32_t *)w->colidx)[f->at] = (int32_t)j;
    f->at++;
}

/* Counts row i's result, and with a filler writes it. taken[side]: entries that come from there alone. */
static inline __attribute__((always_inline)) int64_t merge_row(const job *w, int64_t i, bool wide, filler *f,
                                                               int64_t *taken)
{
    const ftb_merge_rule *rule = w->rule;
    const void *left = w->left->colidx, *right = w->right->colidx;
    int64_t l = w->left->rowptr[i], lend = w->left->rowptr[i + 1];
    int64_t r = w->right->rowptr[i], rend = w->right->rowptr[i + 1];
    int64_t m = w->mask ? w->mask->rowptr[i] : 0, mend = w->mask ? w->mask->rowptr[i + 1] : 0;
    int64_t count = 0;
    while (l < lend || r < rend) {
        int64_t jl = l < lend ? column(left, wide, l) : INT64_MAX;
        int64_t jr = r < rend ? column(right, wide, r) : INT64_MAX;
        int64_t j = ftb_min(jl, jr);
        bool in_left = jl == j, in_right = jr == j;
        bool admitted = admits(w, wide, &m, mend, j);
        bool both = admitted && in_left && in_right && rule->combine;
        int side = admitted && in_right;
        bool keep = !admitted             ? in_left && rule->outside
                    : in_left && in_right ? true
                    : in_left             ? rule->lone_left
                                          : rule->lone_right;
        if (keep) {
            if (f)
                fill_entry(f, wide, i, j, both, side, l, r);
            else if (!both)
                taken[side]++;
            count++;
        }
        l += in_left;
        r += in_right;
    }
    return count;
}

/* Positions of row i that both inputs have; without a mask nothing else must be looked at to count. The
 * steps are arithmetic, since branches on which column is less cannot be predicted. */
static inline int64_t count_matches(const job *w, int64_t i, bool wide)
{
    const void *left = w->left->colidx, *right = w->right->colidx;
    int64_t l = w->left->rowptr[i], lend = w->left->rowptr[i + 1], count = 0;
    int64_t r = w->right->rowptr[i], rend = w->right->rowptr[i + 1];
    while (l < lend && r < rend) {
        int64_t jl = column(left, wide, l), jr = column(right, wide, r);
        count += jl == jr;
        l += jl <= jr;
        r += jr <= jl;
    }
    return count;
}

static void count_unmasked(const job *w, int64_t first, int64_t end, int64_t *taken)
{
    const ftb_merge_rule *rule = w->rule;
    for (int64_t i = first; i < end; i++) {
        int64_t both = w->left->wide ? count_matches(w, i, true) : count_matches(w, i, false);
        int64_t left = rule->lone_left ? w->left->rowptr[i + 1] - w->left->rowptr[i] - both : 0;
        int64_t right = rule->lone_right ? w->right->rowptr[i + 1] - w->right->rowptr[i] - both : 0;
        w->rowptr[i + 1] = left + both + right;
        taken[0] += left;
        taken[1] += right + (rule->combine ? 0 : both);
    }
}

static void count_rows(const job *w, int64_t first, int64_t end, int64_t *taken)
{
    if (!w->mask && !w->rule->complement) {
        count_unmasked(w, first, end, taken);
        return;
    }
    for (int64_t i = first; i < end; i++)
        w->rowptr[i + 1] =
            w->left->wide ? merge_row(w, i, true, NULL, taken) : merge_row(w, i, false, NULL, taken);
}

static void fill_rows(const job *w, int64_t first, int64_t end, ftb_batch *batch)
{
    filler f = {.w = w, .batch = batch, .at = w->rowptr[first]};
    for (int64_t i = first; i < end; i++) {
        if (w->left->wide)
            merge_row(w, i, true, &f, NULL);
        else
            merge_row(w, i, false, &f, NULL);
    }
    copy_run(&f);
    if (batch)
        ftb_batch_flush(batch);
}

/* ---- all rows */

static GrB_Info count_all(const job *w, FtB_Context ctx, int threads, int64_t *taken)
{
    int64_t nrows = w->left->nrows, parts = ftb_min((int64_t)threads * PARTS_PER_THREAD, ftb_max(nrows, 1));
    int64_t from_left = 0, from_right = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : from_left, from_right)
    for (int64_t part = 0; part < parts; part++) {
        int64_t mine[2] = {0, 0};
        if (!ftb_cancelled(ctx))
            count_rows(w, ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part, parts),
                       ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part + 1, parts), mine);
        from_left += mine[0];
        from_right += mine[1];
    }
    taken[0] = from_left;
    taken[1] = from_right;
    return ftb_check_cancelled(ctx);
}

static GrB_Info fill_all(const job *w, FtB_Context ctx, int threads)
{
    int64_t nrows = w->left->nrows, parts = ftb_min((int64_t)threads * PARTS_PER_THREAD, ftb_max(nrows, 1));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++)
        if (!ftb_cancelled(ctx))
            fill_rows(w, ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part, parts),
                      ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part + 1, parts),
                      w->map ? &w->map->batches[omp_get_thread_num()] : NULL);
    return ftb_check_cancelled(ctx);
}

static GrB_Info prepare(job *w, FtB_Context ctx, const ftb_merge_rule *rule, int threads)
{
    ftb_map_input x = ftb_map_entries(rule->left), y = ftb_map_entries(rule->right);
    GrB_Info info = GrB_SUCCESS;
    w->rule = rule;
    w->left = rule->left->pattern;
    w->right = rule->right->pattern;
    w->sides[0] = rule->left;
    w->sides[1] = rule->right;
    if (rule->mask) {
        w->mask = rule->mask->pattern;
        w->admits = ftb_mask_of(rule->mask, rule->structural);
    }
    if (rule->combine && rule->op)
        info = ftb_map_new(&w->map, ctx, rule->op, &x, &y, NULL, threads);
    if (info == GrB_SUCCESS && w->map)
        info = ftb_map_check_rows(w->map, w->left->nrows, w->left->ncols);
    if (info == GrB_SUCCESS) {
        w->type = rule->type ? rule->type : w->map->type;
        w->width = rule->width >= 0 ? rule->width : w->map->width;
        for (int side = 0; side < 2; side++)
            w->word[side] = w->sides[side]->type == w->type && w->sides[side]->width == 1 && w->width == 1 &&
                            FtB_Type_size(w->type) == 8;
    }
    return info;
}

GrB_Info ftb_merge(FtB_Matrix *out, int *same, FtB_Context ctx, const ftb_merge_rule *rule)
{
    GrB_Info info = GrB_SUCCESS;
    int threads = ftb_threads_for(ctx, rule->left->pattern->nvals + rule->right->pattern->nvals +
                                           rule->left->pattern->nrows);
    int64_t taken[2], nrows = rule->left->pattern->nrows, ncols = rule->left->pattern->ncols;
    ftb_buffer *rowptr = NULL, *colidx = NULL, *values = NULL;
    ftb_pattern *pattern = NULL;
    job w = {0};
    *out = NULL;
    if (same)
        *same = 0;
    FTB_CHECK(prepare(&w, ctx, rule, threads));
    rowptr = ftb_buffer_new(ctx, nrows + 1, sizeof(int64_t));
    if (!rowptr)
        FTB_CHECK(ftb_nomem());
    w.rowptr = ftb_buffer_data(rowptr);
    FTB_CHECK(count_all(&w, ctx, threads, taken));
    int64_t nvals = ftb_rows_sum(w.rowptr, nrows);
    if (same && taken[0] == nvals && w.left->nvals == nvals && rule->left->width == w.width)
        *same = 1;
    else if (same && taken[1] == nvals && w.right->nvals == nvals && rule->right->width == w.width)
        *same = 2;
    if (same && *same)
        goto done;
    colidx = ftb_buffer_new(ctx, nvals, ftb_col_size(ncols));
    if (!colidx || (w.width > 0 && !(values = ftb_values_new(ctx, nvals, w.width, w.type))))
        FTB_CHECK(ftb_nomem());
    w.colidx = ftb_buffer_data(colidx);
    w.values = values ? ftb_buffer_data(values) : NULL;
    if (w.map)
        ftb_map_output(w.map, w.values, w.type);
    FTB_CHECK(fill_all(&w, ctx, threads));
    pattern = ftb_pattern_new(ctx, nrows, ncols, rowptr, colidx);
    rowptr = colidx = NULL;
    if (!pattern)
        FTB_CHECK(ftb_nomem());
    pattern->multi = w.left->multi || w.right->multi;
    info = ftb_matrix_make(out, ctx, w.type, w.width, pattern, values);
    values = NULL;
done:
    ftb_buffer_release(rowptr);
    ftb_buffer_release(colidx);
    ftb_buffer_release(values);
    ftb_map_delete(w.map);
    return info;
}
