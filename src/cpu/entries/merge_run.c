/* Row-wise merge of two sparse matrices under a mask (merge_run.h).
 *
 * Rows are walked twice, in parallel: to count, then to fill. Columns ascend in both inputs and in the
 * mask, so that a row is one three-way merge: O(left + right + mask). Entries that are copied go in
 * runs, those that are combined in batches of the operator. Rows are independent and every position is
 * written once, so that threads cannot show. */
#include "cpu/entries/merge_run.h"

#include <omp.h>

#define PARTS_PER_THREAD 16

/* A thread's place in the output, and the run of entries to be copied there. */
typedef struct filler {
    const ftb_merge_job *w;
    ftb_batch *batch;
    int64_t at;              /* next output position */
    int side;                /* of the run: 0 left, 1 right */
    int64_t from, to, count; /* entries from .. of that side go to positions to .. */
} filler;

/* ---- copying */

static void broadcast(const ftb_merge_job *w, const ftb_entries *side, const filler *f)
{
    size_t size = FtB_Type_size(w->type);
    const uint8_t one = 1;
    for (int64_t t = 0; t < f->count; t++) {
        char *to = w->values + (size_t)(f->to + t) * (size_t)w->width * size;
        if (side->width == 0)
            ftb_cast(to, w->type, &one, FTB_UINT8, 1);
        else
            ftb_cast(to, w->type,
                     (const char *)side->values + (size_t)(f->from + t) * FtB_Type_size(side->type),
                     side->type, 1);
        for (int64_t v = 1; v < w->width; v++)
            memcpy(to + (size_t)v * size, to, size);
    }
}

static void copy_run(filler *f)
{
    const ftb_merge_job *w = f->w;
    if (f->count == 0 || w->width == 0) {
        f->count = 0;
        return;
    }
    const ftb_entries *side = &w->sides[f->side];
    size_t step = (size_t)w->width;
    if (w->word[f->side] && f->count == 1) /* most runs of a union are short */
        ((uint64_t *)(void *)w->values)[f->to] = ((const uint64_t *)side->values)[f->from];
    else if (side->width == w->width)
        ftb_cast(w->values + (size_t)f->to * step * FtB_Type_size(w->type), w->type,
                 (const char *)side->values + (size_t)f->from * step * FtB_Type_size(side->type), side->type,
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
static inline bool admits(const ftb_merge_job *w, bool wide, int64_t *m, int64_t end, int64_t j)
{
    bool yes = !w->mask;
    if (w->mask) {
        while (*m < end && column(w->mask->colidx, wide, *m) < j)
            ++*m;
        for (int64_t e = *m; e < end && !yes && column(w->mask->colidx, wide, e) == j; e++)
            yes = ftb_mask_admits(&w->admits, e);
    }
    return yes != w->complement;
}

static inline void fill_entry(filler *f, bool wide, int64_t i, int64_t j, bool both, int side, int64_t left,
                              int64_t right)
{
    const ftb_merge_job *w = f->w;
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
static inline __attribute__((always_inline)) int64_t merge_row(const ftb_merge_job *w, int64_t i, bool wide,
                                                               filler *f, int64_t *taken)
{
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
        bool both = admitted && in_left && in_right && w->combine;
        int side = admitted && in_right;
        bool keep = !admitted             ? in_left && w->outside
                    : in_left && in_right ? true
                    : in_left             ? w->lone_left
                                          : w->lone_right;
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
static inline int64_t count_matches(const ftb_merge_job *w, int64_t i, bool wide)
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

static void count_unmasked(const ftb_merge_job *w, int64_t first, int64_t end, int64_t *taken)
{
    for (int64_t i = first; i < end; i++) {
        int64_t both = w->left->wide ? count_matches(w, i, true) : count_matches(w, i, false);
        int64_t left = w->lone_left ? w->left->rowptr[i + 1] - w->left->rowptr[i] - both : 0;
        int64_t right = w->lone_right ? w->right->rowptr[i + 1] - w->right->rowptr[i] - both : 0;
        w->rowptr[i + 1] = left + both + right;
        taken[0] += left;
        taken[1] += right + (w->combine ? 0 : both);
    }
}

static void count_rows(const ftb_merge_job *w, int64_t first, int64_t end, int64_t *taken)
{
    if (!w->mask && !w->complement) {
        count_unmasked(w, first, end, taken);
        return;
    }
    for (int64_t i = first; i < end; i++)
        w->rowptr[i + 1] =
            w->left->wide ? merge_row(w, i, true, NULL, taken) : merge_row(w, i, false, NULL, taken);
}

static void fill_rows(const ftb_merge_job *w, int64_t first, int64_t end, ftb_batch *batch)
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

GrB_Info ftb_merge_count(const ftb_merge_job *w, int64_t *taken)
{
    int64_t nrows = w->left->nrows,
            parts = ftb_min((int64_t)w->threads * PARTS_PER_THREAD, ftb_max(nrows, 1));
    int64_t from_left = 0, from_right = 0;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic) reduction(+ : from_left, from_right)
    for (int64_t part = 0; part < parts; part++) {
        int64_t mine[2] = {0, 0};
        if (!ftb_cancelled(w->ctx))
            count_rows(w, ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part, parts),
                       ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part + 1, parts), mine);
        from_left += mine[0];
        from_right += mine[1];
    }
    taken[0] = from_left;
    taken[1] = from_right;
    return ftb_check_cancelled(w->ctx);
}

GrB_Info ftb_merge_fill(const ftb_merge_job *w)
{
    int64_t nrows = w->left->nrows,
            parts = ftb_min((int64_t)w->threads * PARTS_PER_THREAD, ftb_max(nrows, 1));
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++)
        if (!ftb_cancelled(w->ctx))
            fill_rows(w, ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part, parts),
                      ftb_rows_cut(nrows, w->left->rowptr, w->right->rowptr, part + 1, parts),
                      w->map ? &w->map->batches[omp_get_thread_num()] : NULL);
    return ftb_check_cancelled(w->ctx);
}
